/* test_surplus.c: which servers have more than their share. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "pool/balance.h"
#include "pool/surplus.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { SERVERS = 4, SLOTS = SLOTS_SPECIAL + SERVERS };

static struct pool *pool;
static uint64_t surplus[SLOTS];

static void
put(unsigned i, const struct server_settings *set)
{
	struct server_spec spec;
	char name[32];

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.0.0.%u", i + 1);
	spec.name = name;
	spec.addrs.count = 1;
	spec.set = *set;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(i), &spec));
}

static void
begin(const unsigned weights[SERVERS], const uint64_t connections[SERVERS])
{
	struct server_spec spec;
	unsigned i;

	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	server_spec_init(&spec);
	for (i = 0; i < SERVERS; i++) {
		spec.set.weight = weights[i];
		put(i, &spec.set);
		pool_server(pool, i)->connections = connections[i];
	}
}

static uint64_t
of(unsigned server)
{
	return surplus[server_slot(server)];
}

START_TEST(equal_shares)
{
	begin((const unsigned[SERVERS]){ 0 },
	    (const uint64_t[SERVERS]){ 60, 40, 0, 1 });
	/* of 101 the share is 26, rounded up */
	ck_assert_uint_eq(pool_surplus(pool, 100, surplus), 34 + 14);
	ck_assert_uint_eq(of(0), 34);
	ck_assert_uint_eq(of(1), 14);
	ck_assert_uint_eq(of(2), 0);
	ck_assert_uint_eq(pool_surplus(pool, 20, surplus), 12 + 8);
	ck_assert_uint_eq(of(0), 12);
	pool_free(pool);
}
END_TEST

START_TEST(shares_by_weight)
{
	begin((const unsigned[SERVERS]){ 3, 1, 0, 0 },
	    (const uint64_t[SERVERS]){ 60, 40, 7, 7 });
	ck_assert_uint_eq(pool_surplus(pool, 100, surplus), 15);
	ck_assert_uint_eq(of(0), 0);
	ck_assert_uint_eq(of(1), 15);
	ck_assert_uint_eq(of(2), 0);
	pool_free(pool);
}
END_TEST

/* What drains has no share, and gives nothing away. */
START_TEST(who_is_not_up_does_not_count)
{
	begin((const unsigned[SERVERS]){ 0 },
	    (const uint64_t[SERVERS]){ 60, 40, 0, 500 });
	pool_set_admin(pool, pool_server(pool, 2), SERVER_DISABLED);
	pool_set_admin(pool, pool_server(pool, 3), SERVER_DRAINING);
	ck_assert_uint_eq(pool_surplus(pool, 100, surplus), 10);
	ck_assert_uint_eq(of(0), 10);
	ck_assert_uint_eq(of(3), 0);
	pool_free(pool);
}
END_TEST

/* With prio those that stand by have no share: what left the others would come
 * back to them. */
START_TEST(shares_by_priority)
{
	static const int prios[SERVERS] = { 1, 1, 2, 3 };
	struct server_settings full;
	struct pool_options o;
	unsigned i;

	begin((const unsigned[SERVERS]){ 0 },
	    (const uint64_t[SERVERS]){ 60, 40, 0, 30 });
	o = *pool_options(pool);
	o.balance = balance_find("prio");
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	for (i = 0; i < SERVERS; i++)
		pool_server(pool, i)->set.prio = prios[i];
	ck_assert_uint_eq(pool_surplus(pool, 50, surplus), 15);
	ck_assert_uint_eq(of(0), 0);
	ck_assert_uint_eq(of(1), 0);
	ck_assert_uint_eq(of(3), 15);
	/* nor would they come to those that are full */
	for (i = 0; i < 2; i++) {
		full = pool_server(pool, i)->set;
		full.hard = 40;
		put(i, &full);
	}
	ck_assert_uint_eq(pool_surplus(pool, 50, surplus), 15);
	put(2, &full);
	pool_server(pool, 2)->connections = 40;
	put(2, &full);
	memset(surplus, 0, sizeof(surplus));
	ck_assert_uint_eq(pool_surplus(pool, 50, surplus), 0);
	pool_free(pool);
}
END_TEST

SUITE(test_surplus)
{
	Suite *s = suite_create("surplus");

	SUITE_ADD(s, equal_shares, 10);
	SUITE_ADD(s, shares_by_weight, 10);
	SUITE_ADD(s, who_is_not_up_does_not_count, 10);
	SUITE_ADD(s, shares_by_priority, 10);
	return s;
}
