/* test_rate.c: a steady rate is told as it is, and one that ended is soon
 * none. */
#include "config.h"

#include <check.h>

#include "base/rate.h"
#include "support/suite.h"

/* One each `ms`, for `seconds`, from time `now` on; returns the time. */
static uint64_t
happen(struct rate *r, uint64_t now, unsigned ms, unsigned seconds)
{
	uint64_t end = now + seconds * 1000;

	for (; now < end; now += ms)
		rate_count(r, now);
	return now;
}

START_TEST(steady)
{
	struct rate r = { 0 };
	uint64_t now = 123456789, i;

	ck_assert_uint_eq(rate_tenths(&r, now), 0);
	now = happen(&r, now, 10, 20);
	/* wherever in a period it is asked for */
	for (i = 0; i < 50; i++) {
		ck_assert_uint_ge(rate_tenths(&r, now), 990);
		ck_assert_uint_le(rate_tenths(&r, now), 1010);
		now = happen(&r, now, 10, 1);
	}
}
END_TEST

START_TEST(rare)
{
	struct rate r = { 0 };
	uint64_t now = happen(&r, 1 << 20, 2000, 60);

	ck_assert_uint_ge(rate_tenths(&r, now), 2);
	ck_assert_uint_le(rate_tenths(&r, now), 8);
}
END_TEST

START_TEST(over)
{
	struct rate r = { 0 };
	uint64_t now = happen(&r, 1 << 20, 1, 20);

	ck_assert_uint_ge(rate_tenths(&r, now), 9900);
	ck_assert_uint_eq(rate_tenths(&r, now + 8192), 0);
	ck_assert_uint_eq(rate_tenths(&r, now + (UINT64_C(1) << 40)), 0);
	rate_count(&r, now + 60000);
	ck_assert_uint_le(rate_tenths(&r, now + 60000), 3);
}
END_TEST

/* Two that count in turn are one that counts all, whatever period each is
 * in. */
START_TEST(together)
{
	struct rate r[2] = { { 0 } }, all = { 0 };
	uint64_t now, end = 20000;

	for (now = 0; now < end; now += 10) {
		rate_count(&r[now / 5000 % 2], now);
		rate_count(&all, now);
	}
	rate_merge(&r[0], &r[1]);
	ck_assert_uint_eq(rate_tenths(&r[0], now), rate_tenths(&all, now));
}
END_TEST

SUITE(test_rate)
{
	Suite *s = suite_create("rate");

	SUITE_ADD(s, steady, 10);
	SUITE_ADD(s, rare, 10);
	SUITE_ADD(s, over, 10);
	SUITE_ADD(s, together, 10);
	return s;
}
