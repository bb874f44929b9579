/* test_frontend.c: sessions in a real loop: how they end and are counted, what
 * the limits hold back, and that everything is given back in the end. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proxy/session.h"
#include "stage.h"

START_TEST(done)
{
	int fd;

	begin();
	begin_with(backend_echo, NULL);
	fd = talks();
	ck_assert_uint_eq(stats()->sessions, 1);
	ck_assert_uint_eq(pool_server(pool, 0)->connections, 1);
	shutdown(fd, SHUT_WR);
	RUN_UNTIL(tells(fd));
	spot_expect_end(fd);
	ended(REASON_DONE, 1);
	ck_assert_uint_eq(stats()->up, 5);
	ck_assert_uint_eq(stats()->down, 5);
	ck_assert_uint_eq(stats()->accepted, 1);
	ck_assert_uint_eq(stats()->sessions_peak, 1);
	ck_assert_uint_eq(pool_server(pool, 0)->sent, 5);
	ck_assert_uint_eq(pool_server(pool, 0)->received, 5);
	close(fd);
	end();
	backend_stop(&backend);
}
END_TEST

START_TEST(client_breaks_off)
{
	begin();
	begin_with(backend_echo, NULL);
	spot_reset(talks());
	ended(REASON_CLIENT_RESET, 1);
	RUN_UNTIL(atomic_load(&backend.open) == 0);
	end();
	backend_stop(&backend);
}
END_TEST

START_TEST(server_breaks_off)
{
	int fd;

	begin();
	begin_with(backend_reset, NULL);
	fd = spot_connect(&front);
	RUN_UNTIL(tells(fd));
	spot_expect_reset(fd);
	RUN_UNTIL(stats()->sessions == 0);
	/* a reset that is there before the connect was seen to succeed counts
	 * as a failed connect */
	ended(stats()->reasons[REASON_NO_SERVER] == 1 ? REASON_NO_SERVER
						      : REASON_SERVER_RESET,
	    1);
	close(fd);
	end();
	backend_stop(&backend);
}
END_TEST

START_TEST(nobody_serves)
{
	struct spot dead;
	int fd;

	begin();
	spot_new(&dead, SPOT_TCP4);
	add_server(0, &dead);
	begin_front();
	fd = spot_connect(&front);
	RUN_UNTIL(tells(fd));
	spot_expect_reset(fd);
	ended(REASON_NO_SERVER, 1);
	ck_assert_uint_eq(pool_server(pool, 0)->failures, 1);
	/* there was nobody else to try */
	ck_assert_uint_eq(stats()->retries, 0);
	close(fd);
	end();
}
END_TEST

/* The first server does not answer; the second does, and that was a retry. */
START_TEST(second_choice)
{
	struct spot dead;
	int fd;

	begin();
	spot_new(&dead, SPOT_TCP4);
	add_server(0, &dead);
	backend_start(&backend, SPOT_TCP4, backend_echo, NULL);
	add_server(1, &backend.at);
	begin_front();
	fd = talks();
	ck_assert_uint_eq(stats()->retries, 1);
	ck_assert_uint_eq(pool_server(pool, 0)->connections, 0);
	ck_assert_uint_eq(pool_server(pool, 1)->connections, 1);
	close(fd);
	ended(REASON_DONE, 1);
	end();
	backend_stop(&backend);
}
END_TEST

START_TEST(silence)
{
	int fd;

	begin();
	options.idle_timeout_ms = 30;
	begin_with(backend_echo, NULL);
	fd = talks();
	ended(REASON_IDLE_TIMEOUT, 1);
	close(fd);
	end();
	backend_stop(&backend);
}
END_TEST

START_TEST(half_silence)
{
	int fd;

	begin();
	options.half_timeout_ms = 30;
	begin_with(backend_hang, NULL);
	fd = spot_connect(&front);
	shutdown(fd, SHUT_WR);
	ended(REASON_HALF_TIMEOUT, 1);
	close(fd);
	end();
	backend_stop(&backend);
}
END_TEST

START_TEST(fast_closes)
{
	int fd, up;

	for (up = 0; up < 2; up++) {
		begin();
		options.fastclose_up = up;
		options.fastclose_down = !up;
		begin_with(up ? backend_say : backend_hang, "bye");
		fd = spot_connect(&front);
		if (up)
			hears(fd, "bye");
		else
			shutdown(fd, SHUT_WR);
		ended(REASON_FASTCLOSE, 1);
		close(fd);
		end();
		backend_stop(&backend);
	}
}
END_TEST

START_TEST(stopped)
{
	int one, two;

	begin();
	begin_with(backend_echo, NULL);
	one = talks();
	two = talks();
	session_close_all(frontend);
	spot_expect_reset(one);
	spot_expect_reset(two);
	ended(REASON_STOPPED, 2);
	close(one);
	close(two);
	end();
	backend_stop(&backend);
}
END_TEST

/* The third client waits outside until one leaves. */
START_TEST(sessions_are_limited)
{
	int one, two, three;

	begin();
	options.sessions_max = 2;
	begin_with(backend_echo, NULL);
	one = talks();
	two = talks();
	three = spot_connect(&front);
	spot_send(three, "third", 5);
	/* those inside are served meanwhile */
	spot_send(two, "again", 5);
	hears(two, "again");
	ck_assert_uint_eq(stats()->accepted, 2);
	close(one);
	hears(three, "third");
	ck_assert_uint_eq(stats()->accepted, 3);
	ck_assert_uint_eq(stats()->sessions_peak, 2);
	/* a wider door lets the next one in at once */
	one = spot_connect(&front);
	spot_send(one, "fourth", 6);
	breathe();
	ck_assert_uint_eq(stats()->accepted, 3);
	options.sessions_max = 3;
	frontend_set_options(frontend, &options);
	ck_assert_uint_eq(frontend_options(frontend)->sessions_max, 3);
	hears(one, "fourth");
	close(one);
	close(two);
	close(three);
	ended(REASON_DONE, 4);
	end();
	backend_stop(&backend);
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
	a = addr_of(at);
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

	begin();
	options.pending_max = 1;
	options.connect_timeout_ms = 200;
	fd = full_server(&busy);
	add_server(0, &busy);
	begin_front();
	one = spot_connect(&front);
	two = spot_connect(&front);
	RUN_UNTIL(stats()->connecting == 1);
	breathe();
	ck_assert_uint_eq(stats()->accepted, 1);
	RUN_UNTIL(stats()->accepted == 2);
	ck_assert_uint_ge(stats()->reasons[REASON_NO_SERVER], 1);
	spot_expect_reset(one);
	ended(REASON_NO_SERVER, 2);
	spot_expect_reset(two);
	close(one);
	close(two);
	close(fd);
	end();
}
END_TEST

/* Settings count for sessions from now on: "never" kills nobody. */
START_TEST(no_more_idle_timeout)
{
	long long until;
	int fd;

	begin();
	options.idle_timeout_ms = 50;
	begin_with(backend_echo, NULL);
	fd = talks();
	options.idle_timeout_ms = 0;
	frontend_set_options(frontend, &options);
	until = wait_now_ms() + 150;
	RUN_UNTIL(wait_now_ms() > until);
	ck_assert_uint_eq(stats()->sessions, 1);
	spot_send(fd, "still", 5);
	hears(fd, "still");
	close(fd);
	ended(REASON_DONE, 1);
	end();
	backend_stop(&backend);
}
END_TEST

/* Stopped, nobody comes in; those inside go on. */
START_TEST(stop_listening)
{
	struct spot second;
	struct addr at;
	int fd;

	begin();
	begin_with(backend_echo, NULL);
	spot_new(&second, SPOT_UNIX);
	at = addr_of(&second);
	ck_assert_int_eq(frontend_listen(frontend, &at, false, &e), 0);
	at = addr_of(&front);
	ck_assert_int_eq(frontend_listen(frontend, &at, false, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, front.text));
	ck_assert_int_eq(access(second.text, F_OK), 0);
	fd = talks();
	frontend_stop(frontend);
	ck_assert_int_eq(access(second.text, F_OK), -1);
	ck_assert_int_eq(spot_try_connect(&front), -1);
	spot_send(fd, "more", 4);
	hears(fd, "more");
	close(fd);
	ended(REASON_DONE, 1);
	end();
	backend_stop(&backend);
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

	backend_start(&backend, SPOT_TCP4, backend_hang, NULL);
	begin();
	full = full_server(&busy);
	before = descriptors();
	add_server(0, &backend.at);
	add_server(1, &busy);
	options.buffer = _i == 0 ? 0 : 1 << 20;
	options.splice = _i != 2;
	begin_front();
	for (i = 0; i < 6; i++) {
		fds[i] = spot_connect_from(&front, text("127.0.0.%d", 10 + i));
		RUN_UNTIL(stats()->accepted == (unsigned)i + 1);
		if (i % 3 == 0)
			stuff(fds[i]);
		if (i % 3 == 1)
			shutdown(fds[i], SHUT_WR);
		breathe();
	}
	for (i = 0; i < 20; i++)
		breathe();
	ck_assert_uint_gt(stats()->connecting, 0);
	ck_assert_uint_gt(stats()->sessions, stats()->connecting);
	end();
	for (i = 0; i < 6; i++) {
		ck_assert(tells(fds[i]));
		close(fds[i]);
	}
	ck_assert_int_eq(atomic_load(&backend.accepted), 3);
	backend_stop(&backend);
	close(full);
	ck_assert_int_ge(before, descriptors());
}
END_TEST

START_TEST(free_of_little)
{
	begin();
	frontend_free(NULL);
	frontend = frontend_new(loop, pool, &options, &e);
	ck_assert_ptr_nonnull(frontend);
	end();
}
END_TEST

/* It answers by itself, and closes what is open in the end. */
START_TEST(dummy)
{
	char bytes[12];
	int fd;

	begin();
	options.dummy = true;
	begin_front();
	fd = spot_connect(&front);
	spot_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27);
	RUN_UNTIL(holds(fd, 12));
	spot_recv(fd, bytes, 12);
	ck_assert_int_eq(memcmp(bytes, "HTTP/1.1 200", 12), 0);
	end();
	close(fd);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("frontend");
	TCase *c = tcase_create("free_gives_all_back");

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
	suite_add_tcase(s, c);
	SUITE_ADD(s, free_of_little, 10);
	SUITE_ADD(s, dummy, 30);
	return suite_main(s);
}
