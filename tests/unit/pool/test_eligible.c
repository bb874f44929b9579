/* test_eligible.c: the set of eligible servers against a plain array. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "base/hash.h"
#include "pool/server/eligible.h"
#include "support/suite.h"

enum { ROOM = 5000 };

static long
model_next(const bool *in, unsigned from)
{
	unsigned i;

	for (i = from; i < ROOM; i++)
		if (in[i])
			return (long)i;
	return ELIGIBLE_NONE;
}

static void
compare(const struct eligible *u, const bool *in, unsigned from)
{
	long next = model_next(in, from);

	ck_assert_int_eq(eligible_next(u, from), next);
	if (next == ELIGIBLE_NONE)
		next = model_next(in, 0);
	ck_assert_int_eq(eligible_next_around(u, from), next);
}

START_TEST(against_a_model)
{
	static bool in[ROOM];
	struct eligible u;
	uint64_t x = 1;
	unsigned i, k, members = 0;

	eligible_init(&u);
	ck_assert_int_eq(eligible_next(&u, 0), ELIGIBLE_NONE);
	ck_assert_int_eq(eligible_grow(&u, 100), 0);
	ck_assert_int_eq(eligible_grow(&u, ROOM), 0);
	for (i = 0; i < (unsigned)suite_rounds(20000); i++) {
		x = hash_mix(x + i);
		k = (unsigned)(x % ROOM);
		/* fill, then empty, so that both ends are seen */
		if (x >> 32 & 7 ? i < 10000 : i >= 10000) {
			members += !in[k];
			in[k] = true;
			eligible_add(&u, k);
		} else {
			members -= in[k];
			in[k] = false;
			eligible_remove(&u, k);
		}
		ck_assert_int_eq(eligible_has(&u, k), in[k]);
		ck_assert_uint_eq(u.count, members);
		if (i % 10 == 0)
			compare(&u, in, (unsigned)(x >> 40) % (ROOM + 10));
	}
	for (k = 0; k < u.count; k++)
		ck_assert(in[u.dense[k]] && u.position[u.dense[k]] == k);
	eligible_fini(&u);
}
END_TEST

START_TEST(growing_keeps_members)
{
	struct eligible u;
	unsigned n;

	eligible_init(&u);
	for (n = 1; n < 300000; n *= 3) {
		ck_assert_int_eq(eligible_grow(&u, n), 0);
		eligible_add(&u, n - 1);
	}
	for (n = 1; n < 300000; n *= 3)
		ck_assert_int_eq(eligible_next(&u, n / 3), (long)n - 1);
	ck_assert_int_eq(eligible_next(&u, UINT32_MAX), ELIGIBLE_NONE);
	eligible_fini(&u);
}
END_TEST

SUITE(test_eligible)
{
	Suite *s = suite_create("eligible");

	SUITE_ADD(s, against_a_model, 30);
	SUITE_ADD(s, growing_keeps_members, 10);
	return s;
}
