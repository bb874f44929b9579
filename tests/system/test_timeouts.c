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
	backend_start(&back, SPOT_TCP4, serve, "bye");
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

/* A client that goes on sending to a server that is gone is heard for so long
 * only. */
START_TEST(lingering_ends)
{
	long long began;
	int fd;

	up(backend_say, "linger 1");
	fd = spot_connect(&front);
	ck_assert_str_eq(spot_recv_all(fd), "bye");
	began = wait_now_ms();
	spot_send(fd, "more", 4);
	WAIT_FOR(child_has_said(&pen.child, "reason=linger_timeout"), 5000);
	ck_assert_int_ge(wait_now_ms() - began, 800);
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
