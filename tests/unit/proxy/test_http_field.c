/* test_http_field.c: which bytes a value may have, wherever they stand, and
 * names without regard to case. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_field.h"
#include "support/suite.h"

/* Two words of eight bytes, and a rest of each length. */
enum { LONGEST = 17 };

static bool
may_be_in_value(int byte)
{
	return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

static bool
may_be_in_target(int byte)
{
	return byte > 0x20 && byte < 0x7f && byte != '#';
}

static bool
is_of(int byte, const char *set)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	    (byte >= 'a' && byte <= 'z') ||
	    (byte != '\0' && strchr(set, byte) != NULL);
}

static bool
may_be_in_token(int byte)
{
	return is_of(byte, "!#$%&'*+-.^_`|~");
}

static bool
may_be_in_host(int byte)
{
	return is_of(byte, "-._~!$&'()*+,;=:[]%");
}

static const struct {
	bool (*is)(struct http_text t), (*may_be_in)(int byte);
	const char *others; /* that may be in it */
	bool empty;	    /* it may be */
} kinds[] = {
	{ http_is_value, may_be_in_value, "a \t\x80\xff~", true },
	{ http_is_target, may_be_in_target, "a!~/", false },
	{ http_is_token, may_be_in_token, "a-9~", false },
	{ http_is_host, may_be_in_host, "a.9]", true },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Each byte at each place of texts of each length, between others. */
static void
try_each_byte(int kind, char other)
{
	char text[LONGEST];
	size_t length, at;
	int byte;

	for (length = 1; length <= LONGEST; length++)
		for (at = 0; at < length; at++)
			for (byte = 0; byte < 256; byte++) {
				memset(text, other, length);
				text[at] = (char)byte;
				ck_assert_msg(kinds[kind].is((struct http_text){
						  text, length }) ==
					kinds[kind].may_be_in(byte),
				    "%#x at %zu of %zu", (unsigned)byte, at,
				    length);
			}
}

START_TEST(bytes)
{
	const char *other;

	for (other = kinds[_i].others; *other != '\0'; other++)
		try_each_byte(_i, *other);
	ck_assert(
	    kinds[_i].is((struct http_text){ "", 0 }) == kinds[_i].empty);
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

	SUITE_ADD_LOOP(s, bytes, 60, KINDS);
	SUITE_ADD(s, names, 10);
	return s;
}
