/* test_shared_limit.c: a limit of several frontends together, with a share for
 * each: by numbers, and against the rule with clients that come and go at
 * random. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/core/frontend_core.h"
#include "support/suite.h"

enum { COUNT = 5, STEPS = 20000 };

static struct shared_limit shared;
static struct frontend_core all[COUNT];

static void
hold(struct frontend_core *f, bool on)
{
	ck_assert(f->full == on);
}

/* The last one has no share. */
static void
limit(uint64_t max)
{
	int i;

	shared_limit_set(&shared, max, COUNT - 1);
	for (i = 0; max > 0 && i < COUNT; i++)
		shared_limit_join(&shared, &all[i], i < COUNT - 1);
	for (i = 0; i < COUNT; i++)
		frontend_check_limits(&all[i]);
}

static void
begin(uint64_t max)
{
	int i;

	memset(all, 0, sizeof(all));
	shared_limit_init(&shared);
	for (i = 0; i < COUNT; i++) {
		list_init(&all[i].shared.link);
		all[i].options.sessions_max = 1000;
		all[i].stats = &all[i].own_stats;
		all[i].started = true;
		all[i].hold = hold;
	}
	limit(max);
}

/* How many clients come in. */
static unsigned
fill(int i)
{
	unsigned n = 0;

	for (; !all[i].full; n++)
		frontend_client_in(&all[i]);
	return n;
}

static void
leave(int i, unsigned n)
{
	while (n-- > 0)
		frontend_client_out(&all[i], REASON_DONE);
}

/* 80: shares of 10 for four, 40 for those that need more. */
START_TEST(shares_are_kept)
{
	begin(80);
	ck_assert_uint_eq(fill(0), 50);
	ck_assert(all[COUNT - 1].full); /* it has no share */
	ck_assert_uint_eq(fill(1), 10);
	ck_assert_uint_eq(fill(2), 10);
	ck_assert_uint_eq(fill(3), 10);
	/* in its own share: no one else's */
	leave(1, 1);
	ck_assert(all[0].full && !all[1].full);
	ck_assert_uint_eq(fill(1), 1);
	/* beyond it: whose it is comes out first */
	leave(0, 1);
	ck_assert(!all[0].full && !all[1].full && !all[COUNT - 1].full);
	ck_assert_uint_eq(fill(COUNT - 1), 1);
	ck_assert(all[0].full && all[1].full);
}
END_TEST

START_TEST(limits_change)
{
	begin(80);
	fill(0);
	limit(160);
	ck_assert_uint_eq(fill(0), 50);
	limit(80); /* its 100 stay; the shares are there all the same */
	ck_assert(all[0].full);
	ck_assert_uint_eq(fill(1), 10);
	leave(0, 50);
	ck_assert(all[0].full);
	leave(0, 1);
	ck_assert(!all[0].full);
	limit(0);
	ck_assert_uint_eq(fill(0), 951);
	leave(0, 1000);
	limit(COUNT - 2); /* not enough for a share of each */
	ck_assert_uint_eq(fill(2), 0);
	leave(1, 10);
	ck_assert_uint_eq(fill(2), COUNT - 2);
}
END_TEST

/* Its own limit holds as well, and one that ends leaves no trace. */
START_TEST(a_member_goes)
{
	begin(80);
	all[0].options.sessions_max = 5;
	ck_assert_uint_eq(fill(0), 5);
	leave(0, 5);
	shared_limit_part(&all[0]);
	ck_assert(shared_limit_has(&all[0]));
	ck_assert_uint_eq(fill(1), 50);
	leave(1, 50);
	ck_assert_uint_eq(fill(2), 50);
}
END_TEST

static void
check_rule(uint64_t max)
{
	uint64_t share = shared.share, taken = 0, sum = 0, n;
	int i;

	for (i = 0; i < COUNT; i++) {
		uint64_t own = i < COUNT - 1 ? share : 0;

		n = all[i].stats->sessions;
		sum += n;
		taken += n > own ? n : own;
	}
	ck_assert_uint_le(sum, max);
	ck_assert_uint_le(taken, max);
	for (i = 0; i < COUNT; i++) {
		n = all[i].stats->sessions;
		ck_assert(all[i].full ==
		    !((i < COUNT - 1 && n < share) || taken < max));
	}
}

START_TEST(clients_come_and_go)
{
	static const uint64_t limits[] = { 1, 4, 5, 8, 9, 23, 80 };
	uint64_t max = limits[_i];
	int step, i;

	begin(max);
	ck_assert_uint_eq(shared.share == 0, max < COUNT - 1);
	srand(1);
	for (step = 0; step < STEPS; step++) {
		i = rand() % COUNT;
		if (rand() % 5 < 3 && !all[i].full)
			frontend_client_in(&all[i]);
		else if (all[i].stats->sessions > 0)
			leave(i, 1);
		else
			continue;
		check_rule(max);
	}
}
END_TEST

SUITE(test_shared_limit)
{
	Suite *s = suite_create("shared_limit");

	SUITE_ADD(s, shares_are_kept, 10);
	SUITE_ADD(s, limits_change, 10);
	SUITE_ADD(s, a_member_goes, 10);
	SUITE_ADD_LOOP(s, clients_come_and_go, 20, 7);
	return s;
}
