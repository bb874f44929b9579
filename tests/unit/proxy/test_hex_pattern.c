/* test_hex_pattern.c: bytes in hexadecimal digits. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/check/hex_pattern.h"
#include "support/suite.h"

static struct hex_pattern p;

static void
good(const char *digits)
{
	struct error e = { "" };

	ck_assert_msg(
	    hex_pattern_parse(&p, digits, true, &e) == 0, "%s", e.text);
}

static void
bad(const char *digits, bool wild)
{
	struct error e = { "" };

	ck_assert_int_eq(hex_pattern_parse(&p, digits, wild, &e), -1);
	ck_assert_str_ne(e.text, "");
}

START_TEST(parsed)
{
	char much[2 * HEX_PATTERN_MAX + 3];

	good("00ffAbcD");
	ck_assert_uint_eq(p.n, 4);
	ck_assert_int_eq(memcmp(p.bytes, "\x00\xff\xab\xcd", 4), 0);
	hex_pattern_fini(&p);
	bad("", true);
	bad("0", true);
	bad("0g", true);
	bad("0.", true);
	bad(".0", true);
	bad("00 0", true);
	bad("0x00", true);
	bad("..", false);
	memset(much, '0', sizeof(much));
	much[2 * HEX_PATTERN_MAX] = '\0';
	good(much);
	hex_pattern_fini(&p);
	memset(much, '0', sizeof(much));
	much[2 * HEX_PATTERN_MAX + 2] = '\0';
	bad(much, true);
}
END_TEST

START_TEST(compared)
{
	good("61..63");
	ck_assert(hex_pattern_begins(&p, "abc", 3));
	ck_assert(hex_pattern_begins(&p, "a\0cd", 4));
	ck_assert(!hex_pattern_begins(&p, "abb", 3));
	ck_assert(!hex_pattern_begins(&p, "bbc", 3));
	ck_assert(!hex_pattern_begins(&p, "ab", 2));
	ck_assert(!hex_pattern_begins(&p, "", 0));
	hex_pattern_fini(&p);
}
END_TEST

SUITE(test_hex_pattern)
{
	Suite *s = suite_create("hex_pattern");

	SUITE_ADD(s, parsed, 10);
	SUITE_ADD(s, compared, 10);
	return s;
}
