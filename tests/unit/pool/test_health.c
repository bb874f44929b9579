/* test_health.c: rise and fall, and who gets clients then. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "pool/balance.h"
#include "pool/pool.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { SERVERS = 4, NONE = -1 };

static struct pool *pool;
static uint64_t now;

/* ---- rise and fall ---- */

/* '+' and '-' are results; '.' follows one that changes nothing, '!' one that
 * does. */
static void
play(const struct health_options *o, const char *story)
{
	struct health h = { .down = false };
	bool changed;

	now = 0;
	for (; *story != '\0'; story += 2) {
		bool was = h.down;

		changed = health_take(&h, o, story[0] == '+', ++now);
		ck_assert_msg(changed == (story[1] == '!'), "at \"%s\"", story);
		ck_assert_int_eq(changed, was != h.down);
		if (changed) {
			ck_assert_uint_eq(h.since, now);
			ck_assert_uint_eq(h.against, 0);
		}
	}
}

START_TEST(rises_and_falls)
{
	static const struct health_options usual = { .rise = 2, .fall = 3 },
					   one = { .rise = 1, .fall = 1 };

	play(&usual, "+.+.+.-.-.-!-.-.+.+!+.+.");
	/* in a row */
	play(&usual, "-.-.+.-.-.+.-.-.-!+.-.+.-.+.+!-.-.-!");
	play(&one, "+.-!-.+!+.-!+!");
}
END_TEST

/* As it begins: one success is enough when nothing is known of it. */
START_TEST(begins_as_it_is_told)
{
	static const struct health_options usual = { .rise = 2, .fall = 3 };
	struct health down = { .down = true },
		      unproven = { .down = true, .unproven = true };

	ck_assert(!health_take(&down, &usual, true, 1));
	ck_assert(health_take(&down, &usual, true, 2));
	ck_assert(!health_take(&unproven, &usual, false, 1));
	ck_assert(health_take(&unproven, &usual, true, 2));
	ck_assert(!unproven.down);
	ck_assert(!health_take(&unproven, &usual, false, 3));
	ck_assert(!health_take(&unproven, &usual, false, 4));
	ck_assert(health_take(&unproven, &usual, false, 5));
	ck_assert(!health_take(&unproven, &usual, true, 6));
	ck_assert(health_take(&unproven, &usual, true, 7));
}
END_TEST

START_TEST(fewer_count_at_once)
{
	struct health_options o = { .rise = 2, .fall = 5 };
	struct health h = { .down = false };
	int i;

	for (i = 0; i < 4; i++)
		ck_assert(!health_take(&h, &o, false, 1));
	o.fall = 2;
	ck_assert(health_take(&h, &o, false, 7));
	ck_assert(h.down);
}
END_TEST

/* ---- who gets clients ---- */

static void
set_servers(void)
{
	struct server_spec spec;
	unsigned i;

	for (i = 0; i < SERVERS; i++) {
		server_spec_init(&spec);
		spec.name = (char *)(uintptr_t)text("10.0.0.%u", i + 1);
		spec.addrs.count = 1;
		ck_assert_int_eq(
		    addr_parse_ip(&spec.addrs.addr[0], spec.name, 80), 0);
		spec.set.weight = 1;
		ck_assert_ptr_nonnull(
		    pool_set_slot(pool, server_slot(i), &spec));
	}
}

static void
begin(const char *balance, bool sticky)
{
	struct pool_options o;

	now = 1000;
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	set_servers();
	pool_options_init(&o);
	o.balance = balance_find(balance);
	o.sticky = sticky;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
}

static int
choose(uint16_t port)
{
	struct peer who = { .family = AF_INET, .port = port };
	struct attempts attempts = { .count = 0 };
	struct server *s;

	memset(who.ip + 10, 0xff, 2);
	who.ip[14] = (uint8_t)(port >> 8);
	who.ip[15] = (uint8_t)port;
	s = pool_choose(pool, &who, &attempts, now);
	if (s == NULL)
		return NONE;
	pool_opened(pool, s, &who, &attempts, now);
	return (int)s->number;
}

static bool
check(unsigned i, bool good, unsigned times)
{
	bool changed = false;

	while (times-- > 0)
		changed |= pool_checked(
		    pool, pool_server(pool, i), good, "a test", now);
	return changed;
}

static void
expect_clients(const char *servers)
{
	unsigned got[SERVERS] = { 0 }, i;

	for (i = 0; i < 400; i++) {
		int s = choose((uint16_t)(i + 1));

		ck_assert_int_ge(s, 0);
		got[s]++;
	}
	for (i = 0; i < SERVERS; i++)
		if (strchr(servers, '0' + (int)i) != NULL)
			ck_assert_uint_gt(got[i], 0);
		else
			ck_assert_uint_eq(got[i], 0);
}

START_TEST(unhealthy_ones_get_no_clients)
{
	static const char *const all[] = { "roundrobin", "wrr", "leastconn",
		"wleastconn", "prio", "hash", "p2c", "least_time" };
	unsigned i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		begin(all[i], false);
		ck_assert(!check(1, false, 2));
		expect_clients("0123");
		ck_assert(check(1, false, 1));
		ck_assert(!server_is_healthy(pool_server(pool, 1)));
		expect_clients("023");
		ck_assert(!check(1, true, 1));
		expect_clients("023");
		ck_assert(check(1, true, 1));
		expect_clients("0123");
		pool_free(pool);
	}
}
END_TEST

START_TEST(a_remembered_client_goes_elsewhere)
{
	int first;

	begin("roundrobin", true);
	first = choose(7);
	ck_assert_int_eq(choose(7), first);
	ck_assert(check((unsigned)first, false, 3));
	ck_assert_int_ne(choose(7), first);
	pool_free(pool);
}
END_TEST

/* Connects say one thing, checks another, the operator a third. */
START_TEST(each_for_itself)
{
	struct server *s;

	begin("roundrobin", false);
	s = pool_server(pool, 2);
	ck_assert(check(2, false, 3));
	pool_failed(pool, s, "a test", now);
	pool_connected(pool, s, now);
	expect_clients("013");
	pool_set_admin(pool, s, SERVER_DISABLED);
	ck_assert(check(2, true, 2));
	expect_clients("013");
	pool_set_admin(pool, s, SERVER_ENABLED);
	expect_clients("0123");
	/* a server that answers checks again is no longer suspect */
	pool_failed(pool, s, "a test", now);
	ck_assert(!check(2, true, 1));
	expect_clients("013");
	ck_assert(!check(2, true, 1));
	expect_clients("0123");
	ck_assert(check(2, false, 3));
	pool_set_admin(pool, s, SERVER_ENABLED);
	expect_clients("013");
	pool_unchecked(pool, s);
	expect_clients("0123");
	pool_free(pool);
}
END_TEST

/* What was said is about the address. */
START_TEST(another_address_begins_anew)
{
	struct server_spec spec;

	begin("roundrobin", false);
	ck_assert(check(3, false, 3));
	set_servers();
	expect_clients("012");
	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "10.0.0.9";
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], spec.name, 80), 0);
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(3), &spec));
	expect_clients("0123");
	pool_free(pool);
}
END_TEST

static void
set_all_but_first(const char *host, const char *address)
{
	struct server_spec spec;
	unsigned i;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "web.test";
	spec.host = host;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], address, 80), 0);
	for (i = 1; i < SERVERS; i++)
		ck_assert_ptr_nonnull(
		    pool_set_slot(pool, server_slot(i), &spec));
}

/* The addresses of a name tell nothing of the server's health, nor of what the
 * operator wants; but a failure was that of an address. */
START_TEST(other_addresses_of_a_name)
{
	const struct server_mark mark = { .peer = 7,
		.admin = SERVER_DISABLED };

	begin("roundrobin", false);
	set_all_but_first(NULL, "10.0.0.9");
	ck_assert(check(1, false, 3));
	pool_set_blacklisted(pool_server(pool, 2), now + 1000, true);
	pool_failed(pool, pool_server(pool, 3), "a test", now);
	pool_note_mark(pool_server(pool, 3), &mark);
	expect_clients("0");
	set_all_but_first(NULL, "10.0.0.10");
	expect_clients("03");
	ck_assert_uint_eq(pool_server(pool, 3)->mark.peer, mark.peer);
	/* each of several servers that a name stands for is one address */
	set_all_but_first("web.test", "10.0.0.10");
	set_all_but_first("web.test", "10.0.0.11");
	expect_clients("0123");
	pool_free(pool);
}
END_TEST

START_TEST(the_emergency_server_helps)
{
	struct server_spec spec;
	unsigned i;

	begin("roundrobin", false);
	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "10.0.0.9";
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], spec.name, 80), 0);
	for (i = 0; i < SERVERS; i++)
		ck_assert(check(i, false, 3));
	ck_assert_int_eq(choose(1), NONE);
	ck_assert_ptr_nonnull(pool_set_slot(pool, SLOT_EMERGENCY, &spec));
	ck_assert_int_eq(choose(1), NUMBER_EMERGENCY);
	ck_assert(check(2, true, 2));
	ck_assert_int_eq(choose(1), 2);
	pool_free(pool);
}
END_TEST

SUITE(test_health)
{
	Suite *s = suite_create("health");

	SUITE_ADD(s, rises_and_falls, 10);
	SUITE_ADD(s, begins_as_it_is_told, 10);
	SUITE_ADD(s, fewer_count_at_once, 10);
	SUITE_ADD(s, unhealthy_ones_get_no_clients, 10);
	SUITE_ADD(s, a_remembered_client_goes_elsewhere, 10);
	SUITE_ADD(s, each_for_itself, 10);
	SUITE_ADD(s, another_address_begins_anew, 10);
	SUITE_ADD(s, other_addresses_of_a_name, 10);
	SUITE_ADD(s, the_emergency_server_helps, 10);
	return s;
}
