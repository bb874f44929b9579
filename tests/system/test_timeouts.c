/* test_timeouts.c: sessions that say nothing for too long. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;

static void
up(backend_fn *serve, const char *setting)
{
	backend_start(&back, ENDPOINT_TCP4, serve, "bye");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-d", "-r", "-O", setting, "-C", ctl.text,
	    front.text, back.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

/* Sets something while it runs; what is set says nothing else. */
static void
set(const char *line)
{
	int fd = endpoint_connect(&ctl);

	endpoint_send(fd, line, strlen(line));
	ck_assert_ptr_null(strstr(endpoint_recv_all(fd), "error"));
	close(fd);
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
	quiet = endpoint_connect(&front);
	endpoint_expect_echo(quiet, "x");
	busy = endpoint_connect(&front);
	for (began = wait_now_ms(); wait_now_ms() - began < 2200;) {
		endpoint_expect_echo(busy, "x");
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
	whole = endpoint_connect(&front);
	half = endpoint_connect(&front);
	shutdown(half, SHUT_WR);
	WAIT_FOR(child_has_said(&pen.child, "reason=half_timeout"), 5000);
	endpoint_send(whole, "x", 1);
	ck_assert_int_lt(recv(whole, &(char){ 0 }, 1, MSG_DONTWAIT), 0);
	close(half);
	close(whole);
	down();
}
END_TEST

/* Of two limits the sooner one counts. */
static const struct {
	const char *settings, *reason;
} pairs[] = {
	{ "idle_timeout 60; half_timeout 1", "reason=half_timeout" },
	{ "idle_timeout 1; half_timeout 60", "reason=idle_timeout" },
};

START_TEST(half_closed_session_has_the_sooner_limit)
{
	int half;

	up(backend_hang, pairs[_i].settings);
	half = endpoint_connect(&front);
	shutdown(half, SHUT_WR);
	WAIT_FOR(child_has_said(&pen.child, pairs[_i].reason), 10000);
	close(half);
	down();
}
END_TEST

/* Times that are set while a session waits by another, or by none. */
static const struct {
	const char *before, *now, *reason;
	bool half;
} changes[] = {
	{ "idle_timeout 0", "idle_timeout 1\n", "reason=idle_timeout", false },
	{ "idle_timeout 3600", "idle_timeout 1\n", "reason=idle_timeout",
	    false },
	{ "half_timeout 0", "half_timeout 1\n", "reason=half_timeout", true },
	{ "half_timeout 60", "half_timeout 1\n", "reason=half_timeout", true },
};

START_TEST(limit_set_anew_reaches_old_sessions)
{
	int fd;

	up(backend_hang, changes[_i].before);
	fd = endpoint_connect(&front);
	endpoint_send(fd, "x", 1);
	if (changes[_i].half)
		shutdown(fd, SHUT_WR);
	WAIT_FOR(back.accepted == 1, 5000);
	set(changes[_i].now);
	WAIT_FOR(child_has_said(&pen.child, changes[_i].reason), 10000);
	close(fd);
	down();
}
END_TEST

/* A limit that is lifted ends nobody any more. */
START_TEST(limit_lifted_spares_old_sessions)
{
	long long began;
	int fd;

	up(backend_echo, "idle_timeout 2");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "x");
	set("idle_timeout 0\n");
	for (began = wait_now_ms(); wait_now_ms() - began < 2500;)
		wait_nap();
	endpoint_expect_echo(fd, "y");
	close(fd);
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
	fd = endpoint_connect(&front);
	ck_assert_str_eq(endpoint_recv_all(fd), "bye");
	began = wait_now_ms();
	endpoint_send(fd, "more", 4);
	WAIT_FOR(child_has_said(&pen.child, "reason=linger_timeout"), 5000);
	ck_assert_int_ge(wait_now_ms() - began, 800);
	close(fd);
	down();
}
END_TEST

START_TEST(linger_set_anew_reaches_old_sessions)
{
	int fd;

	up(backend_say, "linger 3600");
	fd = endpoint_connect(&front);
	ck_assert_str_eq(endpoint_recv_all(fd), "bye");
	endpoint_send(fd, "more", 4);
	set("linger 1\n");
	WAIT_FOR(child_has_said(&pen.child, "reason=linger_timeout"), 10000);
	close(fd);
	down();
}
END_TEST

START_TEST(limit_set_anew_reaches_many)
{
	enum { MANY = 400 };
	int fd[MANY], i;
	char c;

	up(backend_hang, "idle_timeout 0");
	for (i = 0; i < MANY; i++)
		fd[i] = endpoint_connect(&front);
	WAIT_FOR(back.accepted == MANY, 10000);
	set("idle_timeout 1\n");
	for (i = 0; i < MANY; i++) {
		WAIT_FOR(recv(fd[i], &c, 1, MSG_DONTWAIT) == 0, 10000);
		close(fd[i]);
	}
	down();
}
END_TEST

/* ---- peers that are slow, or take nothing at all ---- */

enum { MUCH = 8 << 20, SLOW_MS = 4000 };

static const char much[MUCH];
static bool stalls;
static atomic_bool may_read;
static atomic_int taken; /* bytes; below 0: and the errno that came then */

/* Reads slowly for a while, or nothing until it may, and then the rest. */
static void
take(int fd)
{
	static char bytes[65536];
	int room = 16384, sum = 0;
	long long began = wait_now_ms();
	ssize_t n = 0;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	while (stalls ? !may_read : wait_now_ms() - began < SLOW_MS) {
		if (!stalls && (n = recv(fd, bytes, 1000, 0)) > 0)
			sum += (int)n;
		wait_nap();
	}
	room = MUCH;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		sum += (int)n;
	taken = n < 0 ? -errno : sum;
}

static void
takes(struct backend *b, int fd)
{
	(void)b;
	take(fd);
}

static void
pours(struct backend *b, int fd)
{
	(void)b;
	(void)backend_send(fd, much, MUCH);
}

/* The client sends much, or the server, and the other one takes it so. */
static void
pour(bool up_to_server, bool stalled, const char *setting)
{
	int fd;

	stalls = stalled;
	taken = 0;
	may_read = false;
	up(up_to_server ? takes : pours, setting);
	fd = endpoint_connect(&front);
	if (up_to_server)
		(void)backend_send(fd, much, MUCH);
	shutdown(fd, SHUT_WR);
	if (stalled)
		WAIT_FOR(child_has_said(&pen.child, "_timeout client="), 20000);
	may_read = true;
	if (!up_to_server)
		take(fd);
	WAIT_FOR(taken != 0, 20000);
	close(fd);
	down();
}

/* Nothing is reported to pen meanwhile: most of it lies in the kernel. */
START_TEST(slow_peer_is_not_idle)
{
	pour(_i % 2 == 1, false, _i < 2 ? "idle_timeout 2" : "half_timeout 2");
	ck_assert_int_eq(taken, MUCH);
}
END_TEST

START_TEST(stalled_peer_is_reset)
{
	pour(_i == 1, true, "idle_timeout 1");
	ck_assert_int_eq(taken, -ECONNRESET);
}
END_TEST

SUITE(test_timeouts)
{
	Suite *s = suite_create("timeouts");
	TCase *c;

	SUITE_ADD(s, idle_session_is_closed, 15);
	SUITE_ADD(s, half_closed_session_is_closed, 15);
	c = tcase_create("changes");
	tcase_set_timeout(c, 20);
	tcase_add_loop_test(c, half_closed_session_has_the_sooner_limit, 0,
	    sizeof(pairs) / sizeof(*pairs));
	tcase_add_loop_test(c, limit_set_anew_reaches_old_sessions, 0,
	    sizeof(changes) / sizeof(*changes));
	tcase_add_loop_test(c, stalled_peer_is_reset, 0, 2);
	suite_add_tcase(s, c);
	c = tcase_create("slow");
	tcase_set_timeout(c, 40);
	tcase_add_loop_test(c, slow_peer_is_not_idle, 0, 3);
	suite_add_tcase(s, c);
	SUITE_ADD(s, limit_lifted_spares_old_sessions, 15);
	SUITE_ADD(s, limit_set_anew_reaches_many, 30);
	SUITE_ADD(s, lingering_ends, 15);
	SUITE_ADD(s, linger_set_anew_reaches_old_sessions, 15);
	return s;
}
