/* test_http_sticky.c: the cookie that names a server. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_sticky.h"
#include "support/pattern.h"
#include "support/suite.h"

START_TEST(names)
{
	char name[HTTP_COOKIE_NAME + 1];

	ck_assert(http_cookie_name_is_valid("SRV"));
	ck_assert(http_cookie_name_is_valid("__Host-a.b_c~1"));
	ck_assert(!http_cookie_name_is_valid(""));
	ck_assert(!http_cookie_name_is_valid("a b"));
	ck_assert(!http_cookie_name_is_valid("a=b"));
	ck_assert(!http_cookie_name_is_valid("a;"));
	ck_assert(!http_cookie_name_is_valid("a\r\nX: y"));
	ck_assert(!http_cookie_name_is_valid("\xc3\xa4"));
	memset(name, 'a', sizeof(name));
	name[HTTP_COOKIE_NAME] = '\0';
	ck_assert(!http_cookie_name_is_valid(name));
	name[HTTP_COOKIE_NAME - 1] = '\0';
	ck_assert(http_cookie_name_is_valid(name));
}
END_TEST

START_TEST(values)
{
	static const char *const wrong[] = { "", "1", "0123456789abcde",
		"0123456789abcdef0", "0123456789abcdeF", "0123456789abcde ",
		"0x23456789abcdef", "-123456789abcdef" };
	size_t i;

	ck_assert_uint_eq(http_sticky_digest("0123456789abcdef"),
	    UINT64_C(0x0123456789abcdef));
	ck_assert_uint_eq(http_sticky_digest("ffffffffffffffff"), UINT64_MAX);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_uint_eq(http_sticky_digest(wrong[i]), 0);
}
END_TEST

START_TEST(lines)
{
	char line[HTTP_STICKY_LINE], name[HTTP_COOKIE_NAME];

	http_sticky_set(line, "SRV", 0xabc, false);
	ck_assert_str_eq(line,
	    "Set-Cookie: SRV=0000000000000abc; Path=/; HttpOnly; "
	    "SameSite=Lax\r\n");
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	http_sticky_set(line, name, UINT64_MAX, true);
	ck_assert_str_eq(line,
	    text("Set-Cookie: %s=ffffffffffffffff; Path=/; HttpOnly; Secure; "
		 "SameSite=Lax\r\n",
		name));
}
END_TEST

SUITE(test_http_sticky)
{
	Suite *s = suite_create("http_sticky");

	SUITE_ADD(s, names, 10);
	SUITE_ADD(s, values, 10);
	SUITE_ADD(s, lines, 10);
	return s;
}
