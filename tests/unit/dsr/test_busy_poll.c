/* test_busy_poll.c: how often a director polls before others get their turn. */
#include "config.h"

#include <check.h>

#include "dsr/link/busy_poll.h"
#include "support/suite.h"

enum { MOST = 64 };

START_TEST(nothing_or_trouble_ends_a_turn)
{
	struct busy_poll p = { 0 };

	ck_assert_int_eq(busy_poll_after(&p, 0, MOST, true), BUSY_POLL_ENOUGH);
	ck_assert_int_eq(busy_poll_after(&p, -1, MOST, true), BUSY_POLL_ENOUGH);
	ck_assert_uint_eq(p.pauses, 0);
}
END_TEST

START_TEST(frames_one_by_one_make_no_pause)
{
	struct busy_poll p = { 0 };

	for (int n = 1; n < BUSY_POLL_MANY; n++)
		ck_assert_int_eq(busy_poll_after(&p, n, MOST, true),
		    n < BUSY_POLL_ROUNDS ? BUSY_POLL_IF_ANY : BUSY_POLL_ENOUGH);
	ck_assert_uint_eq(p.pauses, 0);
}
END_TEST

START_TEST(full_batches_follow_each_other_for_a_turn)
{
	struct busy_poll p = { 0 };

	for (unsigned i = 1; i < BUSY_POLL_ROUNDS; i++)
		ck_assert_int_eq(
		    busy_poll_after(&p, MOST, MOST, true), BUSY_POLL_AGAIN);
	ck_assert_int_eq(
	    busy_poll_after(&p, MOST, MOST, true), BUSY_POLL_ENOUGH);
}
END_TEST

/* Timers, the control socket and clients of the proxy must not wait long. */
START_TEST(a_flood_pauses_some_times_in_a_turn)
{
	struct busy_poll p = { 0 };
	unsigned pauses = 0;
	enum busy_poll_step step;

	while ((step = busy_poll_after(&p, BUSY_POLL_MANY + 30, MOST, true)) !=
	    BUSY_POLL_ENOUGH) {
		ck_assert_int_eq(step, BUSY_POLL_PAUSE);
		pauses++;
	}
	ck_assert_uint_gt(pauses, 0);
	ck_assert_uint_le(pauses * BUSY_POLL_PAUSE_NS, 200000);
}
END_TEST

START_TEST(systems_without_exact_clocks_do_not_pause)
{
	struct busy_poll p = { 0 };

	ck_assert_int_eq(
	    busy_poll_after(&p, BUSY_POLL_MANY, MOST, false), BUSY_POLL_IF_ANY);
	ck_assert_int_eq(
	    busy_poll_after(&p, MOST, MOST, false), BUSY_POLL_AGAIN);
}
END_TEST

SUITE(test_busy_poll)
{
	Suite *s = suite_create("busy_poll");

	SUITE_ADD(s, nothing_or_trouble_ends_a_turn, 10);
	SUITE_ADD(s, frames_one_by_one_make_no_pause, 10);
	SUITE_ADD(s, full_batches_follow_each_other_for_a_turn, 10);
	SUITE_ADD(s, a_flood_pauses_some_times_in_a_turn, 10);
	SUITE_ADD(s, systems_without_exact_clocks_do_not_pause, 10);
	return s;
}
