/* test_dsr_carried.c: flows that are carried elsewhere: how long they last, and
 * which goes first where the table is full. */
#include "config.h"

#include "unit/dsr/flow_fixture.h"

static uint32_t elsewhere[16]; /* by client: the second of the last one */
static unsigned asked;

static uint32_t
second(uint64_t ms)
{
	return (uint32_t)(ms / 1000);
}

static uint32_t
last_frame(void *arg, const struct dsr_flow *w)
{
	uint32_t n;

	ck_assert_ptr_eq(arg, &fs);
	ck_assert(w->offloaded);
	memcpy(&n, w->key.client + 12, sizeof(n));
	asked++;
	return elsewhere[n];
}

static void
setup_carried(uint32_t max)
{
	setup(max);
	memset(elsewhere, 0, sizeof(elsewhere));
	asked = 0;
	fs.last_frame = last_frame;
	fs.arg = &fs;
}

static void
carry(uint32_t n)
{
	establish(n);
	ck_assert_uint_eq(find(n)->offloaded, 0);
	find(n)->offloaded = 1;
}

static bool
lasts(uint32_t n, uint64_t seconds)
{
	dsr_flows_expire(&fs, START + 1000 * seconds, MOST);
	ck_assert_uint_eq(listed(), fs.count);
	return find(n) != NULL;
}

/* From the last frame on, wherever that went, and from its own time only. */
START_TEST(in_use_elsewhere)
{
	setup_carried(10);
	carry(1);
	carry(2);
	establish(3);
	elsewhere[1] = second(START) + 500;
	ck_assert(lasts(2, 900));
	ck_assert_uint_eq(asked, 0);
	ck_assert(lasts(1, 901));
	ck_assert(!lasts(2, 901));
	ck_assert(!lasts(3, 901));
	ck_assert_uint_eq(find(1)->seen, elsewhere[1]);
	ck_assert(lasts(1, 1400));
	elsewhere[1] = second(START) + 1300;
	ck_assert(lasts(1, 2200));
	ck_assert(!lasts(1, 2201));
	ck_assert_uint_eq(fs.stats.expired, 3);
	dsr_flows_fini(&fs);
}
END_TEST

/* Behind others of its state it may wait for their time, and no longer. */
START_TEST(twice_its_time_at_most)
{
	setup_carried(10);
	carry(1);
	establish(2);
	elsewhere[1] = second(START) + 1;
	now = START + 900000;
	frame(2, ACK);
	ck_assert(lasts(1, 901));
	ck_assert(lasts(2, 1800));
	ck_assert(!lasts(1, 1801));
	ck_assert(!lasts(2, 1801));
	dsr_flows_fini(&fs);
}
END_TEST

/* Late looks make it last no longer. */
START_TEST(idle_elsewhere_too)
{
	setup_carried(10);
	carry(1);
	establish(2);
	elsewhere[1] = second(START) + 1;
	now = START + 900000;
	frame(2, ACK);
	ck_assert(!lasts(1, 902));
	ck_assert(lasts(2, 902));
	dsr_flows_fini(&fs);
}
END_TEST

/* Whatever its memory had before. */
START_TEST(at_first_none_is_carried)
{
	setup_carried(10);
	carry(1);
	dsr_flows_remove(&fs, find(1));
	ck_assert_uint_eq(add(2, 0, SYN)->offloaded, 0);
	ck_assert_uint_eq(fs.made, 1);
	dsr_flows_fini(&fs);
}
END_TEST

START_TEST(nobody_tells_of_elsewhere)
{
	setup_carried(10);
	carry(1);
	fs.last_frame = NULL;
	ck_assert(lasts(1, 900));
	ck_assert(!lasts(1, 901));
	ck_assert_uint_eq(asked, 0);
	ck_assert_uint_eq(fs.count, 0);
	dsr_flows_fini(&fs);
}
END_TEST

/* Where the table is full those in use elsewhere are passed over. */
START_TEST(idle_everywhere_goes_first)
{
	setup_carried(4);
	carry(1);
	carry(2);
	now += 1000;
	carry(3);
	now += 1000;
	establish(4);
	elsewhere[1] = second(now);
	elsewhere[3] = second(now) + 1;
	now += 1000;
	establish(5);
	ck_assert_ptr_null(find(2));
	establish(6);
	ck_assert_ptr_null(find(4));
	ck_assert_ptr_nonnull(find(1));
	ck_assert_ptr_nonnull(find(3));
	ck_assert_uint_eq(fs.stats.pushed_out, 2);
	dsr_flows_fini(&fs);
}
END_TEST

/* Room is made also where all are in use, and not all are asked. */
START_TEST(all_in_use_elsewhere)
{
	uint32_t i;

	setup_carried(14);
	for (i = 1; i <= 14; i++) {
		carry(i);
		elsewhere[i] = second(START) + 10;
	}
	now += 10000;
	ck_assert_ptr_nonnull(add(15, 0, SYN));
	ck_assert_uint_eq(fs.count, 14);
	ck_assert_uint_eq(fs.stats.pushed_out, 1);
	ck_assert_uint_gt(asked, 0);
	ck_assert_uint_lt(asked, 14);
	ck_assert_uint_eq(listed(), fs.count);
	dsr_flows_fini(&fs);
}
END_TEST

SUITE(test_dsr_carried)
{
	Suite *s = suite_create("dsr_carried");

	SUITE_ADD(s, in_use_elsewhere, 10);
	SUITE_ADD(s, twice_its_time_at_most, 10);
	SUITE_ADD(s, idle_elsewhere_too, 10);
	SUITE_ADD(s, at_first_none_is_carried, 10);
	SUITE_ADD(s, nobody_tells_of_elsewhere, 10);
	SUITE_ADD(s, idle_everywhere_goes_first, 10);
	SUITE_ADD(s, all_in_use_elsewhere, 10);
	return s;
}
