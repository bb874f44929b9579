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
/* A blank that is none, marks between letters, and what turns text around. */
START_TEST(invisible_characters_are_shown)
{
	static const struct {
		const char *word, *shown;
	} words[] = {
		{ "a\302\240b", "a<U+00A0>b" },
		{ "\342\200\213x", "<U+200B>x" },
		{ "x\342\200\256", "x<U+202E>" },
		{ "\357\273\277", "<U+FEFF>" },
		{ "\343\200\200\302\255", "<U+3000><U+00AD>" },
		{ "\363\240\200\201", "<U+E0001>" },
		{ "caf\303\251 \346\227\245", "caf\303\251 \346\227\245" },
	};
	struct error e;
	char many[600];
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		error_set(&e, "\"%s\"", words[i].word);
		ck_assert_str_eq(e.text, text("\"%s\"", words[i].shown));
		error_of(&e, "%s", words[i].word);
		ck_assert_str_eq(
		    e.text, text("%s: \"%s\"", words[i].shown, words[i].shown));
	}
	for (i = 0; i + 2 < sizeof(many); i += 2)
		memcpy(many + i, "\302\240", 3);
	error_set(&e, "%s", many);
	ck_assert_uint_lt(strlen(e.text), sizeof(e.text));
	ck_assert_ptr_nonnull(strstr(e.text, "<U+00A0><U+00A0><U+00A0>"));
}
END_TEST

START_TEST(nothing_that_a_terminal_obeys)
{
	struct error e;

	(void)error_set(&e, "\"%s\"", "a\033[2Jb\nc\tg\303\274d\302\233e\377");
	ck_assert_str_eq(e.text, "\"a?[2Jb?c\tg\303\274d??e?\"");
}
END_TEST

/* The first fifty are kept, the others counted; none without a list. */
START_TEST(several)
{
	struct errors all;
	struct error e;
	unsigned i;

	errors_init(&all);
	(void)error_set(&e, "first");
	ck_assert(!errors_add(NULL, &e));
	ck_assert_uint_eq(errors_count(NULL), 0);
	ck_assert(!errors_at(NULL, 0, &e));
	errors_of(NULL, 0, "x");
	ck_assert(!errors_at(&all, 0, &e));
	ck_assert(errors_add(&all, &e));
	for (i = 1; i < ERRORS_MAX; i++) {
		(void)error_set(&e, "number %u", i);
		ck_assert(errors_add(&all, &e));
	}
	ck_assert(!errors_at(&all, ERRORS_MAX, &e));
	errors_of(&all, ERRORS_MAX - 1, "b");
	errors_of(&all, ERRORS_MAX - 2, "a");
	ck_assert(errors_add(&all, &e));
	ck_assert(errors_at(&all, ERRORS_MAX, &e));
	ck_assert_str_eq(e.text, "1 more error");
	ck_assert(errors_add(&all, &e));
	ck_assert(errors_at(&all, ERRORS_MAX, &e));
	ck_assert_str_eq(e.text, "2 more errors");
	ck_assert(!errors_at(&all, ERRORS_MAX + 1, &e));
	ck_assert(errors_at(&all, 0, &e));
	ck_assert_str_eq(e.text, "first");
	ck_assert(errors_at(&all, ERRORS_MAX - 2, &e));
	ck_assert_str_eq(e.text, "a: number 48");
	ck_assert(errors_at(&all, ERRORS_MAX - 1, &e));
	ck_assert_str_eq(e.text, "a: b: number 49");
	ck_assert_uint_eq(errors_count(&all), ERRORS_MAX + 2);
	errors_fini(&all);
	ck_assert(!errors_at(&all, 0, &e));
}
END_TEST

START_TEST(what_a_line_may_have_defined)
{
	struct errors all;

	errors_init(&all);
	ck_assert(!errors_may_define(NULL, "office"));
	ck_assert(!errors_may_define(&all, "office"));
	errors_refuse(NULL, "acl office");
	errors_refuse(&all, "acl office permt 10.0.0.1");
	errors_refuse(&all, "server 1");
	ck_assert(errors_may_define(&all, "office"));
	ck_assert(errors_may_define(&all, "1"));
	ck_assert(!errors_may_define(&all, "guests"));
	errors_refuse(&all, "include x");
	ck_assert(errors_may_define(&all, "guests"));
	errors_fini(&all);
}
END_TEST

SUITE(test_error)
{
	Suite *s = suite_create("error");

	SUITE_ADD(s, sentence, 10);
	SUITE_ADD(s, operand, 10);
	SUITE_ADD(s, cut_to_fit, 10);
	SUITE_ADD(s, invisible_characters_are_shown, 10);
	SUITE_ADD(s, nothing_that_a_terminal_obeys, 10);
	SUITE_ADD(s, several, 10);
	SUITE_ADD(s, what_a_line_may_have_defined, 10);
	return s;
}
