/* test_timeouts.c: sessions that say nothing for too long. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend back;
static struct spot front;
static struct pen pen;

static void
up(backend_fn *serve, const char *setting)
{
	backend_start(&back, SPOT_TCP4, serve, NULL);
	spot_new(&front, SPOT_TCP4);
	pen_up(&pen, &front, "-d", "-r", "-O", setting, front.text,
	    back.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

/* A second of silence ends a session; talk keeps it. */
START_TEST(idle_session_is_closed)
{
	int quiet, busy;
	char c;
	long long began;

	up(backend_echo, "idle_timeout 1");
	quiet = spot_connect(&front);
	spot_expect_echo(quiet, "x");
	busy = spot_connect(&front);
	for (began = wait_now_ms(); wait_now_ms() - began < 2200;) {
		spot_expect_echo(busy, "x");
		wait_nap();
	}
	ck_assert_int_le(recv(quiet, &c, 1, MSG_DONTWAIT), 0);
	ck_assert(child_has_said(&pen.child, "reason=idle_timeout"));
	ck_assert_int_eq(back.open, 1);
	close(quiet);
	close(busy);
	down();
}
END_TEST

START_TEST(half_closed_session_is_closed)
{
	int half, whole;

	up(backend_hang, "half_timeout 1");
	whole = spot_connect(&front);
	half = spot_connect(&front);
	shutdown(half, SHUT_WR);
	WAIT_FOR(child_has_said(&pen.child, "reason=half_timeout"), 5000);
	spot_send(whole, "x", 1);
	ck_assert_int_lt(recv(whole, &(char){ 0 }, 1, MSG_DONTWAIT), 0);
	close(half);
	close(whole);
	down();
}
END_TEST

/* A server that is gone holds its client for so long only. */
static void
answer_and_leave(struct backend *b, int fd)
{
	char c;

	if (recv(fd, &c, 1, 0) == 1)
		backend_send(fd, "bye", 3);
	backend_reset(b, fd);
}

START_TEST(lingering_ends)
{
	int fd;
	char c;

	up(answer_and_leave, "linger 1");
	fd = spot_connect(&front);
	spot_send(fd, "xxxx", 4);
	while (recv(fd, &c, 1, 0) > 0)
		;
	WAIT_FOR(child_has_said(&pen.child, "session closed"), 5000);
	close(fd);
	down();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("timeouts");

	SUITE_ADD(s, idle_session_is_closed, 15);
	SUITE_ADD(s, half_closed_session_is_closed, 15);
	SUITE_ADD(s, lingering_ends, 15);
	return suite_main(s);
}
