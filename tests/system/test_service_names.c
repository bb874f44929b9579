/* test_service_names.c: every row of the language, taken from pen's own help,
 * behind a service's name, without one, and with a wrong one: it acts on what
 * it names, or is refused. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/child.h"
#include "support/ctl.h"
#include "support/penrun.h"
#include "support/suite.h"

enum { ROWS = 400, MINUTES = 120 };

#define OF_PROCESS "applies to the whole process, not to one service"
#define NEEDS_NAME "the service default has no listening address: add a name"

static struct endpoint shop, mail, ctl;
static struct pen pen;
static struct child c;
static const char *conf, *rows[ROWS];
static int count;

/* ---- what there is ---- */

static const char *
sections(const char *first, const char *more)
{
	return text("%sservice shop\nlisten %s\n"
		    "server 0 address 127.0.0.1 port 9\n%s"
		    "service mail\nlisten %s\n"
		    "server 0 address 127.0.0.1 port 9\n",
	    first, shop.text, more, mail.text);
}

static const char *
ask(const char *line)
{
	return pen_ask(&ctl, line);
}

/* The first words of lines that are not indented. */
static void
read_rows(void)
{
	const char *at = ask("help");

	for (count = 0; *at != '\0'; at += strcspn(at, "\n"), at += *at != '\0')
		if (*at != ' ') {
			ck_assert_int_lt(count, ROWS);
			rows[count++] =
			    text("%.*s", (int)strcspn(at, " \n"), at);
		}
	ck_assert_int_gt(count, 150);
}

static void
begin(const char *first)
{
	endpoint_new(&shop, ENDPOINT_TCP4);
	endpoint_new(&mail, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	write_file(conf, sections(first, ""));
	pen_up(&pen, &mail, "-C", ctl.text, "-F", conf, NULL);
	read_rows();
}

/* All that the service shop is not. */
static const char *
the_rest(void)
{
	static const char all[] = "show settings; servers; listen; route; "
				  "emergency; abuse; acls; control; pid";

	return text("%s%s",
	    ask(text("service mail; %s; service default; show settings; "
		     "servers; abuse; emergency; route",
		all)),
	    contents(conf));
}

static bool
is(const char *row, const char *const *list)
{
	while (*list != NULL && strcmp(row, *list) != 0)
		list++;
	return *list != NULL;
}

/* ---- on the control socket ---- */

static const char *const words[] = { "", " 1", " json", " 127.0.0.1:9",
	" all drain", " counters", NULL };

/* Looked at behind each of the words, with light loads behind the last one. */
static bool
is_as_before(const char *before, int word)
{
	return (suite_is_light() && words[word + 1] != NULL) ||
	    strcmp(the_rest(), before) == 0;
}

START_TEST(name_is_obeyed)
{
	static const char *const of_process[] = { "acl", "acls", "control",
		"debug", "diff", "exit", "help", "log", "peers", "pid",
		"prompt", "quit", "reload", "services", "shutdown", "upgrade",
		"web", "workers", "write", NULL };
	const char *before, *reply;
	int i, k = 0, refused = 0;

	begin(_i > 0 ? "workers 2\n" : "");
	before = the_rest();
	for (i = 0; i < count; i++)
		for (k = 0; words[k] != NULL; k++) {
			reply =
			    ask(text("service shop %s%s", rows[i], words[k]));
			ck_assert_msg(is_as_before(before, k) &&
				(!is(rows[i], of_process) ||
				    strstr(reply, OF_PROCESS) != NULL),
			    "service shop %s%s: %s", rows[i], words[k], reply);
			refused += strstr(reply, OF_PROCESS) != NULL;
		}
	ck_assert_int_gt(refused, 30 * k);
	ck_assert_ptr_nonnull(strstr(ask("service shop shutdown"),
	    "(give it without \"service shop\")"));
	pen_down(&pen);
}
END_TEST

/* Reports of the process are printed, and the session can end. */
START_TEST(chosen_service_is_obeyed)
{
	static const char *const acts[] = { "acl 1 permit 10.0.0.1", "debug 3",
		"exit", "log off", "reload", "shutdown", "upgrade", "workers 1",
		"write", NULL };
	static const char *const reports[] = { "acls", "debug", "diff", "help",
		"pid", "services", "quit", NULL };
	const char *before;
	int i;

	begin("");
	before = the_rest();
	for (i = 0; acts[i] != NULL; i++)
		pen_answers(&ctl, text("service shop; %s", acts[i]),
		    OF_PROCESS " (give it after \"service default\")");
	for (i = 0; reports[i] != NULL; i++)
		ck_assert_ptr_null(strstr(
		    ask(text("service shop; %s", reports[i])), "error: "));
	ck_assert_str_eq(the_rest(), before);
	ck_assert_str_eq(ask("service default; debug 0"), "0\n");
	pen_answers(&ctl, "service default debug 0", OF_PROCESS);
	pen_answers(&ctl, "prompt", "pen> ");
	pen_down(&pen);
}
END_TEST

/* What is of a service changes or reports nothing where there is none. */
START_TEST(name_is_needed)
{
	static const char *const acts[] = { "server all drain",
		"server all drain wait 1", "server add 127.0.0.1:1",
		"server 0 weight 2", "idle_timeout 5m", "balance leastconn",
		"no sticky", "client_acl 1", "check connect", "no route",
		"emergency 127.0.0.1:1", "clear counters", "rebalance 10",
		"connections", "connections json", "recent json", "flows",
		"close 0", "client 10.0.0.1", "top clients", "dsr takeover",
		"explain 10.0.0.1", "listen", "listen json", "status json",
		"mode", NULL };
	/* of the process without a name: all services that have none of their
	 * own follow them */
	static const char *const of_all[] = { "listen", "log_sample",
		"session_log", NULL };
	const char *before, *reply;
	int i, k = 0, needed = 0;

	begin(_i > 0 ? "workers 2\n" : "");
	before = the_rest();
	for (i = 0; acts[i] != NULL; i++)
		pen_answers(&ctl, acts[i], NEEDS_NAME);
	for (i = 0; i < count; i++) {
		if (is(rows[i], of_all) ||
		    strstr(ask(text("service shop %s", rows[i])), OF_PROCESS))
			continue;
		for (k = 0; words[k] != NULL; k++) {
			reply = ask(text("%s%s", rows[i], words[k]));
			ck_assert_msg(is_as_before(before, k), "%s%s: %s",
			    rows[i], words[k], reply);
			needed += strstr(reply, NEEDS_NAME) != NULL;
		}
	}
	ck_assert_int_gt(needed, 100 * k);
	pen_down(&pen);
}
END_TEST

/* Of a service that has no server nothing can be done to all. */
START_TEST(all_servers_drain)
{
	begin(_i > 0 ? "workers 2\n" : "");
	ck_assert_str_eq(ask("service shop drain wait 5"),
	    "server all: no connections left\n");
	pen_answers(&ctl, "services", "shop state drain");
	ck_assert_str_eq(ask("service shop server all maint wait"),
	    "server all: no connections left\n");
	pen_answers(&ctl, "service shop up wait", "error: ");
	ck_assert_str_eq(ask("service shop up"), "");
	pen_answers(&ctl, "service shop drain now", "error: ");
	ck_assert_str_eq(ask("service add none"), "");
	pen_answers(&ctl, "service none drain", "server: there is no server");
	pen_answers(&ctl, "service none server all max 3", "is no server");
	pen_down(&pen);
}
END_TEST

/* A setting of the file may be in the way, but the command is not its line. */
START_TEST(refused_command_is_no_line)
{
	const char *reply;

	begin("acl 1 permit 10.0.0.1\n");
	write_file(
	    conf, sections("", "redirect_https 443\nhttp\ncheck_port 7\n"));
	ck_assert_str_eq(ask("reload"), "");
	reply = ask("service shop ssl_cert /no/such; dummy");
	ck_assert_msg(strstr(reply, "error: ssl_cert: ") != NULL &&
		strstr(reply, "pen.conf:") == NULL,
	    "%s", reply);
	write_file(conf, sections("", "ssl_min x\n"));
	pen_answers(&ctl, "reload", "pen.conf:4: ssl_min");
	pen_down(&pen);
}
END_TEST

/* With a listening address, or by its name, the service default is there. */
START_TEST(default_can_begin)
{
	struct endpoint more;
	const char *lines = scratch("lines");

	begin("");
	endpoint_new(&more, ENDPOINT_TCP4);
	write_file(lines, "idle_timeout 5\n");
	pen_answers(&ctl, text("include %s", lines), NEEDS_NAME);
	pen_answers(&ctl, "service default idle_timeout", " 0 seconds");
	write_file(lines, "service shop\nidle_timeout 5\n");
	pen_answers(&ctl, text("include %s", lines), " 5 seconds");
	pen_answers(&ctl, "service shop idle_timeout", " 5 seconds");
	ck_assert_str_eq(ask("service default tracking 7"), "7\n");
	ck_assert_str_eq(ask(text("listen %s; tracking", more.text)),
	    text("%s\n7\n", more.text));
	pen_answers(&ctl, "server add 127.0.0.1:9; servers", "port 9");
	pen_down(&pen);
}
END_TEST

/* ---- penctl, and a wrong name ---- */

static const char *
penctl(const char *service, const char *row, int status)
{
	const char *argv[] = { ctl_client(), ctl.text, "service", service, row,
		NULL };

	child_start(&c, argv);
	ck_assert_msg(child_wait(&c, 20000) == status, "service %s %s: %s",
	    service, row, child_err(&c));
	return child_err(&c);
}

START_TEST(wrong_name_is_refused)
{
	/* the first characters are those of a service */
	const char *longer = "a23456789.123456789.123456789.123";
	int i;

	begin("");
	ck_assert_str_eq(
	    ask("service add a23456789.123456789.123456789.1"), "");
	for (i = 0; i < count; i++) {
		if (strcmp(rows[i], "service") == 0 ||
		    strcmp(rows[i], "top") == 0 || /* penctl's own */
		    (suite_is_light() && i % 10 != 0))
			continue;
		ck_assert_ptr_nonnull(strstr(penctl("none", rows[i], 1),
		    "there is no service \"none\""));
		ck_assert_ptr_nonnull(strstr(penctl(longer, rows[i], 1),
		    text("there is no service \"%s\"", longer)));
	}
	ck_assert_ptr_nonnull(
	    strstr(penctl("shop", "shutdown", 1), OF_PROCESS));
	ck_assert_ptr_nonnull(strstr(penctl("shop", "pid", 1), OF_PROCESS));
	penctl("shop", "drain", 0);
	pen_answers(&ctl, "services", "shop state drain");
	pen_down(&pen);
}
END_TEST

/* ---- in a section, and on the command line ---- */

static const char *
check(const char *option, const char *line, int *status)
{
	const char *program = getenv("PEN");
	const char *argv[] = { program, "--check", "-F", conf, option, line,
		NULL };

	child_start(&c, argv);
	*status = child_wait(&c, 20000);
	return child_err(&c);
}

/* A report or a command without effect may be in a file, as in classic Pen's;
 * what would change the process is an error there. */
START_TEST(section_is_obeyed)
{
	const char *reply, *said;
	int i, status, refused = 0;

	begin("");
	for (i = 0; i < count; i++) {
		if (suite_is_light() && i % 10 != 0)
			continue;
		reply = ask(text("service shop %s 1", rows[i]));
		if (strstr(reply, OF_PROCESS) == NULL)
			continue;
		write_file(conf, sections("", text("%s 1\n", rows[i])));
		said = check("-O", "debug 0", &status);
		ck_assert_msg(status == 0 ||
			strstr(said, text("pen.conf:4: %s: ", rows[i])) != NULL,
		    "%s: %s", rows[i], said);
		refused += status != 0;
		write_file(conf, sections("", ""));
		said = check("-O", text("service shop %s 1", rows[i]), &status);
		ck_assert_msg(
		    status == 1 && strstr(said, "begins a section") != NULL,
		    "%s: %s", rows[i], said);
	}
	ck_assert_int_gt(refused, suite_is_light() ? 1 : 30);
	pen_down(&pen);
}
END_TEST

/* A line before the first section, or an option, is for no section. */
START_TEST(first_lines_without_effect_are_reported)
{
	static const char vain[] =
	    "has no effect: settings before the first service apply to service "
	    "\"default\", which does not listen; write them below "
	    "\"defaults\"\n";
	const char *said;
	int status;

	begin("");
	write_file(conf,
	    sections("idle_timeout 5\nlog /dev/null\nhttp\ntimeout 3\n"
		     "emergency 127.0.0.1:9\nroute sni a.test service shop\n",
		""));
	said = check("-O", "roundrobin", &status);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(count_in(said, vain), 4);
	ck_assert_ptr_nonnull(
	    strstr(said, text("%s:1: idle_timeout %s", conf, vain)));
	ck_assert_ptr_nonnull(strstr(said, text("%s:3: http %s", conf, vain)));
	/* which is the default */
	ck_assert_ptr_nonnull(
	    strstr(said, text("%s:4: timeout %s", conf, vain)));
	ck_assert_ptr_nonnull(strstr(said,
	    text("%s:5: emergency has no effect: servers and routes", conf)));
	ck_assert_ptr_nonnull(strstr(
	    said, text("%s:6: route has no effect: servers and routes", conf)));
	ck_assert_ptr_nonnull(strstr(said, vain));
	write_file(
	    conf, sections(text("listen %s\ndummy\nhttp\n", scratch("s")), ""));
	said = check("-O", "roundrobin", &status);
	ck_assert_int_eq(count_in(said, vain), 0);
	pen_down(&pen);
}
END_TEST

SUITE(test_service_names)
{
	Suite *s = suite_create("service names");

	SUITE_ADD_LOOP(s, name_is_obeyed, MINUTES, 2);
	SUITE_ADD(s, chosen_service_is_obeyed, 30);
	SUITE_ADD_LOOP(s, name_is_needed, MINUTES, 2);
	SUITE_ADD_LOOP(s, all_servers_drain, 30, 2);
	SUITE_ADD(s, refused_command_is_no_line, 30);
	SUITE_ADD(s, default_can_begin, 30);
	SUITE_ADD(s, wrong_name_is_refused, MINUTES);
	SUITE_ADD(s, section_is_obeyed, MINUTES);
	SUITE_ADD(s, first_lines_without_effect_are_reported, 30);
	return s;
}
