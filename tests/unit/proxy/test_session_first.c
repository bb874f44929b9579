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
#include "support/rig.h"
#include "support/suite.h"

static void
begin(backend_fn *serve, const void *arg, uint64_t wait_ms, uint64_t hello_ms)
{
	rig_begin();
	rig.options.peek = true;
	rig.options.peek_wait_ms = wait_ms;
	rig.options.hello_ms = hello_ms;
	backend_start(&rig.backend, SPOT_TCP4, serve, arg);
	rig_add_server(0, &rig.backend.at);
	rig_front();
}

static void
end(void)
{
	rig_end();
	backend_stop(&rig.backend);
}

/* Who says nothing has no server, and others are served. */
START_TEST(no_server_before_the_first_byte)
{
	int silent, other;

	begin(backend_echo, NULL, 0, 0);
	silent = spot_connect(&rig.front);
	RUN_UNTIL(rig_stats()->sessions == 1);
	other = rig_talks();
	ck_assert_int_eq(rig.backend.accepted, 1);
	spot_send(silent, "hi", 2);
	RUN_UNTIL(rig_tells(silent));
	rig_hears(silent, "hi");
	ck_assert_int_eq(rig.backend.accepted, 2);
	close(silent);
	close(other);
	rig_ended(REASON_DONE, 2);
	end();
}
END_TEST

START_TEST(silence_ends)
{
	int fd;

	begin(backend_echo, NULL, 0, 50);
	fd = spot_connect(&rig.front);
	RUN_UNTIL(rig_tells(fd));
	spot_expect_end(fd);
	close(fd);
	rig_ended(REASON_HELLO_TIMEOUT, 1);
	ck_assert_int_eq(rig.backend.accepted, 0);
	end();
}
END_TEST

/* After peek_wait the server speaks first. */
START_TEST(servers_that_speak_first)
{
	int fd;

	begin(backend_say, "220 hello", 50, 10000);
	fd = spot_connect(&rig.front);
	RUN_UNTIL(rig_tells(fd));
	rig_hears(fd, "220 hello");
	close(fd);
	rig_ended(REASON_DONE, 1);
	end();
}
END_TEST

/* Nothing more will come of a client that ends: it gets its server at once. */
START_TEST(end_without_a_byte)
{
	int fd;

	begin(backend_sink, NULL, 0, 0);
	fd = spot_connect(&rig.front);
	shutdown(fd, SHUT_WR);
	RUN_UNTIL(rig_tells(fd));
	rig_hears(fd, "received 0\n");
	close(fd);
	rig_ended(REASON_DONE, 1);
	end();
}
END_TEST

START_TEST(reset_without_a_byte)
{
	begin(backend_echo, NULL, 0, 0);
	spot_reset(spot_connect(&rig.front));
	rig_ended(REASON_CLIENT_RESET, 1);
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
	fd = spot_connect(&rig.front);
	spot_send(fd, bytes, MUCH);
	shutdown(fd, SHUT_WR);
	while (got < MUCH) {
		RUN_UNTIL(rig_tells(fd));
		n = recv(fd, back + got, MUCH - got, MSG_DONTWAIT);
		ck_assert_int_gt(n, 0);
		got += (size_t)n;
	}
	ck_assert_mem_eq(bytes, back, MUCH);
	close(fd);
	rig_ended(REASON_DONE, 1);
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

	rig_begin();
	rig.options.peek_wait_ms = wait_ms;
	rig.options.hello_ms = hello_ms;
	backend_start(&rig.backend, SPOT_TCP4, backend_echo, NULL);
	backend_start(&second, SPOT_TCP4, say_second, NULL);
	rig_add_server(0, &rig.backend.at);
	rig_add_server(1, &second.at);
	rig_front();
	put_route(r, 0, ROUTE_PROTOCOL, "ssh", 1);
	put_route(r, 1, ROUTE_PROTOCOL, "silent", 1);
	put_route(r, 2, ROUTE_HOST, "b.example", 1);
	put_route(r, 3, ROUTE_DEFAULT, "", 0);
	routes_prepare(r, NULL);
	frontend_set_routes(rig.frontend, r);
}

static void
end_routes(void)
{
	rig_end();
	backend_stop(&rig.backend);
	backend_stop(&second);
}

/* Byte by byte; nobody hears of it before the last one. */
static void
expect_slowly(const char *says, const char *answer)
{
	int fd = spot_connect(&rig.front);
	int before = rig.backend.accepted + second.accepted;

	for (; *says != '\0'; says++) {
		ck_assert_int_eq(
		    rig.backend.accepted + second.accepted, before);
		spot_send(fd, says, 1);
		rig_breathe();
	}
	rig_hears(fd, answer);
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
	ck_assert_uint_eq(frontend_routes(rig.frontend)->list[0].clients, 1);
	ck_assert_uint_eq(frontend_routes(rig.frontend)->list[2].clients, 1);
	ck_assert_uint_eq(frontend_routes(rig.frontend)->list[3].clients, 3);
	end_routes();
}
END_TEST

START_TEST(silence_has_a_route)
{
	int fd;

	begin_routes(0, 50);
	fd = spot_connect(&rig.front);
	RUN_UNTIL(second.accepted == 1);
	spot_send(fd, "x", 1);
	rig_hears(fd, "second");
	close(fd);
	end_routes();
}
END_TEST

/* Who says a part, and then no more, is closed: peek_wait is for silence. */
START_TEST(a_part_and_then_silence)
{
	int fd;

	begin_routes(20, 100);
	fd = spot_connect(&rig.front);
	spot_send(fd, "GET / HT", 8);
	RUN_UNTIL(rig_tells(fd));
	close(fd);
	rig_ended(REASON_HELLO_TIMEOUT, 1);
	ck_assert_int_eq(rig.backend.accepted + second.accepted, 0);
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
	fd = spot_connect(&rig.front);
	(void)send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
	rig_ended(REASON_HELLO_TOO_LONG, 1);
	ck_assert_int_eq(rig.backend.accepted + second.accepted, 0);
	close(fd);
	end_routes();
}
END_TEST

/* Who ends before it is known what it wants has the default. */
START_TEST(a_part_and_the_end)
{
	int fd;

	begin_routes(0, 0);
	fd = spot_connect(&rig.front);
	spot_send(fd, "SSH", 3);
	shutdown(fd, SHUT_WR);
	rig_hears(fd, "SSH");
	close(fd);
	rig_ended(REASON_DONE, 1);
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
	fd = spot_connect(&rig.front);
	spot_send(fd, "SS", 2);
	RUN_UNTIL(rig_stats()->sessions == 1);
	put_route(r, 0, ROUTE_PROTOCOL, "ssh", 0);
	routes_prepare(r, NULL);
	frontend_set_routes(rig.frontend, r);
	spot_send(fd, "H-2", 3);
	rig_hears(fd, "SSH-2");
	close(fd);
	rig_ended(REASON_DONE, 1);

	fd = spot_connect(&rig.front);
	spot_send(fd, "SS", 2);
	RUN_UNTIL(rig_stats()->sessions == 1);
	frontend_set_routes(rig.frontend, NULL);
	spot_send(fd, "H-2", 3);
	RUN_UNTIL(rig_tells(fd));
	ck_assert_int_gt(recv(fd, back, sizeof(back), 0), 0);
	close(fd);
	rig_ended(REASON_DONE, 2);
	end_routes();
}
END_TEST

/* ---- routes and the queue ---- */

enum { CROWD = 5 };

/* How many sessions have waited at least since then, with no try between. */
static int
count_waiting(uint64_t since)
{
	const struct sessions *all = frontend_sessions(rig.frontend);
	struct connection_info c;
	uint64_t i = 0, now = loop_now(rig.loop);
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
	o = *pool_options(rig.pool);
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(rig.pool, &o), 0);
	rig.options.queue_ms = 60000;
	frontend_set_options(rig.frontend, &rig.options);
	pool_server(rig.pool, 0)->set.soft = 1;
	pool_server(rig.pool, 1)->set.soft = 1;
	fd = spot_connect(&rig.front);
	spot_send(fd, "SSH-", 4);
	rig_hears(fd, "second");
	for (i = 0; i < CROWD; i++) {
		crowd[i] = spot_connect(&rig.front);
		spot_send(crowd[i], "SSH-", 4);
		RUN_UNTIL(rig_stats()->queued == (uint64_t)i + 1);
	}
	return fd;
}

/* Places at the servers of other routes are nothing to them. */
START_TEST(waiting_clients_are_left_alone)
{
	int crowd[CROWD], filler = begin_crowd(crowd), other, i;
	uint64_t since = loop_now(rig.loop);

	RUN_UNTIL(loop_now(rig.loop) > since + 2);
	for (i = 0; i < 10; i++) {
		other = spot_connect(&rig.front);
		spot_send(other, "EHLO me\n", 8);
		rig_hears(other, "EHLO me\n");
		close(other);
		RUN_UNTIL(pool_server(rig.pool, 0)->connections == 0);
		rig_breathe();
	}
	ck_assert_int_eq(count_waiting(since), CROWD);
	/* the one that has waited longest is next */
	close(filler);
	for (i = 0; i < CROWD; i++) {
		rig_hears(crowd[i], "second");
		close(crowd[i]);
	}
	ck_assert_uint_eq(rig_stats()->queued, 0);
	end_routes();
}
END_TEST

/* Whose route leads elsewhere now waits there. */
START_TEST(waiting_clients_follow_their_routes)
{
	int crowd[CROWD], filler = begin_crowd(crowd), i;
	struct routes *r = routes_new(1);

	pool_server(rig.pool, 0)->set.soft = CROWD - 1;
	put_route(r, 0, ROUTE_PROTOCOL, "ssh", 0);
	routes_prepare(r, NULL);
	frontend_set_routes(rig.frontend, r);
	for (i = 0; i < CROWD - 1; i++)
		rig_hears(crowd[i], "SSH-");
	ck_assert(!rig_tells(crowd[CROWD - 1]));
	frontend_set_routes(rig.frontend, NULL);
	close(filler);
	rig_hears(crowd[CROWD - 1], "second");
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
	SUITE_ADD(s, silence_has_a_route, 20);
	SUITE_ADD(s, a_part_and_then_silence, 20);
	SUITE_ADD(s, too_long, 20);
	SUITE_ADD(s, a_part_and_the_end, 20);
	SUITE_ADD(s, routes_change_meanwhile, 20);
	SUITE_ADD(s, waiting_clients_are_left_alone, 20);
	SUITE_ADD(s, waiting_clients_follow_their_routes, 20);
	return s;
}
