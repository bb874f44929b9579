/* test_clock.c: milliseconds that go on and never back. */
#include "config.h"

#include <check.h>
#include <time.h>

#include "base/clock.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(never_goes_back)
{
	uint64_t last = clock_monotonic_ms(), now;
	int i, back = 0;

	for (i = 0; i < 100000; i++) {
		now = clock_monotonic_ms();
		back += now < last;
		last = now;
	}
	ck_assert_int_eq(back, 0);
	WAIT_FOR(clock_monotonic_ms() > last, 1000);
}
END_TEST

static uint64_t
system_us(void)
{
	struct timespec t;

	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Between two readings of the system's clock, in its unit. */
START_TEST(milliseconds)
{
	uint64_t before = system_us() / 1000, now = clock_monotonic_ms();

	ck_assert_uint_ge(now, before);
	ck_assert_uint_le(now, system_us() / 1000);
}
END_TEST

START_TEST(microseconds)
{
	uint64_t before = system_us(), now = clock_monotonic_us();

	ck_assert_uint_ge(now, before);
	ck_assert_uint_le(now, system_us());
}
END_TEST

SUITE(test_clock)
{
	Suite *s = suite_create("clock");

	SUITE_ADD(s, never_goes_back, 10);
	SUITE_ADD(s, milliseconds, 10);
	SUITE_ADD(s, microseconds, 10);
	return s;
}
