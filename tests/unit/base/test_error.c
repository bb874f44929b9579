/* test_error.c: one sentence, never longer than its room. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/error.h"
#include "support/suite.h"

START_TEST(sentence)
{
	struct error e;

	ck_assert_int_eq(error_set(&e, "server \"%s\": port %d", "a", 7), -1);
	ck_assert_str_eq(e.text, "server \"a\": port 7");
	ck_assert_int_eq(error_set(&e, "again"), -1);
	ck_assert_str_eq(e.text, "again");
}
END_TEST

START_TEST(operand)
{
	char word[2 * sizeof(((struct error *)0)->text)];
	struct error e;

	(void)error_set(&e, "is a pipe");
	ck_assert_int_eq(error_of(&e, "\"%s\"", "f\033"), -1);
	ck_assert_str_eq(e.text, "\"f?\": is a pipe");
	ck_assert_int_eq(error_of(&e, "line %d", 7), -1);
	ck_assert_str_eq(e.text, "line 7: \"f?\": is a pipe");
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	ck_assert_int_eq(error_of(&e, "%s", word), -1);
	ck_assert_uint_eq(strlen(e.text), sizeof(e.text) - 1);
}
END_TEST

START_TEST(cut_to_fit)
{
	char word[2 * sizeof(((struct error *)0)->text)];
	struct error e;

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	ck_assert_int_eq(error_set(&e, "%s", word), -1);
	ck_assert_uint_eq(strlen(e.text), sizeof(e.text) - 1);
}
END_TEST

/* What it quotes may come from anywhere. */
START_TEST(nothing_that_a_terminal_obeys)
{
	struct error e;

	(void)error_set(&e, "\"%s\"", "a\033[2Jb\nc\tg\303\274d\302\233e\377");
	ck_assert_str_eq(e.text, "\"a?[2Jb?c\tg\303\274d??e?\"");
}
END_TEST

SUITE(test_error)
{
	Suite *s = suite_create("error");

	SUITE_ADD(s, sentence, 10);
	SUITE_ADD(s, operand, 10);
	SUITE_ADD(s, cut_to_fit, 10);
	SUITE_ADD(s, nothing_that_a_terminal_obeys, 10);
	return s;
}
