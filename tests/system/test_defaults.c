/* test_defaults.c: thirty services with "defaults", as one would write them:
 * lines, warnings, reloads, upgrades; and variables. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/backend.h"
#include "support/ctl.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SERVICES = 30, SOON = 20000 };

static struct endpoint front[SERVICES], ctl, web;
static struct backend back;
static struct pen pen;
static struct child c;
static const char *conf;

static const char common[] = "idle_timeout 5m\n"
			     "client_conns 50\n"
			     "check connect\n"
			     "check_interval 0.1\n"
			     "tcp_nodelay\n"
			     "balance leastconn\n"
			     "log_format jsonl\n";

/* The last one has another value; `each`: lines of all of them. */
static const char *
services(const char *each, const char *last)
{
	const char *all = "";
	int i;

	for (i = 0; i < SERVICES; i++)
		all = text("%s\nservice s%d\n%slisten %s\n"
			   "server 0 address 127.0.0.1 port %d\n%s",
		    all, i, each, front[i].text, back.at.port,
		    i == SERVICES - 1 ? last : "");
	return all;
}

static void
prepare(void)
{
	int i;

	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	for (i = 0; i < SERVICES; i++)
		endpoint_new(&front[i], ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&web, ENDPOINT_TCP4);
	conf = scratch("pen.conf");
}

static const char *
run(const char *option, int status)
{
	child_start(
	    &c, (const char *[]){ getenv("PEN"), option, "-F", conf, NULL });
	ck_assert_int_eq(child_wait(&c, SOON), status);
	return child_err(&c);
}

static const char *
printed(const char *file)
{
	write_file(conf, file);
	(void)run("--print", 0);
	return child_out(&c);
}

static const char *
of_process(void)
{
	return text("web %s\n", web.text);
}

START_TEST(lines_once)
{
	const char *file, *with, *without;

	prepare();
	file = text("%sdefaults\n%s%s", of_process(), common,
	    services("", "idle_timeout 1h\n"));
	with = printed(file);
	ck_assert_str_eq(run("--check", 0), "");
	without = printed(
	    text("%s%s", of_process(), services(common, "idle_timeout 1h\n")));
	ck_assert_str_eq(with, without);
	ck_assert_int_eq(count_in(with, "\nlog_format jsonl\n"), SERVICES);
	ck_assert_int_eq(count_in(with, "\nidle_timeout 300\n"), SERVICES - 1);
	ck_assert_int_eq(count_in(with, "\nidle_timeout 3600\n"), 1);
	backend_stop(&back);
}
END_TEST

#define IDLE(seconds) "Idle timeout: " seconds " seconds\n"

static const char *
of_service(int i, const char *command)
{
	return pen_ask(&ctl, text("service s%d %s", i, command));
}

/* The reload of a changed section, `write`, and an upgrade. */
START_TEST(while_it_serves)
{
	const char *program = upgrading_install();
	const char *settings, *changed;
	pid_t now;

	prepare();
	write_file(conf,
	    text("%sdefaults\n%s%s", of_process(), common,
		services("", "idle_timeout 1h\n")));
	pen_up(&pen, &front[0], "-C", ctl.text, "-F", conf, NULL);
	ck_assert_str_eq(endpoint_hear(&front[7]), "served");
	ck_assert_str_eq(of_service(7, "idle_timeout"), IDLE("300"));
	ck_assert_str_eq(of_service(29, "idle_timeout"), IDLE("3600"));
	/* all that have no other value */
	changed = text("%sdefaults\n%sidle_timeout 7m\n%s", of_process(),
	    strchr(common, '\n') + 1, services("", "idle_timeout 1h\n"));
	write_file(conf, changed);
	ck_assert_str_eq(pen_ask(&ctl, "reload"), "");
	ck_assert_str_eq(of_service(7, "idle_timeout"), IDLE("420"));
	ck_assert_str_eq(of_service(29, "idle_timeout"), IDLE("3600"));
	ck_assert_str_eq(pen_ask(&ctl, "diff"), "");
	/* a value of one is written to its own section */
	ck_assert_str_eq(of_service(7, "idle_timeout 0"), IDLE("0"));
	ck_assert_str_eq(of_service(8, "no check"), "");
	ck_assert_str_eq(pen_ask(&ctl, "diff"),
	    "-service s7 idle_timeout 420\n"
	    "-service s8 check connect\n"
	    "+service s7 idle_timeout 0\n"
	    "+service s8 no check\n");
	ck_assert_str_eq(pen_ask(&ctl, "write; diff"), "");
	ck_assert_ptr_nonnull(strstr(contents(conf), "\nidle_timeout 7m\n"));
	ck_assert_int_eq(count_in(contents(conf), "\nidle_timeout 0\n"), 1);
	ck_assert_int_eq(count_in(contents(conf), "\nno check\n"), 1);
	settings = of_service(7, "show settings");
	if (program != NULL) {
		now = upgrading_go(&ctl, pen.child.pid);
		ck_assert_str_eq(of_service(7, "show settings"), settings);
		ck_assert_str_eq(of_service(6, "idle_timeout"), IDLE("420"));
		upgrading_end(now);
		ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	} else {
		pen_down(&pen);
	}
	backend_stop(&back);
}
END_TEST

#define VAIN                                                                 \
	"has no effect: settings before the first service apply to service " \
	"\"default\", which does not listen; write them below \"defaults\"\n"

/* Before the sections; behind them; in the section of the first service. */
START_TEST(what_has_no_effect_is_reported)
{
	const char *said, *good;

	prepare();
	write_file(
	    conf, text("%s%shttp\n%s", of_process(), common, services("", "")));
	said = run("--check", 0);
	ck_assert_int_eq(count_in(said, VAIN), 8);
	ck_assert_ptr_nonnull(
	    strstr(said, text("%s:2: idle_timeout " VAIN, conf)));
	ck_assert_ptr_nonnull(strstr(said, text("%s:9: http " VAIN, conf)));
	pen_up(&pen, &front[0], "-C", ctl.text, "-F", conf, NULL);
	ck_assert_int_eq(count_in(child_err(&pen.child), VAIN), 8);
	good = text("%sdefaults\n%s%s", of_process(), common, services("", ""));
	write_file(conf, good);
	ck_assert_str_eq(pen_ask(&ctl, "reload"), "");
	ck_assert_int_eq(count_in(child_err(&pen.child), VAIN), 8);
	write_file(conf, text("queue 5\n%s", good));
	ck_assert_str_eq(pen_ask(&ctl, "reload"), "");
	WAIT_FOR(
	    child_has_said(&pen.child, text("%s:1: queue " VAIN, conf)), SOON);
	ck_assert_int_eq(count_in(child_err(&pen.child), VAIN), 9);
	pen_down(&pen);

	write_file(conf, text("%s\ndefaults\nqueue 5\n", services("", "")));
	said = run("--check", 0);
	ck_assert_ptr_nonnull(strstr(said,
	    "defaults: no service begins after it, so its settings have no "
	    "effect\n"));
	write_file(conf,
	    text("defaults\nretry 5\nservice default\ndummy\nlisten %s\n%s",
		web.text, services("", "")));
	said = run("--check", 0);
	ck_assert_ptr_nonnull(strstr(said,
	    text("%s:3: service default does not begin with \"defaults\": it "
		 "is there before all sections\n",
		conf)));
	/* settings of the process need none */
	write_file(conf,
	    text("defaults\nretry 5\n%s\nservice default\nweb %s\n",
		services("", ""), web.text));
	ck_assert_str_eq(run("--check", 0), "");
	backend_stop(&back);
}
END_TEST

/* A line of "defaults" is for services of several kinds: it is reported once,
 * if none of them has a use for it. */
START_TEST(lines_of_use_for_some)
{
	static const char web_and_dns[] =
	    "service web\nlisten %s\nserver 0 address 127.0.0.1 port %d\n"
	    "service syslog\nudp\nlisten %s\n"
	    "server 0 address 127.0.0.1 port %d\n"
	    "service more\nudp\nlisten %s\n"
	    "server 0 address 127.0.0.1 port %d\n";
	const char *sections;

	prepare();
	sections = text(web_and_dns, front[0].text, back.at.port, front[1].text,
	    back.at.port, front[2].text, back.at.port);
	write_file(conf,
	    text(
		"defaults\nidle_timeout 300\nkeepalive_time 30\n%s", sections));
	ck_assert_str_eq(run("--check", 0), "");
	/* in a section of its own it is not for others */
	write_file(conf, text("%sidle_timeout 300\n", sections));
	ck_assert_ptr_nonnull(strstr(run("--check", 0),
	    text("service more: %s:12: idle_timeout has no effect with udp or "
		 "dsr_if\n",
		conf)));
	write_file(
	    conf, text("defaults\nqueue 5\nhttp_errors 3\n%s", sections));
	ck_assert_int_eq(count_in(run("--check", 0), "has no effect"), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("service web: %s:2: queue has no effect while no server has "
		 "a max or hard\n",
		conf)));
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("service web: %s:3: http_errors has no effect without http",
		conf)));
	backend_stop(&back);
}
END_TEST

/* All at once; what is wrong in one service names the line that it has its
 * value from. */
START_TEST(errors_have_lines)
{
	const char *said;

	prepare();
	write_file(conf,
	    text("defaults\nidle_timeout x\nserver add 127.0.0.1\n"
		 "defaults again\nqueue x\nservice one\nlisten %s\n"
		 "server add 127.0.0.1:9\nqueue y\n",
		front[0].text));
	said = run("--check", 1);
	ck_assert_int_eq(count_in(said, "\n"), 4);
	ck_assert_ptr_nonnull(strstr(said, "pen.conf:2: idle_timeout: \"x\""));
	ck_assert_ptr_nonnull(
	    strstr(said, "pen.conf:3: server: not in \"defaults\""));
	ck_assert_ptr_nonnull(strstr(said,
	    "pen.conf:4: defaults: takes no argument, got \"again\" (its "
	    "section is not checked)"));
	ck_assert_ptr_nonnull(strstr(said, "pen.conf:9: queue: \"y\""));
	write_file(conf,
	    text("defaults\nqueue 1\nlog_format '{nothing}'\nservice one\n"
		 "listen %s\nserver add 127.0.0.1:9\n",
		front[0].text));
	said = run("--check", 1);
	ck_assert_ptr_nonnull(
	    strstr(said, "service one: ")); /* which is the one that fails */
	ck_assert_ptr_nonnull(strstr(said, "pen.conf:3: log_format: "));
	backend_stop(&back);
}
END_TEST

START_TEST(variables)
{
	const char *file;

	prepare();
	ck_assert_int_eq(setenv("T_LISTEN", front[0].text, 1), 0);
	ck_assert_int_eq(unsetenv("T_PORT"), 0);
	file = text("control %s\ndefaults\nidle_timeout ${T_IDLE-70}\n"
		    "service one\nlisten ${T_LISTEN} # ${T_NONE}\n"
		    "server 0 address 127.0.0.1 port ${T_PORT}\n",
	    ctl.text);
	write_file(conf, file);
	ck_assert_ptr_nonnull(strstr(run("--check", 1),
	    text(
		"%s:6: ${T_PORT}: the environment variable is not set", conf)));
	ck_assert_int_eq(setenv("T_PORT", text("%d", back.at.port), 1), 0);
	ck_assert_ptr_nonnull(strstr(printed(file),
	    text("\nserver 0 address 127.0.0.1 port %d\n", back.at.port)));
	pen_up(&pen, &front[0], "-F", conf, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), SOON);
	ck_assert_str_eq(endpoint_hear(&front[0]), "served");
	ck_assert_str_eq(pen_ask(&ctl, "diff"), "");
	ck_assert_str_eq(
	    pen_ask(&ctl, "service one queue 3; write; diff"), "3\n");
	/* all below what only some runs have */
	ck_assert_str_eq(strstr(contents(conf), "defaults\n"),
	    text("%squeue 3\n", strstr(file, "defaults\n")));
	/* a control client has no variables */
	pen_answers(
	    &ctl, "service one queue ${T_PORT}", "\"${T_PORT}\" is not");
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

SUITE(test_defaults)
{
	Suite *s = suite_create("defaults");

	SUITE_ADD(s, lines_once, 60);
	SUITE_ADD(s, while_it_serves, 120);
	SUITE_ADD(s, lines_of_use_for_some, 60);
	SUITE_ADD(s, what_has_no_effect_is_reported, 60);
	SUITE_ADD(s, errors_have_lines, 60);
	SUITE_ADD(s, variables, 60);
	return s;
}
