/* test_slow_start.c: a server that came up gets its share of the clients step
 * by step. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "pool/balance.h"
#include "pool/pool.h"
#include "support/suite.h"

enum { SERVERS = 4, SLOW = 2, SECONDS = 16, CLIENTS = 4000 };

static struct pool *pool;
static uint64_t now;

static uint64_t
now_ms(void *arg)
{
	(void)arg;
	return now;
}

static void
set_servers(unsigned weight, uint64_t own_ms)
{
	struct server_spec spec;
	unsigned i;

	for (i = 0; i < SERVERS; i++) {
		server_spec_init(&spec);
		spec.name = (char *)(uintptr_t)text("10.0.0.%u", i + 1);
		spec.addrs.count = 1;
		ck_assert_int_eq(
		    addr_parse_ip(&spec.addrs.addr[0], spec.name, 80), 0);
		spec.set.weight = weight;
		spec.set.slow_start_ms = i == SLOW ? own_ms : 0;
		ck_assert_ptr_nonnull(
		    pool_set_slot(pool, server_slot(i), &spec));
	}
}

static struct server *
begin(const char *balance, uint64_t ms, uint64_t own_ms, unsigned weight)
{
	struct pool_watcher w = { .now = now_ms };
	struct pool_options o;

	now = 1000000;
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	pool_watch(pool, &w);
	pool_options_init(&o);
	o.balance = balance_find(balance);
	ck_assert_ptr_nonnull(o.balance);
	o.sticky = false;
	o.slow_start_ms = ms;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	set_servers(weight, own_ms);
	return pool_server(pool, SLOW);
}

/* The share of the slow one of so many clients, in percent; with `stay` their
 * connections last. */
static double
share(bool stay)
{
	unsigned got[SERVERS] = { 0 }, i;

	for (i = 0; i < CLIENTS; i++) {
		struct peer who = { .family = AF_INET,
			.port = (uint16_t)(i + 1) };
		struct attempts attempts = { .count = 0 };
		struct server *s = pool_choose(pool, &who, &attempts, now);

		ck_assert_ptr_nonnull(s);
		pool_opened(pool, s, &who, &attempts, now);
		if (!stay)
			pool_closed(pool, s, &who, &attempts, 0, 0);
		got[s->number]++;
	}
	return got[SLOW] * 100.0 / CLIENTS;
}

static void
comes_up(struct server *s)
{
	pool_failed(pool, s, "a test", now);
	now += 1000;
	pool_connected(pool, s, now);
}

/* Of one that weighs as much as each of three others. */
static double
expected(unsigned sixteenths)
{
	return 100.0 * sixteenths / (sixteenths + 3 * 16);
}

static void
is_about(double got, double wanted)
{
	ck_assert_msg(got > wanted * 0.7 - 0.5 && got < wanted * 1.3 + 0.5,
	    "%.2f %%, not %.2f %%", got, wanted);
}

static void
grows(const char *balance, unsigned weight)
{
	struct server *s = begin(balance, SECONDS * 1000, 0, weight);
	int i;

	is_about(share(false), 25);
	comes_up(s);
	is_about(share(false), expected(1));
	for (i = 1; i < SECONDS - 1; i++) {
		now += 1001;
		pool_revive(pool, now);
		ck_assert_uint_eq(server_share(s), (unsigned)i + 1);
		is_about(share(false), expected((unsigned)i + 1));
	}
	now += SECONDS * 1000;
	pool_revive(pool, now);
	ck_assert_uint_eq(server_share(s), SERVER_SHARES);
	is_about(share(false), 25);
	pool_free(pool);
}

START_TEST(in_turn)
{
	grows("wrr", 0);
	grows("wrr", 100);
	grows("prio", 0);
	grows("prio", 100);
}
END_TEST

/* Two are drawn, and the colder one is passed over. */
START_TEST(at_random)
{
	struct server *s = begin("p2c", SECONDS * 1000, 0, 3);

	is_about(share(false), 25);
	comes_up(s);
	ck_assert(share(false) < 5);
	now += SECONDS * 1000;
	is_about(share(false), 25);
	pool_free(pool);
}
END_TEST

/* Connections that last: as many as its share, not all until it has as many as
 * the others. */
static void
fills(const char *balance)
{
	struct server *s = begin(balance, SECONDS * 1000, 0, 1);

	(void)share(true);
	s->connections = 0; /* it was started anew */
	comes_up(s);
	(void)share(true);
	/* a sixteenth of what each of the others has */
	ck_assert_msg(s->connections > 0 &&
		s->connections * 12 < pool_server(pool, 0)->connections,
	    "%s: %u", balance, (unsigned)s->connections);
	now += SECONDS * 1000;
	(void)share(true);
	ck_assert_uint_gt(
	    s->connections * 2, pool_server(pool, 0)->connections);
	pool_free(pool);
}

START_TEST(by_connections)
{
	fills("leastconn");
	fills("wleastconn");
	fills("least_time");
}
END_TEST

/* What is no share is as ever. */
START_TEST(algorithms_without_shares)
{
	struct server *s = begin("roundrobin", SECONDS * 1000, 0, 0);

	comes_up(s);
	is_about(share(false), 25);
	pool_free(pool);
}
END_TEST

/* A server that goes down while it starts begins again; its own time counts
 * before all others'; a new one starts at once. */
START_TEST(begins_and_ends)
{
	struct server *s = begin("wrr", 0, 8000, 0);

	ck_assert_uint_eq(server_share(s), SERVER_SHARES);
	comes_up(pool_server(pool, 0));
	ck_assert_uint_eq(server_share(pool_server(pool, 0)), SERVER_SHARES);
	comes_up(s);
	ck_assert_uint_eq(server_share(s), 1);
	now += 4001;
	pool_revive(pool, now);
	ck_assert_uint_eq(server_share(s), 9);
	pool_failed(pool, s, "a test", now);
	ck_assert_uint_eq(server_share(s), SERVER_SHARES);
	pool_connected(pool, s, now);
	ck_assert_uint_eq(server_share(s), 1);
	pool_remove_server(pool, s);
	now += 100000;
	pool_revive(pool, now);
	set_servers(0, 8000);
	ck_assert_uint_eq(server_share(s), SERVER_SHARES);
	pool_free(pool);
}
END_TEST

/* The time of one that has begun. */
START_TEST(changes_at_once)
{
	struct server *s = begin("wrr", 3600000, 0, 0);
	struct pool_options o = *pool_options(pool);

	comes_up(s);
	now += 1000;
	set_servers(0, 4000);
	pool_revive(pool, now);
	ck_assert_uint_eq(server_share(s), 5);
	set_servers(0, 0);
	pool_revive(pool, now);
	ck_assert_uint_eq(server_share(s), 1);
	o.slow_start_ms = 0;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	pool_revive(pool, now);
	ck_assert_uint_eq(server_share(s), SERVER_SHARES);
	pool_free(pool);
}
END_TEST

/* Another process had it for half of its time. One that has been up since it
 * was there does not begin slowly. */
START_TEST(goes_on_in_another_process)
{
	struct server *s = begin("roundrobin", SECONDS * 1000, 0, 0);
	struct server_elsewhere past = { .history = { .state = SERVER_UP,
					     .since_ms = now -
						 SECONDS * 500 } };

	pool_restore(pool, s, &past, now);
	ck_assert_uint_eq(s->cold, 0);
	past.history.changes = 2;
	pool_restore(pool, s, &past, now);
	ck_assert_uint_eq(s->cold, SERVER_SHARES / 2 - 1);
	pool_free(pool);
}
END_TEST

SUITE(test_slow_start)
{
	Suite *s = suite_create("slow_start");

	SUITE_ADD(s, in_turn, 20);
	SUITE_ADD(s, at_random, 20);
	SUITE_ADD(s, by_connections, 20);
	SUITE_ADD(s, algorithms_without_shares, 20);
	SUITE_ADD(s, changes_at_once, 10);
	SUITE_ADD(s, begins_and_ends, 20);
	SUITE_ADD(s, goes_on_in_another_process, 10);
	return s;
}
