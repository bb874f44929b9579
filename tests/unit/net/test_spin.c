/* test_spin.c: spins go on where they pay, and rest where they do not. The
 * clock is ours. */
#include "config.h"

#include <check.h>

#include "net/loop/spin.h"
#include "support/suite.h"

enum { POLL_US = 1, NEVER = 1000000 };

static struct spin spin;
static uint64_t now;

static void
begin(void)
{
	now = 1000000;
	spin_init(&spin, true);
}

/* Polls until something comes after `us`. Returns how long it polled; -1: it
 * did not, and slept until then. */
static int
wait_for(uint64_t us)
{
	uint64_t began = now, comes = now + us;
	int spun = -1;

	if (spin_begin(&spin, now)) {
		while (spin_again(&spin, now >= comes, now))
			now += POLL_US;
		spun = (int)(now - began);
	}
	if (now < comes)
		now = comes;
	return spun;
}

START_TEST(off_polls_never)
{
	begin();
	spin_init(&spin, false);
	ck_assert_int_eq(wait_for(10), -1);
}
END_TEST

/* Answers that come in time are waited for, for any number of times. */
START_TEST(what_pays_goes_on)
{
	int i;

	begin();
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(wait_for(SPIN_US / 2), SPIN_US / 2);
	/* one of three in vain is still worth it */
	for (i = 0; i < 1000; i++)
		ck_assert_int_ge(wait_for(i % 3 == 0 ? NEVER : 10), 10);
}
END_TEST

/* A server that takes longer than a spin. */
START_TEST(what_does_not_pay_rests)
{
	uint64_t spun = 0, began;
	int i, us;

	begin();
	for (i = 0; i < SPIN_TRIAL; i++)
		ck_assert_int_eq(wait_for(1000), SPIN_US);
	ck_assert_int_eq(wait_for(1000), -1);
	/* a hundred of the longest rests, and the shorter ones before */
	began = now;
	while (now < began + 100 * SPIN_REST_MAX_US) {
		us = wait_for(1000);
		spun += us > 0 ? (uint64_t)us : 0;
	}
	ck_assert_uint_le(spun, 107 * SPIN_TRIAL * SPIN_US);
	ck_assert_uint_gt(spun, 90 * SPIN_TRIAL * SPIN_US);
}
END_TEST

/* One that is fast again is noticed; then rests are short again, too. */
START_TEST(a_trial_finds_what_has_changed)
{
	uint64_t began;
	int i;

	begin();
	for (began = now; now < began + 10000000;)
		wait_for(1000);
	for (began = now; wait_for(10) < 0;)
		ck_assert_uint_le(now - began, SPIN_REST_MAX_US);
	for (i = 0; i < 2 * SPIN_FULL; i++)
		ck_assert_int_eq(wait_for(10), 10);
	for (i = 0; i < SPIN_FULL; i++)
		ck_assert_int_eq(wait_for(1000), SPIN_US);
	for (began = now; wait_for(100) < 0;)
		ck_assert_uint_le(now - began, SPIN_REST_MIN_US + 100);
}
END_TEST

/* What is there without waiting is no reason to spin, nor against it. */
START_TEST(what_is_there_does_not_count)
{
	int i;

	begin();
	for (i = 0; i < SPIN_TRIAL - 1; i++)
		ck_assert_int_eq(wait_for(1000), SPIN_US);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(wait_for(0), 0);
	ck_assert_int_eq(wait_for(1000), SPIN_US);
	ck_assert_int_eq(wait_for(1000), -1);
}
END_TEST

/* A server that needs the processor of the spin: it answers in time, but only
 * when it is given the processor. */
START_TEST(a_shared_processor_is_left_alone)
{
	int i;

	begin();
	for (i = 0; i < SPIN_TRIAL; i++) {
		ck_assert(spin_begin(&spin, now));
		ck_assert(spin_again(&spin, false, now));
		now += SPIN_GAP_US + 1;
		ck_assert(!spin_again(&spin, i % 2 == 0, now));
	}
	ck_assert(!spin_begin(&spin, now));
}
END_TEST

SUITE(test_spin)
{
	Suite *s = suite_create("spin");

	SUITE_ADD(s, off_polls_never, 5);
	SUITE_ADD(s, what_pays_goes_on, 5);
	SUITE_ADD(s, what_does_not_pay_rests, 5);
	SUITE_ADD(s, a_trial_finds_what_has_changed, 5);
	SUITE_ADD(s, what_is_there_does_not_count, 5);
	SUITE_ADD(s, a_shared_processor_is_left_alone, 5);
	return s;
}
