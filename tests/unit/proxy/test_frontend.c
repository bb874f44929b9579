/* test_frontend.c: sessions in a real loop: how they end and are counted, what
 * the limits hold back, and that everything is given back in the end. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "net/loop/loop.h"
#include "pool/balance.h"
#include "proxy/frontend/frontend.h"
#include "proxy/session/connections.h"
#include "support/backend.h"
#include "support/rig.h"
#include "support/spot.h"
#include "support/suite.h"

START_TEST(done)
{
	int fd;

	rig_begin();
	rig_with(backend_echo, NULL);
	fd = rig_talks();
	ck_assert_uint_eq(rig_stats()->sessions, 1);
	ck_assert_uint_eq(pool_server(rig.pool, 0)->connections, 1);
	shutdown(fd, SHUT_WR);
	RUN_UNTIL(rig_tells(fd));
	spot_expect_end(fd);
	rig_ended(REASON_DONE, 1);
	ck_assert_uint_eq(rig_stats()->up, 5);
	ck_assert_uint_eq(rig_stats()->down, 5);
	ck_assert_uint_eq(rig_stats()->accepted, 1);
	ck_assert_uint_eq(rig_stats()->sessions_peak, 1);
	ck_assert_uint_eq(pool_server(rig.pool, 0)->sent, 5);
	ck_assert_uint_eq(pool_server(rig.pool, 0)->received, 5);
	close(fd);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

/* The loop, which is freed last, has nothing left to do for it. */
START_TEST(freed_right_after_a_change)
{
	int fd;

	rig_begin();
	rig_with(backend_echo, NULL);
	fd = rig_talks();
	rig.options.idle_timeout_ms = 1000;
	frontend_set_options(rig.frontend, &rig.options);
	close(fd);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

START_TEST(client_breaks_off)
{
	rig_begin();
	rig_with(backend_echo, NULL);
	spot_reset(rig_talks());
	rig_ended(REASON_CLIENT_RESET, 1);
	RUN_UNTIL(atomic_load(&rig.backend.open) == 0);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

START_TEST(server_breaks_off)
{
	int fd;

	rig_begin();
	rig_with(backend_reset, NULL);
	fd = spot_connect(&rig.front);
	RUN_UNTIL(rig_tells(fd));
	spot_expect_reset(fd);
	RUN_UNTIL(rig_stats()->sessions == 0);
	/* a reset that is there before the connect was seen to succeed counts
	 * as a failed connect */
	rig_ended(rig_stats()->reasons[REASON_NO_SERVER] == 1
		? REASON_NO_SERVER
		: REASON_SERVER_RESET,
	    1);
	close(fd);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

START_TEST(nobody_serves)
{
	struct spot dead;
	int fd;

	rig_begin();
	rig.options.retry_ms = 0;
	spot_new(&dead, SPOT_TCP4);
	rig_add_server(0, &dead);
	rig_front();
	fd = spot_connect(&rig.front);
	RUN_UNTIL(rig_tells(fd));
	spot_expect_reset(fd);
	rig_ended(REASON_NO_SERVER, 1);
	ck_assert_uint_eq(pool_server(rig.pool, 0)->failures, 1);
	/* there was nobody else to try */
	ck_assert_uint_eq(rig_stats()->retries, 0);
	close(fd);
	rig_end();
}
END_TEST

/* How long a connect takes is measured for the algorithm that asks for it. */
START_TEST(connects_are_timed)
{
	struct pool_options o;
	const struct server *s;

	rig_begin();
	o = *pool_options(rig.pool);
	o.balance = balance_find(_i == 0 ? "least_time" : "leastconn");
	ck_assert_int_eq(pool_set_options(rig.pool, &o), 0);
	rig_with(backend_echo, NULL);
	close(rig_talks());
	rig_ended(REASON_DONE, 1);
	s = pool_server(rig.pool, 0);
	ck_assert_uint_eq(s->timed, _i == 0 ? 1 : 0);
	ck_assert(_i == 0 ? s->slowness > 0 : s->slowness == 0);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

/* The first server does not answer; the second does, and that was a retry. */
START_TEST(second_choice)
{
	struct spot dead;
	int fd;

	rig_begin();
	spot_new(&dead, SPOT_TCP4);
	rig_add_server(0, &dead);
	backend_start(&rig.backend, SPOT_TCP4, backend_echo, NULL);
	rig_add_server(1, &rig.backend.at);
	rig_front();
	fd = rig_talks();
	ck_assert_uint_eq(rig_stats()->retries, 1);
	ck_assert_uint_eq(pool_server(rig.pool, 0)->connections, 0);
	ck_assert_uint_eq(pool_server(rig.pool, 1)->connections, 1);
	close(fd);
	rig_ended(REASON_DONE, 1);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

START_TEST(silence)
{
	int fd;

	rig_begin();
	rig.options.idle_timeout_ms = 30;
	rig_with(backend_echo, NULL);
	fd = rig_talks();
	rig_ended(REASON_IDLE_TIMEOUT, 1);
	close(fd);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

START_TEST(half_silence)
{
	int fd;

	rig_begin();
	rig.options.half_timeout_ms = 30;
	rig_with(backend_hang, NULL);
	fd = spot_connect(&rig.front);
	shutdown(fd, SHUT_WR);
	rig_ended(REASON_HALF_TIMEOUT, 1);
	close(fd);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

START_TEST(fast_closes)
{
	int fd, up;

	for (up = 0; up < 2; up++) {
		rig_begin();
		rig.options.fastclose = up ? FASTCLOSE_UP : FASTCLOSE_DOWN;
		rig_with(up ? backend_say : backend_hang, "bye");
		fd = spot_connect(&rig.front);
		if (up)
			rig_hears(fd, "bye");
		else
			shutdown(fd, SHUT_WR);
		rig_ended(REASON_FASTCLOSE, 1);
		close(fd);
		rig_end();
		backend_stop(&rig.backend);
	}
}
END_TEST

START_TEST(stopped)
{
	int one, two;

	rig_begin();
	rig_with(backend_echo, NULL);
	one = rig_talks();
	two = rig_talks();
	ck_assert(connection_close(frontend_sessions(rig.frontend), 0));
	ck_assert(connection_close(frontend_sessions(rig.frontend), 1));
	spot_expect_reset(one);
	spot_expect_reset(two);
	rig_ended(REASON_STOPPED, 2);
	close(one);
	close(two);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

/* The third client waits outside until one leaves. */
START_TEST(sessions_are_limited)
{
	int one, two, three;

	rig_begin();
	rig.options.sessions_max = 2;
	rig_with(backend_echo, NULL);
	one = rig_talks();
	two = rig_talks();
	three = spot_connect(&rig.front);
	spot_send(three, "third", 5);
	/* those inside are served meanwhile */
	spot_send(two, "again", 5);
	rig_hears(two, "again");
	ck_assert_uint_eq(rig_stats()->accepted, 2);
	close(one);
	rig_hears(three, "third");
	ck_assert_uint_eq(rig_stats()->accepted, 3);
	ck_assert_uint_eq(rig_stats()->sessions_peak, 2);
	/* a wider door lets the next one in at once */
	one = spot_connect(&rig.front);
	spot_send(one, "fourth", 6);
	rig_breathe();
	ck_assert_uint_eq(rig_stats()->accepted, 3);
	rig.options.sessions_max = 3;
	frontend_set_options(rig.frontend, &rig.options);
	ck_assert_uint_eq(frontend_options(rig.frontend)->sessions_max, 3);
	rig_hears(one, "fourth");
	close(one);
	close(two);
	close(three);
	rig_ended(REASON_DONE, 4);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

/* Fills the queue of a Unix listener, so that connects to it wait. */
static int
full_server(struct spot *at)
{
	struct addr a;
	int fd, more;

	spot_new(at, SPOT_UNIX);
	fd = spot_listen(at, 0);
	a = rig_addr(at);
	do {
		more = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		ck_assert_int_ge(more, 0);
	} while (connect(more, &a.u.sa, a.len) == 0);
	close(more);
	return fd;
}

/* As many connects as allowed are under way; who waits for longer than the
 * timeout is sent away, and the next one comes in. */
START_TEST(connects_are_limited)
{
	struct spot busy;
	int fd, one, two;

	rig_begin();
	rig.options.pending_max = 1;
	rig.options.connect_timeout_ms = 200;
	fd = full_server(&busy);
	rig_add_server(0, &busy);
	rig_front();
	one = spot_connect(&rig.front);
	two = spot_connect(&rig.front);
	RUN_UNTIL(rig_stats()->connecting == 1);
	rig_breathe();
	ck_assert_uint_eq(rig_stats()->accepted, 1);
	RUN_UNTIL(rig_stats()->accepted == 2);
	ck_assert_uint_ge(rig_stats()->reasons[REASON_NO_SERVER], 1);
	spot_expect_reset(one);
	rig_ended(REASON_NO_SERVER, 2);
	spot_expect_reset(two);
	close(one);
	close(two);
	close(fd);
	rig_end();
}
END_TEST

/* Settings count for sessions from now on: "never" kills nobody. */
START_TEST(no_more_idle_timeout)
{
	long long until;
	int fd;

	rig_begin();
	rig.options.idle_timeout_ms = 1000;
	rig_with(backend_echo, NULL);
	fd = rig_talks();
	rig.options.idle_timeout_ms = 0;
	frontend_set_options(rig.frontend, &rig.options);
	until = wait_now_ms() + 1200;
	RUN_UNTIL(wait_now_ms() > until);
	ck_assert_uint_eq(rig_stats()->sessions, 1);
	spot_send(fd, "still", 5);
	rig_hears(fd, "still");
	close(fd);
	rig_ended(REASON_DONE, 1);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

/* Stopped, nobody comes in; those inside go on. */
START_TEST(stop_listening)
{
	struct spot second;
	struct addr at;
	int fd;

	rig_begin();
	rig_with(backend_echo, NULL);
	spot_new(&second, SPOT_UNIX);
	at = rig_addr(&second);
	ck_assert_int_eq(frontend_listen(rig.frontend, &at, false, &rig.e), 0);
	at = rig_addr(&rig.front);
	ck_assert_int_eq(frontend_listen(rig.frontend, &at, false, &rig.e), -1);
	ck_assert_ptr_nonnull(strstr(rig.e.text, rig.front.text));
	ck_assert_int_eq(access(second.text, F_OK), 0);
	fd = rig_talks();
	frontend_stop(rig.frontend);
	ck_assert_int_eq(access(second.text, F_OK), -1);
	ck_assert_int_eq(spot_try_connect(&rig.front), -1);
	spot_send(fd, "more", 4);
	rig_hears(fd, "more");
	close(fd);
	rig_ended(REASON_DONE, 1);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

static int
descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void
stuff(int fd)
{
	static char bytes[1 << 16];

	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		continue;
}

/* Freed in the middle of everything: connecting, relaying with bytes stuck,
 * half-closed. Clients are reset, and nothing is left behind (the leak checker
 * watches memory, this watches descriptors). */
START_TEST(free_gives_all_back)
{
	struct spot busy;
	int before, fds[6], i, full;

	backend_start(&rig.backend, SPOT_TCP4, backend_hang, NULL);
	rig_begin();
	full = full_server(&busy);
	before = descriptors();
	rig_add_server(0, &rig.backend.at);
	rig_add_server(1, &busy);
	rig.options.buffer = _i == 0 ? 0 : 1 << 20;
	rig.options.splice = _i != 2;
	rig_front();
	for (i = 0; i < 6; i++) {
		fds[i] =
		    spot_connect_from(&rig.front, text("127.0.0.%d", 10 + i));
		RUN_UNTIL(rig_stats()->accepted == (unsigned)i + 1);
		if (i % 3 == 0)
			stuff(fds[i]);
		if (i % 3 == 1)
			shutdown(fds[i], SHUT_WR);
		rig_breathe();
	}
	for (i = 0; i < 20; i++)
		rig_breathe();
	ck_assert_uint_gt(rig_stats()->connecting, 0);
	ck_assert_uint_gt(rig_stats()->sessions, rig_stats()->connecting);
	rig_end();
	for (i = 0; i < 6; i++) {
		ck_assert(rig_tells(fds[i]));
		close(fds[i]);
	}
	ck_assert_int_eq(atomic_load(&rig.backend.accepted), 3);
	backend_stop(&rig.backend);
	close(full);
	ck_assert_int_ge(before, descriptors());
}
END_TEST

START_TEST(free_of_little)
{
	rig_begin();
	frontend_free(NULL);
	rig.frontend = frontend_new(rig.loop, rig.pool, &rig.options, &rig.e);
	ck_assert_ptr_nonnull(rig.frontend);
	rig_end();
}
END_TEST

/* It answers by itself, and closes what is open in the end. */
/* A server without a port of its own has the one that the client came to: a
 * name with an open port for each. No connection can be kept ready for it. */
START_TEST(server_has_the_clients_port)
{
	static const char *const names[] = { "first", "second", "third" };
	static struct backend b[3];
	struct frontend_address at[3];
	struct spot place[3], all;
	int fd, i;

	rig_begin();
	rig.options.preopened = 4;
	memset(at, 0, sizeof(at));
	for (i = 0; i < 3; i++) {
		spot_new(&place[i], SPOT_TCP4);
		at[i].at = rig_addr(&place[i]);
		spot_at_host(&all, &place[i], "127.0.8.1");
		backend_start_at(&b[i], &all, backend_say, names[i]);
	}
	((struct sockaddr_in *)(void *)&all.addr)->sin_port = 0;
	rig_add_server(0, &all);
	rig_front();
	ck_assert_int_eq(frontend_relisten(rig.frontend, at, 3, &rig.e), 0);
	for (i = 0; i < 6; i++) {
		fd = spot_connect(&place[i % 3]);
		rig_hears(fd, names[i % 3]);
		close(fd);
	}
	ck_assert_uint_eq(frontend_preopened(rig.frontend), 0);
	ck_assert_uint_eq(pool_server(rig.pool, 0)->failures, 0);
	RUN_UNTIL(rig_stats()->sessions == 0);
	rig_end();
	for (i = 0; i < 3; i++)
		backend_stop(&b[i]);
}
END_TEST

START_TEST(dummy)
{
	char bytes[12];
	int fd;

	rig_begin();
	rig.options.dummy = true;
	rig_front();
	fd = spot_connect(&rig.front);
	spot_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27);
	RUN_UNTIL(rig_holds(fd, 12));
	spot_recv(fd, bytes, 12);
	ck_assert_int_eq(memcmp(bytes, "HTTP/1.1 200", 12), 0);
	rig_end();
	close(fd);
}
END_TEST

SUITE(test_frontend)
{
	Suite *s = suite_create("frontend");
	TCase *c = tcase_create("loops");

	SUITE_ADD(s, done, 30);
	SUITE_ADD(s, client_breaks_off, 30);
	SUITE_ADD(s, server_breaks_off, 30);
	SUITE_ADD(s, nobody_serves, 30);
	SUITE_ADD(s, second_choice, 30);
	SUITE_ADD(s, silence, 30);
	SUITE_ADD(s, half_silence, 30);
	SUITE_ADD(s, fast_closes, 30);
	SUITE_ADD(s, stopped, 30);
	SUITE_ADD(s, sessions_are_limited, 30);
	SUITE_ADD(s, connects_are_limited, 30);
	SUITE_ADD(s, no_more_idle_timeout, 30);
	SUITE_ADD(s, stop_listening, 30);
	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, free_gives_all_back, 0, 3);
	tcase_add_loop_test(c, connects_are_timed, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, freed_right_after_a_change, 10);
	SUITE_ADD(s, free_of_little, 10);
	SUITE_ADD(s, server_has_the_clients_port, 30);
	SUITE_ADD(s, dummy, 30);
	return s;
}
