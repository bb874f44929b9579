/* test_huge.c: memory that grows from small to huge pages keeps what it
 * held. */
#include "config.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "support/suite.h"

START_TEST(growing_keeps_what_was_there)
{
	size_t size, used = 0, i;
	unsigned char *p = NULL;

	for (size = 1000; size < 3u * HUGE_PAGE; size = size * 5 / 3) {
		p = huge_grow(p, used, size);
		ck_assert_ptr_nonnull(p);
		for (i = 0; i < used && p[i] == i % 251; i++)
			continue;
		ck_assert_uint_eq(i, used);
		for (; used < size; used++)
			p[used] = (unsigned char)(used % 251);
	}
	ck_assert_uint_eq((uintptr_t)p % HUGE_PAGE, 0);
	free(p);
}
END_TEST

START_TEST(whole_pages)
{
	unsigned char *p = huge_grow(NULL, 0, HUGE_PAGE + 1);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq((uintptr_t)p % HUGE_PAGE, 0);
	memset(p, 7, 2u * HUGE_PAGE);
	free(p);
}
END_TEST

/* What is in the slab that is full stays. */
START_TEST(slabs_one_after_another)
{
	enum { SIZE = HUGE_PAGE + 100 };
	unsigned char *first = huge_next_slab(NULL, SIZE), *second;

	ck_assert_ptr_nonnull(first);
	ck_assert_uint_eq((uintptr_t)first % HUGE_PAGE, 0);
	memset(first, 7, SIZE);
	second = huge_next_slab(first, SIZE);
	ck_assert_ptr_nonnull(second);
	ck_assert_uint_eq((uintptr_t)second % HUGE_PAGE, 0);
	memset(second, 8, SIZE);
	ck_assert_uint_eq(first[0], 7);
	ck_assert_uint_eq(first[SIZE - 1], 7);
	free(first);
	free(second);
}
END_TEST

SUITE(test_huge)
{
	Suite *s = suite_create("huge");

	SUITE_ADD(s, growing_keeps_what_was_there, 10);
	SUITE_ADD(s, whole_pages, 10);
	SUITE_ADD(s, slabs_one_after_another, 10);
	return s;
}
