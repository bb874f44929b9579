/* test_choices.c: words of lists: found, named, listed. */
#include "config.h"

#include <check.h>

#include "control/value/access.h"
#include "control/value/choices.h"
#include "control/plan/plan.h"
#include "support/suite.h"

START_TEST(words_and_values)
{
	const struct choice *c;

	for (c = choices_fastclose; c->word != NULL; c++) {
		ck_assert_ptr_eq(choice_find(choices_fastclose, c->word), c);
		ck_assert_str_eq(
		    choice_name(choices_fastclose, c->value), c->word);
	}
	ck_assert_ptr_null(choice_find(choices_fastclose, "sideways"));
	ck_assert_ptr_null(choice_find(choices_fastclose, ""));
	ck_assert_str_eq(choice_name(choices_fastclose, 99), "");
	ck_assert_str_eq(access_name(ACCESS_OPERATE), "operate");
}
END_TEST

/* The old word stands for the new one. */
START_TEST(old_words)
{
	enum access level = ACCESS_ADMIN;

	ck_assert_int_eq(access_find("look", &level), 0);
	ck_assert_int_eq(level, ACCESS_LOOK);
	ck_assert_str_eq(access_name(level), "read");
	ck_assert_int_eq(access_find("see", &level), -1);
}
END_TEST

/* What is refused is known, and offered nowhere. */
START_TEST(refused_words)
{
	char text[CHOICES_TEXT_MAX];

	ck_assert_ptr_nonnull(
	    choice_find(choices_tls_protocol, "ssl3")->refused);
	ck_assert_str_eq(choices_sentence(choices_tls_protocol, text),
	    "ssl23, tls1.2 or tls1.3");
	ck_assert_str_eq(
	    choices_sentence(choices_tls_min, text), "tls1.2 or tls1.3");
	ck_assert_str_eq(choices_sentence(choices_check_initial, text),
	    "up, down or checked");
}
END_TEST

SUITE(test_choices)
{
	Suite *s = suite_create("choices");

	SUITE_ADD(s, words_and_values, 10);
	SUITE_ADD(s, old_words, 10);
	SUITE_ADD(s, refused_words, 10);
	return s;
}
