/* test_rate_limit.c: as many as the limit says, in any order of haste. */
#include "config.h"

#include <check.h>

#include "base/rate_limit.h"
#include "support/suite.h"

/* As many as it gets at once. */
static unsigned
take_all(const struct rate_limit *l, struct rate_bucket *b, uint64_t now)
{
	unsigned n = 0;

	while (n < 100000 && rate_limit_take(l, b, now))
		n++;
	return n;
}

START_TEST(burst_then_steady)
{
	struct rate_limit l = { .count = 10, .period_ms = 1000 };
	struct rate_bucket b = { 0 };
	uint64_t now = 123456, end = now + 60000;
	unsigned n = 0;

	ck_assert_uint_eq(take_all(&l, &b, now), 10);
	ck_assert(!rate_limit_take(&l, &b, now + 99));
	ck_assert(rate_limit_take(&l, &b, now + 100));
	/* impatient: asks each ms for a minute, and gets ten a second */
	for (now += 101; now <= end; now++)
		n += rate_limit_take(&l, &b, now);
	ck_assert_uint_ge(n, 598);
	ck_assert_uint_le(n, 600);
	/* however long it rests, the burst is the same */
	ck_assert_uint_eq(take_all(&l, &b, now + (UINT64_C(1) << 40)), 10);
}
END_TEST

START_TEST(odd_numbers)
{
	struct rate_limit l = { .count = 3, .period_ms = 1000 };
	struct rate_bucket b = { 0 };
	uint64_t now;

	for (now = 1; now < 60000; now += 1000)
		ck_assert_uint_eq(take_all(&l, &b, now), 3);
	l = (struct rate_limit){ RATE_LIMIT_COUNT, 1000 };
	ck_assert_uint_eq(take_all(&l, &b, now + 1000), 100000);
	l = (struct rate_limit){ 1, RATE_LIMIT_PERIOD };
	b.full = 0;
	ck_assert_uint_eq(take_all(&l, &b, now), 1);
	ck_assert_uint_eq(take_all(&l, &b, now + RATE_LIMIT_PERIOD - 1), 0);
	ck_assert_uint_eq(take_all(&l, &b, now + RATE_LIMIT_PERIOD), 1);
}
END_TEST

START_TEST(when)
{
	struct rate_limit l = { .count = 2, .period_ms = 3000 };
	struct rate_bucket b = { 0 };
	uint64_t now = 777, wait;

	ck_assert_uint_eq(rate_limit_wait(&l, &b, now), 0);
	ck_assert_uint_eq(take_all(&l, &b, now), 2);
	wait = rate_limit_wait(&l, &b, now);
	ck_assert_uint_eq(wait, 1500);
	ck_assert(!rate_limit_take(&l, &b, now + wait - 1));
	ck_assert(rate_limit_take(&l, &b, now + wait));
}
END_TEST

START_TEST(none)
{
	struct rate_limit l = { .count = 0 };
	struct rate_bucket b = { 0 };

	ck_assert_uint_eq(take_all(&l, &b, 1), 100000);
	ck_assert_uint_eq(rate_limit_wait(&l, &b, 1), 0);
}
END_TEST

/* Who was empty for an hour's limit is not so for another one's hour. */
START_TEST(another_limit)
{
	struct rate_limit hour = { 10, 3600 * 1000 }, second = { 10, 1000 };
	struct rate_bucket b = { 0 };

	ck_assert_uint_eq(take_all(&hour, &b, 5000), 10);
	ck_assert_uint_eq(rate_limit_wait(&second, &b, 5000), 0);
	ck_assert_uint_eq(take_all(&second, &b, 5000), 10);
	/* a second's worth of an hour */
	ck_assert_uint_eq(take_all(&hour, &b, 5000), 9);
}
END_TEST

SUITE(test_rate_limit)
{
	Suite *s = suite_create("rate_limit");

	SUITE_ADD(s, burst_then_steady, 10);
	SUITE_ADD(s, odd_numbers, 10);
	SUITE_ADD(s, when, 10);
	SUITE_ADD(s, none, 10);
	SUITE_ADD(s, another_limit, 10);
	return s;
}
