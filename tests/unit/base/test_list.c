/* test_list.c: links in order, and links that are in no list. */
#include "config.h"

#include <check.h>

#include "base/hash.h"
#include "base/list.h"
#include "support/suite.h"

struct thing {
	int number;
	struct list link;
};

enum { THINGS = 40 };

static void
expect(struct list *head, const int *wanted, int n)
{
	struct list *l = head->next, *before = head;
	int i;

	for (i = 0; i < n; i++, before = l, l = l->next) {
		ck_assert_ptr_ne(l, head);
		ck_assert_ptr_eq(l->prev, before);
		ck_assert_int_eq(
		    list_entry(l, struct thing, link)->number, wanted[i]);
	}
	ck_assert_ptr_eq(l, head);
	ck_assert_ptr_eq(head->prev, before);
	ck_assert_int_eq(list_is_empty(head), n == 0);
}

START_TEST(order)
{
	struct list head = LIST_INIT(head);
	struct thing t[4];
	int i;

	expect(&head, NULL, 0);
	ck_assert_ptr_null(list_first(&head));
	ck_assert_ptr_null(list_last(&head));
	for (i = 0; i < 4; i++) {
		t[i].number = i;
		list_init(&t[i].link);
	}
	list_append(&head, &t[1].link);
	list_append(&head, &t[2].link);
	list_prepend(&head, &t[0].link);
	list_insert_after(&t[1].link, &t[3].link);
	expect(&head, (int[]){ 0, 1, 3, 2 }, 4);
	ck_assert_ptr_eq(list_first(&head), &t[0].link);
	ck_assert_ptr_eq(list_last(&head), &t[2].link);
}
END_TEST

START_TEST(outside_of_lists)
{
	struct list head = LIST_INIT(head);
	struct thing t = { .number = 5 };

	list_init(&t.link);
	ck_assert(list_is_empty(&t.link));
	list_remove(&t.link);
	list_append(&head, &t.link);
	ck_assert(!list_is_empty(&t.link));
	list_remove(&t.link);
	ck_assert(list_is_empty(&t.link));
	list_remove(&t.link);
	expect(&head, NULL, 0);
	list_prepend(&head, &t.link);
	expect(&head, (int[]){ 5 }, 1);
}
END_TEST

/* Moves things about and compares with an array. */
START_TEST(against_a_model)
{
	struct list head = LIST_INIT(head);
	struct thing t[THINGS];
	int model[THINGS], n = 0, i, k, at;
	uint64_t x = 1;

	for (i = 0; i < THINGS; i++) {
		t[i].number = i;
		list_init(&t[i].link);
	}
	for (i = 0; i < suite_rounds(3000); i++) {
		x = hash_mix(x + (uint64_t)i);
		k = (int)(x % THINGS);
		for (at = 0; at < n && model[at] != k; at++)
			;
		list_remove(&t[k].link);
		if (at < n)
			for (n--; at < n; at++)
				model[at] = model[at + 1];
		if (x >> 40 & 1) {
			list_append(&head, &t[k].link);
			model[n++] = k;
		}
		expect(&head, model, n);
	}
}
END_TEST

SUITE(test_list)
{
	Suite *s = suite_create("list");

	SUITE_ADD(s, order, 10);
	SUITE_ADD(s, outside_of_lists, 10);
	SUITE_ADD(s, against_a_model, 10);
	return s;
}
