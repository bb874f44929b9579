/* test_top_sums.c: what services report of DNS and direct server return, in
 * words. */
#include "config.h"

#include <check.h>

#include "support/suite.h"
#include "tools/top_sums.h"

#define SERVICE " state up listen 192.0.2.1:0 up 2 servers 2 rate 0.0"

static const char *
of(const char *const lines[])
{
	static char text[TOP_LINE];
	struct top_sums s = { .directors = 0 }, none = { .directors = 0 };
	unsigned i;

	for (i = 0; lines[i] != NULL; i++)
		top_sums_add(&s, lines[i]);
	return top_sums_text(text, &s, &none);
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

/* The share is of what came since the lines before. */
START_TEST(dns)
{
	static const char was[] =
	    "dns" SERVICE " queries 100 servfail 50 answer_p99_us 1";
	static const char now[] =
	    "dns" SERVICE " queries 300 servfail 53 answer_p50_us 90 "
	    "answer_p99_us 2500";
	struct top_sums before = { .directors = 0 }, s = { .directors = 0 };
	char text[TOP_LINE];

	top_sums_add(&before, was);
	top_sums_add(&s, now);
	ck_assert_str_eq(
	    top_sums_text(text, &s, &before), ", SERVFAIL 1.5%, p99 2.5ms");
	top_sums_add(
	    &s, "more" SERVICE " queries 10 servfail 0 answer_p99_us 120000");
	ck_assert_str_eq(
	    top_sums_text(text, &s, &before), ", SERVFAIL 1.4%, p99 120ms");
	/* cleared in between */
	ck_assert_str_eq(
	    top_sums_text(text, &before, &s), ", SERVFAIL 50.0%, p99 0.0ms");
}
END_TEST

SUITE(test_top_sums)
{
	Suite *s = suite_create("top_sums");

	SUITE_ADD(s, nothing_without_direct_return, 5);
	SUITE_ADD(s, a_standby_has_no_rates, 5);
	SUITE_ADD(s, an_active_one, 5);
	SUITE_ADD(s, several, 5);
	SUITE_ADD(s, dns, 5);
	return s;
}
