/* test_upgrade_state.c: what the old process has learned, the new one knows.
 */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *program;

static void
prepare(void)
{
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static void
end(pid_t pid)
{
	upgrading_end(pid);
	backend_stop(&back);
}

/* What the old process has counted is not of the last minute, nor of the first
 * sample. */
START_TEST(pages_begin_again)
{
	static const char get[] = "GET /%s.json HTTP/1.1\r\nHost: localhost\r\n"
				  "Connection: close\r\n\r\n";
	struct endpoint web;
	const char *got;
	pid_t new;
	int i;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	endpoint_new(&web, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-C", ctl.text, "--web", web.text, "-r",
	    front.text, back.at.text, NULL);
	for (i = 0; i < 20; i++)
		ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	new = upgrading_go(&ctl, pen.child.pid);
	got = endpoint_ask(&web, text(get, "status"));
	if (strstr(got, "built without Jansson") == NULL) {
		ck_assert_ptr_nonnull(strstr(got, "\"accepted\":20,"));
		ck_assert_ptr_nonnull(strstr(got, "\"minute\":{\"ended\":0,"));
	}
	WAIT_FOR(strstr(got = endpoint_ask(&web, text(get, "trend")),
		     "\"total accepted\":[]") == NULL,
	    20000);
	ck_assert_ptr_nonnull(strstr(got, "\"total accepted\":[0"));
	end(new);
}
END_TEST

/* By address: in the new configuration the servers have other numbers. */
START_TEST(marks_and_counters)
{
	const char *conf = scratch("pen.conf"), *said;
	struct endpoint down, gone;
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	endpoint_new(&down, ENDPOINT_TCP4);
	endpoint_new(&gone, ENDPOINT_TCP4);
	write_file(conf,
	    text("listen %s\nserver add %s\nserver add %s\nserver add %s\n",
		front.text, gone.text, down.text, back.at.text));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "server 0 drain; server 1 maint; server 2 up\n"),
	    "");
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	write_file(conf,
	    text("listen %s\nserver add %s\nserver add %s\nserver add "
		 "127.0.0.1:1\n",
		front.text, back.at.text, down.text));
	new = upgrading_go(&ctl, pen.child.pid);
	said = endpoint_ask(&ctl, "servers json; statistics; recent\n");
	ck_assert_msg(strstr(said, "\"state\":\"maint\"") != NULL, "%s", said);
	ck_assert_ptr_null(strstr(said, "\"state\":\"drain\""));
	ck_assert_ptr_nonnull(strstr(said, "\nsessions 0\n"));
	ck_assert_ptr_nonnull(strstr(said, "\naccepted 1\n"));
	ck_assert_ptr_nonnull(strstr(said, "\nbytes_up 5\n"));
	/* the client's server has another number now */
	ck_assert_ptr_nonnull(strstr(said, "127.0.0.1 connects 1"));
	/* what is written keeps the mark */
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	said = endpoint_ask(&ctl, "diff\n");
	ck_assert_msg(strncmp(said, "-server 1 ", 10) == 0 &&
		strstr(said, " prio 0 maint\n") != NULL,
	    "%s", said);
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	end(new);
}
END_TEST

/* What is taken over is no news: the operator's program is run by the one that
 * serves, and for what happens from now on. */
START_TEST(on_state_is_run_once)
{
	const char *script = scratch("note"), *notes = scratch("notes");
	pid_t new;
	int session;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	upgrading_replace(
	    script, text("#!/bin/sh\necho $PEN_STATE >>%s\n", notes));
	pen_up(&pen, &front, "-C", ctl.text, "-r", "-O",
	    text("on_state %s", script), front.text, back.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 10000);
	session = endpoint_connect(&front);
	endpoint_expect_echo(session, "before");
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 drain\n"), "");
	WAIT_FOR(file_has(notes, "drain\n"), 10000);
	new = upgrading_go(&ctl, pen.child.pid);
	endpoint_expect_echo(session, "after");
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 maint\n"), "");
	WAIT_FOR(file_has(notes, "maint\n"), 10000);
	ck_assert_str_eq(contents(notes), "drain\nmaint\n");
	close(session);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	end(new);
}
END_TEST

/* However long the old process has sessions. */
START_TEST(on_state_ends_with_the_upgrade)
{
	const char *script = scratch("note"), *notes = scratch("notes");
	pid_t new;
	int session;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	upgrading_replace(script,
	    text("#!/bin/sh\necho $$ >>%s\nexec sleep 1000\n", notes));
	pen_up(&pen, &front, "-C", ctl.text, "-r", "-O",
	    text("on_state %s", script), front.text, back.at.text, NULL);
	session = endpoint_connect(&front);
	endpoint_expect_echo(session, "before");
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 drain\n"), "");
	WAIT_FOR(file_has(notes, "\n"), 10000);
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 maint\n"), "");
	new = upgrading_go(&ctl, pen.child.pid);
	WAIT_FOR(kill((pid_t)atol(contents(notes)), 0) < 0, 10000);
	endpoint_expect_echo(session, "after");
	ck_assert_int_eq(count_in(contents(notes), "\n"), 1);
	close(session);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	end(new);
}
END_TEST

/* A server that checks have found down is down, until they find it up. */
START_TEST(health)
{
	const char *conf = scratch("pen.conf"), *said, *often;
	struct endpoint down;
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	endpoint_new(&down, ENDPOINT_TCP4);
	often = text("listen %s\nserver add %s\nserver add %s\n"
		     "check connect\ncheck_fall 1\n",
	    front.text, down.text, back.at.text);
	write_file(conf, text("%scheck_interval 0.1\n", often));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	WAIT_FOR(child_has_said(&pen.child, "server down server=0"), 20000);
	/* too rarely for the new one to have found that out itself */
	write_file(conf, text("%scheck_interval 3600\n", often));
	new = upgrading_go(&ctl, pen.child.pid);
	said = endpoint_ask(&ctl, "servers json\n");
	ck_assert_msg(strstr(said, "\"state\":\"down\"") != NULL, "%s", said);
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	end(new);
}
END_TEST

SUITE(test_upgrade_state)
{
	Suite *s = suite_create("upgrade_state");

	SUITE_ADD(s, pages_begin_again, 60);
	SUITE_ADD(s, marks_and_counters, 60);
	SUITE_ADD(s, on_state_is_run_once, 60);
	SUITE_ADD(s, on_state_ends_with_the_upgrade, 60);
	SUITE_ADD(s, health, 60);
	return s;
}
