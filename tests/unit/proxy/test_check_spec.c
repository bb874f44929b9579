/* test_check_spec.c: checks in the words of the operator. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/check/check_spec.h"
#include "support/suite.h"

static struct check_spec *
read_it(const char *text)
{
	struct error e = { "" };
	struct check_spec *s = check_spec_read(text, &e);

	ck_assert_msg(s != NULL, "%s: %s", text, e.text);
	return s;
}

static void
expect_refused(const char *text, const char *why)
{
	struct error e = { "" };

	ck_assert_ptr_null(check_spec_read(text, &e));
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", text, e.text);
}

START_TEST(words_make_specs)
{
	static const char *const good[] = {
		"connect",
		"dsr",
		"dsr 80",
		"http /",
		"http /a?b=c host x.test status 200-299,401 body OK",
		"http /health body \"all is well\"",
		"send \"PING\\\\r\\\\n\" expect +PONG",
		"send \"\\\\x00\" expect \"a b\"",
		"expect \"220 \"",
		"tls",
		"tls noverify",
		"tls verify name x.test",
		"https / host x.test noverify name y.test body OK",
		"https /",
		"expect 220 tls name x.test",
		"send a expect b tls noverify",
	};
	struct check_spec *s, *again;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		s = read_it(good[i]);
		ck_assert_str_eq(check_spec_text(s), good[i]);
		again = read_it(check_spec_text(s));
		ck_assert(check_spec_equal(s, again));
		check_spec_drop(s);
		check_spec_drop(again);
	}
}
END_TEST

START_TEST(wrong_words_are_refused)
{
	expect_refused("", "expects a kind");
	expect_refused("ping", "unknown kind \"ping\" (expected connect");
	expect_refused("connect 80", "connect takes no argument");
	expect_refused("dsr 80 81", "dsr: expects [PORT]");
	expect_refused("dsr 0", "out of range");
	expect_refused("connect; dsr", "expects one command");
	expect_refused("http", "http: expects a PATH");
	expect_refused("http health", "http: expects a PATH");
	expect_refused("http \"/a b\"", "without blanks");
	expect_refused("http / host \"a\rb\"", "without blanks");
	expect_refused("http / status", "\"status\" needs a value");
	expect_refused("http / status 100", "expects a list");
	expect_refused("http / status 300-200", "expects a list");
	expect_refused("http / status 200,", "expects a list");
	expect_refused("http / body \\q", "expects \\r, \\n");
	expect_refused("http / noverify x", "expects host, status or body");
	expect_refused("http / noverify", "expects host, status or body");
	expect_refused("send PING", "expects TEXT expect TEXT");
	expect_refused("send PING wait PONG", "expects TEXT expect TEXT");
	expect_refused("send PING expect PONG more", "unexpected \"more\"");
	expect_refused("expect", "expects TEXT");
	expect_refused("expect \"\"", "the text is empty");
	expect_refused("tls verify noverify", "either verify or noverify");
	expect_refused("https / name", "\"name\" needs a value");
	expect_refused("https / sni x",
	    "\"sni\": expects host, status, body, verify, noverify or name");
	expect_refused("tls x.test", "expects verify, noverify or name HOST");
	expect_refused("tls name", "expects verify, noverify or name HOST");
}
END_TEST

START_TEST(one_word_with_blanks_is_split)
{
	char word[] = "dsr 80";
	struct words w = { .count = 1 };
	const struct check_dsr_settings *d;
	struct check_spec *s;
	struct error e;

	w.word[0] = word;
	s = check_spec_new(&w, &e);
	ck_assert_ptr_nonnull(s);
	ck_assert_ptr_eq(check_spec_kind(s), &check_dsr);
	d = check_spec_settings(s);
	ck_assert_uint_eq(d->port, 80);
	check_spec_drop(s);
}
END_TEST

START_TEST(specs_differ_or_not)
{
	struct check_spec *a = read_it("dsr 80"), *b = read_it("dsr 81");

	ck_assert(!check_spec_equal(a, b));
	ck_assert(!check_spec_equal(a, NULL));
	ck_assert(check_spec_equal(NULL, NULL));
	check_spec_drop(check_spec_hold(a));
	ck_assert_str_eq(check_spec_text(a), "dsr 80");
	check_spec_drop(a);
	check_spec_drop(b);
	check_spec_drop(NULL);
}
END_TEST

SUITE(test_check_spec)
{
	Suite *s = suite_create("check_spec");

	SUITE_ADD(s, words_make_specs, 10);
	SUITE_ADD(s, wrong_words_are_refused, 10);
	SUITE_ADD(s, one_word_with_blanks_is_split, 10);
	SUITE_ADD(s, specs_differ_or_not, 10);
	return s;
}
