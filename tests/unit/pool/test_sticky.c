/* test_sticky.c: the memory of clients: order, age, growth, a million. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "pool/sticky.h"
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

	ck_assert_int_eq(sticky_remember(s, &p, &hint, server, now), 0);
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

static bool
count_one(const struct sticky_client *c, void *arg)
{
	unsigned *seen = arg;

	(void)c;
	return ++*seen < 4;
}

static bool
check_order(const struct sticky_client *c, void *arg)
{
	uint64_t *last = arg;

	ck_assert_uint_le(c->seen, *last);
	*last = c->seen;
	return true;
}

START_TEST(traffic_and_order)
{
	struct sticky *s = sticky_new(100);
	struct peer one = client(1), stranger = client(999);
	sticky_hint a = 0, b = 0;
	uint64_t last = UINT64_MAX;
	unsigned n, seen = 0;

	for (n = 0; n < 10; n++)
		remember(s, n, n, n * 7 % 10 + 100 * n);
	sticky_count_bytes(s, &one, &a, 5, 6);
	sticky_count_bytes(s, &one, &a, 1, 1);
	sticky_count_bytes(s, &stranger, &b, 1, 1);
	ck_assert_uint_eq(sticky_find(s, &one, &a, 0, 0)->sent, 6);
	ck_assert_uint_eq(sticky_find(s, &one, &a, 0, 0)->received, 7);
	ck_assert_uint_eq(sticky_find(s, &one, &a, 0, 0)->connects, 1);
	ck_assert_uint_eq(sticky_count(s), 10);
	sticky_each(s, check_order, &last);
	sticky_each(s, count_one, &seen);
	ck_assert_uint_eq(seen, 4);
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
	ck_assert_uint_eq(sticky_max(s), 1000);
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
		bad += sticky_remember(s, &p, &hint, n % 1000, n) != 0;
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

	ck_assert_int_eq(sticky_remember(s, &p, &hint, 1, 0), 0);
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

int
main(void)
{
	Suite *s = suite_create("sticky");

	SUITE_ADD(s, oldest_goes_first, 10);
	SUITE_ADD(s, age_counts, 10);
	SUITE_ADD(s, traffic_and_order, 10);
	SUITE_ADD(s, growing, 10);
	SUITE_ADD(s, a_million, 60);
	SUITE_ADD(s, families_and_scopes, 10);
	return suite_main(s);
}
