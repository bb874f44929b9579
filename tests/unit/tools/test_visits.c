/* test_visits.c: the nearest visit, what is forgotten, against a plain list. */
#include "config.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/suite.h"
#include "tools/visits.h"

enum { SLACK = 5, ROUNDS = 20000, KINDS = 6, MOST = 1 << 15 };

static struct visits *v;

static void
add(int64_t time, const char *client)
{
	ck_assert_int_eq(visits_add(v, time, client, "web1", "GET / 1"), 0);
}

static void
expect(int64_t time, const char *client)
{
	const char *found = visits_find(v, time, SLACK, "web1", "GET / 1");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, client);
}

START_TEST(the_nearest_in_time)
{
	v = visits_new(100);
	ck_assert_ptr_null(visits_find(v, 1, SLACK, "web1", "GET / 1"));
	add(10, "a");
	expect(0, "a");
	expect(12, "a");
	add(20, "b");
	expect(14, "a");
	expect(15, "a"); /* of two the earlier */
	expect(16, "b");
	/* another server, another request */
	ck_assert_ptr_null(visits_find(v, 10, SLACK, "web2", "GET / 1"));
	ck_assert_ptr_null(visits_find(v, 10, SLACK, "web1", "GET / 2"));
	visits_free(v);
}
END_TEST

START_TEST(of_one_second_the_first)
{
	v = visits_new(100);
	add(10, "a");
	add(10, "b");
	expect(10, "a");
	visits_free(v);
}
END_TEST

START_TEST(one_that_is_late_is_put_in_order)
{
	v = visits_new(100);
	add(10, "a");
	add(13, "c");
	add(11, "b");
	expect(10, "a");
	expect(11, "b");
	expect(13, "c");
	visits_free(v);
}
END_TEST

START_TEST(the_oldest_goes_when_there_are_too_many)
{
	v = visits_new(2);
	add(10, "a");
	add(20, "b");
	expect(10, "a");
	add(30, "c");
	expect(10, "b");
	visits_free(v);
}
END_TEST

/* Of those before `time` - slack only the newest may still be nearest. */
START_TEST(what_is_too_old_is_forgotten)
{
	v = visits_new(100);
	add(10, "a");
	add(20, "b");
	add(30, "c");
	expect(40, "c");
	expect(10, "c");
	visits_free(v);
}
END_TEST

START_TEST(requests_of_any_length)
{
	char *long_one = malloc(10001);
	size_t i;

	ck_assert_ptr_nonnull(long_one);
	for (i = 0; i < 10000; i++)
		long_one[i] = 'x';
	long_one[10000] = '\0';
	v = visits_new(10);
	ck_assert_int_eq(visits_add(v, 1, "a", "web1", long_one), 0);
	ck_assert_str_eq(visits_find(v, 1, SLACK, "web1", long_one), "a");
	ck_assert_ptr_null(visits_find(v, 1, SLACK, "web1", long_one + 1));
	visits_free(v);
	free(long_one);
}
END_TEST

START_TEST(none_is_no_error)
{
	visits_free(NULL);
}
END_TEST

/* ---- a plain list beside it ---- */

struct seen {
	int kind;
	int64_t time;
};

static const struct seen *
nearest(const struct seen *list, int n, int kind, int64_t time)
{
	const struct seen *best = NULL;
	int i;

	for (i = 0; i < n; i++) {
		if (list[i].kind != kind)
			continue;
		if (best == NULL ||
		    llabs(list[i].time - time) < llabs(best->time - time) ||
		    (llabs(list[i].time - time) == llabs(best->time - time) &&
			list[i].time < best->time))
			best = &list[i];
	}
	return best;
}

/* Clocks differ by less than the slack, so that nothing that is still wanted
 * has been forgotten. */
START_TEST(as_a_plain_list_finds_them)
{
	static struct seen list[MOST];
	const struct seen *best;
	const char *found, *kind;
	int64_t now = 0, at;
	int i, n = 0;

	srand(7);
	v = visits_new(MOST);
	for (i = 0; i < suite_rounds(ROUNDS); i++) {
		now += rand() % 2;
		kind = text("GET /%d", rand() % KINDS);
		at = now - rand() % 3;
		if (rand() % 2 == 0) {
			ck_assert_int_eq(
			    visits_add(v, at, text("%lld", (long long)at),
				"web1", kind),
			    0);
			list[n++] = (struct seen){ kind[5] - '0', at };
			continue;
		}
		found = visits_find(v, at, SLACK, "web1", kind);
		best = nearest(list, n, kind[5] - '0', at);
		ck_assert_int_eq(found != NULL, best != NULL);
		if (best != NULL)
			ck_assert_int_eq(atoll(found), best->time);
	}
	visits_free(v);
}
END_TEST

SUITE(test_visits)
{
	Suite *s = suite_create("visits");

	SUITE_ADD(s, the_nearest_in_time, 10);
	SUITE_ADD(s, of_one_second_the_first, 10);
	SUITE_ADD(s, one_that_is_late_is_put_in_order, 10);
	SUITE_ADD(s, the_oldest_goes_when_there_are_too_many, 10);
	SUITE_ADD(s, what_is_too_old_is_forgotten, 10);
	SUITE_ADD(s, requests_of_any_length, 10);
	SUITE_ADD(s, none_is_no_error, 10);
	SUITE_ADD(s, as_a_plain_list_finds_them, 60);
	return s;
}
