/* test_preopened.c: pre-opened connections: made, used, replaced, and gone with
 * the health of their server. */
#include "config.h"

#include <check.h>
#include <unistd.h>

#include "support/fixture.h"
#include "support/pooladmin.h"
#include "support/suite.h"

static struct backend second;

static int
accepted(void)
{
	return atomic_load(&fixture.backend.accepted);
}

/* Two servers of the same kind and so many pre-opened connections. */
static void
begin(backend_fn *serve, const void *arg, unsigned idlers)
{
	fixture_begin();
	fixture.options.preopened = idlers;
	backend_start(&second, ENDPOINT_TCP4, serve, arg);
	fixture_add_server(1, &second.at);
	fixture_with(serve, arg);
}

static void
end(void)
{
	fixture_end();
	backend_stop(&fixture.backend);
	backend_stop(&second);
}

static void
want(unsigned idlers)
{
	fixture.options.preopened = idlers;
	frontend_set_options(fixture.frontend, &fixture.options);
}

START_TEST(spread_used_and_replaced)
{
	int fds[4], i;

	begin(backend_echo, NULL, 5);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 5);
	RUN_UNTIL(accepted() == 3 && atomic_load(&second.accepted) == 2);
	for (i = 0; i < 4; i++)
		fds[i] = fixture_talks();
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 5);
	/* the clients came over those that were there: four were replaced */
	RUN_UNTIL(accepted() + atomic_load(&second.accepted) == 9);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections +
		pool_server(fixture.pool, 1)->connections,
	    4);
	ck_assert_uint_eq(fixture_stats()->sessions, 4);
	for (i = 0; i < 4; i++)
		close(fds[i]);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	want(2);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 2);
	want(0);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 0);
	RUN_UNTIL(atomic_load(&fixture.backend.open) == 0);
	want(3);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 3);
	end();
}
END_TEST

/* What the server says first waits for the client. */
static void
greet(struct backend *b, int fd)
{
	if (backend_send(fd, "welcome", 7))
		backend_echo(b, fd);
}

START_TEST(greetings_are_kept)
{
	int fd;

	begin(greet, NULL, 2);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 2);
	fd = endpoint_connect(&fixture.front);
	fixture_hears(fd, "welcome");
	endpoint_send(fd, "hello", 5);
	fixture_hears(fd, "hello");
	close(fd);
	end();
}
END_TEST

static void
close_at_once(struct backend *b, int fd)
{
	(void)b;
	(void)fd;
}

/* One that closes soon is not called again and again. */
START_TEST(no_busy_loop)
{
	long long until;

	begin(close_at_once, NULL, 4);
	until = wait_now_ms() + 300;
	while (wait_now_ms() < until)
		fixture_breathe();
	ck_assert_int_ge(accepted(), 2);
	ck_assert_int_le(accepted() + atomic_load(&second.accepted), 8);
	end();
}
END_TEST

static bool
has_none(const struct backend *b)
{
	return atomic_load(&b->open) == 0;
}

START_TEST(gone_with_its_health)
{
	struct server *s;

	begin(backend_echo, NULL, 4);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	s = pool_server(fixture.pool, 1);
	pool_set_admin(fixture.pool, s, SERVER_DISABLED);
	want(4);
	RUN_UNTIL(
	    has_none(&second) && frontend_preopened(fixture.frontend) == 4);
	pool_set_admin(fixture.pool, s, SERVER_ENABLED);
	want(4);
	RUN_UNTIL(
	    !has_none(&second) && frontend_preopened(fixture.frontend) == 4);
	/* blacklisted behind its back: the next second finds out */
	pool_failed(fixture.pool, s, "a test", loop_now(fixture.loop));
	RUN_UNTIL(
	    has_none(&second) && frontend_preopened(fixture.frontend) == 4);
	pool_connected(fixture.pool, s, loop_now(fixture.loop));
	RUN_UNTIL(!has_none(&second));
	/* another address */
	fixture_add_server(1, &fixture.backend.at);
	want(4);
	RUN_UNTIL(
	    has_none(&second) && frontend_preopened(fixture.frontend) == 4);
	pool_remove_server(fixture.pool, s);
	want(4);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4 &&
	    atomic_load(&fixture.backend.open) == 4);
	end();
}
END_TEST

/* A server that is gone is found out by its pre-opened connections; clients
 * never meet it. */
START_TEST(the_dead_are_found_out)
{
	int i;

	begin(backend_echo, NULL, 4);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	backend_stop(&second);
	RUN_UNTIL(pool_server(fixture.pool, 1)->blacklisted_until != 0);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	for (i = 0; i < 4; i++)
		close(fixture_talks());
	ck_assert_uint_eq(fixture_stats()->retries, 0);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* With all pre-opened connections broken off at one moment no client is
 * lost. */
START_TEST(stale_ones_cost_nobody)
{
	struct endpoint at;
	int i;

	begin(backend_echo, NULL, 6);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 6);
	at = fixture.backend.at;
	backend_stop(&fixture.backend);
	backend_start_at(&fixture.backend, &at, backend_echo, NULL);
	/* the loop has not seen their ends yet */
	for (i = 0; i < 6; i++)
		close(fixture_talks());
	ck_assert_uint_eq(fixture_stats()->retries, 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->reasons[REASON_DONE], 6);
	end();
}
END_TEST

/* Nobody has to come to learn that a blacklisting is over. */
START_TEST(back_with_their_server)
{
	struct pool_options o;
	struct server *s;

	begin(backend_echo, NULL, 4);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	o = *pool_options(fixture.pool);
	o.blacklist_ms = 200;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	s = pool_server(fixture.pool, 1);
	pool_failed(fixture.pool, s, "a test", loop_now(fixture.loop));
	want(4);
	RUN_UNTIL(has_none(&second));
	RUN_UNTIL(atomic_load(&second.open) == 2);
	ck_assert_uint_eq(fixture_stats()->accepted, 0);
	end();
}
END_TEST

/* One that reached its limit keeps its own, until fewer are wanted. */
START_TEST(a_full_server_keeps_them)
{
	struct attempts attempts = { 0 };
	struct server_spec spec;
	struct server *s;
	struct peer who = { 0 };

	begin(backend_echo, NULL, 4);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	s = pool_server(fixture.pool, 1);
	server_spec_init(&spec);
	spec.name = s->name;
	spec.addrs = server_addrs(s);
	spec.set.hard = 1;
	s = pool_set_slot(fixture.pool, server_slot(1), &spec);
	ck_assert_ptr_nonnull(s);
	pool_opened(fixture.pool, s, &who, &attempts, loop_now(fixture.loop));
	want(4);
	ck_assert_uint_eq(frontend_preopened(fixture.frontend), 4);
	want(1);
	ck_assert_uint_eq(frontend_preopened(fixture.frontend), 1);
	RUN_UNTIL(has_none(&second));
	pool_closed(fixture.pool, s, &who, &attempts, 0, 0);
	end();
}
END_TEST

/* Those of before do not know what was changed. */
START_TEST(made_as_the_settings_say)
{
	struct addr at;

	begin(backend_echo, NULL, 2);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 2);
	RUN_UNTIL(accepted() == 1);
	fixture.options.keepalive_count++;
	want(2);
	RUN_UNTIL(accepted() == 2 && frontend_preopened(fixture.frontend) == 2);
	fixture.options.source.count = 1;
	at = fixture_addr(&fixture.front);
	addr_set_port(&at, 0);
	peer_from_addr(&fixture.options.source.at[0], &at);
	want(2);
	RUN_UNTIL(accepted() == 3 && frontend_preopened(fixture.frontend) == 2);
	fixture.options.rate_up = 1 << 20;
	want(2);
	RUN_UNTIL(accepted() == 4 && frontend_preopened(fixture.frontend) == 2);
	want(2);
	ck_assert_uint_eq(frontend_preopened(fixture.frontend), 2);
	end();
}
END_TEST

/* Servers of datagrams know no connections. */
START_TEST(datagrams_have_none)
{
	begin(backend_echo, NULL, 4);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	fixture.options.udp.on = true;
	want(4);
	ck_assert_uint_eq(frontend_preopened(fixture.frontend), 0);
	fixture.options.dns.on = true; /* which may come either way */
	want(4);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	end();
}
END_TEST

/* All addresses are tried before the server counts as failed, and the next one
 * begins with the one that worked. */
START_TEST(every_address_is_tried)
{
	struct server_spec spec;
	struct endpoint dead, gone;
	struct server *s;

	fixture_begin();
	fixture.options.preopened = 2;
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&dead, ENDPOINT_TCP4); /* refuses late, */
	endpoint_new(&gone, ENDPOINT_UNIX); /* and at once */
	server_spec_init(&spec);
	spec.name = dead.text;
	spec.addrs.count = 3;
	spec.addrs.addr[0] = fixture_addr(&dead);
	spec.addrs.addr[1] = fixture_addr(&gone);
	spec.addrs.addr[2] = fixture_addr(&fixture.backend.at);
	s = pool_set_slot(fixture.pool, server_slot(0), &spec);
	ck_assert_ptr_nonnull(s);
	fixture_front();
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 2);
	ck_assert_uint_eq(s->counters->failures, 0);
	ck_assert_uint_eq(s->addr_first, 2);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* A Unix server with a full queue is busy, not dead. */
START_TEST(a_full_queue_is_no_failure)
{
	struct endpoint at;
	int listening, fds[4], i;

	fixture_begin();
	fixture.options.preopened = 4;
	endpoint_new(&at, ENDPOINT_UNIX);
	listening = endpoint_listen(&at, 0);
	fixture_add_server(0, &at);
	fixture_front();
	RUN_UNTIL(frontend_preopened(fixture.frontend) >= 1);
	ck_assert_uint_lt(frontend_preopened(fixture.frontend), 4);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	for (i = 0; i < 4; i++) {
		RUN_UNTIL(fixture_tells(listening));
		fds[i] = accept(listening, NULL, NULL);
		ck_assert_int_ge(fds[i], 0);
	}
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 4);
	fixture_end();
	for (i = 0; i < 4; i++)
		close(fds[i]);
	close(listening);
}
END_TEST

/* The time that a connect may take, set anew, counts for those under way: the
 * listener's queue takes one, and the system drops what would be the next. */
START_TEST(connect_time_set_anew)
{
	struct endpoint at;
	int listening;

	fixture_begin();
	fixture.options.preopened = 3;
	fixture.options.connect_timeout_ms = 3600 * 1000;
	endpoint_new(&at, ENDPOINT_TCP4);
	listening = endpoint_listen(&at, 0);
	fixture_add_server(0, &at);
	fixture_front();
	RUN_UNTIL(frontend_preopened(fixture.frontend) >= 1);
	fixture.options.connect_timeout_ms = 100;
	frontend_set_options(fixture.frontend, &fixture.options);
	RUN_UNTIL(pool_server(fixture.pool, 0)->counters->failures > 0);
	fixture_end();
	close(listening);
}
END_TEST

/* A connection that was there before says nothing about the server of today:
 * one that takes no new ones stays blacklisted. */
START_TEST(a_spare_revives_nobody)
{
	struct server *s;
	struct endpoint at;
	int listening, fds[2], client, i;

	fixture_begin();
	fixture.options.preopened = 2;
	endpoint_new(&at, ENDPOINT_UNIX);
	listening = endpoint_listen(&at, 8);
	fixture_add_server(0, &at);
	fixture_front();
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 2);
	for (i = 0; i < 2; i++) {
		fds[i] = accept(listening, NULL, NULL);
		ck_assert_int_ge(fds[i], 0);
	}
	close(listening);
	client = endpoint_connect(&fixture.front);
	endpoint_send(client, "hello", 5);
	s = pool_server(fixture.pool, 0);
	RUN_UNTIL(fixture_holds(fds[0], 5) || fixture_holds(fds[1], 5));
	RUN_UNTIL(s->counters->failures > 0);
	ck_assert_uint_ne(s->blacklisted_until, 0);
	ck_assert_uint_eq(fixture_stats()->sessions, 1);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 0);
	close(client);
	for (i = 0; i < 2; i++)
		close(fds[i]);
	fixture_end();
}
END_TEST

SUITE(test_preopened)
{
	Suite *s = suite_create("spare");

	SUITE_ADD(s, spread_used_and_replaced, 30);
	SUITE_ADD(s, greetings_are_kept, 30);
	SUITE_ADD(s, no_busy_loop, 30);
	SUITE_ADD(s, gone_with_its_health, 60);
	SUITE_ADD(s, the_dead_are_found_out, 30);
	SUITE_ADD(s, stale_ones_cost_nobody, 30);
	SUITE_ADD(s, back_with_their_server, 30);
	SUITE_ADD(s, a_full_server_keeps_them, 30);
	SUITE_ADD(s, made_as_the_settings_say, 30);
	SUITE_ADD(s, datagrams_have_none, 30);
	SUITE_ADD(s, every_address_is_tried, 30);
	SUITE_ADD(s, a_full_queue_is_no_failure, 30);
	SUITE_ADD(s, connect_time_set_anew, 30);
	SUITE_ADD(s, a_spare_revives_nobody, 30);
	return s;
}
