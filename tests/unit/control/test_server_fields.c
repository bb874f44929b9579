/* test_server_fields.c: the rows of fields of servers agree with each other. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/report/server_fields.h"
#include "support/suite.h"

/* Each has a key, or is a metric; what is a number of the server's has a size
 * that is read. */
START_TEST(each_row_is_of_use)
{
	const struct server_field *row;
	unsigned i;

	for (i = 0; (row = server_field_at(i)) != NULL; i++) {
		bool reports = row->key != NULL && row->report == NULL;
		bool is_metric = row->nth > 0 && row->lines == NULL;

		ck_assert_msg(row->key != NULL || row->nth > 0, "%u", i);
		ck_assert_msg(
		    (row->key != NULL) == (row->shown > SHOWN_METRIC), "%u", i);
		if (reports || is_metric)
			ck_assert_msg(
			    row->size == 8 || row->size == 4, "%u", i);
	}
	ck_assert_uint_gt(i, 25);
}
END_TEST

START_TEST(keys_are_unique)
{
	const struct server_field *row, *other;
	unsigned i, j;

	for (i = 0; (row = server_field_at(i)) != NULL; i++)
		for (j = 0; row->key != NULL && j < i; j++) {
			other = server_field_at(j);
			ck_assert_msg(other->key == NULL ||
				strcmp(row->key, other->key) != 0,
			    "%s", row->key);
		}
}
END_TEST

/* Families are numbered from 1 without a gap, behind which others would not be
 * found. */
START_TEST(each_family_is_found)
{
	const struct server_field *row;
	unsigned i, families = 0;

	for (i = 0; (row = server_field_at(i)) != NULL; i++) {
		if (row->nth == 0)
			continue;
		families++;
		ck_assert_ptr_eq(server_fields_metric(row->nth - 1), row);
		ck_assert_int_eq(
		    strncmp(row->metric.name, "pen_server_", 11), 0);
		ck_assert_ptr_nonnull(row->metric.help);
	}
	for (i = 0; i < families; i++)
		ck_assert_ptr_nonnull(server_fields_metric(i));
	ck_assert_ptr_null(server_fields_metric(families));
}
END_TEST

SUITE(test_server_fields)
{
	Suite *s = suite_create("server_fields");

	SUITE_ADD(s, each_row_is_of_use, 10);
	SUITE_ADD(s, keys_are_unique, 10);
	SUITE_ADD(s, each_family_is_found, 10);
	return s;
}
