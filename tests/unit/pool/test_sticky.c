/* test_sticky.c: the memory of clients: order, age, growth, a million. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "pool/sticky/sticky.h"
#include "support/suite.h"

static struct peer
client(uint32_t n)
{
	struct peer p = { .family = AF_INET, .ip = { [10] = 0xff, 0xff } };

	p.ip[12] = (uint8_t)(n >> 24);
	p.ip[13] = (uint8_t)(n >> 16);
	p.ip[14] = (uint8_t)(n >> 8);
	p.ip[15] = (uint8_t)n;
	return p;
}

static void
remember(struct sticky *s, uint32_t n, unsigned server, uint64_t now)
{
	sticky_hint hint = 0;
	struct peer p = client(n);

	ck_assert_int_eq(sticky_remember(s, &p, &hint, server, false, now), 0);
}

static int
recall(struct sticky *s, uint32_t n, uint64_t now, uint64_t max_age)
{
	sticky_hint hint = 0;
	struct peer p = client(n);
	struct sticky_client *c = sticky_find(s, &p, &hint, now, max_age);

	return c == NULL ? -1 : (int)c->server;
}

START_TEST(oldest_goes_first)
{
	struct sticky *s = sticky_new(3);

	remember(s, 1, 11, 0);
	remember(s, 2, 12, 0);
	remember(s, 3, 13, 0);
	remember(s, 1, 21, 0);
	remember(s, 4, 14, 0);
	ck_assert_int_eq(recall(s, 1, 0, 0), 21);
	ck_assert_int_eq(recall(s, 2, 0, 0), -1);
	ck_assert_int_eq(recall(s, 3, 0, 0), 13);
	ck_assert_int_eq(recall(s, 4, 0, 0), 14);
	ck_assert_uint_eq(sticky_count(s), 3);
	remember(s, 5, 15, 0);
	remember(s, 6, 16, 0);
	ck_assert_int_eq(recall(s, 1, 0, 0), -1);
	ck_assert_int_eq(recall(s, 4, 0, 0), 14);
	sticky_free(s);
}
END_TEST

START_TEST(age_counts)
{
	struct sticky *s = sticky_new(10);

	remember(s, 1, 7, 1000);
	ck_assert_int_eq(recall(s, 1, 1500, 500), 7);
	ck_assert_int_eq(recall(s, 1, 1501, 500), -1);
	ck_assert_int_eq(recall(s, 1, 1000000, 0), 7);
	remember(s, 1, 8, 2000);
	ck_assert_int_eq(recall(s, 1, 2400, 500), 8);
	sticky_free(s);
}
END_TEST

START_TEST(traffic)
{
	struct sticky *s = sticky_new(100);
	struct peer one = client(1), stranger = client(999);
	sticky_hint a = 0, b = 0;
	unsigned n;

	for (n = 0; n < 10; n++)
		remember(s, n, n, n * 7 % 10 + 100 * n);
	sticky_count_bytes(s, &one, &a, 5, 6);
	sticky_count_bytes(s, &one, &a, 1, 1);
	sticky_count_bytes(s, &stranger, &b, 1, 1);
	ck_assert_uint_eq(sticky_find(s, &one, &a, 0, 0)->sent, 6);
	ck_assert_uint_eq(sticky_find(s, &one, &a, 0, 0)->received, 7);
	ck_assert_uint_eq(sticky_find(s, &one, &a, 0, 0)->connects, 1);
	ck_assert_uint_eq(sticky_count(s), 10);
	sticky_free(s);
}
END_TEST

/* Growing keeps everybody and the order. */
START_TEST(growing)
{
	struct sticky *s = sticky_new(1000);
	uint32_t n;

	for (n = 0; n < 1500; n++)
		remember(s, n, n % 50, n);
	ck_assert_int_eq(sticky_grow(s, 500), 0);
	ck_assert_int_eq(sticky_grow(s, 5000), 0);
	for (n = 0; n < 1500; n++)
		ck_assert_int_eq(
		    recall(s, n, n, 0), n < 500 ? -1 : (int)(n % 50));
	for (n = 1500; n < 6000; n++)
		remember(s, n, n % 50, n);
	for (n = 0; n < 6000; n++)
		ck_assert_int_eq(
		    recall(s, n, n, 0), n < 1000 ? -1 : (int)(n % 50));
	sticky_free(s);
}
END_TEST

/* Assertions are counted once: each one costs a system call. */
START_TEST(a_million)
{
	uint32_t n, amount = (uint32_t)suite_amount(1000000, 50000), bad = 0;
	struct sticky *s = sticky_new(amount);
	struct peer p;
	sticky_hint hint;

	for (n = 0; n < amount; n++) {
		p = client(n * 2654435761u);
		hint = 0;
		bad += sticky_remember(s, &p, &hint, n % 1000, false, n) != 0;
	}
	ck_assert_uint_eq(sticky_count(s), amount);
	for (n = 0; n < amount; n++)
		bad += recall(s, n * 2654435761u, n, 0) != (int)(n % 1000);
	ck_assert_uint_eq(bad, 0);
	remember(s, 12345, 1, amount);
	ck_assert_uint_eq(sticky_count(s), amount);
	ck_assert_int_eq(recall(s, 0, 0, 0), -1);
	sticky_free(s);
}
END_TEST

/* The same bits in another family, or behind another interface: a stranger. */
START_TEST(families_and_scopes)
{
	struct sticky *s = sticky_new(10);
	struct peer p = {
		.family = AF_INET6, .ip = { 0xfe, 0x80 }, .scope = 2
	};
	sticky_hint hint = 0;

	ck_assert_int_eq(sticky_remember(s, &p, &hint, 1, false, 0), 0);
	ck_assert_ptr_nonnull(sticky_find(s, &p, &hint, 0, 0));
	p.scope = 3;
	ck_assert_ptr_null(sticky_find(s, &p, &hint, 0, 0));
	p.scope = 2;
	p.port = 77;
	ck_assert_ptr_nonnull(sticky_find(s, &p, &hint, 0, 0));
	p.family = AF_UNIX;
	ck_assert_ptr_null(sticky_find(s, &p, &hint, 0, 0));
	sticky_free(s);
}
END_TEST

/* The addresses of one network are one client, found by any of them. */
START_TEST(networks_are_clients)
{
	struct sticky *s = sticky_new(10);
	struct peer p = { .family = AF_INET6, .ip = { 0x20, 1, 0xd, 0xb8 } };
	sticky_hint hint = 0, other = 0;
	unsigned i;

	sticky_set_prefix6(s, 64);
	for (i = 0; i < 100; i++) {
		p.ip[8 + i % 8] = (uint8_t)i;
		other = 0;
		ck_assert_int_eq(
		    sticky_remember(s, &p, &other, 5, false, i), 0);
	}
	ck_assert_uint_eq(sticky_count(s), 1);
	ck_assert_mem_eq(sticky_at(s, 0)->ip, p.ip, 16);
	p.ip[15] ^= 0xff;
	ck_assert_uint_eq(sticky_find(s, &p, &hint, 0, 0)->connects, 100);
	p.ip[7] = 1;
	hint = 0;
	ck_assert_ptr_null(sticky_find(s, &p, &hint, 0, 0));
	sticky_free(s);
}
END_TEST

/* Whatever the prefix was before, the client seen last is found. */
START_TEST(prefix_changes)
{
	struct sticky *s = sticky_new(10);
	struct peer p = { .family = AF_INET6, .ip = { 0x20, 1, 0xd, 0xb8 } };
	sticky_hint hint;
	unsigned i;

	for (i = 0; i < 4; i++) {
		p.ip[15] = (uint8_t)i;
		hint = 0;
		ck_assert_int_eq(sticky_remember(s, &p, &hint, i, true, i), 0);
	}
	remember(s, 7, 77, 0);
	sticky_set_prefix6(s, 64);
	p.ip[15] = 99;
	hint = 0;
	ck_assert_uint_eq(sticky_find(s, &p, &hint, 0, 0)->server, 3);
	sticky_set_prefix6(s, 128);
	for (i = 0; i < 4; i++) {
		p.ip[15] = (uint8_t)i;
		hint = 0;
		ck_assert_uint_eq(sticky_find(s, &p, &hint, 0, 0)->server, i);
	}
	ck_assert_int_eq(recall(s, 7, 0, 0), 77);
	ck_assert_int_eq(sticky_grow(s, 50), 0);
	ck_assert_int_eq(recall(s, 7, 0, 0), 77);
	sticky_free(s);
}
END_TEST

/* Clients that may be made up drive out their like alone. */
START_TEST(proven_clients_stay)
{
	struct sticky *s = sticky_new(100);
	struct peer p;
	sticky_hint hint;
	uint32_t n;

	for (n = 0; n < 100; n++) {
		p = client(n);
		hint = 0;
		ck_assert_int_eq(
		    sticky_remember(s, &p, &hint, n, n < 30, n), 0);
		if (n >= 30 && n < 60)
			sticky_prove(s, &p, &hint);
	}
	for (n = 1000; n < 3000; n++)
		remember(s, n, 1, n);
	for (n = 0; n < 100; n++)
		ck_assert_int_eq(recall(s, n, 0, 0), n < 60 ? (int)n : -1);
	ck_assert_int_eq(recall(s, 2999, 0, 0), 1);
	/* proven ones make room for proven ones */
	for (n = 5000; n < 5100; n++) {
		p = client(n);
		hint = 0;
		ck_assert_int_eq(sticky_remember(s, &p, &hint, 2, true, n), 0);
	}
	for (n = 0; n < 100; n++)
		ck_assert_int_eq(recall(s, n, 0, 0), -1);
	for (n = 5000; n < 5100; n++)
		ck_assert_int_eq(recall(s, n, 0, 0), 2);
	sticky_free(s);
}
END_TEST

/* As they were, and in the order in which they were. */
START_TEST(restored)
{
	struct sticky *s = sticky_new(3), *other = sticky_new(3);
	struct peer p = client(1);
	sticky_hint hint = 0;
	size_t i;

	ck_assert_int_eq(sticky_remember(s, &p, &hint, 11, true, 5), 0);
	sticky_count_bytes(s, &p, &hint, 100, 200);
	remember(s, 1, 12, 6);
	remember(s, 2, 13, 7);
	remember(s, 3, 14, 8);
	for (i = 0; i < sticky_count(s); i++)
		ck_assert_int_eq(sticky_restore(other, sticky_at(s, i)), 0);
	ck_assert_int_eq(recall(other, 1, 6, 1), 12);
	ck_assert_uint_eq(sticky_at(other, 0)->connects, 2);
	ck_assert_uint_eq(sticky_at(other, 0)->sent, 100);
	ck_assert_uint_eq(sticky_at(other, 0)->received, 200);
	ck_assert(sticky_at(other, 0)->proven);
	remember(other, 4, 15, 9);
	ck_assert_int_eq(recall(other, 2, 9, 0), -1);
	ck_assert_int_eq(recall(other, 1, 9, 0), 12);
	sticky_free(s);
	sticky_free(other);
}
END_TEST

/* Against a model: whoever is forgotten, the others stay what they are, and
 * the oldest still go first. */
START_TEST(forgotten_at_any_time)
{
	enum { CLIENTS = 200, MOST = 120 };
	int server[CLIENTS], home[CLIENTS] = { 0 };
	struct sticky *s = sticky_new(CLIENTS);
	uint32_t i, n, x = 1, count = 0;

	sticky_follow(s, true);
	for (n = 0; n < CLIENTS; n++)
		server[n] = -1;
	for (i = 0; i < 50000; i++) {
		struct peer p;
		sticky_hint hint = 0;
		int to;

		x = x * 1664525 + 1013904223;
		n = (x >> 8) % CLIENTS;
		to = (int)(x >> 20) % 5;
		p = client(n);
		if (count < MOST && (x >> 28) % 4 > 0) {
			if (server[n] < 0)
				count++;
			else if (home[n] == to + 1)
				home[n] = 0;
			else if (home[n] == 0 && server[n] != to)
				home[n] = server[n] + 1;
			server[n] = to;
			remember(s, n, (unsigned)to, i);
			sticky_count_bytes(s, &p, &hint, 1, 1);
		} else {
			ck_assert_int_eq(sticky_remove(s, &p), server[n] >= 0);
			count -= server[n] >= 0;
			server[n] = -1;
			home[n] = 0;
		}
		n = (x >> 12) % CLIENTS;
		p = client(n);
		ck_assert_int_eq(recall(s, n, i, 0), server[n]);
		hint = 0;
		if (server[n] >= 0) {
			(void)sticky_find(s, &p, &hint, i, 0);
			ck_assert_int_eq(
			    (int)sticky_away(s, hint)->home, home[n]);
		}
		ck_assert_uint_eq(sticky_count(s), count);
	}
	for (n = 0; n < CLIENTS; n++)
		remember(s, 1000 + n, n, i);
	for (n = 0; n < CLIENTS; n++) {
		ck_assert_int_eq(recall(s, n, i, 0), -1);
		ck_assert_int_eq(recall(s, 1000 + n, i, 0), (int)n);
	}
	sticky_free(s);
}
END_TEST

START_TEST(moved_by_hand)
{
	struct sticky *s = sticky_new(10);
	struct peer p = client(1);
	sticky_hint hint = 0;

	ck_assert(!sticky_remove(s, &p));
	ck_assert_int_eq(sticky_move(s, &p, 7, 5), 0);
	ck_assert_int_eq(recall(s, 1, 5, 0), 7);
	ck_assert_uint_eq(sticky_find(s, &p, &hint, 5, 0)->connects, 0);
	remember(s, 1, 7, 6);
	ck_assert_int_eq(sticky_move(s, &p, 3, 7), 0);
	ck_assert_int_eq(recall(s, 1, 7, 0), 3);
	ck_assert_uint_eq(sticky_count(s), 1);
	/* one whose time was over is remembered again */
	ck_assert_int_eq(recall(s, 1, 500, 100), -1);
	ck_assert_int_eq(sticky_move(s, &p, 4, 500), 0);
	ck_assert_int_eq(recall(s, 1, 500, 100), 4);
	ck_assert(sticky_remove(s, &p));
	ck_assert_int_eq(recall(s, 1, 7, 0), -1);
	sticky_free(s);
}
END_TEST

static struct sticky_client
report_of(uint32_t n, unsigned server, uint64_t seen)
{
	struct sticky_client c = { .family = AF_INET, .server = server };
	struct peer p = client(n);

	memcpy(c.ip, p.ip, sizeof(c.ip));
	c.seen = seen;
	return c;
}

static bool
learn(struct sticky *s, uint32_t n, unsigned server, uint64_t seen)
{
	struct sticky_client c = report_of(n, server, seen);

	return sticky_learn(s, &c);
}

static void
come(struct sticky *s, uint32_t n, unsigned server, uint64_t now)
{
	sticky_hint hint = 0;
	struct peer p = client(n);

	ck_assert_int_eq(sticky_remember(s, &p, &hint, server, true, now), 0);
}

/* What a peer has reported fills what is free, and is forgotten first. */
START_TEST(reported_clients_make_room)
{
	struct sticky *s = sticky_new(3);

	come(s, 1, 11, 5);
	ck_assert(learn(s, 2, 12, 9));
	ck_assert(learn(s, 3, 13, 9));
	ck_assert(learn(s, 4, 14, 9));
	ck_assert_int_eq(recall(s, 2, 9, 0), -1);
	ck_assert_int_eq(recall(s, 1, 9, 0), 11);
	/* one that comes here is as any other, and has its server */
	ck_assert_int_eq(recall(s, 3, 9, 0), 13);
	come(s, 3, 13, 10);
	come(s, 5, 15, 11);
	ck_assert_int_eq(recall(s, 4, 11, 0), -1);
	ck_assert(!learn(s, 6, 16, 12));
	ck_assert_int_eq(recall(s, 1, 12, 0), 11);
	ck_assert_int_eq(recall(s, 3, 12, 0), 13);
	ck_assert_int_eq(recall(s, 5, 12, 0), 15);
	sticky_free(s);
	/* who may have a forged address is forgotten for it */
	s = sticky_new(1);
	remember(s, 7, 17, 20);
	ck_assert(learn(s, 8, 18, 20));
	ck_assert_int_eq(recall(s, 7, 20, 0), -1);
	remember(s, 7, 17, 21);
	ck_assert_int_eq(recall(s, 8, 21, 0), -1);
	sticky_free(s);
}
END_TEST

/* The newest is right, whoever has it. */
START_TEST(newest_report_counts)
{
	struct sticky *s = sticky_new(10);

	come(s, 1, 11, 50);
	ck_assert(!learn(s, 1, 12, 50));
	ck_assert(!learn(s, 1, 12, 40));
	ck_assert_int_eq(recall(s, 1, 50, 0), 11);
	ck_assert(learn(s, 1, 13, 51));
	ck_assert_int_eq(recall(s, 1, 51, 0), 13);
	ck_assert(!learn(s, 1, 14, 51));
	/* the same again, newer: it only lives longer */
	ck_assert(!learn(s, 1, 13, 60));
	ck_assert_int_eq(recall(s, 1, 100, 45), 13);
	ck_assert(learn(s, 2, 15, 1));
	ck_assert(learn(s, 2, 16, 2));
	ck_assert_int_eq(recall(s, 2, 51, 0), 16);
	ck_assert_uint_eq(sticky_count(s), 2);
	sticky_free(s);
}
END_TEST

static uint32_t told[16];
static unsigned told_count;

static void
on_change(void *arg, uint32_t position)
{
	ck_assert_ptr_null(arg);
	ck_assert_uint_lt(told_count, 16);
	told[told_count++] = position;
}

/* Whether that one change was reported, of the client at that position. */
static bool
is_told(uint32_t position)
{
	bool right = told_count == 1 && told[0] == position;

	told_count = 0;
	return right;
}

START_TEST(changes_are_reported)
{
	struct sticky *s = sticky_new(10);
	sticky_hint hint = 0;
	struct peer p = client(2);

	told_count = 0;
	sticky_on_change(s, on_change, NULL);
	come(s, 1, 11, 1000);
	ck_assert(is_told(0));
	/* the same once a second */
	come(s, 1, 11, 1999);
	ck_assert_uint_eq(told_count, 0);
	come(s, 1, 11, 2000);
	ck_assert(is_told(0));
	come(s, 1, 12, 2001);
	ck_assert(is_told(0));
	/* one that may be forged is none until it is proven */
	remember(s, 2, 11, 2000);
	ck_assert_uint_eq(told_count, 0);
	sticky_prove(s, &p, &hint);
	ck_assert(is_told(1));
	sticky_prove(s, &p, &hint);
	ck_assert_uint_eq(told_count, 0);
	/* nor is one that was learned, until it comes here */
	ck_assert(learn(s, 3, 11, 2000));
	remember(s, 3, 11, 2000);
	ck_assert_uint_eq(told_count, 0);
	come(s, 3, 11, 2000);
	ck_assert(is_told(2));
	ck_assert_int_eq(sticky_grow(s, 100), 0);
	ck_assert_int_eq(sticky_move(s, &p, 13, 2000), 0);
	ck_assert(is_told(1));
	/* the last one gets the position of one that is forgotten */
	ck_assert(sticky_remove(s, &p));
	ck_assert(is_told(1));
	sticky_free(s);
}
END_TEST

SUITE(test_sticky)
{
	Suite *s = suite_create("sticky");

	SUITE_ADD(s, oldest_goes_first, 10);
	SUITE_ADD(s, age_counts, 10);
	SUITE_ADD(s, traffic, 10);
	SUITE_ADD(s, growing, 10);
	SUITE_ADD(s, a_million, 60);
	SUITE_ADD(s, families_and_scopes, 10);
	SUITE_ADD(s, networks_are_clients, 10);
	SUITE_ADD(s, prefix_changes, 10);
	SUITE_ADD(s, proven_clients_stay, 10);
	SUITE_ADD(s, restored, 10);
	SUITE_ADD(s, forgotten_at_any_time, 20);
	SUITE_ADD(s, moved_by_hand, 10);
	SUITE_ADD(s, reported_clients_make_room, 10);
	SUITE_ADD(s, newest_report_counts, 10);
	SUITE_ADD(s, changes_are_reported, 10);
	return s;
}
