/* test_turns.c: turns and deadlines stay fair when servers leave and come back,
 * the list or the algorithm changes, and after very many choices. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/balance.h"
#include "support/acladd.h"
#include "support/suite.h"

enum { SERVERS = 3 };

static struct pool *pool;

/* Server 10.0.0.1:80, 10.0.0.2:80 or 10.0.0.3:80; `set` has its settings. */
static void
set_spec(unsigned i, struct server_spec *set)
{
	char name[32];

	snprintf(name, sizeof(name), "10.0.0.%u", i + 1);
	set->name = name;
	set->addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&set->addrs.addr[0], name, 80), 0);
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(i), set));
}

static void
set_server(unsigned i, unsigned weight, uint64_t soft)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.set.weight = weight;
	spec.set.soft = soft;
	set_spec(i, &spec);
}

static void
set_server_for(unsigned i, int acl)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.set.acl = acl;
	set_spec(i, &spec);
}

static void
set_balance(const char *name)
{
	struct pool_options o = *pool_options(pool);

	o.balance = balance_find(name);
	ck_assert_ptr_nonnull(o.balance);
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
}

static void
begin(const char *balance)
{
	unsigned i;

	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	for (i = 0; i < SERVERS; i++)
		set_server(i, 0, 0);
	set_balance(balance);
}

/* Opens and closes one at a time; counts who served. */
static void
serve(int got[SERVERS], long connections)
{
	struct peer who = { .family = AF_INET };
	struct attempts attempts;
	struct server *s;
	long k;

	memset(got, 0, SERVERS * sizeof(*got));
	for (k = 0; k < connections; k++) {
		memset(&attempts, 0, sizeof(attempts));
		s = pool_choose(pool, &who, &attempts, 1000);
		if (s == NULL) /* an assertion a choice would take longer */
			ck_abort_msg("nobody serves");
		pool_opened(pool, s, &who, &attempts, 1000);
		pool_closed(pool, s, &who, &attempts, 0, 0);
		got[s->number]++;
	}
}

/* A server that is out at its limit and back again gets no extra turn. */
START_TEST(wrr_keeps_shares_at_limits)
{
	int got[SERVERS];

	begin("wrr");
	set_server(0, 1, 1);
	set_server(1, 8, 0);
	set_server(2, 1, 1);
	serve(got, 1000);
	ck_assert_int_eq(got[0], 100);
	ck_assert_int_eq(got[1], 800);
	ck_assert_int_eq(got[2], 100);
	pool_free(pool);
}
END_TEST

/* A change of the list, of whatever server, disturbs nobody's turns. */
START_TEST(wrr_keeps_shares_through_changes)
{
	int got[SERVERS], sum[SERVERS] = { 0 }, i, k;

	begin("wrr");
	set_server(0, 1, 0);
	set_server(1, 8, 0);
	set_server(2, 1, 0);
	for (i = 0; i < 500; i++) {
		set_server(1, 8, 0);
		serve(got, 2);
		for (k = 0; k < SERVERS; k++)
			sum[k] += got[k];
	}
	ck_assert_int_eq(sum[0], 100);
	ck_assert_int_eq(sum[1], 800);
	ck_assert_int_eq(sum[2], 100);
	pool_free(pool);
}
END_TEST

/* Who serves one client after the other. */
static void
record(unsigned *who, unsigned turns)
{
	int got[SERVERS];
	unsigned i, k;

	for (i = 0; i < turns; i++) {
		serve(got, 1);
		for (k = 0; k < SERVERS; k++)
			if (got[k] > 0)
				who[i] = k;
	}
}

/* Servers that are added one by one before the first client take their turns as
 * those that were there at once. */
START_TEST(wrr_spreads_those_that_are_added)
{
	unsigned at_once[50], added[50], i;

	begin("wrr");
	for (i = 0; i < SERVERS; i++)
		set_server(i, i == 0 ? 5 : 1, 0);
	set_balance("roundrobin");
	set_balance("wrr");
	record(at_once, 50);
	pool_free(pool);
	pool = pool_new();
	set_balance("wrr");
	for (i = 0; i < SERVERS; i++)
		set_server(i, i == 0 ? 5 : 1, 0);
	record(added, 50);
	ck_assert_mem_eq(at_once, added, sizeof(added));
	pool_free(pool);
}
END_TEST

/* An algorithm that comes back starts without the turns of its last time. */
START_TEST(turns_start_anew_with_the_algorithm)
{
	static const char *const names[] = { "leastconn", "wleastconn", "wrr",
		"prio" };
	unsigned i, k;
	int got[SERVERS];

	begin("roundrobin");
	for (i = 0; i < 4; i++)
		for (k = 0; k < 4; k++) {
			set_balance(names[i]);
			serve(got, 300);
			set_balance(names[k]);
			serve(got, 30);
			ck_assert_int_eq(got[0], 10);
			ck_assert_int_eq(got[1], 10);
			ck_assert_int_eq(got[2], 10);
			set_balance("roundrobin");
		}
	pool_free(pool);
}
END_TEST

/* Deadlines begin again at 0 long before that. */
START_TEST(deadlines_do_not_run_out)
{
	static const int wanted[SERVERS] = { 100000, 500000, 100000 };
	int got[SERVERS], i;

	begin("prio");
	for (i = 0; i < SERVERS; i++)
		set_server((unsigned)i, i == 1 ? 5 : 1, 0);
	serve(got, 700000);
	for (i = 0; i < SERVERS; i++)
		ck_assert_int_le(abs(got[i] - wanted[i]), 10);
	pool_free(pool);
}
END_TEST

/* Equals take turns for ever: more choices than a key has room to count. The
 * order of equals may be lost once in that time. */
START_TEST(turns_do_not_run_out)
{
	static const char *const names[] = { "leastconn", "wleastconn" };
	long many = suite_amount(17000000, 1100000);
	int got[SERVERS];
	unsigned i, k;

	for (i = 0; i < 2; i++) {
		begin(names[i]);
		serve(got, many);
		for (k = 0; k < SERVERS; k++)
			ck_assert_int_le(got[k], many / SERVERS + 100);
		pool_free(pool);
	}
}
END_TEST

/* ---- a server that a client may not have ---- */

/* Opens connections, which stay; counts who served. */
static void
open_many(int got[SERVERS], int connections)
{
	struct peer who = { .family = AF_INET };
	struct attempts attempts;
	struct server *s;

	memset(got, 0, SERVERS * sizeof(*got));
	while (connections-- > 0) {
		memset(&attempts, 0, sizeof(attempts));
		s = pool_choose(pool, &who, &attempts, 1000);
		ck_assert_ptr_nonnull(s);
		pool_opened(pool, s, &who, &attempts, 1000);
		got[s->number]++;
	}
}

/* Its algorithm compares the others, whose turns are their own. */
START_TEST(one_is_for_others)
{
	static const char *const names[] = { "roundrobin", "wrr", "leastconn",
		"wleastconn", "least_time", "p2c", "prio" };
	int got[SERVERS];
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		begin(names[i]);
		set_server_for(0, 3);
		ck_assert_int_eq(
		    acl_add(pool_acl(pool, 3), true, "192.0.2.0/24", NULL), 0);
		open_many(got, 30);
		ck_assert_int_eq(got[0], 0);
		ck_assert_int_eq(got[1], 15);
		ck_assert_int_eq(got[2], 15);
		pool_free(pool);
	}
}
END_TEST

/* The last weight goes and the first one comes within a change, as when a
 * reload moves all clients from some servers to others: what was set in between
 * went by no weights. */
START_TEST(weights_move_in_one_change)
{
	static const char *const names[] = { "wrr", "wleastconn", "hash", "p2c",
		"least_time" };
	int got[SERVERS];

	begin(names[_i]);
	set_server(0, 1, 0);
	pool_begin_changes(pool, NULL);
	set_server(0, 0, 0);
	set_server(1, 1, 0);
	ck_assert_int_eq(pool_end_changes(pool), 0);
	serve(got, 30);
	ck_assert_int_eq(got[1], 30);
	/* nor the other way */
	pool_begin_changes(pool, NULL);
	pool_remove_server(pool, pool_server(pool, 1));
	set_server(2, 1, 0);
	set_server(0, 2, 0);
	set_server(2, 0, 0);
	ck_assert_int_eq(pool_end_changes(pool), 0);
	serve(got, 30);
	ck_assert_int_eq(got[0], 30);
	pool_free(pool);
}
END_TEST

SUITE(test_turns)
{
	Suite *s = suite_create("turns");

	SUITE_ADD(s, wrr_keeps_shares_at_limits, 10);
	SUITE_ADD(s, wrr_keeps_shares_through_changes, 10);
	SUITE_ADD(s, wrr_spreads_those_that_are_added, 10);
	SUITE_ADD(s, turns_start_anew_with_the_algorithm, 10);
	SUITE_ADD(s, one_is_for_others, 10);
	SUITE_ADD_LOOP(s, weights_move_in_one_change, 10, 5);
	SUITE_ADD(s, deadlines_do_not_run_out, 60);
	SUITE_ADD(s, turns_do_not_run_out, 60);
	return s;
}
