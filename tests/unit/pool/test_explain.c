/* test_explain.c: what is explained is what happens next, in random states of
 * every algorithm; and each server that is passed over has its reason. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "pool/balance.h"
#include "pool/explain.h"
#include "pool/server/server_set.h"
#include "support/acladd.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { SERVERS = 7, CLIENTS = 12, STATES = 1000, STEPS = 6 };

static struct pool *pool;
static uint64_t now, state;

static unsigned
draw(unsigned n)
{
	state += UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)(hash_mix(state) % n);
}

/* 10.0.0.1 and following. */
static struct peer
client(unsigned i)
{
	struct peer who;
	struct addr at;
	char text[32];

	snprintf(text, sizeof(text), "10.0.0.%u", i + 1);
	ck_assert_int_eq(addr_parse_ip(&at, text, 1000), 0);
	peer_from_addr(&who, &at);
	return who;
}

static void
spec_at(struct server_spec *spec, unsigned i)
{
	static char name[32];

	server_spec_init(spec);
	snprintf(name, sizeof(name), "10.1.0.%u", i + 1);
	spec->name = name;
	spec->addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec->addrs.addr[0], name, 80), 0);
}

static void
set_slot(unsigned slot)
{
	struct server_spec spec;

	spec_at(&spec, slot);
	spec.set.weight = draw(2) * draw(5);
	spec.set.prio = (int)draw(3);
	spec.set.soft = draw(3) == 0 ? 1 + draw(3) : 0;
	spec.set.hard = draw(4) == 0 ? 1 + draw(3) : 0;
	spec.set.acl = draw(4) == 0 ? 1 + (int)draw(2) : -1;
	ck_assert_ptr_nonnull(pool_set_slot(pool, slot, &spec));
}

/* The client ACL, 0, denies few; 1 and 2 are those of servers. */
static void
set_lists(void)
{
	ck_assert_int_eq(
	    acl_add(pool_acl(pool, 0), false, "10.0.0.12", NULL), 0);
	ck_assert_int_eq(
	    acl_add(pool_acl(pool, 1), true, "10.0.0.0/29", NULL), 0);
	ck_assert_int_eq(
	    acl_add(pool_acl(pool, 2), false, "10.0.0.4", NULL), 0);
}

static void
begin(const struct balance *b)
{
	struct pool_options o;
	unsigned i;

	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	now = 1000;
	o = *pool_options(pool);
	o.balance = b;
	o.sticky = draw(2) > 0;
	o.stubborn = draw(4) == 0;
	o.failback = (enum failback)draw(3);
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	if (draw(2) > 0)
		set_lists();
	for (i = draw(SLOTS_SPECIAL + 1); i < SLOTS_SPECIAL + SERVERS; i++)
		if (draw(6) > 0)
			set_slot(i);
}

/* ---- what may happen to a server ---- */

static void
happen(struct server *s)
{
	struct peer who = client(draw(CLIENTS));
	struct attempts attempts = { .count = 0 };

	switch (draw(7)) {
	case 0:
		pool_failed(pool, s, "a test", now);
		break;
	case 1:
		pool_refused(pool, s, "a test", now);
		break;
	case 2:
		pool_connected(pool, s, now);
		break;
	case 3:
		pool_set_admin(pool, s, (enum server_admin)draw(3));
		break;
	case 4:
		pool_opened(pool, s, &who, &attempts, now);
		break;
	case 5:
		if (s->connections > 0)
			pool_closed(pool, s, &who, &attempts, 1, 1);
		break;
	default:
		now += draw(20000);
	}
}

static void
happen_somewhere(void)
{
	unsigned slots = pool_slots(pool);
	struct server *s = pool_slot(pool, draw(slots));

	if (s->present)
		happen(s);
}

/* ---- what must hold ---- */

/* To a client that is not remembered, a server without an obstacle is one that
 * may be chosen, and no other is. */
static void
check_obstacles(const struct peer *who, const struct explanation *x)
{
	unsigned slot;

	for (slot = SLOTS_SPECIAL; slot < pool_slots(pool); slot++) {
		const struct server *s = pool_slot(pool, slot);
		bool may = eligible_has(pool_eligible(pool), slot) &&
		    pool_server_permits(s, who) &&
		    (x->allowed == NULL || server_set_has(x->allowed, slot));

		if (!s->present ||
		    (x->client != NULL && x->client->server == s->number))
			continue;
		ck_assert_int_eq(
		    pool_obstacle(s, who, x) == OBSTACLE_NONE, may);
	}
}

static void
check_rule(const struct peer *who, const struct explanation *x)
{
	const struct decision *d = &x->decision;

	ck_assert_int_eq(d->server == NULL, d->rule == RULE_NONE);
	if (d->server == NULL)
		return;
	ck_assert_int_eq(
	    pool_obstacle(d->server, who, x) == OBSTACLE_BLACKLISTED,
	    d->rule == RULE_LAST_RESORT);
	ck_assert_int_eq(!x->permitted, d->rule == RULE_ABUSE);
	if (d->rule == RULE_STICKY)
		ck_assert_uint_eq(x->client->server, d->server->number);
}

/* Explained twice, then chosen. Returns who serves. */
static struct server *
check_choice(const struct peer *who)
{
	static struct server_set some;
	unsigned slots[SERVERS / 2], i;
	struct attempts attempts = { .count = 0 };
	struct explanation x, again;
	struct server *s;

	for (i = 0; i < SERVERS / 2; i++)
		slots[i] = server_slot(draw(SERVERS));
	server_set_fini(&some);
	ck_assert_int_eq(server_set_init(&some, slots, SERVERS / 2), 0);
	some.next = draw(SERVERS);
	if (draw(4) == 0)
		attempts.allowed = &some;
	pool_explain(pool, who, &attempts, now, &x);
	check_obstacles(who, &x);
	check_rule(who, &x);
	pool_explain(pool, who, &attempts, now, &again);
	ck_assert_ptr_eq(again.decision.server, x.decision.server);
	s = pool_choose(pool, who, &attempts, now);
	ck_assert_ptr_eq(s, x.decision.server);
	if (s != NULL && s->role == SERVER_REGULAR && attempts.allowed != NULL)
		ck_assert(server_set_has(&some, s->slot));
	if (s != NULL && draw(2) > 0)
		pool_opened(pool, s, who, &attempts, now);
	return s;
}

/* ---- tests ---- */

START_TEST(what_happens_next)
{
	const struct balance *b;
	unsigned states =
	    (unsigned)suite_rounds((int)suite_amount(STATES, STATES / 4));
	unsigned i, k, served = 0;

	state = 1;
	for (i = 0; (b = balance_table[i]) != NULL; i++) {
		for (k = 0; k < states; k++) {
			unsigned step;

			begin(b);
			for (step = 0; step < STEPS * SERVERS; step++) {
				struct peer who = client(draw(CLIENTS));

				happen_somewhere();
				if (step % STEPS == 0)
					served += check_choice(&who) != NULL;
			}
			pool_free(pool);
		}
		/* else the states would be of no use */
		ck_assert_uint_gt(served, states * SERVERS / 2 * (i + 1));
	}
}
END_TEST

/* A pool of one server, which has what the test gives it. */
static struct server *
begin_with_one(void)
{
	struct server_spec spec;
	struct server *s;

	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	spec_at(&spec, 0);
	s = pool_set_slot(pool, server_slot(0), &spec);
	ck_assert_ptr_nonnull(s);
	return s;
}

static void
check_one(struct server *s, enum decision_rule rule, enum obstacle obstacle)
{
	struct peer who = client(0);
	struct explanation x;

	pool_explain(pool, &who, &(struct attempts){ .count = 0 }, now, &x);
	ck_assert_str_eq(
	    decision_rule_name(x.decision.rule), decision_rule_name(rule));
	ck_assert_str_eq(
	    obstacle_name(pool_obstacle(s, &who, &x)), obstacle_name(obstacle));
}

START_TEST(reasons)
{
	struct server *s = begin_with_one();
	struct attempts attempts = { .count = 0 };
	struct peer who = client(0);

	now = 1000;
	check_one(s, RULE_BALANCE, OBSTACLE_NONE);
	pool_set_admin(pool, s, SERVER_DRAINING);
	check_one(s, RULE_NONE, OBSTACLE_DRAIN);
	pool_set_admin(pool, s, SERVER_DISABLED);
	check_one(s, RULE_NONE, OBSTACLE_MAINT);
	pool_set_admin(pool, s, SERVER_ENABLED);
	pool_failed(pool, s, "a test", now);
	check_one(s, RULE_LAST_RESORT, OBSTACLE_BLACKLISTED);
	pool_begin_checks(pool, s);
	check_one(s, RULE_LAST_RESORT, OBSTACLE_SUSPECT);
	pool_connected(pool, s, now);
	pool_opened(pool, s, &who, &attempts, now);
	check_one(s, RULE_STICKY, OBSTACLE_NONE);
	pool_free(pool);
}
END_TEST

/* The entry that decided is told, in a short list and in one with an index. */
START_TEST(entry_of_the_list)
{
	struct peer who = client(4);
	struct explanation x;
	char text[32];
	unsigned i;

	begin_with_one();
	for (i = 0; i < 40; i++) {
		pool_explain(
		    pool, &who, &(struct attempts){ .count = 0 }, now, &x);
		ck_assert_uint_eq(x.entry, x.acl->count);
		snprintf(text, sizeof(text), "10.9.0.%u", i);
		ck_assert_int_eq(
		    acl_add(pool_acl(pool, 0), false, text, NULL), 0);
	}
	ck_assert_int_eq(
	    acl_add(pool_acl(pool, 0), false, "10.0.0.5", NULL), 0);
	pool_explain(pool, &who, &(struct attempts){ .count = 0 }, now, &x);
	ck_assert_uint_eq(x.entry, 40);
	ck_assert(!x.permitted);
	ck_assert_int_eq(x.decision.rule, RULE_NONE);
	pool_free(pool);
}
END_TEST

SUITE(test_explain)
{
	Suite *s = suite_create("explain");

	SUITE_ADD(s, what_happens_next, 30);
	SUITE_ADD(s, reasons, 10);
	SUITE_ADD(s, entry_of_the_list, 10);
	return s;
}
