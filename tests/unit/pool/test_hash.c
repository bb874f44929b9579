/* test_hash.c: the consistent hash: published vectors, and what stays put. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "pool/balance.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { CLIENTS = 20000 };

static struct pool *pool;

static void
add_server(unsigned i, const char *ip, unsigned weight)
{
	struct server_spec spec;
	char name[64];

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "%s", ip);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	spec.set.weight = weight;
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(i), &spec));
}

static void
begin(unsigned servers, unsigned prefix6, bool port)
{
	struct pool_options o;
	char ip[32];
	unsigned i;

	pool = pool_new();
	pool_options_init(&o);
	o.balance = balance_find("hash");
	o.sticky = false;
	o.hash_prefix6 = prefix6;
	o.hash_port = port;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	for (i = 0; i < servers; i++) {
		snprintf(ip, sizeof(ip), "10.0.0.%u", i + 1);
		add_server(i, ip, 0);
	}
}

static int
choose(const char *ip, uint16_t port)
{
	struct attempts attempts = { 0 };
	struct addr a;
	struct peer who;
	struct server *s;

	ck_assert_int_eq(addr_parse_ip(&a, ip, port), 0);
	peer_from_addr(&who, &a);
	s = pool_choose(pool, &who, &attempts, 1000);
	return s == NULL ? -1 : (int)s->number;
}

static int
choose_nth(unsigned n)
{
	char ip[32];

	snprintf(
	    ip, sizeof(ip), "172.%u.%u.%u", n >> 16, n >> 8 & 255, n & 255);
	return choose(ip, 1000);
}

static void
choose_all(int *chosen)
{
	unsigned n;

	for (n = 0; n < CLIENTS; n++)
		chosen[n] = choose_nth(n);
}

/* Lines "CLIENT PORT -> SERVER" behind headings; the manual shows the file. */
START_TEST(published_vectors)
{
	char line[128], ip[64], wanted[64], got[64];
	FILE *f = fopen(text("%s/man/hash-vectors.txt", getenv("SRCDIR")), "r");
	unsigned port, checked = 0;

	ck_assert_ptr_nonnull(f);
	begin(3, 128, false);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strcmp(line, "weights 2, 1, 1\n") == 0) {
			add_server(0, "10.0.0.1", 2);
			add_server(1, "10.0.0.2", 1);
			add_server(2, "10.0.0.3", 1);
		} else if (strcmp(line, "address and port (-r -h)\n") == 0) {
			pool_free(pool);
			begin(3, 128, true);
		} else if (strcmp(line, "hash_prefix6 64\n") == 0) {
			pool_free(pool);
			begin(3, 64, false);
		} else if (sscanf(line, " %63s %u -> %63s", ip, &port,
			       wanted) == 3) {
			snprintf(got, sizeof(got), "10.0.0.%d:80",
			    choose(ip, (uint16_t)port) + 1);
			ck_assert_msg(
			    strcmp(got, wanted) == 0, "%s got %s", line, got);
			checked++;
		}
	}
	fclose(f);
	ck_assert_uint_ge(checked, 20);
	pool_free(pool);
}
END_TEST

/* When one of ten goes, in whatever way, its clients move and no other; when
 * it is back all is as before. */
START_TEST(only_its_clients_move)
{
	static int before[CLIENTS], after[CLIENTS];
	unsigned n, way;

	begin(10, 128, false);
	choose_all(before);
	for (way = 0; way < 3; way++) {
		struct server *s = pool_server(pool, 4);

		if (way == 0)
			pool_failed(pool, s, "a test", 1000);
		else if (way == 1)
			pool_set_admin(pool, s, SERVER_DISABLED);
		else
			pool_remove_server(pool, pool_server(pool, 4));
		choose_all(after);
		for (n = 0; n < CLIENTS; n++)
			if (before[n] == 4)
				ck_assert_int_ne(after[n], 4);
			else
				ck_assert_int_eq(after[n], before[n]);
		if (way == 0)
			pool_connected(pool, s, 1000);
		else if (way == 1)
			pool_set_admin(pool, s, SERVER_ENABLED);
		else
			add_server(4, "10.0.0.5", 0);
		choose_all(after);
		ck_assert_mem_eq(before, after, sizeof(before));
	}
	pool_free(pool);
}
END_TEST

/* Those of a dead server spread over all others. */
START_TEST(moved_clients_spread)
{
	int got[10] = { 0 };
	unsigned n;

	begin(10, 128, false);
	pool_failed(pool, pool_server(pool, 0), "a test", 1000);
	for (n = 0; n < CLIENTS; n++)
		got[choose_nth(n)]++;
	ck_assert_int_eq(got[0], 0);
	for (n = 1; n < 10; n++) {
		ck_assert_int_gt(got[n], CLIENTS / 9 * 8 / 10);
		ck_assert_int_lt(got[n], CLIENTS / 9 * 12 / 10);
	}
	pool_free(pool);
}
END_TEST

/* The list alone decides, not its order, nor how it came about. */
START_TEST(list_alone_decides)
{
	static int one[CLIENTS];
	/* server n of the one list is this one of the other */
	static const int there[3] = { 2, 0, 1 };
	unsigned n;

	begin(3, 128, false);
	choose_all(one);
	pool_free(pool);
	begin(0, 128, false);
	add_server(0, "10.0.0.9", 5);
	add_server(1, "10.0.0.3", 0);
	add_server(2, "10.0.0.1", 3);
	add_server(0, "10.0.0.2", 0);
	add_server(2, "10.0.0.1", 0);
	for (n = 0; n < CLIENTS; n++)
		ck_assert_int_eq(choose_nth(n), there[one[n]]);
	pool_free(pool);
}
END_TEST

enum { SLOTS_HERE = 24, SLOTS_MAX = 400 };

/* The list as it should be: weight and address of each number; 0: none. */
struct wanted {
	unsigned slots, address[SLOTS_MAX], weight[SLOTS_MAX];
};

static uint64_t state;

static unsigned
draw(unsigned n)
{
	state += UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)((hash_mix(state) >> 32) * n >> 32);
}

static const char *
address_of(const struct wanted *w, unsigned i)
{
	return text("10.0.%u.%u", w->address[i] >> 8, w->address[i] & 255);
}

static void
change_one(struct wanted *w)
{
	unsigned i = draw(w->slots);

	if (draw(4) == 0 && w->address[i] != 0) {
		w->address[i] = 0;
		pool_remove_server(pool, pool_server(pool, i));
		return;
	}
	if (draw(3) == 0 || w->address[i] == 0)
		w->address[i] = 1 + draw(w->slots + 6);
	w->weight[i] = draw(5);
	add_server(i, address_of(w, i), w->weight[i]);
}

/* What clients get from a pool that was given this list at once. */
static void
choose_afresh(const struct wanted *w, int *chosen)
{
	struct pool *mine = pool;
	unsigned i, n;

	begin(0, 128, false);
	for (i = 0; i < w->slots; i++)
		if (w->address[i] != 0)
			add_server(i, address_of(w, i), w->weight[i]);
	for (n = 0; n < 2000; n++)
		chosen[n] = choose_nth(n);
	pool_free(pool);
	pool = mine;
}

static void
change_some(struct wanted *w, unsigned changes, bool at_once)
{
	if (at_once)
		pool_begin_changes(pool, NULL);
	while (changes-- > 0)
		change_one(w);
	if (at_once)
		ck_assert_int_eq(pool_end_changes(pool), 0);
}

static void
assert_as_from_scratch(const struct wanted *w)
{
	static int wanted[2000];
	unsigned n;

	choose_afresh(w, wanted);
	for (n = draw(3); n < 2000; n += 1 + draw(3))
		ck_assert_int_eq(choose_nth(n), wanted[n]);
}

/* However the list came about, with clients served meanwhile, one server at a
 * time or many at once, the table is that of a pool just started. */
START_TEST(changes_end_as_from_scratch)
{
	struct wanted w = { .slots = SLOTS_HERE };
	long round, rounds = suite_rounds((int)suite_amount(150, 20));

	begin(0, 128, false);
	for (round = 0; round < rounds; round++) {
		change_some(&w, draw(3) == 0 ? draw(SLOTS_HERE) : 1,
		    draw(2) == 0);
		assert_as_from_scratch(&w);
	}
	pool_free(pool);
}
END_TEST

/* A long list, of which few servers change before a client asks again, or
 * many. */
START_TEST(long_list_ends_as_from_scratch)
{
	struct wanted w = { .slots = SLOTS_MAX };
	long round, rounds = suite_rounds((int)suite_amount(60, 12));
	unsigned n;

	begin(0, 128, false);
	change_some(&w, 2 * SLOTS_MAX, true);
	for (round = 0; round < rounds; round++) {
		n = round % 10 == 5 ? 1500
		    : round % 10 == 8 ? 100
				      : 1 + draw(40);
		change_some(&w, n, draw(3) == 0);
		assert_as_from_scratch(&w);
	}
	pool_free(pool);
}
END_TEST

/* Of servers with one address each has a number among them, which another gets
 * when one goes. */
START_TEST(twins_that_go_end_as_from_scratch)
{
	struct wanted w = { .slots = 40 };
	unsigned i;

	begin(0, 128, false);
	for (i = 0; i < w.slots; i++) {
		w.address[i] = 1 + i % 2;
		add_server(i, address_of(&w, i), w.weight[i]);
	}
	for (i = 0; i < 30; i++) {
		assert_as_from_scratch(&w);
		if (i % 3 == 0) {
			pool_remove_server(pool, pool_server(pool, i));
			w.address[i] = 0;
		} else {
			w.weight[i] = i % 3 - 1;
			add_server(i, address_of(&w, i), w.weight[i]);
		}
	}
	assert_as_from_scratch(&w);
	pool_free(pool);
}
END_TEST

/* A name server gives the addresses of a name in any order. */
START_TEST(addresses_in_any_order)
{
	static const char *const ip[] = { "10.1.0.1", "10.1.0.2", "10.1.0.3" };
	int server[500];
	unsigned i, n, turn;

	for (turn = 0; turn < 3; turn++) {
		struct server_spec spec;
		char name[] = "web.test";

		begin(3, 128, false);
		server_spec_init(&spec);
		spec.name = name;
		spec.addrs.count = 3;
		for (i = 0; i < 3; i++)
			ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[i],
					     ip[(turn + i) % 3], 80),
			    0);
		ck_assert_ptr_nonnull(
		    pool_set_slot(pool, server_slot(1), &spec));
		for (n = 0; n < 500; n++) {
			if (turn == 0)
				server[n] = choose_nth(n);
			ck_assert_int_eq(choose_nth(n), server[n]);
		}
		pool_free(pool);
	}
}
END_TEST

START_TEST(weights_are_shares)
{
	int got[4] = { 0 };
	unsigned n;

	begin(4, 128, false);
	add_server(0, "10.0.0.1", 1);
	add_server(1, "10.0.0.2", 2);
	add_server(2, "10.0.0.3", 7);
	for (n = 0; n < CLIENTS; n++)
		got[choose_nth(n)]++;
	ck_assert_int_eq(got[3], 0);
	ck_assert_int_lt(abs(got[0] - CLIENTS / 10), CLIENTS / 100);
	ck_assert_int_lt(abs(got[1] - CLIENTS / 5), CLIENTS / 100);
	ck_assert_int_lt(abs(got[2] - CLIENTS * 7 / 10), CLIENTS / 100);
	pool_free(pool);
}
END_TEST

START_TEST(port_and_prefix)
{
	unsigned i, moved = 0;
	int first;

	begin(5, 64, false);
	first = choose("2001:db8:1:2::1", 1);
	ck_assert_int_eq(choose("2001:db8:1:2:ffff::77", 9), first);
	for (i = 0; i < 50; i++)
		moved += choose(text("2001:db8:1:%x::1", i), 1) != first;
	ck_assert_uint_gt(moved, 25);
	ck_assert_int_eq(choose("::ffff:192.0.2.1", 5), choose("192.0.2.1", 6));
	pool_free(pool);
	begin(5, 128, true);
	first = choose("192.0.2.1", 1);
	moved = 0;
	for (i = 2; i < 52; i++)
		moved += choose("192.0.2.1", (uint16_t)i) != first;
	ck_assert_uint_gt(moved, 25);
	pool_free(pool);
}
END_TEST

/* Two servers with one address both serve. */
START_TEST(twins_are_told_apart)
{
	int got[2] = { 0 };
	unsigned n;

	begin(0, 128, false);
	add_server(0, "10.0.0.1", 0);
	add_server(1, "10.0.0.1", 0);
	for (n = 0; n < CLIENTS; n++)
		got[choose_nth(n)]++;
	ck_assert_int_lt(abs(got[0] - got[1]), CLIENTS / 20);
	pool_free(pool);
}
END_TEST

SUITE(test_hash)
{
	Suite *s = suite_create("hash");

	SUITE_ADD(s, published_vectors, 10);
	SUITE_ADD(s, only_its_clients_move, 20);
	SUITE_ADD(s, moved_clients_spread, 20);
	SUITE_ADD(s, list_alone_decides, 20);
	SUITE_ADD(s, changes_end_as_from_scratch, 20);
	SUITE_ADD(s, long_list_ends_as_from_scratch, 60);
	SUITE_ADD(s, twins_that_go_end_as_from_scratch, 20);
	SUITE_ADD(s, addresses_in_any_order, 10);
	SUITE_ADD(s, weights_are_shares, 20);
	SUITE_ADD(s, port_and_prefix, 20);
	SUITE_ADD(s, twins_are_told_apart, 20);
	return s;
}
