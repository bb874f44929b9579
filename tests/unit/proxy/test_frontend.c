/* test_frontend.c: sessions in a real loop: how they end and are counted, what
 * the limits hold back, and that everything is given back in the end. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/loop/loop.h"
#include "pool/balance.h"
#include "proxy/frontend/frontend.h"
#include "proxy/log/sessionlog.h"
#include "proxy/session/connections.h"
#include "support/backend.h"
#include "support/fixture.h"
#include "support/endpoint.h"
#include "support/suite.h"

START_TEST(done)
{
	int fd;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	fd = fixture_talks();
	ck_assert_uint_eq(fixture_stats()->sessions, 1);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, 1);
	shutdown(fd, SHUT_WR);
	RUN_UNTIL(fixture_tells(fd));
	endpoint_expect_end(fd);
	fixture_ended(REASON_DONE, 1);
	ck_assert_uint_eq(fixture_stats()->up, 5);
	ck_assert_uint_eq(fixture_stats()->down, 5);
	ck_assert_uint_eq(fixture_stats()->accepted, 1);
	ck_assert_uint_eq(fixture_stats()->sessions_peak, 1);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->sent, 5);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->received, 5);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* The loop, which is freed last, has nothing left to do for it. */
START_TEST(freed_right_after_a_change)
{
	int fd;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	fd = fixture_talks();
	fixture.options.idle_timeout_ms = 1000;
	frontend_set_options(fixture.frontend, &fixture.options);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

START_TEST(client_breaks_off)
{
	fixture_begin();
	fixture_with(backend_echo, NULL);
	endpoint_reset(fixture_talks());
	fixture_ended(REASON_CLIENT_RESET, 1);
	RUN_UNTIL(atomic_load(&fixture.backend.open) == 0);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

START_TEST(server_breaks_off)
{
	int fd;

	fixture_begin();
	fixture_with(backend_reset, NULL);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_tells(fd));
	endpoint_expect_reset(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	/* a reset that is there before the connect was seen to succeed counts
	 * as a failed connect */
	fixture_ended(fixture_stats()->reasons[REASON_NO_SERVER] == 1
		? REASON_NO_SERVER
		: REASON_SERVER_RESET,
	    1);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

START_TEST(nobody_serves)
{
	struct endpoint dead;
	int fd;

	fixture_begin();
	fixture.options.retry_ms = 0;
	endpoint_new(&dead, ENDPOINT_TCP4);
	fixture_add_server(0, &dead);
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_tells(fd));
	endpoint_expect_reset(fd);
	fixture_ended(REASON_NO_SERVER, 1);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 1);
	/* there was nobody else to try */
	ck_assert_uint_eq(fixture_stats()->retries, 0);
	close(fd);
	fixture_end();
}
END_TEST

/* How long a connect takes is measured for the algorithm that asks for it. */
START_TEST(connects_are_timed)
{
	struct pool_options o;
	const struct server *s;

	fixture_begin();
	o = *pool_options(fixture.pool);
	o.balance = balance_find(_i == 0 ? "least_time" : "leastconn");
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	fixture_with(backend_echo, NULL);
	close(fixture_talks());
	fixture_ended(REASON_DONE, 1);
	s = pool_server(fixture.pool, 0);
	ck_assert_uint_eq(s->timed, _i == 0 ? 1 : 0);
	ck_assert(_i == 0 ? s->slowness > 0 : s->slowness == 0);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* The first server does not answer; the second does, and that was a retry. */
START_TEST(second_choice)
{
	struct endpoint dead;
	int fd;

	fixture_begin();
	endpoint_new(&dead, ENDPOINT_TCP4);
	fixture_add_server(0, &dead);
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(1, &fixture.backend.at);
	fixture_front();
	fd = fixture_talks();
	ck_assert_uint_eq(fixture_stats()->retries, 1);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 1)->connections, 1);
	close(fd);
	fixture_ended(REASON_DONE, 1);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* The server may take its time before that. */
START_TEST(silence)
{
	int fd;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	fd = fixture_talks();
	fixture.options.idle_timeout_ms = 30;
	frontend_set_options(fixture.frontend, &fixture.options);
	fixture_ended(REASON_IDLE_TIMEOUT, 1);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

START_TEST(half_silence)
{
	int fd;

	fixture_begin();
	fixture.options.half_timeout_ms = 30;
	fixture_with(backend_hang, NULL);
	fd = endpoint_connect(&fixture.front);
	shutdown(fd, SHUT_WR);
	fixture_ended(REASON_HALF_TIMEOUT, 1);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

START_TEST(fast_closes)
{
	int fd, up;

	for (up = 0; up < 2; up++) {
		fixture_begin();
		fixture.options.fastclose = up ? FASTCLOSE_UP : FASTCLOSE_DOWN;
		fixture_with(up ? backend_say : backend_hang, "bye");
		fd = endpoint_connect(&fixture.front);
		if (up)
			fixture_hears(fd, "bye");
		else
			shutdown(fd, SHUT_WR);
		fixture_ended(REASON_FASTCLOSE, 1);
		close(fd);
		fixture_end();
		backend_stop(&fixture.backend);
	}
}
END_TEST

START_TEST(stopped)
{
	int one, two;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	one = fixture_talks();
	two = fixture_talks();
	ck_assert(connection_close(frontend_sessions(fixture.frontend), 0));
	ck_assert(connection_close(frontend_sessions(fixture.frontend), 1));
	endpoint_expect_reset(one);
	endpoint_expect_reset(two);
	fixture_ended(REASON_STOPPED, 2);
	close(one);
	close(two);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* The third client waits outside until one leaves. */
START_TEST(sessions_are_limited)
{
	int one, two, three;

	fixture_begin();
	fixture.options.sessions_max = 2;
	fixture_with(backend_echo, NULL);
	one = fixture_talks();
	two = fixture_talks();
	three = endpoint_connect(&fixture.front);
	endpoint_send(three, "third", 5);
	/* those inside are served meanwhile */
	endpoint_send(two, "again", 5);
	fixture_hears(two, "again");
	ck_assert_uint_eq(fixture_stats()->accepted, 2);
	close(one);
	fixture_hears(three, "third");
	ck_assert_uint_eq(fixture_stats()->accepted, 3);
	ck_assert_uint_eq(fixture_stats()->sessions_peak, 2);
	/* a wider door lets the next one in at once */
	one = endpoint_connect(&fixture.front);
	endpoint_send(one, "fourth", 6);
	fixture_breathe();
	ck_assert_uint_eq(fixture_stats()->accepted, 3);
	fixture.options.sessions_max = 3;
	frontend_set_options(fixture.frontend, &fixture.options);
	ck_assert_uint_eq(frontend_options(fixture.frontend)->sessions_max, 3);
	fixture_hears(one, "fourth");
	close(one);
	close(two);
	close(three);
	fixture_ended(REASON_DONE, 4);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* Fills the queue of a Unix listener, so that connects to it wait. */
static int
full_server(struct endpoint *at)
{
	struct addr a;
	int fd, more;

	endpoint_new(at, ENDPOINT_UNIX);
	fd = endpoint_listen(at, 0);
	a = fixture_addr(at);
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
	struct endpoint busy;
	int fd, one, two;

	fixture_begin();
	fixture.options.pending_max = 1;
	fixture.options.connect_timeout_ms = 200;
	fd = full_server(&busy);
	fixture_add_server(0, &busy);
	fixture_front();
	one = endpoint_connect(&fixture.front);
	two = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->connecting == 1);
	fixture_breathe();
	ck_assert_uint_eq(fixture_stats()->accepted, 1);
	RUN_UNTIL(fixture_stats()->accepted == 2);
	ck_assert_uint_ge(fixture_stats()->reasons[REASON_NO_SERVER], 1);
	endpoint_expect_reset(one);
	fixture_ended(REASON_NO_SERVER, 2);
	endpoint_expect_reset(two);
	close(one);
	close(two);
	close(fd);
	fixture_end();
}
END_TEST

START_TEST(server_moves_while_a_client_connects)
{
	struct endpoint before;
	const struct server *s;
	int listening, first, fd;

	fixture_begin();
	fixture.options.connect_timeout_ms = 200;
	endpoint_new(&before, ENDPOINT_TCP4);
	listening = endpoint_listen(&before, 0);
	first = endpoint_connect(&before); /* the queue is full */
	fixture_add_server(0, &before);
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->connecting == 1);
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(0, &fixture.backend.at);
	endpoint_send(fd, "hello", 5);
	fixture_hears(fd, "hello");
	s = pool_server(fixture.pool, 0);
	ck_assert_uint_eq(s->counters->failures, 0);
	ck_assert_uint_eq(s->blacklisted_until, 0);
	close(fd);
	fixture_ended(REASON_DONE, 1);
	fixture_end();
	close(first);
	close(listening);
	backend_stop(&fixture.backend);
}
END_TEST

/* What the old address does after all says nothing about the new one. */
START_TEST(server_moves_and_answers_where_it_was)
{
	struct endpoint before, now;
	struct server *s;
	int listening, first, fd;

	fixture_begin();
	endpoint_new(&before, ENDPOINT_TCP4);
	endpoint_new(&now, ENDPOINT_TCP4);
	listening = endpoint_listen(&before, 0);
	first = endpoint_connect(&before); /* the queue is full */
	fixture_add_server(0, &before);
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->connecting == 1);
	fixture_add_server(0, &now);
	s = pool_server(fixture.pool, 0);
	(void)pool_failed(fixture.pool, s, "test", loop_now(fixture.loop));
	close(accept(listening, NULL, NULL));
	RUN_UNTIL(fixture_stats()->connecting == 0);
	ck_assert_uint_eq(fixture_stats()->sessions, 1);
	ck_assert_int_eq(server_state(s), SERVER_BLACKLISTED);
	close(fd);
	fixture_end();
	close(first);
	close(listening);
}
END_TEST

#ifdef SO_PEERNAME
/* One answer, then the end. */
static void
answer_once(struct backend *b, int fd)
{
	char question[5];

	if (recv(fd, question, 5, MSG_WAITALL) == 5)
		backend_say(b, fd);
}

static void
reset_when_asked(struct backend *b, int fd)
{
	char question[5];

	if (recv(fd, question, 5, MSG_WAITALL) == 5)
		backend_reset(b, fd);
}

/* The client ends first; the server does, and is let go before its client, or
 * not; the server breaks off: each line has the address that the session had.
 */
START_TEST(line_of_a_session_whose_server_has_moved)
{
	static backend_fn *const serve[] = { backend_echo, answer_once,
		answer_once, reset_when_asked };
	const char *path = scratch(text("sessions%d", _i));
	struct sessionlog_options o = { .to = path, .sample = 1 };
	struct list targets = LIST_INIT(targets), formats = LIST_INIT(formats);
	struct endpoint other;
	struct sessionlog *g;
	int fd;

	fixture_begin();
	fixture.options.buffer = _i == 1 ? 1 << 20 : 0;
	fixture_with(serve[_i], "right");
	g = sessionlog_open(&targets, &formats, fixture.loop, &o, &fixture.e);
	ck_assert_msg(g != NULL, "%s", fixture.e.text);
	frontend_set_sessionlog(fixture.frontend, g);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(atomic_load(&fixture.backend.accepted) == 1 &&
	    fixture_stats()->sessions == 1 && fixture_stats()->connecting == 0);
	endpoint_new(&other, ENDPOINT_TCP4);
	fixture_add_server(0, &other);
	if (_i > 0) {
		endpoint_send(fd, "hello", 5);
		RUN_UNTIL(fixture_tells(fd));
	}
	if (_i == 1 || _i == 2)
		fixture_hears(fd, "right");
	close(fd);
	RUN_UNTIL(file_has(path, "\n"));
	ck_assert_msg(
	    file_has(path, text(" server=%s ", fixture.backend.at.text)), "%s",
	    contents(path));
	frontend_set_sessionlog(fixture.frontend, NULL);
	ck_assert(list_is_empty(&targets));
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* A server with the address that does not answer, and one before or behind. */
static void
set_addresses(const struct endpoint *first, const struct endpoint *second)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "twin";
	spec.addrs.count = 1;
	spec.addrs.addr[0] = fixture_addr(first);
	if (second != NULL)
		spec.addrs.addr[spec.addrs.count++] = fixture_addr(second);
	ck_assert_ptr_nonnull(
	    pool_set_slot(fixture.pool, server_slot(0), &spec));
}

/* What a client connects to stays an address of its server: the new one is the
 * next to try, in the same round. */
START_TEST(server_gains_an_address_while_a_client_connects)
{
	struct endpoint silent;
	int listening, first, fd;

	fixture_begin();
	fixture.options.connect_timeout_ms = 1000;
	endpoint_new(&silent, ENDPOINT_TCP4);
	listening = endpoint_listen(&silent, 0);
	first = endpoint_connect(&silent); /* the queue is full */
	set_addresses(&silent, NULL);
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->connecting == 1);
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	set_addresses(&fixture.backend.at, &silent);
	endpoint_send(fd, "hello", 5);
	fixture_hears(fd, "hello");
	ck_assert_uint_eq(fixture_stats()->retries, 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->addr_first, 0);
	close(fd);
	fixture_ended(REASON_DONE, 1);
	fixture_end();
	close(first);
	close(listening);
	backend_stop(&fixture.backend);
}
END_TEST

/* The name's addresses come in another order each time: it has failed all the
 * same when none answers. */
START_TEST(server_fails_whose_addresses_rotate)
{
	struct endpoint silent, deaf;
	const struct server *s;
	int listening, first, fd;

	fixture_begin();
	fixture.options.connect_timeout_ms = 1000;
	endpoint_new(&silent, ENDPOINT_TCP4);
	endpoint_new(&deaf, ENDPOINT_TCP4);
	listening = endpoint_listen(&silent, 0);
	first = endpoint_connect(&silent); /* the queue is full */
	set_addresses(&silent, &deaf);
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->connecting == 1);
	set_addresses(&deaf, &silent);
	s = pool_server(fixture.pool, 0);
	RUN_UNTIL(s->counters->failures > 0);
	ck_assert_uint_eq(fixture_stats()->retries, 0);
	ck_assert_int_eq(server_state(s), SERVER_BLACKLISTED);
	close(fd);
	fixture_end();
	close(first);
	close(listening);
}
END_TEST

/* It is the server's own address that answers. */
START_TEST(server_gains_an_address_and_answers)
{
	struct endpoint slow, other;
	struct server *s;
	int listening, first, fd;

	fixture_begin();
	endpoint_new(&slow, ENDPOINT_TCP4);
	endpoint_new(&other, ENDPOINT_TCP4);
	listening = endpoint_listen(&slow, 0);
	first = endpoint_connect(&slow); /* the queue is full */
	set_addresses(&slow, NULL);
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->connecting == 1);
	set_addresses(&other, &slow);
	s = pool_server(fixture.pool, 0);
	(void)pool_failed(fixture.pool, s, "test", loop_now(fixture.loop));
	close(accept(listening, NULL, NULL));
	RUN_UNTIL(fixture_stats()->connecting == 0);
	ck_assert_int_eq(server_state(s), SERVER_UP);
	close(fd);
	fixture_end();
	close(first);
	close(listening);
}
END_TEST
#endif

/* Settings count for sessions from now on: "never" kills nobody. */
START_TEST(no_more_idle_timeout)
{
	long long until;
	int fd;

	fixture_begin();
	fixture.options.idle_timeout_ms = 1000;
	fixture_with(backend_echo, NULL);
	fd = fixture_talks();
	fixture.options.idle_timeout_ms = 0;
	frontend_set_options(fixture.frontend, &fixture.options);
	until = wait_now_ms() + 1200;
	RUN_UNTIL(wait_now_ms() > until);
	ck_assert_uint_eq(fixture_stats()->sessions, 1);
	endpoint_send(fd, "still", 5);
	fixture_hears(fd, "still");
	close(fd);
	fixture_ended(REASON_DONE, 1);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* Stopped, nobody comes in; those inside go on. */
START_TEST(stop_listening)
{
	struct frontend_address at[3] = { 0 };
	struct endpoint second;
	int fd;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	endpoint_new(&second, ENDPOINT_UNIX);
	at[0].at = fixture_addr(&fixture.front);
	at[1].at = fixture_addr(&second);
	at[2].at = fixture_addr(&fixture.backend.at);
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, at, 2, &fixture.e), 0);
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, at, 3, &fixture.e), -1);
	ck_assert_ptr_nonnull(strstr(fixture.e.text, fixture.backend.at.text));
	ck_assert_int_eq(access(second.text, F_OK), 0);
	fd = fixture_talks();
	frontend_stop(fixture.frontend);
	ck_assert_int_eq(access(second.text, F_OK), -1);
	ck_assert_int_eq(endpoint_try_connect(&fixture.front), -1);
	endpoint_send(fd, "more", 4);
	fixture_hears(fd, "more");
	close(fd);
	fixture_ended(REASON_DONE, 1);
	fixture_end();
	backend_stop(&fixture.backend);
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
	struct endpoint busy;
	int before, fds[6], i, full;

	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_hang, NULL);
	fixture_begin();
	full = full_server(&busy);
	before = descriptors();
	fixture_add_server(0, &fixture.backend.at);
	fixture_add_server(1, &busy);
	fixture.options.buffer = _i == 0 ? 0 : 1 << 20;
	fixture.options.splice = _i != 2;
	fixture_front();
	for (i = 0; i < 6; i++) {
		fds[i] = endpoint_connect_from(
		    &fixture.front, text("127.0.0.%d", 10 + i));
		RUN_UNTIL(fixture_stats()->accepted == (unsigned)i + 1);
		if (i % 3 == 0)
			stuff(fds[i]);
		if (i % 3 == 1)
			shutdown(fds[i], SHUT_WR);
		fixture_breathe();
	}
	for (i = 0; i < 20; i++)
		fixture_breathe();
	ck_assert_uint_gt(fixture_stats()->connecting, 0);
	ck_assert_uint_gt(
	    fixture_stats()->sessions, fixture_stats()->connecting);
	fixture_end();
	for (i = 0; i < 6; i++) {
		ck_assert(fixture_tells(fds[i]));
		close(fds[i]);
	}
	WAIT_FOR(atomic_load(&fixture.backend.accepted) == 3, 5000);
	backend_stop(&fixture.backend);
	close(full);
	ck_assert_int_ge(before, descriptors());
}
END_TEST

START_TEST(free_of_little)
{
	fixture_begin();
	frontend_free(NULL);
	fixture.frontend = frontend_new(
	    fixture.loop, fixture.pool, &fixture.options, &fixture.e);
	ck_assert_ptr_nonnull(fixture.frontend);
	fixture_end();
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
	struct endpoint place[3], all;
	int fd, i;

	fixture_begin();
	fixture.options.preopened = 4;
	memset(at, 0, sizeof(at));
	for (i = 0; i < 3; i++) {
		endpoint_new(&place[i], ENDPOINT_TCP4);
		at[i].at = fixture_addr(&place[i]);
		endpoint_at_host(&all, &place[i], "127.0.8.1");
		backend_start_at(&b[i], &all, backend_say, names[i]);
	}
	((struct sockaddr_in *)(void *)&all.addr)->sin_port = 0;
	fixture_add_server(0, &all);
	fixture_front();
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, at, 3, &fixture.e), 0);
	for (i = 0; i < 6; i++) {
		fd = endpoint_connect(&place[i % 3]);
		fixture_hears(fd, names[i % 3]);
		close(fd);
	}
	ck_assert_uint_eq(frontend_preopened(fixture.frontend), 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	fixture_end();
	for (i = 0; i < 3; i++)
		backend_stop(&b[i]);
}
END_TEST

START_TEST(dummy)
{
	char bytes[12];
	int fd;

	fixture_begin();
	fixture.options.dummy = true;
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27);
	RUN_UNTIL(fixture_holds(fd, 12));
	endpoint_recv(fd, bytes, 12);
	ck_assert_int_eq(memcmp(bytes, "HTTP/1.1 200", 12), 0);
	fixture_end();
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
	SUITE_ADD(s, server_moves_while_a_client_connects, 10);
	SUITE_ADD(s, server_moves_and_answers_where_it_was, 20);
#ifdef SO_PEERNAME
	SUITE_ADD_LOOP(s, line_of_a_session_whose_server_has_moved, 20, 4);
	SUITE_ADD(s, server_gains_an_address_while_a_client_connects, 10);
	SUITE_ADD(s, server_fails_whose_addresses_rotate, 10);
	SUITE_ADD(s, server_gains_an_address_and_answers, 20);
#endif
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
