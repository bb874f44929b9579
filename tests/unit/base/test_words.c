/* test_words.c: blanks, quotes, comments. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/words.h"
#include "support/suite.h"

static struct words w;
static char *rest;
static char line[1024];

static int
split(const char *from)
{
	memset(&w, 0xaa, sizeof(w)); /* what was there before is no help */
	strcpy(line, from);
	return words_split(&w, line, &rest);
}

START_TEST(plain_words)
{
	ck_assert_int_eq(split("  server 1\taddress  10.0.0.1 \r\n"), 0);
	ck_assert_int_eq(w.count, 4);
	ck_assert_str_eq(w.word[0], "server");
	ck_assert_str_eq(w.word[1], "1");
	ck_assert_str_eq(w.word[3], "10.0.0.1");
	ck_assert_ptr_null(w.word[4]);
	ck_assert_int_eq(split(""), 0);
	ck_assert_int_eq(w.count, 0);
	ck_assert_int_eq(split(" \t "), 0);
	ck_assert_int_eq(w.count, 0);
}
END_TEST

START_TEST(quotes)
{
	ck_assert_int_eq(
	    split("log \"a b\" 'c \"d' e\"f g\"h '' \"x\\\"y\\\\z\\n\""), 0);
	ck_assert_int_eq(w.count, 6);
	ck_assert_str_eq(w.word[1], "a b");
	ck_assert_str_eq(w.word[2], "c \"d");
	ck_assert_str_eq(w.word[3], "ef gh");
	ck_assert_str_eq(w.word[4], "");
	ck_assert_str_eq(w.word[5], "x\"y\\z\\n");
	/* the backslash means something between double quotes only */
	ck_assert_int_eq(split("'a\\\\b' c\\\\d"), 0);
	ck_assert_str_eq(w.word[0], "a\\\\b");
	ck_assert_str_eq(w.word[1], "c\\\\d");
	ck_assert_int_eq(split("a 'b"), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(split("\"a\\\""), -1);
}
END_TEST

START_TEST(comments)
{
	ck_assert_int_eq(split("# all of it"), 0);
	ck_assert_int_eq(w.count, 0);
	ck_assert_int_eq(split("hash # on a\"ddress"), 0);
	ck_assert_int_eq(w.count, 1);
	ck_assert_int_eq(split("a#b '#' c"), 0);
	ck_assert_int_eq(w.count, 3);
	ck_assert_str_eq(w.word[0], "a#b");
	ck_assert_str_eq(w.word[1], "#");
}
END_TEST

START_TEST(too_many)
{
	int i;

	line[0] = '\0';
	for (i = 0; i < WORDS_MAX; i++)
		strcat(line, "x ");
	ck_assert_int_eq(words_split(&w, line, &rest), 0);
	ck_assert_int_eq(w.count, WORDS_MAX);
	ck_assert_ptr_null(w.word[WORDS_MAX]);
	line[0] = '\0';
	for (i = 0; i <= WORDS_MAX; i++)
		strcat(line, "x ");
	ck_assert_int_eq(words_split(&w, line, &rest), -1);
	ck_assert_int_eq(errno, E2BIG);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("words");

	SUITE_ADD(s, plain_words, 10);
	SUITE_ADD(s, quotes, 10);
	SUITE_ADD(s, comments, 10);
	SUITE_ADD(s, too_many, 10);
	return suite_main(s);
}
