/* test_array.c: growing arrays. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "support/suite.h"

struct record {
	char text[12];
	unsigned number;
};

START_TEST(it_doubles_and_keeps_its_records)
{
	struct record *list = NULL, *grown;
	uint32_t room = 0, i;

	for (i = 0; i < 1000; i++) {
		grown = array_grow(list, &room, sizeof(*list), i);
		ck_assert_ptr_nonnull(grown);
		list = grown;
		ck_assert_uint_gt(room, i);
		ck_assert_uint_eq(list[i].number, 0);
		list[i].number = i + 1;
	}
	ck_assert_uint_eq(room, 1024);
	for (i = 0; i < 1000; i++)
		ck_assert_uint_eq(list[i].number, i + 1);
	for (; i < room; i++)
		ck_assert_uint_eq(list[i].number, 0);
	free(list);
}
END_TEST

START_TEST(a_long_enough_one_stays)
{
	uint32_t room = 0;
	struct record *list = array_grow(NULL, &room, sizeof(*list), 100);

	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(room, 128);
	ck_assert_ptr_eq(array_grow(list, &room, sizeof(*list), 127), list);
	ck_assert_uint_eq(room, 128);
	free(list);
}
END_TEST

START_TEST(too_long_changes_nothing)
{
	uint32_t room = 0;
	struct record *list = array_grow(NULL, &room, sizeof(*list), 0);

	ck_assert_ptr_nonnull(list);
	list[0].number = 5;
	errno = 0;
	ck_assert_ptr_null(
	    array_grow(list, &room, sizeof(*list), UINT32_MAX));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(room, 4);
	ck_assert_uint_eq(list[0].number, 5);
	free(list);
}
END_TEST

SUITE(test_array)
{
	Suite *s = suite_create("array");

	SUITE_ADD(s, it_doubles_and_keeps_its_records, 10);
	SUITE_ADD(s, a_long_enough_one_stays, 10);
	SUITE_ADD(s, too_long_changes_nothing, 10);
	return s;
}
