/* test_hash_table.c: the hash table against a plain model of it, and at a
 * million. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/hash_table.h"
#include "support/suite.h"

struct thing {
	struct hash_table_link link;
	uint32_t key;
	bool in;
};

static struct hash_table t;

static bool
is(const struct hash_table_link *l, const void *key)
{
	const struct thing *x =
	    (const struct thing *)(const void *)((const char *)l -
		offsetof(struct thing, link));

	return memcmp(&x->key, key, sizeof(x->key)) == 0;
}

static struct thing *
find(uint32_t key)
{
	struct hash_table_link *l = hash_table_find(
	    &t, hash_table_hash(&t, &key, sizeof(key)), is, &key);

	return l != NULL ? list_entry(l, struct thing, link) : NULL;
}

static void
add(struct thing *x)
{
	hash_table_add(
	    &t, &x->link, hash_table_hash(&t, &x->key, sizeof(x->key)));
	x->in = true;
}

static void
drop(struct thing *x)
{
	hash_table_remove(&t, &x->link);
	x->in = false;
}

START_TEST(like_a_plain_array)
{
	enum { THINGS = 500, STEPS = 20000 };
	struct thing *things = calloc(THINGS, sizeof(*things));
	uint64_t random_ = 1;
	size_t in = 0, i, k;

	ck_assert_ptr_nonnull(things);
	ck_assert_int_eq(hash_table_init(&t), 0);
	for (i = 0; i < THINGS; i++)
		things[i].key = (uint32_t)i * 3;
	for (i = 0; i < STEPS; i++) {
		struct thing *x;

		random_ = hash_mix(random_ + i);
		x = &things[random_ % THINGS];
		if (x->in) {
			drop(x);
			in--;
		} else {
			add(x);
			in++;
		}
		if (t.count != in || find(x->key) != (x->in ? x : NULL) ||
		    find(x->key + 1) != NULL)
			ck_abort_msg("step %zu", i);
	}
	for (k = 0; k < THINGS; k++)
		ck_assert_ptr_eq(
		    find(things[k].key), things[k].in ? &things[k] : NULL);
	hash_table_fini(&t);
	free(things);
}
END_TEST

START_TEST(a_million)
{
	size_t n = (size_t)suite_amount(1000000, 20000), i, wrong = 0;
	struct thing *things = calloc(n, sizeof(*things));

	ck_assert_ptr_nonnull(things);
	ck_assert_int_eq(hash_table_init(&t), 0);
	for (i = 0; i < n; i++) {
		things[i].key = (uint32_t)i;
		add(&things[i]);
		/* also while it grows, those from before are there */
		wrong += find((uint32_t)(i / 2)) != &things[i / 2];
	}
	ck_assert_uint_eq(t.count, n);
	for (i = 0; i < n; i += 2)
		drop(&things[i]);
	for (i = 0; i < n; i++)
		wrong += find((uint32_t)i) != (i % 2 == 1 ? &things[i] : NULL);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(t.count, n / 2);
	hash_table_fini(&t);
	free(things);
}
END_TEST

/* ---- speed ---- */

enum { BATCH = 16, KEY = 72 };

/* As large as a flow and its key, spread over the heap as flows are. */
struct big {
	struct hash_table_link link;
	uint8_t key[KEY];
	char rest[300];
};

static bool
is_big(const struct hash_table_link *l, const void *key)
{
	const struct big *x =
	    (const struct big *)(const void *)((const char *)l -
		offsetof(struct big, link));

	return memcmp(x->key, key, KEY) == 0;
}

static void
big_key(uint8_t key[KEY], size_t i)
{
	memset(key, 0, KEY);
	memcpy(key + 8, &i, sizeof(i));
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Nanoseconds of a look-up among n, in batches as datagrams come. */
static double
measure(size_t n, size_t amount, size_t *wrong)
{
	struct big **things = calloc(n, sizeof(*things));
	uint8_t key[BATCH][KEY];
	uint64_t hash[BATCH], random_ = 1;
	double began, took;
	size_t i, k;

	ck_assert_ptr_nonnull(things);
	ck_assert_int_eq(hash_table_init(&t), 0);
	for (i = 0; i < n; i++) {
		things[i] = calloc(1, sizeof(struct big));
		if (things[i] == NULL)
			ck_abort_msg("no memory");
		big_key(things[i]->key, i);
		hash_table_add(&t, &things[i]->link,
		    hash_table_hash(&t, things[i]->key, KEY));
	}
	began = seconds();
	for (i = 0; i < amount; i += BATCH) {
		for (k = 0; k < BATCH; k++) {
			random_ = hash_mix(random_);
			big_key(key[k], random_ % n);
			hash[k] = hash_table_hash(&t, key[k], KEY);
			hash_table_expect(&t, hash[k]);
		}
		for (k = 0; k < BATCH; k++)
			hash_table_expect_link(&t, hash[k]);
		for (k = 0; k < BATCH; k++)
			*wrong += hash_table_find(
				      &t, hash[k], is_big, key[k]) == NULL;
	}
	took = seconds() - began;
	for (i = 0; i < n; i++)
		free(things[i]);
	free(things);
	hash_table_fini(&t);
	return took / (double)amount * 1e9;
}

START_TEST(look_ups)
{
	size_t many = (size_t)suite_amount(1000000, 20000), wrong = 0;
	size_t amount = (size_t)suite_amount(4000000, 20000);
	double few = measure(100, amount, &wrong);
	double all = measure(many, amount, &wrong);

	printf("look-up: %.0f ns among 100, %.0f ns among %zu, ratio %.2f\n",
	    few, all, many, all / few);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* Two tables do not order the same keys alike: strangers cannot aim. */
START_TEST(keys_are_secret)
{
	struct hash_table other;
	uint32_t key = 7;

	ck_assert_int_eq(hash_table_init(&t), 0);
	ck_assert_int_eq(hash_table_init(&other), 0);
	ck_assert_uint_ne(hash_table_hash(&t, &key, sizeof(key)),
	    hash_table_hash(&other, &key, sizeof(key)));
	hash_table_fini(&t);
	hash_table_fini(&other);
}
END_TEST

SUITE(test_hash_table)
{
	Suite *s = suite_create("table");

	SUITE_ADD(s, like_a_plain_array, 30);
	SUITE_ADD(s, a_million, 60);
	SUITE_ADD(s, look_ups, 60);
	SUITE_ADD(s, keys_are_secret, 10);
	return s;
}
