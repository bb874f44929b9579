/* test_check_errors.c: all errors of a file in one round, each with its line;
 * and none that only follows from another one. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 20000, MOST = 50 };

static const char *conf;

static const char *
free_front(void)
{
	struct endpoint at;

	endpoint_new(&at, ENDPOINT_TCP4);
	return text("%s", at.text);
}

/* What `pen MODE -F conf`, with two more words or NULL, prints; it ends with
 * status 1. */
static const char *
refused(const char *mode, const char *option, const char *value)
{
	const char *argv[] = { getenv("PEN"), mode, "-F", conf, option, value,
		NULL };
	static struct child c;

	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, SOON), 1);
	ck_assert_str_eq(child_out(&c), "");
	return child_err(&c);
}

static void
has_line(const char *out, unsigned number, const char *what)
{
	const char *line = text("pen: %s:%u: %s", conf, number, what);

	ck_assert_msg(
	    strstr(out, line) != NULL, "no \"%s\" in:\n%s", line, out);
}

static void
begin(const char *lines)
{
	conf = scratch("pen.conf");
	write_file(
	    conf, text("listen %s\nserver 0 address 127.0.0.1 port 9\n%s",
		free_front(), lines));
}

/* Found in different ways: while lines are read, when all are, and when it is
 * tried what a start would open. */
START_TEST(eleven_in_one_round)
{
	const char *out, *no = scratch("no/such");

	begin(text("client_acl office\nssl_cert %s\n"
		   "server 1 address nohost.invalid port 80\nfit_file %s\n"
		   "log %s\nsession_log %s\non_state %s\n"
		   "server 0 acl nobody\ncheck exec %s\nblance leastconn\n"
		   "server 0 weigth 5\n",
	    no, no, no, no, no, no));
	out = refused("--check", NULL, NULL);
	has_line(out, 3, "client_acl: there is no access list \"office\"");
	has_line(out, 4, text("ssl_cert: \"%s\": No such file", no));
	has_line(out, 5, "server \"nohost.invalid\": ");
	has_line(out, 6, text("fit_file: \"%s\": No such file", no));
	has_line(out, 7, text("log: \"%s\": No such file", no));
	has_line(out, 8, text("session_log: \"%s\": No such file", no));
	has_line(out, 9, text("on_state: \"%s\": No such file", no));
	has_line(out, 13, "server: \"weigth\": expected acl, ");
	has_line(out, 11, text("check: exec: \"%s\": No such file", no));
	has_line(out, 12, "unknown command \"blance\" (did you mean balance?)");
	ck_assert_ptr_nonnull(
	    strstr(out, "there is no access list \"nobody\""));
	ck_assert_int_eq(count_in(out, "\n"), 11);
}
END_TEST

/* Each of several services, and of several certificates; an included file. */
START_TEST(of_each_service)
{
	const char *out, *more = scratch("more.conf"), *no = scratch("no.pem");

	write_file(more, "timeout\nserver 0 prt 4\nfrob\n");
	begin(text("service web\nlisten %s\nserver 0 address a.invalid port 1\n"
		   "ssl_cert %s\nservice mail\nlisten %s\nssl_cert %s\n"
		   "server 0 address b.invalid port 1\ninclude %s\n",
	    free_front(), no, free_front(), no, more));
	out = refused("--check", NULL, NULL);
	ck_assert_ptr_nonnull(strstr(
	    out, text("service web: %s:5: server \"a.invalid\"", conf)));
	ck_assert_ptr_nonnull(strstr(
	    out, text("service mail: %s:10: server \"b.invalid\"", conf)));
	ck_assert_ptr_nonnull(
	    strstr(out, text("service web: %s:6: ssl_cert", conf)));
	ck_assert_ptr_nonnull(
	    strstr(out, text("service mail: %s:9: ssl_cert", conf)));
	has_line(out, 11, text("include: %s:2: server: \"prt\"", more));
	has_line(out, 11, text("include: %s:3: unknown", more));
	ck_assert_int_eq(count_in(out, "\n"), 6);
	write_file(conf, text("listen %s\nservice web\nlisten %s\n"
			      "service mail\nlisten %s\n",
			     free_front(), free_front(), free_front()));
	out = refused("--check", NULL, NULL);
	ck_assert_ptr_nonnull(strstr(out, "service web: no server"));
	ck_assert_ptr_nonnull(strstr(out, "service mail: no server"));
}
END_TEST

static void
is_alone(const char *lines, unsigned number, const char *what)
{
	const char *out;

	begin(lines);
	out = refused("--check", NULL, NULL);
	has_line(out, number, what);
	ck_assert_msg(count_in(out, "\n") == 1, "%s", out);
}

/* The line that is wrong would have set, or defined, what others need. */
START_TEST(none_is_invented)
{
	is_alone("acl office permit nowhere.invalid/x\nclient_acl office\n"
		 "server 0 acl office\n",
	    3, "acl: ");
	is_alone("include /no/acls.conf\nclient_acl office\n", 3, "include: ");
	is_alone("server 7 address 127.0.0.1 prt 9\nserver 7 max 5\n", 3,
	    "server: \"prt\"");
	is_alone("ssl_cert a b c\nssl_require\nssl_min tls1.2\n", 3,
	    "ssl_cert: ");
	is_alone("service web\nlisten 127.0.0.1:x\n"
		 "server 0 address 127.0.0.1 port 9\n",
	    4, "listen: ");
	is_alone("service web\nlisten 127.0.0.1:1\nserver 0 addr 127.0.0.1\n",
	    5, "server: \"addr\"");
}
END_TEST

/* Its lines are not those of the section before, and a later one is checked. */
START_TEST(section_with_a_wrong_name)
{
	const char *out;

	begin("service 1x\nlisten 127.0.0.1:x\nfrobnicate\n"
	      "acl office permit 10.0.0.1\nservice web\nclient_acl office\n"
	      "blance x\n");
	out = refused("--check", NULL, NULL);
	has_line(out, 3, "service: \"1x\" is not a valid name (");
	ck_assert_ptr_nonnull(strstr(out, "(its section is not checked)\n"));
	has_line(out, 9, "unknown command \"blance\"");
	ck_assert_int_eq(count_in(out, "\n"), 2);
}
END_TEST

START_TEST(fifty_and_a_line)
{
	char lines[60 * 8] = "";
	const char *out;
	int i;

	for (i = 0; i < 57; i++)
		strcat(lines, "frob\n");
	begin(lines);
	out = refused("--check", NULL, NULL);
	has_line(out, 3, "unknown command \"frob\"");
	has_line(out, MOST + 2, "unknown command \"frob\"");
	ck_assert_ptr_null(strstr(out, text("%s:%d:", conf, MOST + 3)));
	ck_assert_ptr_nonnull(strstr(out, "\npen: 7 more errors\n"));
	ck_assert_int_eq(count_in(out, "\n"), MOST + 1);
}
END_TEST

/* A start prints those of lines, too, and both print those of options. */
START_TEST(start_and_command_line)
{
	static const char *const modes[] = { "-f", "--check" };
	const char *out;
	size_t i;

	begin("client_acl office\ntarpit_acl guests\nfrob\n");
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		out = refused(modes[i], "-O", "tracking x");
		ck_assert_ptr_nonnull(strstr(out, "pen: tracking: \"x\" is "));
		has_line(out, 3, "client_acl: there is no access list");
		has_line(out, 4, "tarpit_acl: there is no access list");
		has_line(out, 5, "unknown command");
		ck_assert_int_eq(count_in(out, "\n"), 4);
	}
}
END_TEST

/* The running pen answers all lines, and stays as it is. */
START_TEST(reload_and_include)
{
	struct endpoint ctl, at;
	struct backend b;
	struct pen pen;
	const char *out;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&at, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	write_file(conf, "");
	pen_up(&pen, &ctl, "-C", ctl.text, "-F", conf, at.text, b.at.text,
	    NULL);
	write_file(conf, "timeout 9\nfrob\ntimeout x\nfrob\n");
	out = text("%s", endpoint_ask(&ctl, "reload\n"));
	ck_assert_str_eq(out,
	    text("error: reload: %s:2: unknown command \"frob\"\n"
		 "error: reload: %s:3: timeout: \"x\" is not a valid duration "
		 "(5, 0.5, 200ms, 5m, 2h)\n"
		 "error: reload: %s:4: unknown command \"frob\"\n",
		conf, conf, conf));
	out = text("%s", endpoint_ask(&ctl, text("include %s\n", conf)));
	ck_assert_int_eq(count_in(out, "error: include: "), 3);
	write_file(conf, "timeout 9\nclient_acl a\ntarpit_acl b\n");
	out = text("%s", endpoint_ask(&ctl, "reload\n"));
	ck_assert_int_eq(count_in(out, ": there is no access list"), 2);
	write_file(conf, "frob\ntimeout\nfrob2\n");
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(child_has_said(&pen.child, "pen.conf:3: unknown"), SOON);
	ck_assert_ptr_nonnull(strstr(child_err(&pen.child),
	    text("not reloaded error=\"reload: %s:1: unknown", conf)));
	ck_assert_str_eq(endpoint_ask(&ctl, "timeout\n"), "3\n");
	ck_assert_str_eq(endpoint_ask(&at, ""), "hello");
	write_file(conf, "timeout 9\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	ck_assert_str_eq(endpoint_ask(&ctl, "timeout\n"), "9\n");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_check_errors)
{
	Suite *s = suite_create("check errors");

	SUITE_ADD(s, eleven_in_one_round, 60);
	SUITE_ADD(s, of_each_service, 60);
	SUITE_ADD(s, none_is_invented, 60);
	SUITE_ADD(s, section_with_a_wrong_name, 60);
	SUITE_ADD(s, fifty_and_a_line, 60);
	SUITE_ADD(s, start_and_command_line, 60);
	SUITE_ADD(s, reload_and_include, 60);
	return s;
}
