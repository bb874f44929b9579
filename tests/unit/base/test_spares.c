/* test_spares.c: blocks that were freed are the next ones, up to a limit. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/spares.h"
#include "support/suite.h"

enum { SIZE = 40, MOST = 3 };

START_TEST(the_last_one_first)
{
	struct spares s;
	char *a, *b;

	spares_init(&s, SIZE, MOST);
	a = spares_allocate(&s);
	b = spares_allocate(&s);
	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_ptr_ne(a, b);
	memset(a, 1, SIZE);
	memset(b, 2, SIZE);
	spares_free(&s, a);
	spares_free(&s, b);
	ck_assert_ptr_eq(spares_allocate(&s), b);
	ck_assert_ptr_eq(spares_allocate(&s), a);
	ck_assert_uint_eq(s.count, 0);
	spares_free(&s, a);
	spares_free(&s, b);
	spares_fini(&s);
}
END_TEST

/* Valgrind and sanitizers see that the others are freed. */
START_TEST(no_more_than_the_limit)
{
	void *block[2 * MOST];
	struct spares s;
	unsigned i;

	spares_init(&s, SIZE, MOST);
	for (i = 0; i < 2 * MOST; i++)
		block[i] = spares_allocate(&s);
	for (i = 0; i < 2 * MOST; i++)
		spares_free(&s, block[i]);
	ck_assert_uint_eq(s.count, MOST);
	spares_fini(&s);
	ck_assert_uint_eq(s.count, 0);
}
END_TEST

SUITE(test_spares)
{
	Suite *s = suite_create("spares");

	SUITE_ADD(s, the_last_one_first, 10);
	SUITE_ADD(s, no_more_than_the_limit, 10);
	return s;
}
