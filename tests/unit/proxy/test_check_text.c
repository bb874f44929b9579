/* test_check_text.c: texts with escapes, found in streams however they are
 * cut. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/check/check_text.h"
#include "support/suite.h"

static void
expect_bytes(const char *word, const char *bytes, size_t n)
{
	struct check_text t;
	struct error e = { "" };

	ck_assert_msg(
	    check_text_parse(&t, word, &e) == 0, "%s: %s", word, e.text);
	ck_assert_uint_eq(t.length, n);
	ck_assert_int_eq(memcmp(t.bytes, bytes, n), 0);
	check_text_fini(&t);
}

START_TEST(escapes)
{
	expect_bytes("PING", "PING", 4);
	expect_bytes("PING\\r\\n", "PING\r\n", 6);
	expect_bytes("\\t\\\\\\\"", "\t\\\"", 3);
	expect_bytes("\\x00\\xfF\\x41b",
	    "\0\xff"
	    "Ab",
	    4);
}
END_TEST

START_TEST(wrong_texts)
{
	static const char *const wrong[] = { "", "a\\", "\\q", "\\x1", "\\xg0",
		"\\x" };
	char longest[CHECK_TEXT_MAX + 2];
	struct check_text t;
	struct error e;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(
		    check_text_parse(&t, wrong[i], &e) < 0, "%s", wrong[i]);
	memset(longest, 'a', sizeof(longest));
	longest[CHECK_TEXT_MAX + 1] = '\0';
	ck_assert_int_lt(check_text_parse(&t, longest, &e), 0);
	longest[CHECK_TEXT_MAX] = '\0';
	ck_assert_int_eq(check_text_parse(&t, longest, &e), 0);
	check_text_fini(&t);
}
END_TEST

/* Whether it is found when the stream comes in pieces of `step` bytes. */
static bool
found(const char *word, const char *stream, size_t step)
{
	size_t n = strlen(stream), at, part, matched = 0;
	struct check_text t;
	struct error e;

	ck_assert_int_eq(check_text_parse(&t, word, &e), 0);
	for (at = 0; at < n; at += part) {
		part = n - at < step ? n - at : step;
		matched = check_text_find(&t, matched, stream + at, part);
	}
	check_text_fini(&t);
	return matched == strlen(word);
}

START_TEST(found_however_it_is_cut)
{
	static const struct {
		const char *word, *stream;
	} known[] = {
		{ "ok", "ok" },
		{ "ok", "ooooko" },
		{ "ok", "o-k" },
		{ "aab", "aaaaab" },
		{ "abab", "abaabab" },
		{ "abcabd", "abcabcabd" },
		{ "abcabd", "abcabcab" },
		{ "x", "" },
		{ "aaa", "aabaabaa" },
		{ "aaa", "aabaaa" },
	};
	size_t i, step;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (step = 1; step < 12; step++)
			ck_assert_msg(
			    found(known[i].word, known[i].stream, step) ==
				(strstr(known[i].stream, known[i].word) !=
				    NULL),
			    "%s in %s", known[i].word, known[i].stream);
}
END_TEST

SUITE(test_check_text)
{
	Suite *s = suite_create("check_text");

	SUITE_ADD(s, escapes, 10);
	SUITE_ADD(s, wrong_texts, 10);
	SUITE_ADD(s, found_however_it_is_cut, 10);
	return s;
}
