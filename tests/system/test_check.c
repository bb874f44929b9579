/* test_check.c: --check refuses what a start refuses, in the same words, and
 * is silent about the rest. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"

/* The scratch directory, which has what faults() names. */
static const char *
directory(void)
{
	const char *dir = scratch("d");

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	write_file(scratch("d/plain"), "x\n");
	write_file(
	    scratch("d/garbage.pem"), "-----BEGIN CERTIFICATE-----\nx\n");
	write_file(scratch("d/list"), "10.0.0.0/8\nnonsense\n");
	write_file(scratch("d/more"), "timeout 4\ntimeout x\n");
	ck_assert_int_eq(symlink("none/x", scratch("d/dangling")), 0);
	return dir;
}

/* Lines that no start takes; @ is the directory. */
static const char *const faults[] = { "frobnicate", "timeout x", "log 'a",
	"include @/none", "include @/more", "include @", "server 7 max 5",
	"server 1 address no-such-host.invalid",
	"emergency no-such-host.invalid:9", "log @/none/x", "log @",
	"log @/dangling", "web_stats @/none/x", "web_stats @",
	"control @/none/x", "control @/plain", "control 192.0.2.1:8000",
	"listen 192.0.2.1:8000", "listen @/none/x", "listen @/plain",
	"listen 127.0.0.1:0", "listen 127.0.0.1:99999", "source 192.0.2.1",
	"on_state @/none", "on_state @/plain", "check exec @/none",
	"check exec @/plain", "session_log @/none/x", "session_log @",
	"session_log udp:no-such-host.invalid:514", "log_format \"%{x}\"",
	"web 192.0.2.1:8000", "web @/none/x", "web_acl nolist",
	"client_acl nolist", "accept_proxy nolist", "control_acl nolist",
	"ssl_cert @/none.pem", "ssl_cert @/garbage.pem", "ssl_sni_path @/none",
	"ssl_upstream; ssl_upstream_ca @/none",
	"ssl_upstream; ssl_upstream_cert @/garbage.pem", "geoip @/none",
	"geoip @/list", "route default", "kqueue", "balance x",
	"acl 1 file @/none", "acl 1 file @/list", "acl 1 permit x",
	"proxy_protocol 3", "resolver 1.2.3.4.5", "control_mode 999",
	"write @/x", "exit", "clear counters" };

enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

/* `line` with the directory put in. */
static const char *
filled(const char *line, const char *dir)
{
	const char *at;

	while ((at = strchr(line, '@')) != NULL)
		line = text("%.*s%s%s", (int)(at - line), line, dir, at + 1);
	return line;
}

static int
run(struct child *c, const char *first, const char *const *rest)
{
	const char *argv[CHILD_ARGS] = { getenv("PEN"), first };
	int n = 2;

	while (*rest != NULL)
		argv[n++] = *rest++;
	argv[n] = NULL;
	child_start(c, argv);
	return child_wait(c, 10000);
}

/* What it says but for warnings, which lines that are drawn twice give. */
static const char *
errors_of(const struct child *c)
{
	const char *at = child_err(c), *end;
	const char *kept = "";

	for (; *at != '\0'; at = end) {
		end = at + strcspn(at, "\n");
		end += *end == '\n';
		if (strncmp(at, "20", 2) != 0)
			kept = text("%s%.*s", kept, (int)(end - at), at);
	}
	return kept;
}

/* Both end with 1 and the same line; returns it. */
static const char *
both_refuse(const char *const *args, const char *what)
{
	const char *start;
	struct child c;
	int status = run(&c, "-f", args);

	start = errors_of(&c);
	ck_assert_msg(status == 1, "%s: start: %d %s", what, status, start);
	ck_assert_msg(strncmp(start, "pen: ", 5) == 0 &&
		strchr(start, '\n') == start + strlen(start) - 1,
	    "%s: not one line: %s", what, start);
	status = run(&c, "--check", args);
	ck_assert_msg(status == 1, "%s: --check: %d %s", what, status, start);
	ck_assert_str_eq(errors_of(&c), start);
	ck_assert_str_eq(child_out(&c), "");
	return start;
}

static unsigned seed;

/* Lines that are right, and have no warnings. */
static const char *
some_lines(const char *file, unsigned *lines)
{
	static const char *const right[] = { "timeout 4", "# a comment", "",
		"roundrobin", "blacklist 9", "acl 3 permit 10.0.0.0/8",
		"server 0 weight 1", "keepalive \\\n", "idle_timeout 60 # x" };
	unsigned n = (unsigned)rand_r(&seed) % 5, i;

	for (i = 0; i < n; i++) {
		const char *one = right[(unsigned)rand_r(&seed) %
		    (sizeof(right) / sizeof(*right))];

		*lines += 1 + (strchr(one, '\n') != NULL);
		file = text("%s%s\n", file, one);
	}
	return file;
}

/* Whatever is wrong is told with the line that says it. */
START_TEST(faults_of_files)
{
	const char *dir = directory(), *conf = scratch("pen.conf"), *said;
	const char *args[] = { "-F", conf, NULL }, *file, *where;
	const char *fault = filled(faults[_i], dir);
	unsigned lines = 2;
	struct endpoint front;

	endpoint_new(&front, ENDPOINT_TCP4);
	seed = (unsigned)_i + 1;
	file =
	    text("listen %s\nserver 0 address 127.0.0.1 port 9\n", front.text);
	file = some_lines(file, &lines);
	where = text("pen: %s:%u: ", conf, lines + 1);
	file = some_lines(text("%s%s\n", file, fault), &lines);
	write_file(conf, file);
	said = both_refuse(args, fault);
	ck_assert_msg(strncmp(said, where, strlen(where)) == 0,
	    "%s: wanted %s in: %s", fault, where, said);
}
END_TEST

START_TEST(faults_of_options)
{
	static const char *const options[][3] = { { "-p", "@/none/x" },
		{ "-p", "@" }, { "-p", "@/dangling" }, { "-u", "no-such-user" },
		{ "-j", "@/none" }, { "-j", "@/plain" }, { "-l", "@/none/x" },
		{ "-w", "@/none/x" }, { "-C", "@/none/x" },
		{ "--web", "192.0.2.1:8000" }, { "-t", "x" }, { "--nonsense" },
		{ "-O", "log @/none/x" }, { "-F", "@/none" } };
	const char *dir = directory();
	struct endpoint front;
	size_t i;

	endpoint_new(&front, ENDPOINT_TCP4);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *args[6] = { options[i][0] };
		int n = 1;

		if (options[i][1] != NULL)
			args[n++] = filled(options[i][1], dir);
		args[n++] = front.text;
		args[n] = "127.0.0.1:9";
		(void)both_refuse(args, options[i][0]);
	}
}
END_TEST

/* Who may not change root or user cannot start with -j or -u. */
START_TEST(rights_are_missing)
{
	const char *args[] = { "-u", "root", NULL, "127.0.0.1:9", NULL };
	const char *root[] = { "-j", "/", NULL, "127.0.0.1:9", NULL };
	struct endpoint front;

	if (geteuid() == 0)
		SKIP("root may");
	endpoint_new(&front, ENDPOINT_TCP4);
	args[2] = root[2] = front.text;
	ck_assert_ptr_nonnull(
	    strstr(both_refuse(args, "-u"), "Operation not permitted"));
	ck_assert_ptr_nonnull(
	    strstr(both_refuse(root, "-j"), "Operation not permitted"));
}
END_TEST

/* A configuration that is right: nothing is said, also while it serves. */
START_TEST(right_ones_are_silent)
{
	const char *conf = scratch("pen.conf");
	const char *args[] = { "-F", conf, "-p", scratch("pid"), NULL };
	struct endpoint front, ctl;
	struct child c;
	struct pen pen;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	write_file(conf,
	    text("# right\nlisten %s\ncontrol %s\nserver 0 address 127.0.0.1 "
		 "port 9 max 3\nlog %s\nweb_stats %s\n",
		front.text, ctl.text, scratch("log"), scratch("stats")));
	ck_assert_int_eq(run(&c, "--check", args), 0);
	ck_assert_str_eq(child_err(&c), "");
	ck_assert_str_eq(child_out(&c), "");
	pen_up(&pen, &front, "-F", conf, "-p", scratch("pid"), NULL);
	ck_assert_int_eq(run(&c, "--check", args), 0);
	ck_assert_str_eq(child_err(&c), "");
	ck_assert_str_eq(child_out(&c), "");
	ck_assert_int_eq(run(&c, "--print", args), 0);
	ck_assert_str_eq(child_err(&c), "");
	ck_assert_ptr_nonnull(strstr(
	    child_out(&c), "\nserver 0 address 127.0.0.1 port 9 max 3\n"));
	ck_assert_ptr_null(strstr(child_out(&c), "timeout"));
	pen_down(&pen);
}
END_TEST

static const char *
checked(const char *first, const char *second)
{
	struct child c;

	child_start(&c,
	    (const char *[]){ getenv("PEN"), "--check", "127.0.0.1:9", first,
		second, NULL });
	ck_assert_int_eq(child_wait(&c, 20000), 0);
	return child_err(&c);
}

/* Others have the weight there. */
START_TEST(limits_like_weights)
{
	ck_assert_ptr_nonnull(
	    strstr(checked("127.0.0.1:80:3", "127.0.0.1:81:1"),
		"server \"127.0.0.1:80:3\": the third field is a limit of "
		"connections; a weight is the fifth: HOST:PORT:0:0:3\n"));
	ck_assert_str_eq(checked("127.0.0.1:80:3", "127.0.0.1:81:3"), "");
	ck_assert_str_eq(checked("127.0.0.1:80:30", "127.0.0.1:81:10"), "");
	ck_assert_str_eq(checked("127.0.0.1:80:3", "127.0.0.1:81"), "");
	ck_assert_str_eq(
	    checked("127.0.0.1:80:3:6", "127.0.0.1:81:1:2"), "");
}
END_TEST

SUITE(test_check)
{
	Suite *s = suite_create("check");

	SUITE_ADD_LOOP(s, faults_of_files, 30, FAULTS);
	SUITE_ADD(s, faults_of_options, 60);
	SUITE_ADD(s, rights_are_missing, 20);
	SUITE_ADD(s, right_ones_are_silent, 30);
	SUITE_ADD(s, limits_like_weights, 30);
	return s;
}
