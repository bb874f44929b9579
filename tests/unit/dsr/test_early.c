/* test_early.c: fragments wait for the first one of their packet, in order, not
 * for long and not many. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/director/early.h"
#include "support/suite.h"

static struct early e;
static struct frame_count lost;
static unsigned char bytes[EARLY_BYTES];

static struct dsr_fragment_key
key(uint32_t id)
{
	struct dsr_fragment_key k;

	memset(&k, 0, sizeof(k));
	k.id = id;
	return k;
}

static bool
add(uint32_t id, unsigned length, uint64_t now)
{
	struct dsr_fragment_key k = key(id);
	struct link_frame f = { .bytes = bytes, .length = length };

	bytes[0] = (unsigned char)length;
	return early_add(&e, &k, &f, now, &lost);
}

/* The length of the next one; 0: none. */
static unsigned
take(uint32_t id, uint64_t now)
{
	struct dsr_fragment_key k = key(id);
	struct link_frame f;

	if (!early_take(&e, &k, now, &f))
		return 0;
	ck_assert_uint_eq(f.bytes[0], (unsigned char)f.length);
	free(f.bytes);
	return f.length;
}

static void
end(void)
{
	early_fini(&e);
	ck_assert_uint_eq(e.count, 0);
	ck_assert_uint_eq(e.bytes, 0);
	lost = (struct frame_count){ 0 };
}

START_TEST(in_their_order)
{
	ck_assert_uint_eq(take(1, 1000), 0);
	ck_assert(add(1, 60, 1000));
	ck_assert(add(2, 61, 1000));
	ck_assert(add(1, 62, 1001));
	ck_assert(add(1, 63, 1002));
	ck_assert_uint_eq(take(3, 1002), 0);
	ck_assert_uint_eq(take(1, 1002), 60);
	ck_assert_uint_eq(take(1, 1002), 62);
	ck_assert_uint_eq(take(2, 1002), 61);
	ck_assert_uint_eq(take(1, 1002), 63);
	ck_assert_uint_eq(take(1, 1002), 0);
	ck_assert_uint_eq(e.count, 0);
	ck_assert_uint_eq(e.bytes, 0);
	ck_assert_uint_eq(lost.frames, 0);
	end();
}
END_TEST

START_TEST(not_for_long)
{
	ck_assert(add(1, 60, 1000));
	ck_assert(add(1, 61, 1050));
	ck_assert(add(1, 62, 1099));
	ck_assert_uint_eq(take(1, 1000 + EARLY_MS), 61);
	ck_assert_uint_eq(take(1, 1099 + EARLY_MS), 0);
	early_expire(&e, 1098 + EARLY_MS, &lost);
	ck_assert_uint_eq(lost.frames, 1);
	ck_assert_uint_eq(lost.bytes, 60);
	early_expire(&e, 1099 + EARLY_MS, &lost);
	ck_assert_uint_eq(lost.frames, 2);
	ck_assert_uint_eq(e.count, 0);
	end();
}
END_TEST

/* Whoever is too old makes room. */
START_TEST(not_too_many)
{
	unsigned i;

	for (i = 0; i < EARLY_FRAMES; i++)
		ck_assert(add(i, 60, 1000));
	ck_assert(!add(i, 60, 1000));
	ck_assert(add(i, 60, 1000 + EARLY_MS));
	ck_assert_uint_eq(e.count, 1);
	ck_assert_uint_eq(lost.frames, EARLY_FRAMES);
	ck_assert(add(1, EARLY_BYTES - 60, 1000 + EARLY_MS));
	ck_assert(!add(1, 1, 1000 + EARLY_MS));
	end();
}
END_TEST

SUITE(test_early)
{
	Suite *s = suite_create("early");

	SUITE_ADD(s, in_their_order, 10);
	SUITE_ADD(s, not_for_long, 10);
	SUITE_ADD(s, not_too_many, 10);
	return s;
}
