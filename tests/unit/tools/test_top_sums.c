/* test_top_sums.c: what services report of direct server return, in words. */
#include "config.h"

#include <check.h>

#include "support/suite.h"
#include "tools/top_sums.h"

#define SERVICE " state up listen 192.0.2.1:0 up 2 servers 2 rate 0.0"

static const char *
of(const char *const lines[])
{
	static char text[TOP_LINE];
	struct top_sums s = { .directors = 0 };
	unsigned i;

	for (i = 0; lines[i] != NULL; i++)
		top_sums_add(&s, lines[i]);
	return top_sums_text(text, &s);
}

#define SUMS_ARE(expected, ...) \
	ck_assert_str_eq(of((const char *[]){ __VA_ARGS__, NULL }), expected)

START_TEST(nothing_without_direct_return)
{
	SUMS_ARE("", "web" SERVICE);
	SUMS_ARE("", "", "error: unknown command", "\"");
}
END_TEST

START_TEST(a_standby_has_no_rates)
{
	SUMS_ARE(", standby",
	    "web state standby listen 192.0.2.1:0 role standby frame_rate 0.0 "
	    "byte_rate 0 role_s 5");
}
END_TEST

START_TEST(an_active_one)
{
	SUMS_ARE(", active, 1.2k frames/s, 98kB/s",
	    "web" SERVICE
	    " role active frame_rate 1234.5 byte_rate 98000 role_s 5");
}
END_TEST

START_TEST(several)
{
	SUMS_ARE(", 1 of 2 directors active, 30 frames/s, 3.0kB/s",
	    "web" SERVICE " role active frame_rate 30.0 byte_rate 3000",
	    "mail" SERVICE,
	    "dns" SERVICE " role standby frame_rate 0.0 byte_rate 0");
}
END_TEST

SUITE(test_top_sums)
{
	Suite *s = suite_create("top_sums");

	SUITE_ADD(s, nothing_without_direct_return, 5);
	SUITE_ADD(s, a_standby_has_no_rates, 5);
	SUITE_ADD(s, an_active_one, 5);
	SUITE_ADD(s, several, 5);
	return s;
}
