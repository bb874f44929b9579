/* test_frontend_stats.c: counters of several processes together. */
#include "config.h"

#include <check.h>

#include "proxy/core/frontend_stats.h"
#include "support/suite.h"

static struct frontend_stats
some(uint64_t n)
{
	return (struct frontend_stats){ .sessions = n,
		.sessions_peak = 2 * n,
		.accepted = 10 * n,
		.flows = { .now = n, .peak = n, .ports_max = n },
		.durations.session.sum_us = 100 * n,
		.preopened = n };
}

START_TEST(they_add_up)
{
	struct frontend_stats sum = some(1), other = some(2);

	frontend_stats_add(&sum, &other);
	ck_assert_uint_eq(sum.sessions, 3);
	ck_assert_uint_eq(sum.sessions_peak, 6);
	ck_assert_uint_eq(sum.accepted, 30);
	ck_assert_uint_eq(sum.flows.ports_max, 2);
	ck_assert_uint_eq(sum.durations.session.sum_us, 300);
	ck_assert_uint_eq(sum.preopened, 3);
	frontend_stats_subtract(&sum, &other);
	ck_assert_uint_eq(sum.accepted, 10);
	ck_assert_uint_eq(sum.durations.session.sum_us, 100);
}
END_TEST

/* What was taken off before it was counted comes to nothing with it. */
START_TEST(they_may_be_below_zero)
{
	struct frontend_stats rest = { .sessions = 0 }, other = some(5);

	frontend_stats_subtract(&rest, &other);
	frontend_stats_add(&rest, &other);
	ck_assert_uint_eq(rest.accepted, 0);
	ck_assert_uint_eq(rest.durations.session.sum_us, 0);
}
END_TEST

START_TEST(peaks)
{
	struct frontend_stats st = some(5), before = some(3);

	frontend_stats_drop_peaks(&st);
	ck_assert_uint_eq(st.sessions_peak, 0);
	frontend_stats_raise_peaks(&st, &before);
	ck_assert_uint_eq(st.sessions_peak, 6);
	ck_assert_uint_eq(st.flows.peak, 5);
	frontend_stats_drop_gauges(&st);
	ck_assert_uint_eq(st.sessions, 0);
	ck_assert_uint_eq(st.sessions_peak, 0);
	ck_assert_uint_eq(st.preopened, 0);
	ck_assert_uint_eq(st.accepted, 50);
}
END_TEST

SUITE(test_frontend_stats)
{
	Suite *s = suite_create("frontend_stats");

	SUITE_ADD(s, they_add_up, 10);
	SUITE_ADD(s, they_may_be_below_zero, 10);
	SUITE_ADD(s, peaks, 10);
	return s;
}
