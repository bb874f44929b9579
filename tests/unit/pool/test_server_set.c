/* test_server_set.c: a client that may be given some of the servers only: each
 * algorithm chooses among these as if there were no others. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "pool/balance.h"
#include "pool/server/server_set.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { SERVERS = 6, NOW = 1000 };

static struct pool *pool;
static struct server_set set;

/* Server 10.0.0.1:80 and so on. */
static void
put_server_of(unsigned slot, unsigned weight, uint64_t soft, int prio)
{
	char name[32];
	struct server_spec spec;

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.0.0.%u", slot + 1);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	spec.set.weight = weight;
	spec.set.soft = soft;
	spec.set.prio = prio;
	ck_assert_ptr_nonnull(pool_set_slot(pool, slot, &spec));
}

static void
put_server(unsigned slot, unsigned weight, uint64_t soft)
{
	put_server_of(slot, weight, soft, (int)slot);
}

/* The slots are those of servers `a` and `b`, and of one that is not there. */
static void
begin(const struct balance *b, unsigned first, unsigned second)
{
	unsigned slots[] = { server_slot(second), server_slot(70),
		server_slot(first), server_slot(second) };
	struct pool_options o;
	unsigned i;

	pool = pool_new();
	for (i = 0; i < SERVERS; i++)
		put_server(server_slot(i), 0, 0);
	o = *pool_options(pool);
	o.balance = b;
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	ck_assert_int_eq(server_set_init(&set, slots, 4), 0);
}

static void
end(void)
{
	server_set_fini(&set);
	pool_free(pool);
}

static struct peer
client(unsigned i)
{
	struct peer who = { .family = AF_INET, .port = 1 };

	who.ip[10] = who.ip[11] = 0xff;
	who.ip[14] = (uint8_t)(i >> 8);
	who.ip[15] = (uint8_t)i;
	return who;
}

/* Who serves a client that comes; its connection stays if `stays`. */
static struct server *
serve(struct server_set *allowed, unsigned i, bool stays)
{
	struct attempts attempts = { .allowed = allowed };
	struct peer who = client(i);
	struct server *s = pool_choose(pool, &who, &attempts, NOW);

	if (s == NULL)
		return NULL;
	pool_opened(pool, s, &who, &attempts, NOW);
	if (!stays)
		pool_closed(pool, s, &who, &attempts, 0, 0);
	return s;
}

START_TEST(members)
{
	struct eligible e;

	begin(balance_table[0], 1, 4);
	ck_assert_uint_eq(set.count, 3);
	ck_assert(server_set_has(&set, server_slot(4)));
	ck_assert(!server_set_has(&set, server_slot(2)));
	ck_assert(!server_set_has(&set, server_slot(71)));
	eligible_init(&e);
	ck_assert_int_eq(eligible_grow(&e, 100), 0);
	ck_assert_int_eq(server_set_next_around(&set, &e, 0), ELIGIBLE_NONE);
	eligible_add(&e, server_slot(1));
	eligible_add(&e, server_slot(2));
	eligible_add(&e, server_slot(70));
	ck_assert_int_eq(
	    server_set_next_around(&set, &e, 0), (int)server_slot(1));
	ck_assert_int_eq(server_set_next_around(&set, &e, server_slot(2)),
	    (int)server_slot(70));
	ck_assert_int_eq(server_set_next_around(&set, &e, server_slot(71)),
	    (int)server_slot(1));
	eligible_fini(&e);
	end();
}
END_TEST

/* Of each algorithm: nobody else is given, also after failures; then the
 * emergency server, then the set's blacklisted ones, then nobody. */
START_TEST(nobody_else_is_given)
{
	struct attempts attempts = { .allowed = &set };
	struct peer who = client(7);
	struct server *s;
	unsigned i, given = 0;

	begin(balance_table[_i], 1, 4);
	put_server(SLOT_EMERGENCY, 0, 0);
	(void)pool_failed(pool, pool_server(pool, 0), "", NOW - 500);
	for (i = 0; i < 200; i++) {
		s = serve(&set, i, i % 3 == 0);
		ck_assert(s->number == 1 || s->number == 4);
	}
	for (i = 0; i < 2; i++) {
		s = pool_choose(pool, &who, &attempts, NOW);
		ck_assert_ptr_nonnull(s);
		given |= 1u << s->number;
		ck_assert(pool_failed(pool, s, "", NOW));
	}
	ck_assert_uint_eq(given, 1u << 1 | 1u << 4);
	s = pool_choose(pool, &who, &attempts, NOW);
	ck_assert_ptr_eq(s, pool_slot(pool, SLOT_EMERGENCY));
	ck_assert_ptr_null(pool_choose(pool, &who, &attempts, NOW));

	/* a newcomer, with the emergency server gone */
	pool_remove_server(pool, pool_slot(pool, SLOT_EMERGENCY));
	s = serve(&set, 8, false);
	ck_assert(s->number == 1 || s->number == 4);
	ck_assert_uint_ne(s->blacklisted_until, 0);
	/* others are served as before */
	s = serve(NULL, 9, false);
	ck_assert(s->number != 1 && s->number != 4);
	end();
}
END_TEST

/* An empty set is one of whose servers none is there. */
START_TEST(empty_set)
{
	struct server_set none;

	begin(balance_table[_i], 1, 4);
	ck_assert_int_eq(server_set_init(&none, NULL, 0), 0);
	ck_assert_ptr_null(serve(&none, 1, false));
	put_server(SLOT_EMERGENCY, 0, 0);
	ck_assert_ptr_eq(
	    serve(&none, 1, false), pool_slot(pool, SLOT_EMERGENCY));
	server_set_fini(&none);
	end();
}
END_TEST

/* Sets whose clients come in turn do not take each other's turns: with one turn
 * for all, each would always get the same server. */
START_TEST(each_has_its_turns)
{
	unsigned others[] = { server_slot(2), server_slot(3) };
	struct server_set other;
	unsigned got[SERVERS] = { 0 }, i;

	begin(balance_find(_i == 0 ? "roundrobin" : "leastconn"), 0, 1);
	ck_assert_int_eq(server_set_init(&other, others, 2), 0);
	for (i = 0; i < 100; i++) {
		got[serve(&set, i, false)->number]++;
		got[serve(&other, i, false)->number]++;
	}
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(got[i], 50);
	server_set_fini(&other);
	end();
}
END_TEST

START_TEST(wrr_by_weight)
{
	unsigned got[SERVERS] = { 0 }, i;

	begin(balance_find("wrr"), 1, 4);
	for (i = 0; i < SERVERS; i++)
		put_server(server_slot(i), 100, 0);
	put_server(server_slot(1), 3, 0);
	put_server(server_slot(4), 1, 0);
	for (i = 0; i < 400; i++) {
		got[serve(&set, i, false)->number]++;
		(void)serve(NULL, i, false);
	}
	ck_assert_uint_eq(got[1], 300);
	ck_assert_uint_eq(got[4], 100);
	end();
}
END_TEST

START_TEST(leastconn_compares_the_members)
{
	unsigned i;

	begin(balance_find("leastconn"), 1, 4);
	for (i = 0; i < 5; i++) {
		struct attempts a = { .count = 0 };
		struct peer who = client(i);

		pool_opened(pool, pool_server(pool, 1), &who, &a, NOW);
	}
	for (i = 0; i < 5; i++)
		ck_assert_uint_eq(serve(&set, i, true)->number, 4);
	end();
}
END_TEST

START_TEST(prio_in_a_set)
{
	begin(balance_find("prio"), 4, 2);
	ck_assert_uint_eq(serve(&set, 1, false)->number, 2);
	ck_assert_uint_eq(serve(NULL, 1, false)->number, 0);
	end();
}
END_TEST

/* Of a set, too, equals get their shares. */
START_TEST(prio_shares_in_a_set)
{
	unsigned slots[] = { server_slot(1), server_slot(2), server_slot(4) };
	unsigned got[SERVERS] = { 0 }, i;
	struct server_set three;

	begin(balance_find("prio"), 1, 2);
	ck_assert_int_eq(server_set_init(&three, slots, 3), 0);
	put_server_of(server_slot(1), 3, 0, 7);
	put_server_of(server_slot(2), 0, 0, 9);
	put_server_of(server_slot(4), 1, 0, 7);
	for (i = 0; i < 400; i++)
		got[serve(&three, i, false)->number]++;
	ck_assert_uint_eq(got[1], 300);
	ck_assert_uint_eq(got[4], 100);
	put_server_of(server_slot(2), 0, 0, 7);
	for (i = 0; i < 5; i++)
		got[serve(&three, i, false)->number]++;
	ck_assert_uint_eq(got[1], 303);
	ck_assert_uint_eq(got[2], 1);
	ck_assert_uint_eq(got[4], 101);
	server_set_fini(&three);
	end();
}
END_TEST

/* The owner of a client is its server in each set that has it; when a server
 * goes, only its clients move; weights are shares. */
START_TEST(hash_moves_nobody_else)
{
	unsigned all[] = { server_slot(0), server_slot(1), server_slot(2),
		server_slot(5) };
	unsigned was[1000], i, same = 0, few = 0, got[SERVERS] = { 0 };
	struct server_set four;

	begin(balance_find("hash"), 1, 4);
	ck_assert_int_eq(server_set_init(&four, all, 4), 0);
	for (i = 0; i < 1000; i++) {
		unsigned own = serve(NULL, i, false)->number;

		was[i] = serve(&four, i, false)->number;
		got[was[i]]++;
		if (server_set_has(&four, server_slot(own))) {
			ck_assert_uint_eq(was[i], own);
			same++;
		}
	}
	ck_assert_uint_gt(same, 500);
	for (i = 0; i < 4; i++)
		ck_assert_uint_gt(got[all[i] - SLOTS_SPECIAL], 150);
	pool_set_admin(pool, pool_server(pool, 2), SERVER_DISABLED);
	for (i = 0; i < 1000; i++) {
		unsigned is = serve(&four, i, false)->number;

		ck_assert(was[i] == 2 ? is != 2 : is == was[i]);
		few += was[i] == 2 && is == 5;
	}
	ck_assert_uint_gt(few, 30);
	server_set_fini(&four);
	end();
}
END_TEST

/* A client stays with its server if that is in its set. */
START_TEST(sticky_within_the_set)
{
	struct peer other = client(2);
	struct pool_options o;
	unsigned first;

	begin(balance_table[0], 1, 4);
	o = *pool_options(pool);
	o.sticky = true;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	first = serve(&set, 1, false)->number;
	ck_assert_uint_eq(serve(&set, 1, false)->number, first);
	ck_assert_uint_eq(serve(NULL, 1, false)->number, first);
	while (serve(NULL, 2, false)->number != 3)
		pool_remove_client(pool, &other);
	ck_assert_uint_ne(serve(&set, 2, false)->number, 3);
	end();
}
END_TEST

/* With stubborn and hash a client belongs to one server of its set. */
START_TEST(stubborn_within_the_set)
{
	struct pool_options o;
	struct server *own;

	begin(balance_find("hash"), 1, 4);
	o = *pool_options(pool);
	o.stubborn = true;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	own = serve(&set, 1, false);
	pool_set_admin(pool, own, SERVER_DISABLED);
	ck_assert_ptr_null(serve(&set, 1, false));
	pool_set_admin(pool, own, SERVER_ENABLED);
	ck_assert_ptr_eq(serve(&set, 1, false), own);
	end();
}
END_TEST

/* A client waits for a full server of its set alone. */
START_TEST(waits_for_its_own)
{
	struct attempts attempts = { .allowed = &set };
	struct peer who = client(1);

	begin(balance_table[0], 1, 4);
	put_server(server_slot(0), 0, 1);
	(void)serve(NULL, 1, true);
	while (!pool_server(pool, 0)->full)
		(void)serve(NULL, 1, true);
	ck_assert(pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	ck_assert(!pool_may_wait(pool, &who, &attempts));
	put_server(server_slot(1), 0, 1);
	while (!pool_server(pool, 1)->full)
		(void)serve(&set, 1, true);
	ck_assert(pool_may_wait(pool, &who, &attempts));
	end();
}
END_TEST

/* In a list of more than 64, whose bits stand for several servers. */
START_TEST(long_lists)
{
	unsigned slots[] = { server_slot(3), server_slot(67),
		server_slot(131) };
	struct attempts attempts = { .count = 0 };
	struct peer who = client(3);
	struct server_set three;
	unsigned i;

	begin(balance_table[_i], 1, 4);
	for (i = SERVERS; i < 200; i++)
		put_server(server_slot(i), 0, 0);
	ck_assert_int_eq(server_set_init(&three, slots, 3), 0);
	attempts.allowed = &three;
	for (i = 0; i < 3; i++) {
		struct server *s = pool_choose(pool, &who, &attempts, NOW);

		ck_assert_ptr_nonnull(s);
		ck_assert(server_set_has(&three, s->slot));
		ck_assert(eligible_has(pool_eligible(pool), s->slot));
		(void)pool_failed(pool, s, "", NOW);
	}
	ck_assert_ptr_null(pool_choose(pool, &who, &attempts, NOW));
	server_set_fini(&three);
	end();
}
END_TEST

SUITE(test_server_set)
{
	Suite *s = suite_create("server_set");
	TCase *each = tcase_create("each algorithm");
	int n;

	for (n = 0; balance_table[n] != NULL; n++)
		;
	SUITE_ADD(s, members, 10);
	tcase_add_loop_test(each, nobody_else_is_given, 0, n);
	tcase_add_loop_test(each, empty_set, 0, n);
	tcase_add_loop_test(each, each_has_its_turns, 0, 2);
	tcase_add_loop_test(each, long_lists, 0, n);
	suite_add_tcase(s, each);
	SUITE_ADD(s, wrr_by_weight, 10);
	SUITE_ADD(s, leastconn_compares_the_members, 10);
	SUITE_ADD(s, prio_in_a_set, 10);
	SUITE_ADD(s, prio_shares_in_a_set, 10);
	SUITE_ADD(s, hash_moves_nobody_else, 10);
	SUITE_ADD(s, sticky_within_the_set, 10);
	SUITE_ADD(s, stubborn_within_the_set, 10);
	SUITE_ADD(s, waits_for_its_own, 10);
	return s;
}
