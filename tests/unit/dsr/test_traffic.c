/* test_traffic.c: rates of frames from their totals. */
#include "config.h"

#include <check.h>

#include "dsr/director/traffic.h"
#include "support/suite.h"

enum { START = 1000 };

static struct traffic t;
static struct frame_count total;

static void
count(uint64_t frames, uint64_t now)
{
	total.frames += frames;
	total.bytes += 100 * frames;
	if (traffic_is_due(&t, now))
		traffic_note(&t, &total, now);
}

static void
begin(void)
{
	total = (struct frame_count){ 0, 0 };
	traffic_start(&t, START);
}

static void
expect(uint64_t frame_tenths, uint64_t now)
{
	struct traffic_rate r = traffic_rate(&t, &total, now);

	ck_assert_uint_eq(r.frame_tenths, frame_tenths);
	ck_assert_uint_eq(r.bytes, 10 * frame_tenths);
}

START_TEST(none_at_once)
{
	begin();
	expect(0, START);
	count(5, START + 1000);
	expect(50, START + 1000);
}
END_TEST

START_TEST(steady)
{
	uint64_t now;

	begin();
	for (now = START + 250; now < START + 60000; now += 250) {
		count(10, now);
		expect(400, now);
	}
}
END_TEST

/* It is over after two periods at the latest. */
START_TEST(ends)
{
	begin();
	count(1000, START + 1000);
	count(0, START + 5000);
	expect(2000, START + 5000);
	count(0, START + 10000);
	count(0, START + 15000);
	expect(0, START + 15000);
}
END_TEST

START_TEST(counters_are_cleared)
{
	begin();
	count(1000, START + 5000);
	count(0, START + 10000);
	total = (struct frame_count){ 50, 5000 };
	expect(100, START + 10000);
}
END_TEST

SUITE(test_traffic)
{
	Suite *s = suite_create("traffic");

	SUITE_ADD(s, none_at_once, 5);
	SUITE_ADD(s, steady, 5);
	SUITE_ADD(s, ends, 5);
	SUITE_ADD(s, counters_are_cleared, 5);
	return s;
}
