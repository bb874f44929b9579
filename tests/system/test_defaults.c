/* test_defaults.c: thirty services with "defaults", as one would write them:
 * lines, warnings, reloads, upgrades; and variables. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/ctl.h"
#include "support/services_fixture.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SERVICES = SERVICES_MOST, SOON = 20000 };

static const char common[] = "idle_timeout 5m\n"
			     "client_conns 50\n"
			     "check connect\n"
			     "check_interval 0.1\n"
			     "tcp_nodelay\n"
			     "balance leastconn\n"
			     "log_format jsonl\n";

static const char *
printed(const char *file)
{
	write_file(services.conf, file);
	(void)services_run("--print", 0);
	return child_out(&services.child);
}

static const char *
of_process(void)
{
	return text("web %s\n", services.web.text);
}

START_TEST(lines_once)
{
	const char *file, *with, *without;

	services_begin();
	file = text("%sdefaults\n%s%s", of_process(), common,
	    services_sections("", "idle_timeout 1h\n"));
	with = printed(file);
	ck_assert_str_eq(services_run("--check", 0), "");
	without = printed(text("%s%s", of_process(),
	    services_sections(common, "idle_timeout 1h\n")));
	ck_assert_str_eq(with, without);
	ck_assert_int_eq(count_in(with, "\nlog_format jsonl\n"), SERVICES);
	ck_assert_int_eq(count_in(with, "\nidle_timeout 300\n"), SERVICES - 1);
	ck_assert_int_eq(count_in(with, "\nidle_timeout 3600\n"), 1);
	backend_stop(&services.back);
}
END_TEST

#define IDLE(seconds) "Idle timeout: " seconds " seconds\n"

static const char *
of_service(int i, const char *command)
{
	return pen_ask(&services.ctl, text("service s%d %s", i, command));
}

/* The reload of a changed section, `write`, and an upgrade. */
START_TEST(while_it_serves)
{
	const char *program = upgrading_install();
	const char *settings, *changed;
	pid_t now;

	services_begin();
	services_up(text("%sdefaults\n%s%s", of_process(), common,
	    services_sections("", "idle_timeout 1h\n")));
	ck_assert_str_eq(endpoint_hear(&services.front[7]), "served");
	ck_assert_str_eq(of_service(7, "idle_timeout"), IDLE("300"));
	ck_assert_str_eq(of_service(29, "idle_timeout"), IDLE("3600"));
	/* all that have no other value */
	changed = text("%sdefaults\n%sidle_timeout 7m\n%s", of_process(),
	    strchr(common, '\n') + 1,
	    services_sections("", "idle_timeout 1h\n"));
	write_file(services.conf, changed);
	ck_assert_str_eq(pen_ask(&services.ctl, "reload"), "");
	ck_assert_str_eq(of_service(7, "idle_timeout"), IDLE("420"));
	ck_assert_str_eq(of_service(29, "idle_timeout"), IDLE("3600"));
	ck_assert_str_eq(pen_ask(&services.ctl, "diff"), "");
	/* a value of one is written to its own section */
	ck_assert_str_eq(of_service(7, "idle_timeout 0"), IDLE("0"));
	ck_assert_str_eq(of_service(8, "no check"), "");
	ck_assert_str_eq(pen_ask(&services.ctl, "diff"),
	    "-service s7 idle_timeout 420\n"
	    "-service s8 check connect\n"
	    "+service s7 idle_timeout 0\n"
	    "+service s8 no check\n");
	ck_assert_str_eq(pen_ask(&services.ctl, "write; diff"), "");
	ck_assert_ptr_nonnull(
	    strstr(contents(services.conf), "\nidle_timeout 7m\n"));
	ck_assert_int_eq(
	    count_in(contents(services.conf), "\nidle_timeout 0\n"), 1);
	ck_assert_int_eq(count_in(contents(services.conf), "\nno check\n"), 1);
	settings = of_service(7, "show settings");
	if (program != NULL) {
		now = upgrading_go(&services.ctl, services.pen.child.pid);
		ck_assert_str_eq(of_service(7, "show settings"), settings);
		ck_assert_str_eq(of_service(6, "idle_timeout"), IDLE("420"));
		upgrading_end(now);
		ck_assert_int_eq(child_wait(&services.pen.child, SOON), 0);
	} else {
		pen_down(&services.pen);
	}
	backend_stop(&services.back);
}
END_TEST

#define VAIN                                                                 \
	"has no effect: settings before the first service apply to service " \
	"\"default\", which does not listen; write them below \"defaults\"\n"

/* Before the sections; behind them; in the section of the first service. */
START_TEST(what_has_no_effect_is_reported)
{
	const char *said, *good;

	services_begin();
	write_file(services.conf,
	    text("%s%shttp\n%s", of_process(), common,
		services_sections("", "")));
	said = services_run("--check", 0);
	ck_assert_int_eq(count_in(said, VAIN), 8);
	ck_assert_ptr_nonnull(
	    strstr(said, text("%s:2: idle_timeout " VAIN, services.conf)));
	ck_assert_ptr_nonnull(
	    strstr(said, text("%s:9: http " VAIN, services.conf)));
	services_up(contents(services.conf));
	ck_assert_int_eq(count_in(child_err(&services.pen.child), VAIN), 8);
	good = text("%sdefaults\n%s%s", of_process(), common,
	    services_sections("", ""));
	write_file(services.conf, good);
	ck_assert_str_eq(pen_ask(&services.ctl, "reload"), "");
	ck_assert_int_eq(count_in(child_err(&services.pen.child), VAIN), 8);
	write_file(services.conf, text("queue 5\n%s", good));
	ck_assert_str_eq(pen_ask(&services.ctl, "reload"), "");
	WAIT_FOR(child_has_said(&services.pen.child,
		     text("%s:1: queue " VAIN, services.conf)),
	    SOON);
	ck_assert_int_eq(count_in(child_err(&services.pen.child), VAIN), 9);
	pen_down(&services.pen);

	write_file(services.conf,
	    text("%s\ndefaults\nqueue 5\n", services_sections("", "")));
	said = services_run("--check", 0);
	ck_assert_ptr_nonnull(strstr(said,
	    "defaults: no service begins after it, so its settings have no "
	    "effect\n"));
	write_file(services.conf,
	    text("defaults\nretry 5\nservice default\ndummy\nlisten %s\n%s",
		services.web.text, services_sections("", "")));
	said = services_run("--check", 0);
	ck_assert_ptr_nonnull(strstr(said,
	    text("%s:3: service default does not begin with \"defaults\": it "
		 "is there before all sections\n",
		services.conf)));
	/* settings of the process need none */
	write_file(services.conf,
	    text("defaults\nretry 5\n%s\nservice default\nweb %s\n",
		services_sections("", ""), services.web.text));
	ck_assert_str_eq(services_run("--check", 0), "");
	backend_stop(&services.back);
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

	services_begin();
	sections =
	    text(web_and_dns, services.front[0].text, services.back.at.port,
		services.front[1].text, services.back.at.port,
		services.front[2].text, services.back.at.port);
	write_file(services.conf,
	    text(
		"defaults\nidle_timeout 300\nkeepalive_time 30\n%s", sections));
	ck_assert_str_eq(services_run("--check", 0), "");
	/* in a section of its own it is not for others */
	write_file(services.conf, text("%sidle_timeout 300\n", sections));
	ck_assert_ptr_nonnull(strstr(services_run("--check", 0),
	    text("service more: %s:12: idle_timeout has no effect with udp or "
		 "dsr_if\n",
		services.conf)));
	write_file(services.conf,
	    text("defaults\nqueue 5\nhttp_errors 3\n%s", sections));
	ck_assert_int_eq(
	    count_in(services_run("--check", 0), "has no effect"), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&services.child),
	    text("service web: %s:2: queue has no effect while no server has "
		 "a max or hard\n",
		services.conf)));
	ck_assert_ptr_nonnull(strstr(child_err(&services.child),
	    text("service web: %s:3: http_errors has no effect without http",
		services.conf)));
	backend_stop(&services.back);
}
END_TEST

/* All at once; what is wrong in one service names the line that it has its
 * value from. */
START_TEST(errors_have_lines)
{
	const char *said;

	services_begin();
	write_file(services.conf,
	    text("defaults\nidle_timeout x\nserver add 127.0.0.1\n"
		 "defaults again\nqueue x\nservice one\nlisten %s\n"
		 "server add 127.0.0.1:9\nqueue y\n",
		services.front[0].text));
	said = services_run("--check", 1);
	ck_assert_int_eq(count_in(said, "\n"), 4);
	ck_assert_ptr_nonnull(strstr(said, "pen.conf:2: idle_timeout: \"x\""));
	ck_assert_ptr_nonnull(
	    strstr(said, "pen.conf:3: server: not in \"defaults\""));
	ck_assert_ptr_nonnull(strstr(said,
	    "pen.conf:4: defaults: takes no argument, got \"again\" (its "
	    "section is not checked)"));
	ck_assert_ptr_nonnull(strstr(said, "pen.conf:9: queue: \"y\""));
	write_file(services.conf,
	    text("defaults\nqueue 1\nlog_format '{nothing}'\nservice one\n"
		 "listen %s\nserver add 127.0.0.1:9\n",
		services.front[0].text));
	said = services_run("--check", 1);
	ck_assert_ptr_nonnull(
	    strstr(said, "service one: ")); /* which is the one that fails */
	ck_assert_ptr_nonnull(strstr(said, "pen.conf:3: log_format: "));
	backend_stop(&services.back);
}
END_TEST

START_TEST(variables)
{
	const char *file;

	services_begin();
	ck_assert_int_eq(setenv("T_LISTEN", services.front[0].text, 1), 0);
	ck_assert_int_eq(unsetenv("T_PORT"), 0);
	file = text("control %s\ndefaults\nidle_timeout ${T_IDLE-70}\n"
		    "service one\nlisten ${T_LISTEN} # ${T_NONE}\n"
		    "server 0 address 127.0.0.1 port ${T_PORT}\n",
	    services.ctl.text);
	write_file(services.conf, file);
	ck_assert_ptr_nonnull(strstr(services_run("--check", 1),
	    text("%s:6: ${T_PORT}: the environment variable is not set",
		services.conf)));
	ck_assert_int_eq(
	    setenv("T_PORT", text("%d", services.back.at.port), 1), 0);
	ck_assert_ptr_nonnull(strstr(printed(file),
	    text("\nserver 0 address 127.0.0.1 port %d\n",
		services.back.at.port)));
	pen_up(&services.pen, &services.front[0], "-F", services.conf, NULL);
	WAIT_FOR(endpoint_is_listening(&services.ctl), SOON);
	ck_assert_str_eq(endpoint_hear(&services.front[0]), "served");
	ck_assert_str_eq(pen_ask(&services.ctl, "diff"), "");
	ck_assert_str_eq(
	    pen_ask(&services.ctl, "service one queue 3; write; diff"), "3\n");
	/* all below what only some runs have */
	ck_assert_str_eq(strstr(contents(services.conf), "defaults\n"),
	    text("%squeue 3\n", strstr(file, "defaults\n")));
	/* a control client has no variables */
	pen_answers(&services.ctl, "service one queue ${T_PORT}",
	    "\"${T_PORT}\" is not");
	pen_down(&services.pen);
	backend_stop(&services.back);
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
