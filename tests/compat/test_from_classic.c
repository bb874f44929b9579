/* test_from_classic.c: what pen-classic(7) says differs from Pen 0.34, side by
 * side with Debian's package of it where that is installed. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/classic.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend a, b;
static struct twin ours, classic;

static const char *const no_options[] = { NULL };

/* ---- starting ---- */

/* What classic Pen starts with all the same. */
static const struct {
	const char *option, *value, *says;
} mistakes[] = {
	{ "-F", "wrong", ":1: unknown command \"nonsense\"" },
	{ "-F", "missing", "missing\": No such file or directory" },
	{ "-O", "nonsense 5", "unknown command \"nonsense\"" },
	{ "-G", "missing", "option -G needs ssl_cert (-E)" },
	{ "-L", "ssl3", "SSL 3 is broken and refused" },
	{ "-L", "tls1", "TLS 1.0 is obsolete and refused" },
	{ "-w", "none/status", "No such file or directory" },
};
enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

START_TEST(mistakes_at_the_start)
{
	const char *value = mistakes[_i].value;
	struct endpoint front;

	endpoint_new(&front, ENDPOINT_TCP4);
	write_file(scratch("wrong"), "nonsense 5\nblacklist 7\n");
	if (strchr("FGw", mistakes[_i].option[1]) != NULL)
		value = text("%s", scratch(value));
	pen_expect_failure(mistakes[_i].says, mistakes[_i].option, value,
	    front.text, "127.0.0.1:9", NULL);
	if (!classic_is_there())
		SKIP("no classic Pen here");
	twin_start_classic(&classic,
	    (const char *const[]){ mistakes[_i].option, value, NULL },
	    (const char *const[]){ "127.0.0.1:9", NULL });
	twin_stop(&classic);
}
END_TEST

/* Everybody on the machine can connect to it. */
START_TEST(control_by_tcp_as_root)
{
	struct endpoint front, ctl;
	struct pen pen;

	if (geteuid() != 0)
		SKIP("not root");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_TCP4);
	pen_expect_failure("a TCP control port is refused as root", "-C",
	    ctl.text, front.text, "127.0.0.1:9", NULL);
	pen_up(&pen, &front, "-u", "nobody", "-C", ctl.text, front.text,
	    "127.0.0.1:9", NULL);
	pen_down(&pen);
}
END_TEST

/* ---- commands ---- */

START_TEST(replies)
{
	static const struct {
		const char *command, *ours, *classic;
	} rows[] = {
		{ "nonsense 1", "error: unknown command", "do_cmd: ignoring" },
		{ "blacklist x", "error: blacklist: \"x\"", "0\n" },
		{ "blacklist -5", "error: blacklist: \"-5\"", "-5\n" },
		{ "timeout 0", "error: timeout: 0 out of range", "0\n" },
		{ "timeout 3", "3\n", "3\n" },
		{ "server 0 nonsense", "error: server: \"nonsense\"", "" },
		{ "connection", "error: connection: expects N",
		    "Connection 0:" },
		{ "socket", "error: socket: expects FD", "Socket 0" },
		{ "include /nonexistent", "error: include: ", "" },
		{ "log /dev/null", "", "/dev/null\n" },
		{ "log", "/dev/null\n", "/dev/null\n" },
		{ "web_stats FILE", "", "FILE\n" },
		{ "web_stats", "FILE\n", "FILE\n" },
		{ "clients_max", "65536\n", "2048\n" },
	};
	const char *const servers[] = { "127.0.0.1:9", NULL };
	bool beside = classic_is_there();
	size_t i;

	ck_assert_int_eq(chdir(scratch("")), 0);
	twin_start_ours(&ours, no_options, servers);
	if (beside)
		twin_start_classic(&classic, no_options, servers);
	ck_assert_str_ne(endpoint_ask(&ours.ctl, "conn_max\n"), "500\n");
	if (beside)
		ck_assert_str_eq(
		    endpoint_ask(&classic.ctl, "conn_max\n"), "500\n");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *line = text("%s\n", rows[i].command), *wanted, *is;

		wanted = rows[i].ours;
		is = endpoint_ask(&ours.ctl, line);
		ck_assert_msg(strncmp(is, wanted, strlen(wanted)) == 0 &&
			(*wanted != '\0' || *is == '\0'),
		    "%s: %s", rows[i].command, is);
		wanted = rows[i].classic;
		is = beside ? endpoint_ask(&classic.ctl, line) : wanted;
		ck_assert_msg(strncmp(is, wanted, strlen(wanted)) == 0 &&
			(*wanted != '\0' || *is == '\0'),
		    "classic: %s: %s", rows[i].command, is);
	}
	twin_stop(&ours);
	if (beside)
		twin_stop(&classic);
}
END_TEST

/* ---- choices ---- */

/* Who serves six clients, one after another; - for those whom nobody serves. */
static const char *
who_serves(struct twin *t)
{
	char seen[7] = "";
	const char *said;
	int i;

	for (i = 0; i < 6; i++) {
		said = endpoint_hear(&t->front);
		seen[i] = *said != '\0' ? *said : '-';
	}
	return text("%s", seen);
}

START_TEST(choices)
{
	static const struct {
		const char *option, *limits, *ours, *classic;
	} rows[] = {
		{ "-r", "", "ababab", "bababa" },
		{ "-T0", "", "aaaaaa", "bbbbbb" },
		{ "-W", ":0:0:1", "ababab", "aaaaaa" },
		{ "-W", "", "ababab", "------" },
	};
	const char *const options[] = { rows[_i].option, NULL };
	const char *servers[3] = { NULL };

	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "b");
	servers[0] = text("%s%s", a.at.text, rows[_i].limits);
	servers[1] = text("%s%s", b.at.text, rows[_i].limits);
	twin_start_ours(&ours, options, servers);
	ck_assert_str_eq(who_serves(&ours), rows[_i].ours);
	twin_stop(&ours);
	if (classic_is_there()) {
		twin_start_classic(&classic, options, servers);
		ck_assert_str_eq(who_serves(&classic), rows[_i].classic);
		twin_stop(&classic);
	}
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* A client that no server takes: classic Pen closes its connection at once. */
START_TEST(no_server_left)
{
	const char *const options[] = { "-O", "retry 0", NULL };
	const char *servers[2] = { NULL };
	struct endpoint dead;
	int fd;

	endpoint_new(&dead, ENDPOINT_TCP4);
	servers[0] = dead.text;
	twin_start_ours(&ours, _i == 0 ? options : no_options, servers);
	fd = endpoint_connect(&ours.front);
	if (_i == 0) {
		endpoint_expect_reset(fd);
	} else { /* a server that comes within three seconds */
		WAIT_FOR(strstr(endpoint_ask(&ours.ctl, "servers long\n"),
			     "state blacklisted") != NULL,
		    5000);
		backend_start_at(&a, &dead, backend_say, "late");
		ck_assert_str_eq(endpoint_recv_all(fd), "late");
		backend_stop(&a);
	}
	close(fd);
	twin_stop(&ours);
	if (_i != 0 || !classic_is_there())
		return;
	twin_start_classic(&classic, no_options, servers);
	fd = endpoint_connect(&classic.front);
	endpoint_expect_end(fd);
	close(fd);
	twin_stop(&classic);
}
END_TEST

SUITE(test_from_classic)
{
	Suite *s = suite_create("from_classic");

	SUITE_ADD_LOOP(s, mistakes_at_the_start, 20, MISTAKES);
	SUITE_ADD(s, control_by_tcp_as_root, 20);
	SUITE_ADD(s, replies, 30);
	SUITE_ADD_LOOP(s, choices, 30, 4);
	SUITE_ADD_LOOP(s, no_server_left, 30, 2);
	return s;
}
