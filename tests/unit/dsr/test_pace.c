/* test_pace.c: how often a director looks before others get their turn. */
#include "config.h"

#include <check.h>

#include "dsr/director/pace.h"
#include "support/suite.h"

enum { MOST = 64 };

START_TEST(nothing_or_trouble_ends_a_turn)
{
	struct pace p = { 0 };

	ck_assert_int_eq(pace_after(&p, 0, MOST, true), PACE_ENOUGH);
	ck_assert_int_eq(pace_after(&p, -1, MOST, true), PACE_ENOUGH);
	ck_assert_uint_eq(p.pauses, 0);
}
END_TEST

START_TEST(frames_one_by_one_make_no_pause)
{
	struct pace p = { 0 };

	for (int n = 1; n < PACE_MANY; n++)
		ck_assert_int_eq(pace_after(&p, n, MOST, true),
		    n < PACE_ROUNDS ? PACE_IF_ANY : PACE_ENOUGH);
	ck_assert_uint_eq(p.pauses, 0);
}
END_TEST

START_TEST(full_batches_follow_each_other_for_a_turn)
{
	struct pace p = { 0 };

	for (unsigned i = 1; i < PACE_ROUNDS; i++)
		ck_assert_int_eq(pace_after(&p, MOST, MOST, true), PACE_AGAIN);
	ck_assert_int_eq(pace_after(&p, MOST, MOST, true), PACE_ENOUGH);
}
END_TEST

/* Timers, the control socket and clients of the proxy must not wait long. */
START_TEST(a_flood_pauses_some_times_in_a_turn)
{
	struct pace p = { 0 };
	unsigned pauses = 0;
	enum pace_step step;

	while ((step = pace_after(&p, PACE_MANY + 30, MOST, true)) !=
	    PACE_ENOUGH) {
		ck_assert_int_eq(step, PACE_PAUSE);
		pauses++;
	}
	ck_assert_uint_gt(pauses, 0);
	ck_assert_uint_le(pauses * PACE_PAUSE_NS, 200000);
}
END_TEST

START_TEST(systems_without_exact_clocks_do_not_pause)
{
	struct pace p = { 0 };

	ck_assert_int_eq(pace_after(&p, PACE_MANY, MOST, false), PACE_IF_ANY);
	ck_assert_int_eq(pace_after(&p, MOST, MOST, false), PACE_AGAIN);
}
END_TEST

SUITE(test_pace)
{
	Suite *s = suite_create("pace");

	SUITE_ADD(s, nothing_or_trouble_ends_a_turn, 10);
	SUITE_ADD(s, frames_one_by_one_make_no_pause, 10);
	SUITE_ADD(s, full_batches_follow_each_other_for_a_turn, 10);
	SUITE_ADD(s, a_flood_pauses_some_times_in_a_turn, 10);
	SUITE_ADD(s, systems_without_exact_clocks_do_not_pause, 10);
	return s;
}
