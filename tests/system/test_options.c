/* test_options.c: what is wrong with a command line is said in one line, exit
 * status 1, and nothing is left behind. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <signal.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

/* A free place, and a server that need not exist. */
static const char *
free_front(void)
{
	struct endpoint s;

	endpoint_new(&s, ENDPOINT_TCP4);
	return text("%s", s.text);
}

START_TEST(unknown_option)
{
	pen_expect_failure("-y", "-f", "-y", free_front(), "127.0.0.1:9", NULL);
	pen_expect_failure(
	    "nonsense", "-f", "--nonsense", free_front(), "127.0.0.1:9", NULL);
	pen_expect_failure("-x", free_front(), "127.0.0.1:9", "-x", NULL);
}
END_TEST

/* As GNU programs take them, up to "--". */
START_TEST(options_behind_operands)
{
	const char *conf = scratch("servers.conf");
	struct backend b;
	struct endpoint front;
	struct pen pen;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "works");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, front.text, b.at.text, "-r", "-t", "5", NULL);
	ck_assert_str_eq(endpoint_hear(&front), "works");
	pen_down(&pen);
	write_file(conf, text("server add %s\n", b.at.text));
	pen_up(&pen, &front, front.text, "-F", conf, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "works");
	pen_down(&pen);
	backend_stop(&b);
	pen_expect_failure("\"-r\"", "-f", front.text, "--", "-r", NULL);
	pen_expect_failure("option --weight: takes no argument, got \"3\"",
	    "--weight=3", front.text, "127.0.0.1:9", NULL);
	pen_expect_failure(
	    "option --version: takes no argument", "--version=3", NULL);
	pen_expect_failure("option --nonsense: unknown", "-f", front.text,
	    "--nonsense=3", NULL);
}
END_TEST

START_TEST(missing_operands)
{
	pen_expect_failure("server", "-f", free_front(), NULL);
	pen_expect_failure("", "-f", NULL);
	pen_expect_failure("", NULL);
}
END_TEST

START_TEST(bad_numbers)
{
	const char *front = free_front();

	pen_expect_failure(
	    "-x", "-f", "-x", "many", front, "127.0.0.1:9", NULL);
	pen_expect_failure("-x", "-f", "-x", "-1", front, "127.0.0.1:9", NULL);
	pen_expect_failure("-t", "-f", "-t", "3s4", front, "127.0.0.1:9", NULL);
	pen_expect_failure("-b", "-f", "-b", "", front, "127.0.0.1:9", NULL);
	pen_expect_failure("-c", "-f", "-c", "99999999999999999999", front,
	    "127.0.0.1:9", NULL);
}
END_TEST

START_TEST(bad_ports)
{
	const char *front = free_front();

	pen_expect_failure(
	    "\"127.0.0.1:0\"", "-f", "127.0.0.1:0", "127.0.0.1:9", NULL);
	pen_expect_failure(
	    "65536", "-f", "127.0.0.1:65536", "127.0.0.1:9", NULL);
	pen_expect_failure("no-such-service", "-f", "127.0.0.1:no-such-service",
	    "127.0.0.1:9", NULL);
	pen_expect_failure("1..65535", "-f", front, "127.0.0.1:65536", NULL);
	pen_expect_failure("99999", "-f", front, "localhost:99999", NULL);
	pen_expect_failure("127.0.0.1:9:x", "-f", front, "127.0.0.1:9:x", NULL);
	pen_expect_failure("127.0.0.1:9:1:2:3:4:5", "-f", front,
	    "127.0.0.1:9:1:2:3:4:5", NULL);
}
END_TEST

START_TEST(host_that_does_not_resolve)
{
	pen_expect_failure("no-such-host.invalid", "-f", free_front(),
	    "no-such-host.invalid:80", NULL);
	pen_expect_failure("no-such-host.invalid", "-f",
	    "no-such-host.invalid:8080", "127.0.0.1:9", NULL);
}
END_TEST

START_TEST(path_too_long)
{
	const char *path = scratch(text("%0120d", 0));

	pen_expect_failure("long", "-f", path, "127.0.0.1:9", NULL);
	pen_expect_failure("long", "-f", free_front(), path, NULL);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* What stands in the way of a listening path is never deleted. */
START_TEST(path_that_is_no_socket)
{
	const char *file = scratch("file"), *dir = scratch("dir");
	struct stat before, after;

	write_file(file, "precious\n");
	ck_assert_int_eq(stat(file, &before), 0);
	pen_expect_failure(file, "-f", file, "127.0.0.1:9", NULL);
	ck_assert_int_eq(stat(file, &after), 0);
	ck_assert(before.st_ino == after.st_ino);
	ck_assert_str_eq(contents(file), "precious\n");

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	pen_expect_failure(dir, "-f", dir, "127.0.0.1:9", NULL);
	ck_assert_int_eq(rmdir(dir), 0);

	pen_expect_failure(
	    "no-such-dir", "-f", scratch("no-such-dir/s"), "127.0.0.1:9", NULL);
}
END_TEST

/* When one of several places fails, the others are given back. */
START_TEST(nothing_left_behind)
{
	struct endpoint path, taken;
	int fd;
	const char *pid = scratch("pid");

	endpoint_new(&path, ENDPOINT_UNIX);
	endpoint_new(&taken, ENDPOINT_TCP4);
	fd = endpoint_listen(&taken, 1);
	pen_expect_failure("in use", "-p", pid,
	    text("%s,%s", path.text, taken.text), "127.0.0.1:9", NULL);
	ck_assert_int_ne(access(path.text, F_OK), 0);
	ck_assert_int_ne(access(pid, F_OK), 0);
	close(fd);
}
END_TEST

START_TEST(unusable_files_and_users)
{
	const char *front = free_front();

	pen_expect_failure("no-such-dir", "-f", "-p",
	    scratch("no-such-dir/pid"), front, "127.0.0.1:9", NULL);
	pen_expect_failure("no-such-dir", "-f", "-j", scratch("no-such-dir"),
	    front, "127.0.0.1:9", NULL);
	pen_expect_failure("no-such-user", "-f", "-u", "no-such-user", front,
	    "127.0.0.1:9", NULL);
}
END_TEST

START_TEST(bad_commands)
{
	const char *front = free_front();

	pen_expect_failure("no-such-command", "-f", "-O", "no-such-command",
	    front, "127.0.0.1:9", NULL);
	pen_expect_failure("no-such-algorithm", "-f", "-O",
	    "balance no-such-algorithm", front, "127.0.0.1:9", NULL);
	pen_expect_failure(
	    "buffer", "-f", "-O", "buffer lots", front, "127.0.0.1:9", NULL);
}
END_TEST

/* Each would be served in plain text, and nobody know. */
START_TEST(tls_option_needs_a_certificate)
{
	static const char *const given[][2] = { { "-R", NULL },
		{ "-G", "none.pem" }, { "-A", "none" }, { "--crl", "none" },
		{ "--request-cert", NULL }, { "--strict-sni", NULL },
		{ "-K", "none" }, { "-L", "tls1.3" }, { "--tls-min", "tls1.3" },
		{ "--tls-option", "no_tlsv1.2" }, { "--ciphers", "x" },
		{ "--ciphersuites", "x" }, { "--groups", "x" },
		{ "--alpn", "h2" }, { "--ocsp-response", "none" },
		{ "--ticket-key", "none" }, { "--session-cache", "1" },
		{ "--renegotiation-interval", "1" },
		{ "--handshake-timeout", "1" } };
	const char *front = free_front();
	size_t i;

	for (i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		const char *argv[] = { "-f", front, "127.0.0.1:9", given[i][0],
			given[i][1], NULL };

		pen_expect_failure(
		    text("option %s needs ssl_cert", given[i][0]), argv[0],
		    argv[3], argv[4] != NULL ? argv[4] : argv[1],
		    argv[4] != NULL ? argv[1] : argv[2],
		    argv[4] != NULL ? argv[2] : NULL, NULL);
	}
	pen_expect_failure("option -R needs ssl_cert (-E)", "-f", "-R", "-G",
	    "none.pem", front, "127.0.0.1:9", NULL);
	pen_expect_failure("option -O: ssl_require needs ssl_cert", "-f", "-O",
	    "ssl_require", front, "127.0.0.1:9", NULL);
}
END_TEST

START_TEST(tls_error_names_its_place)
{
	const char *front = free_front(), *conf = scratch("tls.conf");

	pen_expect_failure("pen: option -R needs ssl_ca_file (-G)", "-f", "-E",
	    "x.pem", "-R", front, "127.0.0.1:9", NULL);
	pen_expect_failure("pen: option -E: \"none.pem\": No such", "-f", "-E",
	    "none.pem", front, "127.0.0.1:9", NULL);
	write_file(conf, "timeout 3\nssl_cert none.pem\nssl_cert two.pem\n");
	pen_expect_failure(
	    text("pen: %s:2: ssl_cert: \"none.pem\": No such", conf), "-f",
	    "-F", conf, front, "127.0.0.1:9", NULL);
	pen_expect_failure(
	    text("pen: %s:2: ssl_cert: \"none.pem\": No such", conf), "--check",
	    "-F", conf, front, "127.0.0.1:9", NULL);
	write_file(conf, "ssl_sni_path .\n\nssl_request\n");
	pen_expect_failure(
	    text("pen: %s:3: ssl_request needs ssl_ca_file", conf), "-f", "-F",
	    conf, front, "127.0.0.1:9", NULL);
	write_file(conf, "ssl_sni_path .\nssl_ciphers nonsense\n");
	pen_expect_failure(text("pen: %s:2: ssl_ciphers: \"nonsense\": ", conf),
	    "-f", "-F", conf, front, "127.0.0.1:9", NULL);
}
END_TEST

START_TEST(tls_versions_leave_one)
{
	const char *front = free_front();

	pen_expect_failure("option --tls-option and ssl_min", "-f", "-E",
	    "x.pem", "--tls-min", "tls1.3", "--tls-option", "no_tlsv1.3", front,
	    "127.0.0.1:9", NULL);
	pen_expect_failure("disable every version of TLS", "-f", "-E", "x.pem",
	    "--tls-option", "no_tlsv1.2", "--tls-option", "no_tlsv1.3", front,
	    "127.0.0.1:9", NULL);
}
END_TEST

/* How often the character is in what is between the two. */
static int
count(const char *text, char c, const char *from, const char *to)
{
	const char *at = strstr(text, from), *end;
	int n = 0;

	ck_assert_ptr_nonnull(at);
	end = strstr(at, to);
	ck_assert_ptr_nonnull(end);
	for (; at < end; at++)
		n += *at == c;
	return n;
}

START_TEST(help_and_version)
{
	struct pen p;

	pen_start(&p, "--help", "all", NULL);
	ck_assert_int_eq(child_wait(&p.child, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "--help"));
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "-r"));
	ck_assert_int_eq(count(child_out(&p.child), '[', "options:", "\n\n"),
	    count(child_out(&p.child), ']', "options:", "\n\n"));
	ck_assert_ptr_nonnull(
	    strstr(child_out(&p.child), "--control-level LEVEL "));
	ck_assert_str_eq(child_err(&p.child), "");
	/* a screen, from which one gets on */
	pen_start(&p, "--help", NULL);
	ck_assert_int_eq(child_wait(&p.child, 10000), 0);
	ck_assert_int_le(
	    count(child_out(&p.child), '\n', "usage:", "all options"), 50);
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), " dsr,"));
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "-F, --config FILE"));
	pen_start(&p, "--help", "dsr", NULL);
	ck_assert_int_eq(child_wait(&p.child, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "--dsr-if"));
	ck_assert_ptr_null(strstr(child_out(&p.child), "--round-robin"));
	pen_expect_failure("option --help: \"nothing\" is not a group",
	    "--help", "nothing", NULL);
	pen_expect_failure("option --roundrobin: unknown (did you mean "
			   "--round-robin?)",
	    "--roundrobin", "80", "a", NULL);
	pen_expect_failure("option --tls: unknown (pen --help tls lists its "
			   "options)",
	    "--tls", "80", "a", NULL);
	pen_expect_failure("option --vip: unknown (pen --help all lists all)",
	    "--vip", "80", "a", NULL);
	pen_expect_failure("option --listen: unknown (write pen [options] "
			   "[ADDRESS:]PORT SERVER ..)",
	    "--listen", "8080", "127.0.0.1:9", NULL);
	pen_expect_failure("option --server: unknown (write pen [options] ",
	    "8080", "--server=127.0.0.1:9", NULL);
	pen_expect_failure("did you mean --check-servers \"http /health\"?",
	    "--check-servers", "http", "/health", "80", "127.0.0.1", NULL);
	pen_expect_failure("server \"tcp://127.0.0.1:80\": write "
			   "127.0.0.1:80, without tcp://",
	    "1234", "tcp://127.0.0.1:80", NULL);
	pen_expect_failure("write 127.0.0.1:80, without http://\n", "1234",
	    "http://127.0.0.1:80/", NULL);
	pen_expect_failure("write /run/x.sock, without unix://\n", "1234",
	    "unix:///run/x.sock", NULL);
	pen_expect_failure("write /run/x.sock, without unix:\n", "1234",
	    "unix:/run/x.sock", NULL);
	pen_start(&p, "--version", NULL);
	ck_assert_int_eq(child_wait(&p.child, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "pen"));
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "libevent"));
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "\nc-ares 1."));
	ck_assert_ptr_nonnull(
	    strstr(child_out(&p.child), "\nfeatures: workers "));
#ifdef HAVE_JANSSON
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "\nJansson 2."));
#endif
#ifdef HAVE_MAXMINDDB
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "\nlibmaxminddb 1."));
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), " geoip"));
#endif
#ifdef HAVE_SECCOMP
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "\nlibseccomp 2."));
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), " sandbox"));
#endif
#ifdef HAVE_XDP
	ck_assert_ptr_nonnull(strstr(child_out(&p.child), "\nlibbpf "));
#endif
}
END_TEST

/* What is typed by habit: the message has what to write here. */
START_TEST(habits_of_other_programs)
{
	const char *conf = scratch("habits.conf");

	write_file(conf, "roundrobin\n");
	pen_expect_failure("option -t: needs a value, not \"-F\" (to check a "
			   "file: pen --check -F FILE)",
	    "-t", "-F", conf, NULL);
	pen_expect_failure(
	    "option -c: needs a value, not \"-f\"", "-c", "-f", conf, NULL);
	pen_expect_failure(text(" (-F %s reads the file)", conf), "-c", conf,
	    NULL);
	pen_expect_failure("unknown algorithm \"round-robin\" (did you mean "
			   "roundrobin?)",
	    "--balance", "round-robin", "80", "a", NULL);
	pen_expect_failure("(did you mean hash?)", "--balance", "ip_hash", "80",
	    "a", NULL);
	pen_expect_failure("(did you mean p2c?)", "--balance", "random", "80",
	    "a", NULL);
	pen_expect_failure("(did you mean leastconn?)", "--balance",
	    "least_conn", "80", "a", NULL);
	pen_expect_failure("server \"127.0.0.1:8,127.0.0.1:9\": several "
			   "servers are several words, without commas",
	    "1234", "127.0.0.1:8,127.0.0.1:9", NULL);
	pen_expect_failure("penctl CONTROL reload)", "reload", NULL);
	pen_expect_failure("penctl CONTROL shutdown)", "stop", NULL);
	pen_expect_failure("(did you mean --help?)", "help", NULL);
}
END_TEST

/* What was cut short is not taken for a configuration. */
START_TEST(output_that_is_full)
{
	static const char *const options[] = { "--version", "--help all",
		"--print-all", "--print", "--explain 192.0.2.1",
		"--help checks" };
	const char *front = free_front();
	struct child c;
	size_t i;

	if (access("/dev/full", W_OK) < 0)
		SKIP("no /dev/full");
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *argv[] = { "sh", "-c",
			text("exec \"$PEN\" %s %s 127.0.0.1:9 >/dev/full",
			    options[i], front),
			NULL };

		child_start(&c, argv);
		ck_assert_int_eq(child_wait(&c, 10000), 1);
		ck_assert_str_eq(child_err(&c),
		    "pen: standard output cannot be written\n");
	}
}
END_TEST

/* Accepted, one line each, no effect. */
START_TEST(obsolete_options)
{
	struct backend b;
	struct endpoint front;
	const char *said;
	struct pen pen;
	int n = 0;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "works");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-D", "-n", "-Q", "-S", "5", "-i", "-r",
	    front.text, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "works");
	said = child_err(&pen.child);
	for (; (said = strstr(said, " is obsolete and ignored\n")) != NULL; n++)
		said++;
	ck_assert_int_eq(n, 5);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* Options may stand together, and settings of -O as well as -o. */
START_TEST(options_together)
{
	char many[502] = "-";
	struct backend b;
	struct endpoint front;
	struct pen pen;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "works");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-frx100", "-t5", "-m", "10", "-q50", "-o",
	    "tcp_nodelay", "-O", "timeout 7", front.text, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "works");
	pen_down(&pen);
	/* more options than words */
	memset(many + 1, 'r', 500);
	pen_up(&pen, &front, many, front.text, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "works");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

START_TEST(event_methods)
{
	static const char *const methods[] = {
		"poll",
		"select",
#ifdef __linux__
		"epoll",
#endif
	};
	struct backend b;
	struct endpoint front;
	struct pen pen;
	size_t i;

	any_event_method();
	backend_start(&b, ENDPOINT_TCP4, backend_say, "works");
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		endpoint_new(&front, ENDPOINT_TCP4);
		pen_up(&pen, &front, "-O", methods[i], "-r", front.text,
		    b.at.text, NULL);
		ck_assert_str_eq(endpoint_hear(&front), "works");
		pen_down(&pen);
	}
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-P", "-r", front.text, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "works");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* --check names all mistakes of a file, and is silent about what is right;
 * --print prints it. */
START_TEST(check_says_all)
{
	const char *conf = scratch("check.conf"), *argv[8];
	struct child c;

	argv[0] = getenv("PEN");
	argv[1] = "--check";
	argv[2] = "-F";
	argv[3] = conf;
	argv[4] = free_front();
	argv[5] = NULL;
	write_file(
	    conf, "server 0 address 127.0.0.1 port 9\nfrobnicate\nbalance x\n");
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 1);
	ck_assert_str_eq(child_out(&c), "");
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("pen: %s:2: unknown command \"frobnicate\"\n", conf)));
	ck_assert_ptr_nonnull(
	    strstr(child_err(&c), text("pen: %s:3: balance: ", conf)));
	write_file(conf, "server 0 address localhost port 9\ntimeout 4\n");
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_str_eq(child_err(&c), "");
	ck_assert_str_eq(child_out(&c), "");
	argv[1] = "--print";
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_str_eq(child_err(&c), "");
	ck_assert_str_eq(child_out(&c),
	    text("# servers\nserver 0 address localhost port 9\n"
		 "\n# connections\ntimeout 4\nlisten %s\n",
		argv[4]));
	/* what it prints is right itself, and the same again */
	write_file(conf, child_out(&c));
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_str_eq(child_out(&c), contents(conf));
}
END_TEST

#if defined(HAVE_OPENSSL) && defined(HAVE_MAXMINDDB)
/* One kind does not hide another. */
START_TEST(check_says_all_kinds)
{
	const char *argv[] = { getenv("PEN"), "--check", "-E",
		scratch("no.pem"), "--geoip", scratch("no.mmdb"), "-w",
		scratch("no/such"), free_front(), "127.0.0.1:9", NULL };
	struct child c;

	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 1);
	ck_assert_ptr_nonnull(strstr(child_err(&c), argv[3]));
	ck_assert_ptr_nonnull(strstr(child_err(&c), argv[5]));
	ck_assert_ptr_nonnull(strstr(child_err(&c), argv[7]));
}
END_TEST
#endif

/* The same error from a start and from --check. */
#define BOTH_REFUSE(says, ...)                                          \
	do {                                                            \
		pen_expect_failure(says, "-f", __VA_ARGS__, NULL);      \
		pen_expect_failure(says, "--check", __VA_ARGS__, NULL); \
	} while (0)

START_TEST(check_finds_what_a_start_refuses)
{
	const char *front = free_front(), *s = "127.0.0.1:9";
	const char *none = scratch("no/such"), *file = scratch("plain");

	write_file(file, "");
	BOTH_REFUSE(text("option -l: \"%s\": No such file", none), "-l", none,
	    front, s);
	BOTH_REFUSE("option -l: \"\": No such file", "-l", "", front, s);
	BOTH_REFUSE("session_log: \"\": neither a destination nor a file", "-O",
	    "session_log \"\"", front, s);
	BOTH_REFUSE(text("option -w: \"%s\": No such file", none), "-w", none,
	    front, s);
	BOTH_REFUSE(text("option -w: \"%s\": Is a directory", scratch(".")),
	    "-w", scratch("."), front, s);
	BOTH_REFUSE(text("\"%s\": No such file", none), "-C", none, front, s);
	BOTH_REFUSE("exists and is not a socket", "-C", file, front, s);
	BOTH_REFUSE(text("\"%s\": No such file", none), none, s);
	BOTH_REFUSE("\"192.0.2.1:8000\": not an address of this host",
	    "192.0.2.1:8000", s);
	BOTH_REFUSE("option --source: \"192.0.2.1\": not an address of "
		    "this host",
	    "--source", "192.0.2.1", front, s);
	BOTH_REFUSE(
	    text("pid file \"%s\": No such file", none), "-p", none, front, s);
	BOTH_REFUSE(
	    "user \"no-such-user\": unknown", "-u", "no-such-user", front, s);
	BOTH_REFUSE(
	    text("directory \"%s\": No such", none), "-j", none, front, s);
	/* below the root to be */
	BOTH_REFUSE("option -w: \"/no/such\": No such file", "-j", scratch("."),
	    "-w", "/no/such", front, s);
	ck_assert_int_eq(mkfifo(scratch("pipe"), 0600), 0);
	ck_assert_int_eq(symlink(file, scratch("link")), 0);
	BOTH_REFUSE("is not a regular file", "-O",
	    text("fit_file %s", scratch("pipe")), front, s);
	BOTH_REFUSE("is not a regular file", "-O",
	    text("fit_file %s", scratch("link")), front, s);
	BOTH_REFUSE("is not a regular file", "-p", scratch("pipe"), front, s);
	ck_assert_int_eq(access(scratch("pipe"), F_OK), 0);
	ck_assert_int_eq(access(scratch("link"), F_OK), 0);
	if (geteuid() != 0)
		return;
	BOTH_REFUSE("refused as root", "-C", free_front(), front, s);
	if (getpwnam("nobody") == NULL)
		return;
	ck_assert_int_eq(mkdir(scratch("fit"), 0700), 0);
	BOTH_REFUSE(text("fit_file: \"%s\": Permission denied",
			scratch("fit/file")),
	    "-u", "nobody", "-O", text("fit_file %s", scratch("fit/file")),
	    front, s);
}
END_TEST

static void
write_bytes(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* A file within a file is not waited for; a start did, without a word. The file
 * itself may be a pipe, for it is named on the command line. */
START_TEST(includes_that_are_no_files)
{
	const char *conf = scratch("conf"), *fifo = scratch("fifo");
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	write_file(conf, text("# 1\ninclude %s\n", fifo));
	pen_expect_failure(
	    text("pen: %s:2: include: \"%s\": is a pipe\n", conf, fifo),
	    "--check", "-F", conf, NULL);
	pen_expect_failure("is a pipe\n", "-f", "-F", conf, NULL);
	if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0)
		SKIP("no terminals here");
	write_file(conf, text("include %s\n", ptsname(terminal)));
	pen_expect_failure("cannot be read without waiting", "--check",
	    "-F", conf, NULL);
	close(terminal);
}
END_TEST

/* The error has the line, and names what editors of another system write. */
START_TEST(files_that_are_no_text)
{
	static const char utf16[] = "\xff\xfe#\0\n\0", big[] = "\xfe\xff\0#";
	const char *conf = scratch("conf");

	write_bytes(conf, "# 1\n# 2\n# 3 \0\n\0", 15);
	pen_expect_failure(
	    text("pen: \"%s\": contains a NUL byte in line 3\n", conf),
	    "--check", "-F", conf, NULL);
	write_bytes(conf, "\0", 1);
	pen_expect_failure("contains a NUL byte in line 1\n", "--check", "-F",
	    conf, NULL);
	write_bytes(conf, utf16, sizeof(utf16));
	pen_expect_failure("is in UTF-16: save it in UTF-8\n", "--check", "-F",
	    conf, NULL);
	write_bytes(conf, big, sizeof(big));
	pen_expect_failure("is in UTF-16: save it in UTF-8\n", "--check", "-F",
	    conf, NULL);
}
END_TEST

static void
expect_group(const char *front, const char *server)
{
	const char *argv[] = { getenv("PEN"), "--check", "-U", front, server,
		NULL };
	struct child c;

	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c), "is a multicast group"));
}

/* A datagram to a group that this host has joined comes back to the wildcard
 * address, and becomes a datagram of another client: 7,460 flows in a second.
 * A listener with an address of its own gets none. */
START_TEST(pen_is_no_member_of_a_group)
{
	static const char *const groups[] = { "224.0.0.1", "239.1.2.3",
		"[::ffff:224.0.0.1]" };
	const char *front = free_front(), *port = strrchr(front, ':') + 1;
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		pen_expect_failure("leads to pen's own listening", "-U",
		    "--check", text("0.0.0.0:%s", port),
		    text("%s:%s", groups[i], port), NULL);
		pen_expect_failure("leads to pen's own listening", "-U",
		    "--check", text("0.0.0.0:%s", port), groups[i], NULL);
		expect_group(front, text("%s:%s", groups[i], port));
		expect_group(
		    text("0.0.0.0:%s", port), text("%s:9", groups[i]));
	}
	pen_expect_failure("leads to pen's own listening", "-U", "--check",
	    text("[::]:%s", port), text("[ff02::1%%lo]:%s", port), NULL);
}
END_TEST

/* However the address is written: each client would come to it again. */
START_TEST(pen_is_no_server_of_its_own)
{
	static const char *const hosts[] = { "0.0.0.0", "[::ffff:127.0.0.1]",
		"127.0.0.1" };
	const char *front = free_front(), *port = strrchr(front, ':') + 1;
	const char *itself = "is pen's own listening address", *file, *other;
	size_t i;

	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		BOTH_REFUSE(itself, front, text("%s:%s", hosts[i], port));
	BOTH_REFUSE(itself, port, text("0.0.0.0:%s", port));
	BOTH_REFUSE(itself, front, "127.0.0.1:0");
	BOTH_REFUSE(itself, text("[::ffff:127.0.0.1]:%s", port), front);
	BOTH_REFUSE(itself, "-U", front, "127.0.0.1:0");
	file = scratch("itself");
	other = text("%.*s/./itself", (int)(strrchr(file, '/') - file), file);
	BOTH_REFUSE(itself, file, other);
}
END_TEST

/* What it takes itself it cannot take again. */
START_TEST(addresses_of_its_own)
{
	const char *front = free_front(), *port = strrchr(front, ':') + 1;
	const char *s = "127.0.0.1:9", *path = scratch("twice");

	if (geteuid() == 0 && getpwnam("nobody") != NULL)
		BOTH_REFUSE("address already in use", "-u", "nobody", "-C",
		    front, front, s);
	BOTH_REFUSE("address already in use", "--web", front, front, s);
	pen_expect_failure(
	    text("\"%s\": address already in use, by \"%s\" of this "
		 "configuration\n",
		front, front),
	    "--check", "--web", front, front, s, NULL);
	BOTH_REFUSE("address already in use", "-C", path, path, s);
	BOTH_REFUSE("address already in use", "-C", path, "--web", path, front,
	    s);
#ifdef __linux__ /* elsewhere both can */
	BOTH_REFUSE("address already in use",
	    text("0.0.0.0:%s,%s", port, front), s);
#else
	(void)port;
#endif
}
END_TEST

/* What is of no use is taken, but not in silence. */
START_TEST(warnings_are_said)
{
	static const char *const lines[] = {
		"option -T has no effect while clients are not remembered\n",
		"option --hash-prefix6 has no effect without hash\n",
		"option --udp-timeout has no effect without udp\n",
		"option --udp-responses has no effect without udp\n",
		"option --udp-requests has no effect without udp\n",
		"option --udp-fail has no effect without udp or dns\n",
		"option --dns-retry has no effect without dns\n",
		"option --dsr-ip has no effect without dsr_if\n",
		"option --check-rise has no effect without check\n",
		("option -B has no effect while access list 0 denies no "
		 "client\n"),
		"server 0: max 5 has no effect with hard 3\n",
		"server 1 is the same as server 0: 127.0.0.1:9\n"
	};
	const char *argv[] = { getenv("PEN"), "--check", "-r", "-T", "60",
		"--hash-prefix6", "48", "--udp-timeout", "5", "--udp-responses",
		"1", "--udp-requests", "1", "--udp-fail", "1", "--dns-retry",
		"5", "--dsr-ip", "10.0.0.2", "--check-rise", "3", "-B",
		"127.0.0.1:8", free_front(), "127.0.0.1:9:5:3", "127.0.0.1:9",
		NULL };
	struct child c;
	size_t i;

	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(child_err(&c), lines[i]) != NULL,
		    "no \"%s\" in: %s", lines[i], child_err(&c));
}
END_TEST

/* What others may reach is open to them while no list is named. */
START_TEST(open_to_everybody)
{
	const char *control = "0.0.0.0:47011", *web = "0.0.0.0:47012";
	const char *argv[] = { getenv("PEN"), "--check", "-u", "nobody", "-C",
		control, "--web", web, free_front(), "127.0.0.1:9", "--web-acl",
		"-1", "-O", "tcp_nodelay", NULL };
	struct child c;

	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    "control 0.0.0.0:47011: all clients that can reach it have the "
	    "level admin, because list 0 (control_acl) is empty\n"));
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    "web 0.0.0.0:47012: without web_acl, all clients that can reach "
	    "it can read it\n"));
	argv[11] = "0";
	argv[13] = "acl 0 permit 10.0.0.0/8";
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_ptr_null(strstr(child_err(&c), "all clients that can"));
	argv[5] = "127.0.0.1:47011";
	argv[7] = "47012";
	argv[10] = NULL;
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_ptr_null(strstr(child_err(&c), "all clients that can"));
}
END_TEST

/* What is written of a server and a file by habit, and would be taken for
 * something that no server has. */
START_TEST(what_is_no_server)
{
	static const char *const lines[][2] = {
		{ "http://web1",
		    "\"http://web1\": write web1, without http://" },
		{ "web1:80", "\"web1:80\": write address web1 port 80\n" },
		{ "[::1]:80", "\"[::1]:80\": write address ::1 port 80\n" },
		{ "::1:80", "\"::1:80\": write address ::1 port 80\n" },
		{ "[::1]", "\"[::1]\": write ::1, without brackets\n" },
		{ "8000", "\"8000\": a port without a host, such as "
			  "address 127.0.0.1 port 8000\n" },
	};
	const char *front = free_front(), *file = scratch("servers.conf");
	size_t i;

	BOTH_REFUSE("server \"8000\": a port without a host, such as "
		    "127.0.0.1:8000\n",
	    front, "8000");
	BOTH_REFUSE("server \"::1:80\": an IPv6 address needs brackets: "
		    "[::1]:80\n",
	    front, "::1:80");
	BOTH_REFUSE("server \"web1:80/\": write web1:80, without /\n", front,
	    "web1:80/");
	BOTH_REFUSE("listening address \"*:80/a/b\": write *:80, without "
		    "/a/b\n",
	    "*:80/a/b", "127.0.0.1:9");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		write_file(file, text("server 0 address %s\n", lines[i][0]));
		BOTH_REFUSE(text("%s:1: server: %s", file, lines[i][1]), "-F",
		    file, front);
	}
	/* -f is the option for that in other programs */
	BOTH_REFUSE(text("\"%s\" is a file, not a listening address (-F %s "
			 "reads it)\n",
			file, file),
	    "-f", file);
	pen_expect_failure("pen --help lists the options", "-h", NULL);
}
END_TEST

/* These look similar, and are servers. */
START_TEST(what_is_a_server)
{
	const char *argv[] = { getenv("PEN"), "--check", free_front(), "0:9",
		"[::1]:9", "::1", "::ffff:127.0.0.2", "./web1:80/x",
		"@web1:80/x", "localhost:9", NULL };
	struct child c;

	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_str_eq(child_err(&c), "");
}
END_TEST

/* A command line that becomes a file: some commands have other names than their
 * options, and some options have none. */
START_TEST(options_in_a_file)
{
	static const char *const lines[][2] = {
		{ "user nobody", "\"user\" (only an option: --user)" },
		{ "pid_file /x", "\"pid_file\" (only an option: --pid-file)" },
		{ "check-servers connect",
		    "\"check-servers\" (did you mean check?)" },
		{ "--web 80", "\"--web\" (did you mean web?)" },
		{ "round-robin", "\"round-robin\" (did you mean roundrobin?)" },
		{ "stop", "\"stop\" (did you mean shutdown?)" },
		{ "servr 0", "\"servr\" (did you mean server?)" },
		{ "-r", "\"-r\"" },
	};
	const char *front = free_front(), *file = scratch("lines.conf");
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		write_file(file, text("%s\n", lines[i][0]));
		pen_expect_failure(
		    text("%s:1: unknown command %s\n", file, lines[i][1]), "-F",
		    file, front, "127.0.0.1:9", NULL);
	}
}
END_TEST

/* The last address is the one that listens; the others are not, in silence. */
START_TEST(listen_that_is_replaced)
{
	const char *conf = scratch("listen.conf"), *front = free_front(),
		   *other = free_front();
	const char *argv[] = { getenv("PEN"), "--check", "-F", conf, front,
		"127.0.0.1:9", NULL };
	struct child c;

	write_file(conf, text("listen %s\nlisten %s\n", other, free_front()));
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("%s:1: listen %s replaces %s of the command line\n", conf,
		other, front)));
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("%s:2: listen was set in line 1 already; this one applies\n",
		conf)));
	/* the same address; a section has its own */
	write_file(conf,
	    text("listen %s\nservice b\nlisten %s\n"
		 "server 0 address 127.0.0.1 port 9\n",
		front, other));
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_str_eq(child_err(&c), "");
}
END_TEST

/* Lines that are taken otherwise than they look. */
START_TEST(lines_that_mislead)
{
	static const char *const lines[] = {
		":1: begins with a byte order mark, which is ignored\n",
		":2: the backslash makes the next line part of this comment\n",
		":4: the backslash before a carriage return does not ",
		":6: timeout was set in line 1 already; this one applies\n",
		":8: server 0 was set in line 7 already; this one applies\n",
	};
	const char *conf = scratch("lines.conf");
	const char *argv[] = { getenv("PEN"), "--check", "-F", conf,
		free_front(), NULL };
	struct child c;
	size_t i;

	write_file(conf,
	    "\357\273\277timeout 4\n"
	    "# a comment \\\n"
	    "acl 1 deny 10.0.0.0/8\n"
	    "# another \\\r\n"
	    "blacklist 3\n"
	    "timeout 5\n"
	    "server 0 address 127.0.0.1 port 9\n"
	    "server 0 address 127.0.0.2 port 9\n"
	    "server 0 max 5\n");
	child_start(&c, argv);
	ck_assert_msg(
	    child_wait(&c, 10000) == 0, "it says: %s", child_err(&c));
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(child_err(&c),
				  text("%s%s", conf, lines[i])) != NULL,
		    "no \"%s\" in: %s", lines[i], child_err(&c));
}
END_TEST

/* As an editor or a full disk leaves it; a file of entries is the same. */
START_TEST(file_without_end_is_reported)
{
	static const struct {
		const char *end, *says;
	} ends[] = {
		{ "timeout 27", ":2: the last line has no newline: is" },
		{ "# a comment", ":2: the last line has no newline: is" },
		{ "timeout 27 \\\n", ":2: the backslash continues the last " },
		{ "timeout 27 \\", ":2: the last line has no newline: is" },
		{ "timeout 27\n", NULL },
		{ "timeout 27\n\n", NULL },
	};
	const char *conf = scratch("cut.conf"), *list = scratch("list");
	const char *argv[] = { getenv("PEN"), "--check", "-F", conf,
		free_front(), "127.0.0.1:9", NULL };
	struct child c;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		write_file(conf, text("blacklist 3\n%s", ends[i].end));
		child_start(&c, argv);
		child_wait(&c, 10000);
		if (ends[i].says != NULL)
			ck_assert_ptr_nonnull(strstr(
			    child_err(&c), text("%s%s", conf, ends[i].says)));
		else
			ck_assert_str_eq(child_err(&c), "");
	}
	write_file(conf, text("acl 1 permit file %s\nclient_acl 1\n", list));
	write_file(list, "10.0.0.0/8\n192.0.2.0/24");
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("acl: the last line has no newline acl=1 file=%s", list)));
}
END_TEST

/* The last colon could be that of a port. */
START_TEST(address_that_looks_like_a_port_is_reported)
{
	static const struct {
		const char *words;
		bool warned;
	} servers[] = {
		{ "address 2001:db8::12:6443", true },
		{ "max 3 address ::ffff:8080", true },
		{ "address 2001:db8::12:6443 port 6443", false },
		{ "address 2001:db8::12", false },
		{ "address 2001:db8::12:beef", false },
		{ "address 2001:db8:1:2:3:4:5:6443", false },
	};
	const char *conf = scratch("v6.conf");
	const char *argv[] = { getenv("PEN"), "--check", "-F", conf,
		free_front(), NULL };
	struct child c;
	size_t i;

	for (i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		write_file(conf, text("server 0 %s\n", servers[i].words));
		child_start(&c, argv);
		child_wait(&c, 10000);
		ck_assert_msg(
		    (strstr(child_err(&c), text("%s:1: server 0: ", conf)) !=
			    NULL &&
			strstr(child_err(&c),
			    "is an address without a port (for port ") !=
			    NULL) == servers[i].warned,
		    "%s: %s", servers[i].words, child_err(&c));
	}
}
END_TEST

/* What is read once is not read again, as it would be empty then. */
START_TEST(file_from_standard_input)
{
	const char *front = free_front(), *ctl = scratch("ctl");
	const char *conf = scratch("in.conf"), *script = scratch("run");
	const char *argv[] = { "sh", script, NULL };
	struct endpoint at;
	struct child c;

	endpoint_new(&at, ENDPOINT_UNIX);
	ctl = at.text;
	write_file(conf, text("listen %s\ndummy\ncontrol %s\n", front, ctl));
	write_file(script, text("exec \"$PEN\" -f -F - <%s\n", conf));
	child_start(&c, argv);
	WAIT_FOR(endpoint_path_listens(ctl), 10000);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&at, "reload\n"), "cannot be read again"));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&at, "upgrade\n"), "cannot be read again"));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&at, "diff\n"), "cannot be read again"));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&at, "write\n"), "started with -F -"));
	ck_assert_ptr_nonnull(strstr(endpoint_ask(&at, "listen\n"), front));
	ck_assert_int_eq(child_stop(&c, SIGTERM), 0);
}
END_TEST

/* It would be started again beside its successor, for ever. */
START_TEST(supervised_process_is_not_upgraded)
{
	const char *front = free_front();
	const char *program = scratch_program(
	    "runsv", "\"$PEN\" -f -C \"$1\" \"$2\" 127.0.0.1:9 & wait\n");
	const char *words[] = { program, NULL, front, NULL };
	struct endpoint at;
	struct child c;

	if (access("/proc/self/comm", R_OK) != 0)
		SKIP("needs /proc");
	endpoint_new(&at, ENDPOINT_UNIX);
	words[1] = at.text;
	child_start(&c, words);
	WAIT_FOR(endpoint_path_listens(at.text), 10000);
	ck_assert_str_eq(endpoint_ask(&at, "upgrade\n"),
	    "error: upgrade: runsv would start pen again when this process "
	    "ends: let it restart pen\n");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&at, "shutdown 0.001\n"), "stopping"));
	ck_assert_int_eq(child_wait(&c, 10000), 0);
}
END_TEST

/* They are not those of the section before. */
START_TEST(lines_of_no_section_are_skipped)
{
	const char *conf = scratch("no.conf"), *in = scratch("in.conf");
	const char *argv[] = { getenv("PEN"), "--check", "-F", conf, NULL };
	static const char *const names[] = { "a23456789.123456789.123456789.12",
		"1st", "add" };
	struct child c;
	size_t i;

	write_file(in, "service 2nd\nwrong too\n");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		write_file(conf,
		    text("service web\nlisten %s\ndummy\n"
			 "include %s\ntimeout x\n"
			 "service %s\nlisten 127.0.0.1:1\nwrong\nlog /x\n"
			 " service web\ntimeout y\n",
			free_front(), in, names[i]));
		child_start(&c, argv);
		ck_assert_int_eq(child_wait(&c, 10000), 1);
		ck_assert_msg(count_in(child_err(&c), "\n") == 4 &&
			count_in(child_err(&c), "not a valid name") == 2,
		    "%s", child_err(&c));
		ck_assert_ptr_nonnull(strstr(child_err(&c), "\"x\" is not a"));
		ck_assert_ptr_nonnull(strstr(child_err(&c), "\"y\" is not a"));
	}
}
END_TEST

START_TEST(warnings_about_tls)
{
	const char *conf = scratch("doubts.conf");
	const char *argv[] = { getenv("PEN"), "--check", "-F", conf,
		free_front(), "127.0.0.1:9", NULL };
	struct child c;

	write_file(conf, "ssl_upstream_name x\nssl_upstream_key y\n");
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("%s:1: ssl_upstream_name has no effect without ssl_upstream "
		 "or server N tls on\n",
		conf)));
	ck_assert_ptr_nonnull(strstr(
	    child_err(&c), text("%s:2: ssl_upstream_key has no effect", conf)));
}
END_TEST

static int
check_status(const char *front, const char *ctl)
{
	const char *argv[] = { getenv("PEN"), "--check", "-l",
		scratch("check.log"), "-w", scratch("check.html"), "-p",
		scratch("check.pid"), "-C", ctl, "--source", "127.0.0.1", front,
		"127.0.0.1:9", NULL };
	struct child c;

	child_start(&c, argv);
	return child_wait(&c, 10000);
}

/* Also beside a pen that has all of it already. */
START_TEST(check_leaves_no_trace)
{
	struct endpoint front, ctl;
	struct pen pen;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	ck_assert_int_eq(check_status(front.text, ctl.text), 0);
	ck_assert_int_ne(access(scratch("check.log"), F_OK), 0);
	ck_assert_int_ne(access(scratch("check.html"), F_OK), 0);
	ck_assert_int_ne(access(scratch("check.pid"), F_OK), 0);
	ck_assert_int_ne(access(ctl.text, F_OK), 0);
	pen_up(&pen, &front, "-l", scratch("check.log"), "-p",
	    scratch("check.pid"), "-C", ctl.text, front.text, "127.0.0.1:9",
	    NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	ck_assert_int_eq(check_status(front.text, ctl.text), 0);
	ck_assert_str_eq(endpoint_ask(&ctl, "blacklist\n"), "30\n");
	pen_down(&pen);
}
END_TEST

/* Nothing is printed then, from a buffer without memory. */
START_TEST(explain_of_no_client)
{
	pen_expect_failure("\"nobody\" is not a client", "--explain", "nobody",
	    "8080", "127.0.0.1:80", NULL);
}
END_TEST

/* Routes that are not in force yet count, too. */
START_TEST(explain_of_a_route)
{
	const char *out = run_program(20000, getenv("PEN"), "--explain",
	    "10.0.0.1 sni a.test", "-r", "-O", "route sni a.test 1", "8080",
	    "127.0.0.1:80", "127.0.0.1:81", NULL);

	ck_assert_ptr_nonnull(strstr(out, "\nserver 1\n"));
	ck_assert_ptr_nonnull(strstr(out, "\nroute \"sni a.test\"\n"));
}
END_TEST

START_TEST(explain_of_a_service)
{
	const char *conf = scratch("services.conf"), *out;

	write_file(conf,
	    "service mail\nlisten 127.0.0.1:8025\nroundrobin\n"
	    "route sni a.test 4\nserver 4 address 127.0.0.1 port 25\n");
	out = run_program(20000, getenv("PEN"), "--explain",
	    "service mail 10.0.0.1 sni a.test", "-F", conf, NULL);
	ck_assert_msg(strstr(out, "\nserver 4\n") != NULL, "%s", out);
	ck_assert_ptr_nonnull(strstr(out, "\nroute \"sni a.test\"\n"));
	pen_expect_failure("there is no service \"web\"", "--explain",
	    "service web 10.0.0.1", "-F", conf, NULL);
}
END_TEST

SUITE(test_options)
{
	Suite *s = suite_create("options");

	SUITE_ADD(s, unknown_option, 10);
	SUITE_ADD(s, options_behind_operands, 30);
	SUITE_ADD(s, habits_of_other_programs, 30);
	SUITE_ADD(s, output_that_is_full, 30);
	SUITE_ADD(s, missing_operands, 10);
	SUITE_ADD(s, bad_numbers, 10);
	SUITE_ADD(s, bad_ports, 10);
	SUITE_ADD(s, host_that_does_not_resolve, 60);
	SUITE_ADD(s, path_too_long, 10);
	SUITE_ADD(s, path_that_is_no_socket, 10);
	SUITE_ADD(s, nothing_left_behind, 10);
	SUITE_ADD(s, unusable_files_and_users, 10);
	SUITE_ADD(s, bad_commands, 10);
	SUITE_ADD(s, tls_option_needs_a_certificate, 30);
	SUITE_ADD(s, tls_error_names_its_place, 20);
	SUITE_ADD(s, tls_versions_leave_one, 20);
	SUITE_ADD(s, help_and_version, 10);
	SUITE_ADD(s, obsolete_options, 10);
	SUITE_ADD(s, options_together, 10);
	SUITE_ADD(s, event_methods, 10);
	SUITE_ADD(s, check_says_all, 40);
#if defined(HAVE_OPENSSL) && defined(HAVE_MAXMINDDB)
	SUITE_ADD(s, check_says_all_kinds, 10);
#endif
	SUITE_ADD(s, check_finds_what_a_start_refuses, 60);
	SUITE_ADD(s, pen_is_no_member_of_a_group, 30);
	SUITE_ADD(s, includes_that_are_no_files, 20);
	SUITE_ADD(s, files_that_are_no_text, 20);
	SUITE_ADD(s, pen_is_no_server_of_its_own, 60);
	SUITE_ADD(s, addresses_of_its_own, 60);
	SUITE_ADD(s, warnings_are_said, 20);
	SUITE_ADD(s, what_is_no_server, 60);
	SUITE_ADD(s, what_is_a_server, 20);
	SUITE_ADD(s, options_in_a_file, 20);
	SUITE_ADD(s, listen_that_is_replaced, 20);
	SUITE_ADD(s, lines_that_mislead, 30);
	SUITE_ADD(s, file_without_end_is_reported, 30);
	SUITE_ADD(s, lines_of_no_section_are_skipped, 30);
	SUITE_ADD(s, address_that_looks_like_a_port_is_reported, 30);
	SUITE_ADD(s, file_from_standard_input, 30);
	SUITE_ADD(s, supervised_process_is_not_upgraded, 30);
	SUITE_ADD(s, open_to_everybody, 20);
	SUITE_ADD(s, warnings_about_tls, 20);
	SUITE_ADD(s, check_leaves_no_trace, 30);
	SUITE_ADD(s, explain_of_no_client, 10);
	SUITE_ADD(s, explain_of_a_service, 30);
	SUITE_ADD(s, explain_of_a_route, 30);
	return s;
}
