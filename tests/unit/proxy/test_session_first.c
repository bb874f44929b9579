/* test_session_first.c: clients that get a server when their first bytes are
 * there. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/session/connections.h"
#include "proxy/wire/first.h"
#include "proxy/wire/route.h"
#include "support/pattern.h"
#include "support/fixture.h"
#include "support/suite.h"

static void
begin(backend_fn *serve, const void *arg, uint64_t wait_ms, uint64_t hello_ms)
{
	fixture_begin();
	fixture.options.peek = true;
	fixture.options.peek_wait_ms = wait_ms;
	fixture.options.hello_ms = hello_ms;
	backend_start(&fixture.backend, ENDPOINT_TCP4, serve, arg);
	fixture_add_server(0, &fixture.backend.at);
	fixture_front();
}

static void
end(void)
{
	fixture_end();
	backend_stop(&fixture.backend);
}

/* Who says nothing has no server, and others are served. */
START_TEST(no_server_before_the_first_byte)
{
	int silent, other;

	begin(backend_echo, NULL, 0, 0);
	silent = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->sessions == 1);
	other = fixture_talks();
	ck_assert_int_eq(fixture.backend.accepted, 1);
	endpoint_send(silent, "hi", 2);
	RUN_UNTIL(fixture_tells(silent));
	fixture_hears(silent, "hi");
	ck_assert_int_eq(fixture.backend.accepted, 2);
	close(silent);
	close(other);
	fixture_ended(REASON_DONE, 2);
	end();
}
END_TEST

START_TEST(silence_ends)
{
	int fd;

	begin(backend_echo, NULL, 0, 50);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_tells(fd));
	endpoint_expect_end(fd);
	close(fd);
	fixture_ended(REASON_HELLO_TIMEOUT, 1);
	ck_assert_int_eq(fixture.backend.accepted, 0);
	end();
}
END_TEST

/* After peek_wait the server speaks first. */
START_TEST(servers_that_speak_first)
{
	int fd;

	begin(backend_say, "220 hello", 50, 10000);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_tells(fd));
	fixture_hears(fd, "220 hello");
	close(fd);
	fixture_ended(REASON_DONE, 1);
	end();
}
END_TEST

/* Nothing more will come of a client that ends: it gets its server at once. */
START_TEST(end_without_a_byte)
{
	int fd;

	begin(backend_sink, NULL, 0, 0);
	fd = endpoint_connect(&fixture.front);
	shutdown(fd, SHUT_WR);
	RUN_UNTIL(fixture_tells(fd));
	fixture_hears(fd, "received 0\n");
	close(fd);
	fixture_ended(REASON_DONE, 1);
	end();
}
END_TEST

START_TEST(reset_without_a_byte)
{
	begin(backend_echo, NULL, 0, 0);
	endpoint_reset(endpoint_connect(&fixture.front));
	fixture_ended(REASON_CLIENT_RESET, 1);
	end();
}
END_TEST

/* More at once than is read before the decision. */
START_TEST(much_at_once)
{
	enum { MUCH = 100000 };
	static char bytes[MUCH], back[MUCH];
	size_t got = 0;
	ssize_t n;
	int fd;

	begin(backend_echo, NULL, 0, 0);
	pattern_fill(1, 0, bytes, MUCH);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, bytes, MUCH);
	shutdown(fd, SHUT_WR);
	while (got < MUCH) {
		RUN_UNTIL(fixture_tells(fd));
		n = recv(fd, back + got, MUCH - got, MSG_DONTWAIT);
		ck_assert_int_gt(n, 0);
		got += (size_t)n;
	}
	ck_assert_mem_eq(bytes, back, MUCH);
	close(fd);
	fixture_ended(REASON_DONE, 1);
	end();
}
END_TEST

/* ---- routes ---- */

static struct backend second;

static void
say_second(struct backend *b, int fd)
{
	char bytes[100];

	(void)b;
	if (recv(fd, bytes, sizeof(bytes), 0) >= 0)
		(void)backend_send(fd, "second", 6);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
}

static void
put_route(struct routes *r, unsigned i, enum route_kind kind,
    const char *pattern, unsigned server)
{
	unsigned slot = server_slot(server);

	r->list[i].kind = kind;
	r->list[i].pattern = strdup(pattern);
	ck_assert_int_eq(server_set_init(&r->list[i].servers, &slot, 1), 0);
}

/* Server 0 echoes; ssh and silence go to server 1, and a host. */
static void
begin_routes(uint64_t wait_ms, uint64_t hello_ms)
{
	struct routes *r = routes_new(4);

	fixture_begin();
	fixture.options.peek_wait_ms = wait_ms;
	fixture.options.hello_ms = hello_ms;
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&second, ENDPOINT_TCP4, say_second, NULL);
	fixture_add_server(0, &fixture.backend.at);
	fixture_add_server(1, &second.at);
	fixture_front();
	put_route(r, 0, ROUTE_PROTOCOL, "ssh", 1);
	put_route(r, 1, ROUTE_PROTOCOL, "silent", 1);
	put_route(r, 2, ROUTE_HOST, "b.example", 1);
	put_route(r, 3, ROUTE_DEFAULT, "", 0);
	routes_prepare(r, NULL);
	frontend_set_routes(fixture.frontend, r);
}

static void
end_routes(void)
{
	fixture_end();
	backend_stop(&fixture.backend);
	backend_stop(&second);
}

/* Byte by byte; nobody hears of it before the last one. */
static void
expect_slowly(const char *says, const char *answer)
{
	int fd = endpoint_connect(&fixture.front);
	int before = fixture.backend.accepted + second.accepted;

	for (; *says != '\0'; says++) {
		ck_assert_int_eq(
		    fixture.backend.accepted + second.accepted, before);
		endpoint_send(fd, says, 1);
		fixture_breathe();
	}
	fixture_hears(fd, answer);
	close(fd);
}

START_TEST(byte_by_byte)
{
	begin_routes(0, 0);
	expect_slowly("SSH-", "second");
	expect_slowly("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "second");
	expect_slowly("GET / HTTP/1.1\r\nHost: c.example\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost: c.example\r\n\r\n");
	expect_slowly("EHLO me\n", "EHLO me\n");
	expect_slowly("\xff", "\xff");
	ck_assert_uint_eq(
	    *frontend_routes(fixture.frontend)->list[0].clients, 1);
	ck_assert_uint_eq(
	    *frontend_routes(fixture.frontend)->list[2].clients, 1);
	ck_assert_uint_eq(
	    *frontend_routes(fixture.frontend)->list[3].clients, 3);
	end_routes();
}
END_TEST

/* Its route is known long before the end of its header, which may have a
 * cookie. */
START_TEST(counted_once)
{
	const char *c = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
	struct routes *r = routes_new(1);
	int fd;

	begin_routes(0, 0);
	put_route(r, 0, ROUTE_PROTOCOL, "http", 1);
	routes_prepare(r, NULL);
	frontend_set_routes(fixture.frontend, r);
	fixture.options.http.on = true;
	strcpy(fixture.options.http.sticky, "SRV");
	frontend_set_options(fixture.frontend, &fixture.options);
	fd = endpoint_connect(&fixture.front);
	for (; *c != '\0'; c++) {
		endpoint_send(fd, c, 1);
		fixture_breathe();
	}
	RUN_UNTIL(second.accepted == 1);
	ck_assert_uint_eq(*r->list[0].clients, 1);
	close(fd);
	end_routes();
}
END_TEST

START_TEST(silence_has_a_route)
{
	int fd;

	begin_routes(0, 50);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(second.accepted == 1);
	endpoint_send(fd, "x", 1);
	fixture_hears(fd, "second");
	close(fd);
	end_routes();
}
END_TEST

/* Who says a part, and then no more, is closed: peek_wait is for silence. */
START_TEST(a_part_and_then_silence)
{
	int fd;

	begin_routes(20, 100);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "GET / HT", 8);
	RUN_UNTIL(fixture_tells(fd));
	close(fd);
	fixture_ended(REASON_HELLO_TIMEOUT, 1);
	ck_assert_int_eq(fixture.backend.accepted + second.accepted, 0);
	end_routes();
}
END_TEST

/* A header without an end. */
START_TEST(too_long)
{
	static char bytes[2 * FIRST_MAX];
	int fd;

	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes, "GET / HTTP/1.1\r\nA: ", 19);
	begin_routes(0, 0);
	fd = endpoint_connect(&fixture.front);
	(void)send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
	fixture_ended(REASON_HELLO_TOO_LONG, 1);
	ck_assert_int_eq(fixture.backend.accepted + second.accepted, 0);
	close(fd);
	end_routes();
}
END_TEST

/* Who ends before it is known what it wants has the default. */
START_TEST(a_part_and_the_end)
{
	int fd;

	begin_routes(0, 0);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "SSH", 3);
	shutdown(fd, SHUT_WR);
	fixture_hears(fd, "SSH");
	close(fd);
	fixture_ended(REASON_DONE, 1);
	end_routes();
}
END_TEST

/* Routes that come and go while a client has not said what it wants. */
START_TEST(routes_change_meanwhile)
{
	struct routes *r = routes_new(1);
	char back[20];
	int fd;

	begin_routes(0, 0);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "SS", 2);
	RUN_UNTIL(fixture_stats()->sessions == 1);
	put_route(r, 0, ROUTE_PROTOCOL, "ssh", 0);
	routes_prepare(r, NULL);
	frontend_set_routes(fixture.frontend, r);
	endpoint_send(fd, "H-2", 3);
	fixture_hears(fd, "SSH-2");
	close(fd);
	fixture_ended(REASON_DONE, 1);

	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "SS", 2);
	RUN_UNTIL(fixture_stats()->sessions == 1);
	frontend_set_routes(fixture.frontend, NULL);
	endpoint_send(fd, "H-2", 3);
	RUN_UNTIL(fixture_tells(fd));
	ck_assert_int_gt(recv(fd, back, sizeof(back), 0), 0);
	close(fd);
	fixture_ended(REASON_DONE, 2);
	end_routes();
}
END_TEST

/* ---- routes and the queue ---- */

enum { CROWD = 5 };

/* How many sessions have waited at least since then, with no try between. */
static int
count_waiting(uint64_t since)
{
	const struct sessions *all = frontend_sessions(fixture.frontend);
	struct connection_info c;
	uint64_t i = 0, now = loop_now(fixture.loop);
	int n = 0;

	for (; connection_next(all, i, &c); i = c.number + 1)
		n += strcmp(c.state, "queued") == 0 && now - c.idle_ms <= since;
	return n;
}

/* Server 1 is full, with a crowd that waits for it; returns who fills it. */
static int
begin_crowd(int crowd[CROWD])
{
	struct pool_options o;
	int fd, i;

	begin_routes(0, 0);
	o = *pool_options(fixture.pool);
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	fixture.options.queue_ms = 60000;
	frontend_set_options(fixture.frontend, &fixture.options);
	pool_server(fixture.pool, 0)->set.soft = 1;
	pool_server(fixture.pool, 1)->set.soft = 1;
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "SSH-", 4);
	fixture_hears(fd, "second");
	for (i = 0; i < CROWD; i++) {
		crowd[i] = endpoint_connect(&fixture.front);
		endpoint_send(crowd[i], "SSH-", 4);
		RUN_UNTIL(fixture_stats()->queued == (uint64_t)i + 1);
	}
	return fd;
}

/* Places at the servers of other routes are nothing to them. */
START_TEST(waiting_clients_are_left_alone)
{
	int crowd[CROWD], filler = begin_crowd(crowd), other, i;
	uint64_t since = loop_now(fixture.loop);

	RUN_UNTIL(loop_now(fixture.loop) > since + 2);
	for (i = 0; i < 10; i++) {
		other = endpoint_connect(&fixture.front);
		endpoint_send(other, "EHLO me\n", 8);
		fixture_hears(other, "EHLO me\n");
		close(other);
		RUN_UNTIL(pool_server(fixture.pool, 0)->connections == 0);
		fixture_breathe();
	}
	ck_assert_int_eq(count_waiting(since), CROWD);
	/* the one that has waited longest is next */
	close(filler);
	for (i = 0; i < CROWD; i++) {
		fixture_hears(crowd[i], "second");
		close(crowd[i]);
	}
	ck_assert_uint_eq(fixture_stats()->queued, 0);
	end_routes();
}
END_TEST

/* Whose route leads elsewhere now waits there. */
START_TEST(waiting_clients_follow_their_routes)
{
	int crowd[CROWD], filler = begin_crowd(crowd), i;
	struct routes *r = routes_new(1);

	pool_server(fixture.pool, 0)->set.soft = CROWD - 1;
	put_route(r, 0, ROUTE_PROTOCOL, "ssh", 0);
	routes_prepare(r, NULL);
	frontend_set_routes(fixture.frontend, r);
	for (i = 0; i < CROWD - 1; i++)
		fixture_hears(crowd[i], "SSH-");
	ck_assert(!fixture_tells(crowd[CROWD - 1]));
	frontend_set_routes(fixture.frontend, NULL);
	close(filler);
	fixture_hears(crowd[CROWD - 1], "second");
	for (i = 0; i < CROWD; i++)
		close(crowd[i]);
	end_routes();
}
END_TEST

SUITE(test_session_first)
{
	Suite *s = suite_create("session_first");

	SUITE_ADD(s, no_server_before_the_first_byte, 20);
	SUITE_ADD(s, silence_ends, 20);
	SUITE_ADD(s, servers_that_speak_first, 20);
	SUITE_ADD(s, end_without_a_byte, 20);
	SUITE_ADD(s, reset_without_a_byte, 20);
	SUITE_ADD(s, much_at_once, 20);
	SUITE_ADD(s, byte_by_byte, 20);
	SUITE_ADD(s, counted_once, 20);
	SUITE_ADD(s, silence_has_a_route, 20);
	SUITE_ADD(s, a_part_and_then_silence, 20);
	SUITE_ADD(s, too_long, 20);
	SUITE_ADD(s, a_part_and_the_end, 20);
	SUITE_ADD(s, routes_change_meanwhile, 20);
	SUITE_ADD(s, waiting_clients_are_left_alone, 20);
	SUITE_ADD(s, waiting_clients_follow_their_routes, 20);
	return s;
}
