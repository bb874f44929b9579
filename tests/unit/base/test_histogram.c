/* test_histogram.c: percentiles of times, near enough. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/histogram.h"
#include "support/suite.h"

static struct histogram h;

static void
begin(void)
{
	memset(&h, 0, sizeof(h));
}

/* Within an eighth, as promised. */
static void
is_about(uint32_t got, uint32_t wanted)
{
	ck_assert_uint_le(got, wanted + wanted / 8 + 1);
	ck_assert_uint_ge(got + wanted / 8 + 1, wanted);
}

START_TEST(each_value_is_known)
{
	uint32_t us;

	for (us = 16; us < 8u << 20; us += us / 64 + 1) {
		begin();
		histogram_add(&h, us);
		is_about(histogram_percentile(&h, 50), us);
		is_about(histogram_percentile(&h, 100), us);
	}
}
END_TEST

START_TEST(ends)
{
	begin();
	ck_assert_uint_eq(histogram_percentile(&h, 50), 0);
	histogram_add(&h, 0);
	ck_assert_uint_lt(histogram_percentile(&h, 50), 16);
	begin();
	histogram_add(&h, UINT32_MAX);
	ck_assert_uint_gt(histogram_percentile(&h, 50), 4 << 20);
}
END_TEST

START_TEST(percentiles)
{
	uint32_t us;

	begin();
	for (us = 1000; us <= 2000; us++)
		histogram_add(&h, us);
	is_about(histogram_percentile(&h, 1), 1010);
	is_about(histogram_percentile(&h, 50), 1500);
	is_about(histogram_percentile(&h, 99), 1990);
	histogram_add(&h, 3000000);
	is_about(histogram_percentile(&h, 99), 1990);
	is_about(histogram_percentile(&h, 100), 3000000);
}
END_TEST

/* What is long ago hardly counts; nothing overflows. */
START_TEST(it_forgets)
{
	int i;

	begin();
	for (i = 0; i < 1000000; i++)
		histogram_add(&h, 100);
	for (i = 0; i < 4 * HISTOGRAM_FULL; i++)
		histogram_add(&h, 5000);
	is_about(histogram_percentile(&h, 10), 5000);
	ck_assert_uint_le(h.total, HISTOGRAM_FULL);
}
END_TEST

/* However full they are, both count. */
START_TEST(two_are_merged)
{
	struct histogram other = { .total = 0 };
	int i;

	begin();
	for (i = 0; i < HISTOGRAM_FULL; i++) {
		histogram_add(&h, 100);
		histogram_add(&other, 5000);
	}
	histogram_merge(&h, &other);
	ck_assert_uint_eq(h.total, HISTOGRAM_FULL);
	is_about(histogram_percentile(&h, 45), 100);
	is_about(histogram_percentile(&h, 55), 5000);
}
END_TEST

SUITE(test_histogram)
{
	Suite *s = suite_create("histogram");

	SUITE_ADD(s, each_value_is_known, 10);
	SUITE_ADD(s, ends, 10);
	SUITE_ADD(s, percentiles, 10);
	SUITE_ADD(s, it_forgets, 10);
	SUITE_ADD(s, two_are_merged, 10);
	return s;
}
