/* test_counters.c: the rows of counters agree with each other. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/report/counters.h"
#include "control/report/metrics_private.h"
#include "control/report/server_fields.h"
#include "support/suite.h"

/* What is not there would be counted for nobody. */
START_TEST(each_counter_is_a_metric)
{
	const struct counter *c;
	unsigned i;

	for (i = 0; (c = counter_at(i)) != NULL; i++) {
		ck_assert_ptr_nonnull(c->name);
		ck_assert_msg(c->metric != NULL &&
			strncmp(c->metric, "pen_", 4) == 0,
		    "%s", c->name);
		ck_assert_msg(c->size == 8 || c->size == 4, "%s", c->name);
	}
	ck_assert_uint_gt(i, 80);
}
END_TEST

/* The first row of a family has its help; all have its type and source, and
 * those without a label of their own are alone. */
START_TEST(families_are_whole)
{
	const struct counter *c, *first;
	unsigned i;

	for (i = 0; (c = counter_at(i)) != NULL; i++) {
		first = counter_family(c);
		ck_assert_msg(first->help != NULL, "%s", c->metric);
		ck_assert_msg(c == first || c->help == NULL, "%s", c->name);
		ck_assert_int_eq(c->type, first->type);
		ck_assert_int_eq(c->source, first->source);
		ck_assert_msg(c == first ||
			(c->labels != NULL && first->labels != NULL),
		    "%s", c->name);
	}
}
END_TEST

START_TEST(names_are_unique)
{
	const struct counter *c, *d;
	const struct server_field *row;
	const struct family *f;
	unsigned i, j;

	for (i = 0; (c = counter_at(i)) != NULL; i++) {
		for (j = 0; j < i; j++) {
			d = counter_at(j);
			ck_assert_msg(c->item != NULL ||
				c->source != d->source ||
				strcmp(c->name, d->name) != 0,
			    "%s", c->name);
		}
		for (j = 0; (f = metrics_of_process(j)) != NULL; j++)
			ck_assert_str_ne(c->metric, f->name);
		for (j = 0; (row = server_field_at(j)) != NULL; j++)
			if (row->nth > 0)
				ck_assert_str_ne(c->metric, row->metric.name);
	}
}
END_TEST

SUITE(test_counters)
{
	Suite *s = suite_create("counters");

	SUITE_ADD(s, each_counter_is_a_metric, 10);
	SUITE_ADD(s, families_are_whole, 10);
	SUITE_ADD(s, names_are_unique, 10);
	return s;
}
