/* test_panic.c: when too few servers are up, all are tried. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "pool/balance.h"
#include "pool/explain.h"
#include "pool/pool.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { SERVERS = 4, NONE = -1 };

static struct pool *pool;
static struct pool_options options;
static uint64_t now;
static unsigned begun, ended;

static void
on_panic(void *arg, const struct pool_panic *x)
{
	(void)arg;
	if (x->on)
		begun++;
	else
		ended++;
}

static void
set_server(unsigned slot, unsigned weight)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t)text("10.0.0.%u", slot + 1);
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], spec.name, 80), 0);
	spec.set.weight = weight;
	spec.set.on_down = SERVER_ON_DOWN_CUT;
	ck_assert_ptr_nonnull(pool_set_slot(pool, slot, &spec));
}

static void
begin(const char *balance, unsigned percent)
{
	struct pool_watcher w = { .on_panic = on_panic };
	unsigned i;

	now = 1000;
	begun = ended = 0;
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	pool_watch(pool, &w);
	pool_options_init(&options);
	options.balance = balance_find(balance);
	options.sticky = false;
	options.panic = percent;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	for (i = 0; i < SERVERS; i++) {
		set_server(server_slot(i), 1);
		pool_begin_checks(pool, pool_server(pool, i));
	}
}

static void
check(unsigned i, bool good)
{
	unsigned times = 3;

	while (times-- > 0)
		(void)pool_checked(
		    pool, pool_server(pool, i), good, "a test", now);
}

static struct peer
client(unsigned i)
{
	struct peer who = { .family = AF_INET };

	memset(who.ip + 10, 0xff, 2);
	who.ip[14] = (uint8_t)(i >> 8);
	who.ip[15] = (uint8_t)i;
	return who;
}

/* Clients get these servers, and each of these gets some. */
static void
expect_clients(const char *servers)
{
	unsigned got[SERVERS] = { 0 }, i;

	for (i = 0; i < 400; i++) {
		struct attempts attempts = { .count = 0 };
		struct peer who = client(i);
		struct server *s = pool_choose(pool, &who, &attempts, now);

		ck_assert_ptr_nonnull(s);
		pool_opened(pool, s, &who, &attempts, now);
		pool_closed(pool, s, &who, &attempts, 0, 0);
		got[s->number]++;
	}
	for (i = 0; i < SERVERS; i++)
		ck_assert_msg((got[i] > 0) ==
			(strchr(servers, '0' + (int)i) != NULL),
		    "server %u got %u", i, got[i]);
}

static int
choose(void)
{
	struct attempts attempts = { .count = 0 };
	struct peer who = client(1);
	struct server *s = pool_choose(pool, &who, &attempts, now);

	return s != NULL ? (int)s->number : NONE;
}

/* Less than half of them: the half is still enough. */
START_TEST(all_are_tried)
{
	static const char *const all[] = { "roundrobin", "wrr", "leastconn",
		"wleastconn", "prio", "hash", "p2c", "least_time" };
	unsigned i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		begin(all[i], 50);
		check(0, false);
		check(1, false);
		expect_clients("23");
		check(2, false);
		ck_assert_uint_eq(pool_panic(pool)->on, 1);
		expect_clients("0123");
		ck_assert_uint_eq(begun, 1);
		check(3, false);
		expect_clients("0123");
		check(0, true);
		expect_clients("0123");
		ck_assert_uint_eq(begun, 1);
		ck_assert_uint_eq(ended, 0);
		check(1, true);
		ck_assert_uint_eq(pool_panic(pool)->on, 0);
		expect_clients("01");
		ck_assert_uint_eq(ended, 1);
		ck_assert_uint_eq(pool_panic(pool)->begun, 1);
		pool_free(pool);
	}
}
END_TEST

/* Without a setting nothing changes; and it may change while it runs. */
START_TEST(the_setting_decides)
{
	unsigned i;

	begin("roundrobin", 0);
	for (i = 0; i < SERVERS; i++)
		check(i, false);
	ck_assert_int_eq(choose(), NONE);
	options.panic = 1;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	expect_clients("0123");
	options.panic = 0;
	options.balance = balance_find("wrr");
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	ck_assert_int_eq(choose(), NONE);
	ck_assert_uint_eq(begun, 1);
	ck_assert_uint_eq(ended, 1);
	pool_free(pool);
}
END_TEST

/* Those that the operator takes out, or that have no checks, do not count, and
 * the former get nobody. */
START_TEST(the_operator_is_obeyed)
{
	begin("wrr", 60);
	check(0, false);
	check(1, false);
	expect_clients("0123");
	pool_set_admin(pool, pool_server(pool, 0), SERVER_DRAINING);
	expect_clients("23");
	pool_set_admin(pool, pool_server(pool, 3), SERVER_DISABLED);
	expect_clients("12");
	pool_set_admin(pool, pool_server(pool, 3), SERVER_ENABLED);
	expect_clients("23");
	pool_unchecked(pool, pool_server(pool, 3));
	expect_clients("123");
	set_server(server_slot(1), 0);
	expect_clients("23");
	set_server(server_slot(1), 1);
	expect_clients("123");
	pool_server(pool, 1)->set.blacklist_ms = 5000;
	pool_take_out(pool, pool_server(pool, 1), now);
	expect_clients("23");
	now += 5000;
	expect_clients("123");
	pool_remove_server(pool, pool_server(pool, 1));
	expect_clients("23");
	pool_free(pool);
}
END_TEST

/* Nothing is known of a server before its first check: it is no reason, and it
 * waits all the same. */
START_TEST(new_servers_wait)
{
	unsigned i;

	begin("roundrobin", 100);
	for (i = 0; i < SERVERS; i++)
		pool_assume(
		    pool, pool_server(pool, i), SERVER_INITIAL_DOWN);
	ck_assert_int_eq(choose(), NONE);
	check(0, true);
	expect_clients("0");
	(void)pool_checked(pool, pool_server(pool, 1), true, "a test", now);
	expect_clients("0");
	(void)pool_checked(pool, pool_server(pool, 2), false, "a test", now);
	expect_clients("02");
	(void)pool_checked(pool, pool_server(pool, 1), false, "a test", now);
	expect_clients("012");
	pool_free(pool);
}
END_TEST

/* A name has another address: until its checks begin there, nothing is known of
 * the server, but that it will be checked. */
START_TEST(another_address_is_no_reason)
{
	struct server_spec spec;

	begin("roundrobin", 50);
	check(0, false);
	check(1, false);
	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "web.test";
	spec.addrs.count = 1;
	ck_assert_int_eq(
	    addr_parse_ip(&spec.addrs.addr[0], "10.0.0.9", 80), 0);
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(3), &spec));
	pool_begin_checks(pool, pool_server(pool, 3));
	ck_assert_uint_eq(begun, 0);
	expect_clients("23");
	pool_free(pool);
}
END_TEST

/* A server that fails a client is blacklisted, down or not; who can be tried is
 * tried before the emergency server. */
START_TEST(failures_count)
{
	unsigned i;

	begin("roundrobin", 50);
	set_server(SLOT_EMERGENCY, 0);
	for (i = 0; i < SERVERS; i++)
		check(i, false);
	expect_clients("0123");
	for (i = 0; i < SERVERS; i++) {
		ck_assert_int_lt(choose(), SERVERS);
		pool_failed(pool, pool_server(pool, i), "a test", now);
		ck_assert_int_eq(
		    server_state(pool_server(pool, i)), SERVER_DOWN);
	}
	ck_assert_int_eq(choose(), NUMBER_EMERGENCY);
	pool_remove_server(pool, pool_slot(pool, SLOT_EMERGENCY));
	ck_assert_int_eq(choose(), 0);
	pool_connected(pool, pool_server(pool, 2), now);
	expect_clients("2");
	pool_free(pool);
}
END_TEST

/* Sessions of servers that are tried are not cut; and what is explained is what
 * happens. */
START_TEST(who_is_tried_is_not_down)
{
	struct explanation x;
	struct peer who = client(1);
	struct server *s;

	begin("roundrobin", 75);
	s = pool_server(pool, 0);
	check(0, false);
	ck_assert(pool_cuts_sessions(pool, s));
	pool_explain(pool, &who, &(struct attempts){ .count = 0 }, now, &x);
	ck_assert_int_eq(pool_obstacle(s, &who, &x), OBSTACLE_DOWN);
	check(1, false);
	ck_assert(!pool_cuts_sessions(pool, s));
	pool_explain(pool, &who, &(struct attempts){ .count = 0 }, now, &x);
	ck_assert_int_eq(pool_obstacle(s, &who, &x), OBSTACLE_NONE);
	ck_assert_ptr_eq(x.decision.server, s);
	check(1, true);
	ck_assert(pool_cuts_sessions(pool, s));
	pool_free(pool);
}
END_TEST

SUITE(test_panic)
{
	Suite *s = suite_create("panic");

	SUITE_ADD(s, all_are_tried, 10);
	SUITE_ADD(s, the_setting_decides, 10);
	SUITE_ADD(s, the_operator_is_obeyed, 10);
	SUITE_ADD(s, new_servers_wait, 10);
	SUITE_ADD(s, another_address_is_no_reason, 10);
	SUITE_ADD(s, failures_count, 10);
	SUITE_ADD(s, who_is_tried_is_not_down, 10);
	return s;
}
