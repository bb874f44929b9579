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
	/* which no file could hold */
	ck_assert_int_eq(split("a 'b\nc'"), -1);
	ck_assert_int_eq(errno, EINVAL);
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

/* All commands of a line, one after another: the words of each in brackets. */
static void
commands(const char *from, const char *wanted)
{
	char got[256] = "", *next = line;
	int i;

	strcpy(line, from);
	while (next != NULL) {
		ck_assert_int_eq(words_split(&w, next, &rest), 0);
		strcat(got, "[");
		for (i = 0; i < w.count; i++) {
			strcat(got, i > 0 ? "," : "");
			strcat(got, w.word[i]);
		}
		strcat(got, "]");
		ck_assert_ptr_null(w.word[w.count]);
		next = rest;
	}
	ck_assert_str_eq(got, wanted);
}

/* A ; ends a command unless it is quoted or in a comment. */
START_TEST(several_commands)
{
	commands("a b;c d", "[a,b][c,d]");
	commands("a ; b ;c; d", "[a][b][c][d]");
	commands(";", "[][]");
	commands("a;", "[a][]");
	commands(" ;; a", "[][][a]");
	commands("a 'b;c' \"d;e\";f", "[a,b;c,d;e][f]");
	commands("a \"b\\\";c\" d;e", "[a,b\";c,d][e]");
	commands("a'b;c'd;e", "[ab;cd][e]");
	commands("a # b; c", "[a]");
	commands("a; # b; c", "[a][]");
	commands("a;#b", "[a][]");
	commands("a#;b", "[a#][b]");
	commands("a\\;b", "[a\\][b]");
}
END_TEST

static void
ends(const char *from, unsigned where)
{
	ck_assert_int_eq(split(from), 0);
	ck_assert_msg((unsigned)(w.end - line) == where, "%s: %d", from,
	    (int)(w.end - line));
}

/* Where a command ends: its ; or its comment. */
START_TEST(ends_of_commands)
{
	ends("", 0);
	ends("a b", 3);
	ends("a b  ", 5);
	ends("a b;c", 3);
	ends("a b ; c", 4);
	ends("a b # c; d", 4);
	ends("# c; d", 0);
	ends("a ';' \"#\" #x", 10);
	ends(" ;", 1);
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
	/* each command by itself */
	line[0] = '\0';
	for (i = 0; i <= WORDS_MAX; i++)
		strcat(line, i == WORDS_MAX ? "; y" : "x ");
	ck_assert_int_eq(words_split(&w, line, &rest), 0);
	ck_assert_int_eq(w.count, WORDS_MAX);
	ck_assert_str_eq(rest, " y");
}
END_TEST

/* RFC 3629, section 4: the first and the last of each length, and what is
 * next to them. */
START_TEST(utf8)
{
	static const char *const good[] = { "", "a", "\x7f", "\xc2\x80",
		"\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
		"\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xc3\xa4z" };
	static const char *const bad[] = { "\x80", "\xbf", "\xc1\xbf", "\xc2",
		"\xc2z", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
		"\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"\xff", "a\xfe" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(text_is_utf8(good[i], strlen(good[i])), "%zu", i);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!text_is_utf8(bad[i], strlen(bad[i])), "%zu", i);
}
END_TEST

SUITE(test_words)
{
	Suite *s = suite_create("words");

	SUITE_ADD(s, plain_words, 10);
	SUITE_ADD(s, quotes, 10);
	SUITE_ADD(s, comments, 10);
	SUITE_ADD(s, several_commands, 10);
	SUITE_ADD(s, ends_of_commands, 10);
	SUITE_ADD(s, too_many, 10);
	SUITE_ADD(s, utf8, 10);
	return s;
}
