/* test_bitmap.c: the bitmap against a plain array. */
#include "config.h"

#include <check.h>
#include <errno.h>

#include "base/bitmap.h"
#include "base/hash.h"
#include "support/suite.h"

enum { ROOM = 5000 };

static int64_t
model_next(const bool *in, unsigned from)
{
	unsigned i;

	for (i = from; i < ROOM; i++)
		if (in[i])
			return i;
	return BITMAP_NONE;
}

static void
compare(const struct bitmap *b, const bool *in, unsigned from)
{
	int64_t first = model_next(in, 0);

	ck_assert_int_eq(bitmap_next(b, from), model_next(in, from));
	ck_assert_int_eq(bitmap_is_empty(b), first == BITMAP_NONE);
	if (first != BITMAP_NONE)
		ck_assert_int_eq(bitmap_first(b), first);
}

START_TEST(against_a_model)
{
	static bool in[ROOM];
	struct bitmap b;
	uint64_t x = 1;
	unsigned i, n;

	bitmap_init(&b);
	ck_assert(bitmap_is_empty(&b) && !bitmap_has(&b, 0));
	ck_assert_int_eq(bitmap_next(&b, 0), BITMAP_NONE);
	ck_assert_int_eq(bitmap_grow(&b, ROOM), 0);
	for (i = 0; i < (unsigned)suite_rounds(20000); i++) {
		x = hash_mix(x + i);
		n = (unsigned)(x % ROOM);
		/* fill, then empty, so that both ends are seen */
		in[n] = x >> 32 & 7 ? i < 10000 : i >= 10000;
		if (in[n])
			bitmap_set(&b, n);
		else
			bitmap_clear(&b, n);
		ck_assert_int_eq(bitmap_has(&b, n), in[n]);
		if (i % 10 == 0)
			compare(&b, in, (unsigned)(x >> 40) % (ROOM + 10));
	}
	bitmap_fini(&b);
}
END_TEST

START_TEST(growing_keeps_members)
{
	struct bitmap b;
	unsigned n;

	bitmap_init(&b);
	for (n = 1; n < 300000; n *= 3) {
		ck_assert_int_eq(bitmap_grow(&b, n), 0);
		bitmap_set(&b, n - 1);
	}
	for (n = 1; n < 300000; n *= 3)
		ck_assert_int_eq(bitmap_next(&b, n / 3), (int64_t)n - 1);
	ck_assert_int_eq(bitmap_next(&b, UINT32_MAX), BITMAP_NONE);
	bitmap_fini(&b);
}
END_TEST

START_TEST(a_range_is_all_of_its_numbers)
{
	struct bitmap b;
	unsigned n;

	bitmap_init(&b);
	ck_assert_int_eq(bitmap_grow(&b, ROOM), 0);
	bitmap_set_range(&b, 7, 7);
	ck_assert(bitmap_is_empty(&b));
	bitmap_set_range(&b, 60, 4203);
	for (n = 0; n < ROOM; n++)
		ck_assert_int_eq(bitmap_has(&b, n), n >= 60 && n < 4203);
	for (n = 60; n < 4203; n++) {
		ck_assert_uint_eq(bitmap_first(&b), n);
		bitmap_clear(&b, n);
	}
	ck_assert(bitmap_is_empty(&b));
	bitmap_fini(&b);
}
END_TEST

START_TEST(too_large_changes_nothing)
{
	struct bitmap b;

	bitmap_init(&b);
	ck_assert_int_eq(bitmap_grow(&b, 100), 0);
	bitmap_set(&b, 99);
	ck_assert_int_eq(bitmap_grow(&b, UINT32_MAX), -1);
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_int_eq(bitmap_next(&b, 0), 99);
	bitmap_fini(&b);
}
END_TEST

SUITE(test_bitmap)
{
	Suite *s = suite_create("bitmap");

	SUITE_ADD(s, against_a_model, 30);
	SUITE_ADD(s, growing_keeps_members, 10);
	SUITE_ADD(s, a_range_is_all_of_its_numbers, 10);
	SUITE_ADD(s, too_large_changes_nothing, 10);
	return s;
}
