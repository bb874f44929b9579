/* test_panic.c: while too few servers pass their checks, all get clients. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000 };

#define IS_DOWN(server) \
	WAIT_FOR( \
	    child_has_said(&pen.child, "server down server=" #server " "), \
	    SOON)

static struct pen pen;
static struct endpoint front, ctl;
/* The servers, and what answers their checks. */
static struct backend a, b, health[2];

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

static void
up(backend_fn *serve, const char *commands)
{
	int i;

	backend_start(&a, ENDPOINT_TCP4, serve, "a");
	backend_start(&b, ENDPOINT_TCP4, serve, "b");
	for (i = 0; i < 2; i++)
		backend_start(&health[i], ENDPOINT_TCP4, backend_say, "");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O",
	    text("check connect; check_interval 0.1; check_timeout 5; "
		 "check_fall 2; server 0 check_port %d; "
		 "server 1 check_port %d; %s",
		health[0].at.port, health[1].at.port, commands),
	    front.text, a.at.text, b.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}

static void
expect_clients(const char *first, const char *second)
{
	bool got_first = false, got_second = false;
	int i;

	for (i = 0; i < 6; i++) {
		const char *who = endpoint_hear(&front);

		got_first |= strcmp(who, first) == 0;
		got_second |= strcmp(who, second) == 0;
	}
	ck_assert(got_first);
	ck_assert(got_second);
}

static int
lines(const char *what)
{
	return count_in(child_err(&pen.child), what);
}

/* The servers are well, their checks are not. */
START_TEST(all_get_clients)
{
	int fd;

	up(backend_say, "panic 60");
	ck_assert_ptr_nonnull(strstr(ask("statistics"), "panic 0\n"));
	backend_stop(&health[1]);
	IS_DOWN(1);
	expect_clients("a", "b");
	ck_assert_ptr_nonnull(strstr(ask("statistics"), "panic 1\npanics 1\n"));
	ck_assert_ptr_nonnull(strstr(ask("mode"), "panic: "));
	ck_assert_ptr_nonnull(strstr(ask("mode json"), "\"panic\":1"));
	backend_stop(&health[0]);
	IS_DOWN(0);
	expect_clients("a", "b");
	ck_assert_ptr_nonnull(
	    strstr(ask("explain 127.0.0.1"), "although it is down (panic)"));
	ck_assert_str_eq(ask("server 1 drain"), "");
	expect_clients("a", "a");
	ck_assert_str_eq(ask("server 1 up; panic 0"), "0\n");
	fd = endpoint_connect(&front);
	endpoint_expect_reset(fd);
	close(fd);
	ck_assert_int_eq(lines("panic: too few servers are up, all are tried "
			       "up=1 checked=2"),
	    1);
	ck_assert_int_eq(lines("panic is over up=0 checked=2"), 1);
	ck_assert_ptr_null(strstr(ask("mode"), "panic"));
	down();
}
END_TEST

/* Sessions that on_down cut spared end with the panic. */
START_TEST(sessions_last_as_long)
{
	int fd[2], i;

	up(backend_echo, "panic 60; on_down cut");
	for (i = 0; i < 2; i++) {
		fd[i] = endpoint_connect(&front);
		endpoint_expect_echo(fd[i], "hello");
	}
	backend_stop(&health[1]);
	IS_DOWN(1);
	for (i = 0; i < 2; i++)
		endpoint_expect_echo(fd[i], "still here");
	ck_assert_str_eq(ask("panic 50"), "50\n");
	WAIT_FOR(a.open + b.open == 1, SOON);
	endpoint_expect_reset(fd[1]);
	endpoint_expect_echo(fd[0], "still here");
	close(fd[0]);
	close(fd[1]);
	backend_stop(&health[0]);
	down();
}
END_TEST

SUITE(test_panic)
{
	Suite *s = suite_create("panic");

	SUITE_ADD(s, all_get_clients, 30);
	SUITE_ADD(s, sessions_last_as_long, 30);
	return s;
}
