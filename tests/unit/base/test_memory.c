/* test_memory.c: large blocks go back, some begin in the middle of a page. */
#include "config.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/suite.h"

START_TEST(zeroed)
{
	char *block = malloc(100), *again;
	size_t i;

	ck_assert_ptr_nonnull(block);
	memset(block, 1, 100);
	free(block);
	again = memory_zeroed(100);
	ck_assert_ptr_nonnull(again);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(again[i], 0);
	free(again);
}
END_TEST

#if defined(HAVE_MALLOPT) && defined(__linux__) && !defined(PEN_SANITIZE)
enum { BLOCKS = 1000, BLOCK = 40 * 1024, SMALL = 100 };

static long
resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long all, pages;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%ld %ld", &all, &pages), 2);
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Small blocks between them stay: the heap would be as long as it was. */
START_TEST(large_blocks_go_back)
{
	static char *large[BLOCKS], *small[BLOCKS];
	long before;
	size_t i;

	if (suite_is_in_valgrind())
		SKIP("valgrind has a heap of its own");
	memory_return_large();
	before = resident();
	for (i = 0; i < BLOCKS; i++) {
		large[i] = malloc(BLOCK);
		small[i] = malloc(SMALL);
		ck_assert_ptr_nonnull(large[i]);
		ck_assert_ptr_nonnull(small[i]);
		memset(large[i], 1, BLOCK);
		memset(small[i], 1, SMALL);
	}
	ck_assert_int_gt(resident() - before, (long)BLOCKS * BLOCK / 2);
	for (i = 0; i < BLOCKS; i++)
		free(large[i]);
	ck_assert_int_lt(resident() - before, (long)BLOCKS * BLOCK / 10);
	for (i = 0; i < BLOCKS; i++)
		free(small[i]);
}
END_TEST
#endif

/* Wherever malloc() begins: as far as can be from the beginning of a page. */
START_TEST(apart_from_a_page)
{
	size_t size;
	char *m;

	for (size = 100; size < 4 << 20; size *= 7) {
		m = memory_apart(size);
		ck_assert_ptr_nonnull(m);
		ck_assert_uint_eq((uintptr_t)m % MEMORY_PAGE, MEMORY_APART);
		memset(m, 1, size);
		memory_free_apart(m);
	}
	memory_free_apart(NULL);
}
END_TEST

SUITE(test_memory)
{
	Suite *s = suite_create("memory");

	SUITE_ADD(s, zeroed, 10);
	SUITE_ADD(s, apart_from_a_page, 10);
#if defined(HAVE_MALLOPT) && defined(__linux__) && !defined(PEN_SANITIZE)
	SUITE_ADD(s, large_blocks_go_back, 30);
#endif
	return s;
}
