/* test_plan_acls.c: lists by number and by name, in copies of their own. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/value/plan_acls.h"
#include "support/acladd.h"
#include "support/suite.h"

static struct error e;

static struct acl *
edit(struct plan_acls *l, const char *word)
{
	struct acl *list = plan_acls_edit(l, word, &e);

	ck_assert_msg(list != NULL, "%s: %s", word, e.text);
	return list;
}

START_TEST(words)
{
	int n;

	ck_assert_int_eq(acl_word_parse("9", &n, &e), 0);
	ck_assert_int_eq(n, 9);
	ck_assert_int_eq(acl_word_parse("a-b_c.9", &n, &e), 0);
	ck_assert_int_eq(n, -1);
	ck_assert_int_eq(acl_word_parse("10", &n, &e), -1);
	ck_assert_int_eq(acl_word_parse("", &n, &e), -1);
	ck_assert_int_eq(acl_word_parse("json", &n, &e), -1);
	ck_assert_int_eq(acl_word_parse("a b", &n, &e), -1);
	ck_assert(acl_name_is_valid("abcdefghijklmnopqrstuvwxyz01234"));
	ck_assert(!acl_name_is_valid("abcdefghijklmnopqrstuvwxyz012345"));
}
END_TEST

START_TEST(names_are_sorted)
{
	static const char *const names[] = { "m", "a", "z", "b", "m", "y" };
	struct plan_acls l, copy;
	char word[ACL_WORD_MAX];
	unsigned i;

	plan_acls_init(&l);
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(
		    acl_add(edit(&l, names[i]), true, "10.0.0.1", NULL), 0);
	ck_assert_uint_eq(l.count, 5);
	ck_assert_ptr_nonnull(plan_acls_at(&l, ACL_LISTS + 2, word));
	ck_assert_str_eq(word, "m");
	ck_assert_ptr_nonnull(plan_acls_at(&l, ACL_LISTS, word));
	ck_assert_str_eq(word, "a");
	ck_assert_uint_eq(plan_acls_find(&l, "m")->list.count, 2);
	ck_assert_int_eq(plan_acls_copy(&copy, &l), 0);
	plan_acls_remove(&l, "m");
	plan_acls_remove(&l, "c");
	ck_assert_ptr_null(plan_acls_find(&l, "m"));
	ck_assert_ptr_nonnull(plan_acls_find(&l, "y"));
	ck_assert_uint_eq(plan_acls_find(&copy, "m")->list.count, 2);
	ck_assert_ptr_null(plan_acls_at(&l, ACL_LISTS + 4, word));
	plan_acls_fini(&l);
	plan_acls_fini(&copy);
}
END_TEST

START_TEST(there_is_a_limit)
{
	struct plan_acls l;
	char name[16];
	int i;

	plan_acls_init(&l);
	for (i = ACL_LISTS; i < ACL_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		edit(&l, name);
	}
	ck_assert_ptr_null(plan_acls_edit(&l, "one-more", &e));
	ck_assert_str_eq(e.text, "more than 246 named access lists");
	edit(&l, "n77");
	edit(&l, "3");
	plan_acls_fini(&l);
}
END_TEST

START_TEST(references)
{
	struct acl_ref three = { .number = 3 }, none = ACL_REF_NONE;
	struct acl_ref office = { .number = -1, .name = strdup("office") };
	struct acl_ref same = { .number = 12, .name = strdup("office") };
	char word[ACL_WORD_MAX];
	struct plan_acls l;

	plan_acls_init(&l);
	ck_assert_ptr_eq(plan_acls_of(&l, &three), &l.numbered[3]);
	ck_assert_ptr_null(plan_acls_of(&l, &none));
	ck_assert_ptr_null(plan_acls_of(&l, &office));
	edit(&l, "office");
	ck_assert_ptr_nonnull(plan_acls_of(&l, &office));
	ck_assert_str_eq(acl_ref_word(&three, word), "3");
	ck_assert_str_eq(acl_ref_word(&office, word), "office");
	ck_assert(acl_ref_equal(&office, &same));
	ck_assert(!acl_ref_equal(&office, &none));
	ck_assert(!acl_ref_equal(&three, &none));
	free(office.name);
	free(same.name);
	plan_acls_fini(&l);
}
END_TEST

SUITE(test_plan_acls)
{
	Suite *s = suite_create("plan_acls");

	SUITE_ADD(s, words, 10);
	SUITE_ADD(s, names_are_sorted, 10);
	SUITE_ADD(s, there_is_a_limit, 10);
	SUITE_ADD(s, references, 10);
	return s;
}
