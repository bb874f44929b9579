/* test_http_field.c: which bytes a value may have, wherever they stand, and
 * names without regard to case. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_field.h"
#include "support/suite.h"

enum { LONGEST = 27 };

static bool
may_be_in_value(int byte)
{
	return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

/* Each byte at each place of values of each length, between others. */
START_TEST(bytes_of_values)
{
	static const char others[] = { 'a', ' ', '\t', '\x80', '\xff', '~' };
	char value[LONGEST];
	size_t length, at;
	int byte;

	for (length = 1; length <= LONGEST; length++)
		for (at = 0; at < length; at++)
			for (byte = 0; byte < 256; byte++) {
				memset(value, others[_i], length);
				value[at] = (char)byte;
				ck_assert_msg(http_is_value((struct http_text){
						  value, length }) ==
					may_be_in_value(byte),
				    "%#x at %zu of %zu", (unsigned)byte, at,
				    length);
			}
	ck_assert(http_is_value((struct http_text){ "", 0 }));
}
END_TEST

START_TEST(names)
{
	static const struct http_text name = { "Content-LENGTHS", 14 };

	ck_assert(http_text_is(name, "content-length"));
	ck_assert(!http_text_is(name, "content-lengths"));
	ck_assert(!http_text_is(name, "content-lengt"));
	ck_assert(!http_text_is(name, "content_length"));
	ck_assert(http_text_is_like(
	    (struct http_text){ "Content_LENGTH", 14 }, "content-length"));
	ck_assert(!http_text_is_like(
	    (struct http_text){ "ContentxLength", 14 }, "content-length"));
	ck_assert(http_text_begins(name, "content"));
	ck_assert(!http_text_begins(name, "content-lengths"));
	ck_assert(!http_text_is((struct http_text){ "", 0 }, "a"));
	ck_assert(http_text_is((struct http_text){ "", 0 }, ""));
}
END_TEST

SUITE(test_http_field)
{
	Suite *s = suite_create("http_field");

	SUITE_ADD_LOOP(s, bytes_of_values, 20, 6);
	SUITE_ADD(s, names, 10);
	return s;
}
