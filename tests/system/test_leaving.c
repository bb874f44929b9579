/* test_leaving.c: a server with many sessions dies, and pen is told to stop
 * under load: who is cut, and who is not. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 2, SESSIONS = 200 };

static struct backend back[SERVERS];
static struct endpoint front, ctl;
static struct pen pen;
static int fd[SESSIONS];

static void
up(const char *first, const char *second, const char *settings)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-O", settings, "-C", ctl.text, front.text,
	    first, second, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

static void
begin(const char *settings)
{
	int i;

	for (i = 0; i < SERVERS; i++)
		backend_start(&back[i], ENDPOINT_TCP4, backend_echo, NULL);
	up(back[0].at.text, back[1].at.text, settings);
	for (i = 0; i < SESSIONS; i++) {
		fd[i] = endpoint_connect(&front);
		endpoint_expect_echo(fd[i], "hello");
	}
	ck_assert_int_eq(back[0].open, SESSIONS / 2);
	ck_assert_int_eq(back[1].open, SESSIONS / 2);
}

/* ---- a death ---- */

/* In turn: the sessions with odd numbers are at server 1. Its checks ask at
 * another port, where nobody listens in the end. Its clients are told, those of
 * the other server notice nothing. */
START_TEST(death_with_open_sessions)
{
	struct backend health;
	int i;

	backend_start(&health, ENDPOINT_TCP4, backend_echo, NULL);
	begin("on_down cut; check_interval 0.2; check_fall 2; "
	      "check_timeout 0.2");
	ck_assert_ptr_null(strstr(
	    endpoint_ask(&ctl,
		text("server 1 check_port %d check connect\n", health.at.port)),
	    "error"));
	WAIT_FOR(health.accepted > 0, 10000);
	backend_stop(&health);
	for (i = 1; i < SESSIONS; i += 2) {
		endpoint_expect_reset(fd[i]);
		close(fd[i]);
	}
	WAIT_FOR(back[1].open == 0, 5000);
	for (i = 0; i < SESSIONS; i += 2) {
		endpoint_expect_echo(fd[i], "still here");
		close(fd[i]);
	}
	ck_assert_ptr_nonnull(strstr(endpoint_ask(&ctl, "statistics\n"),
	    text("closed_server_down %d\n", SESSIONS / 2)));
	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		backend_stop(&back[i]);
}
END_TEST

/* That it drains does not help its clients either. */
START_TEST(death_while_it_drains)
{
	struct backend health;
	int i;

	backend_start(&health, ENDPOINT_TCP4, backend_echo, NULL);
	begin("on_down cut; check_interval 0.2; check_fall 2; "
	      "check_timeout 0.2");
	ck_assert_str_eq(endpoint_ask(&ctl,
			     text("server 1 check_port %d check connect; "
				  "server 1 drain\n",
				 health.at.port)),
	    "");
	WAIT_FOR(health.accepted > 0, 10000);
	endpoint_expect_echo(fd[1], "still here");
	backend_stop(&health);
	for (i = 1; i < SESSIONS; i += 2) {
		endpoint_expect_reset(fd[i]);
		close(fd[i]);
	}
	for (i = 0; i < SESSIONS; i += 2)
		close(fd[i]);
	ck_assert_ptr_nonnull(
	    strstr(child_err(&pen.child), "server fails health checks while "
					  "not in rotation "));
	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		backend_stop(&back[i]);
}
END_TEST

/* ---- a stop ---- */

/* Requests follow one another without a pause: no connection has a quiet
 * moment, so that all go on until wrk is done with them. */
START_TEST(stop_under_load)
{
	const char *argv[] = { "wrk", "-t", "1", "-c", "100", "-d", "3s", NULL,
		NULL };
	struct nginx one, two;
	struct child wrk;
	const char *out;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("wrk");
	nginx_up(&one, "hello");
	nginx_up(&two, "hello");
	up(one.at.text, two.at.text, "quiet_time 1");
	argv[7] = text("http://%s/", front.text);
	child_start(&wrk, argv);
	WAIT_FOR(nginx_requests(&one) > 100 && nginx_requests(&two) > 100,
	    5000);
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	WAIT_FOR(!endpoint_is_listening(&front), 5000);
	ck_assert_int_eq(child_wait(&wrk, 60000), 0);
	out = child_out(&wrk);
	printf("%s", out);
	ck_assert_msg(strstr(out, "Socket errors:") == NULL, "%s", out);
	ck_assert_msg(strstr(out, "Non-2xx") == NULL, "%s", out);
	WAIT_FOR(child_has_ended(&pen.child), 10000);
	ck_assert_int_eq(pen.child.status, 0);
	nginx_down(&one);
	nginx_down(&two);
}
END_TEST

SUITE(test_leaving)
{
	Suite *s = suite_create("leaving");

	SUITE_ADD(s, death_with_open_sessions, 60);
	SUITE_ADD(s, death_while_it_drains, 60);
	SUITE_ADD(s, stop_under_load, 60);
	return s;
}
