/* test_level.c: which sessions end as a better server is up. */
#include "config.h"

#include <check.h>
#include <stdio.h>

#include "pool/balance.h"
#include "pool/level.h"
#include "pool/server/server_set.h"
#include "support/suite.h"

enum { SERVERS = 3 };

static struct pool *pool;
static struct pool_options options;

static void
put(unsigned slot, int prio, int acl)
{
	struct server_spec spec;
	char name[32];

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.0.0.%u", slot + 1);
	spec.name = name;
	spec.addrs.count = 1;
	spec.set.prio = prio;
	spec.set.acl = acl;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	ck_assert_ptr_nonnull(pool_set_slot(pool, slot, &spec));
}

/* Servers 0 and 1 of priorities 1 and 2, and the emergency server. */
static void
begin(const char *balance)
{
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	pool_options_init(&options);
	options.balance = balance_find(balance);
	options.on_up = SERVER_ON_UP_CUT;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	put(server_slot(0), 1, -1);
	put(server_slot(1), 2, -1);
	put(SLOT_EMERGENCY, 0, -1);
}

/* Whether sessions of the slot end. */
static bool
ends(unsigned slot, const struct server_set *allowed)
{
	static const struct peer who = { .family = 0 };

	return level_is_outranked(
	    pool_slot(pool, slot), level_best(pool), &who, allowed);
}

START_TEST(who_is_better)
{
	unsigned first = server_slot(0), second = server_slot(1);

	begin(_i == 0 ? "prio" : "roundrobin");
	ck_assert(!ends(second, NULL));
	ck_assert(!ends(SLOT_EMERGENCY, NULL));
	pool_checked(pool, pool_slot(pool, second), true, "", 1);
	ck_assert(ends(SLOT_EMERGENCY, NULL));
	ck_assert(!ends(second, NULL));
	pool_checked(pool, pool_slot(pool, first), true, "", 1);
	ck_assert(!ends(first, NULL));
	ck_assert_int_eq(ends(second, NULL), _i == 0);
	/* the setting */
	options.on_up = SERVER_ON_UP_KEEP;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	ck_assert(!ends(second, NULL));
	ck_assert(!ends(SLOT_EMERGENCY, NULL));
	pool_free(pool);
}
END_TEST

/* Of no use to a client: it failed since, is full, or is not for it. */
START_TEST(better_but_not_for_the_client)
{
	unsigned first = server_slot(0), second = server_slot(1);
	struct attempts attempts = { .count = 0 };
	struct server_set set;

	begin("prio");
	pool_checked(pool, pool_slot(pool, first), true, "", 1);
	ck_assert(ends(second, NULL));
	ck_assert_int_eq(server_set_init(&set, &second, 1), 0);
	ck_assert(!ends(second, &set));
	server_set_fini(&set);
	(void)pool_failed(pool, pool_slot(pool, first), "", 2);
	ck_assert(!ends(second, NULL));
	pool_revive(pool, 1000000);
	ck_assert(!ends(second, NULL));
	pool_checked(pool, pool_slot(pool, first), true, "", 1000001);
	ck_assert(ends(second, NULL));
	pool_slot(pool, first)->set.soft = 1;
	pool_opened(pool, pool_slot(pool, first),
	    &(struct peer){ .family = 0 }, &attempts, 1000002);
	ck_assert(!ends(second, NULL));
	pool_free(pool);
}
END_TEST

/* A server without a weight is up, but gets no client that would come back. */
START_TEST(better_without_a_weight)
{
	struct server_spec spec;

	begin("wrr");
	pool_checked(pool, pool_server(pool, 0), true, "", 1);
	ck_assert(ends(SLOT_EMERGENCY, NULL));
	server_spec_init(&spec);
	spec.name = pool_server(pool, 1)->name;
	spec.addrs = server_addrs(pool_server(pool, 1));
	spec.set.weight = 1;
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(1), &spec));
	ck_assert(!ends(SLOT_EMERGENCY, NULL));
	pool_free(pool);
}
END_TEST

SUITE(test_level)
{
	Suite *s = suite_create("level");

	SUITE_ADD_LOOP(s, who_is_better, 10, 2);
	SUITE_ADD(s, better_but_not_for_the_client, 10);
	SUITE_ADD(s, better_without_a_weight, 10);
	return s;
}
