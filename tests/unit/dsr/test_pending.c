/* test_pending.c: frames that wait for the address of their server. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/segment/pending.h"
#include "support/suite.h"

static struct pending held;
static unsigned char bytes[PENDING_LENGTH + 1];

static bool
add(uint32_t server, unsigned length, uint64_t now)
{
	struct link_frame f = {
		.bytes = bytes, .length = length, .offload.flags = LINK_CHECKSUM
	};

	memset(bytes, (int)(server + length), sizeof(bytes));
	return pending_add(&held, &f, server, now);
}

START_TEST(copies_in_order)
{
	ck_assert(add(1, 60, 1000));
	ck_assert(add(1, 61, 1001));
	ck_assert(add(0, PENDING_LENGTH, 1002));
	ck_assert(!add(0, PENDING_LENGTH + 1, 1002));
	memset(bytes, 0, sizeof(bytes));
	ck_assert_uint_eq(held.count, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct link_frame *f = &held.list[i].frame;

		ck_assert_uint_eq(f->length, i == 2 ? PENDING_LENGTH : 60 + i);
		ck_assert_uint_eq(f->offload.flags, LINK_CHECKSUM);
		ck_assert_uint_eq(f->bytes[f->length - 1],
		    (unsigned char)(held.list[i].server + f->length));
	}
	pending_fini(&held);
	ck_assert_uint_eq(held.count, 0);
}
END_TEST

START_TEST(not_too_many)
{
	unsigned i, n = 0;

	for (i = 0; i < PENDING_EACH; i++)
		ck_assert(add(7, 60, 1000));
	ck_assert(!add(7, 60, 1000));
	for (i = 0; i < 100; i++)
		n += add(100 + i, 60, 1000);
	ck_assert_uint_eq(n, PENDING_FRAMES - PENDING_EACH);
	pending_fini(&held);
}
END_TEST

/* So many are let go, of so many bytes. */
static void
expire(uint64_t now, unsigned frames, unsigned all)
{
	struct frame_count lost = { 0 };

	pending_expire(&held, now, &lost);
	ck_assert_uint_eq(lost.frames, frames);
	ck_assert_uint_eq(lost.bytes, all);
}

START_TEST(not_too_long)
{
	ck_assert(add(1, 60, 1000));
	ck_assert(add(2, 82, 1500));
	ck_assert(add(3, 71, 1000));
	expire(1000 + PENDING_MS - 1, 0, 0);
	expire(1000 + PENDING_MS, 2, 60 + 71);
	ck_assert_uint_eq(held.count, 1);
	ck_assert_uint_eq(held.list[0].server, 2);
	expire(5000, 1, 82);
	ck_assert(add(1, 60, 5000));
	pending_fini(&held);
}
END_TEST

START_TEST(those_that_went_leave_no_gap)
{
	for (uint32_t i = 0; i < 5; i++)
		ck_assert(add(i, 60, 1000 + i));
	for (unsigned i = 0; i < 5; i += 2) {
		free(held.list[i].frame.bytes);
		held.list[i].frame.bytes = NULL;
	}
	pending_compact(&held);
	ck_assert_uint_eq(held.count, 2);
	ck_assert_uint_eq(held.list[0].server, 1);
	ck_assert_uint_eq(held.list[1].server, 3);
	pending_fini(&held);
}
END_TEST

SUITE(test_pending)
{
	Suite *s = suite_create("held");
	TCase *t = tcase_create("held");

	tcase_add_test(t, copies_in_order);
	tcase_add_test(t, not_too_many);
	tcase_add_test(t, not_too_long);
	tcase_add_test(t, those_that_went_leave_no_gap);
	suite_add_tcase(s, t);
	return s;
}
