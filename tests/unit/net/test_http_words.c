/* test_http_words.c: Accept and Host of requests for pages. */
#include "config.h"

#include <check.h>

#include "net/http_words.h"
#include "support/suite.h"

#define OPEN "application/openmetrics-text"

START_TEST(quality)
{
	ck_assert_uint_eq(http_quality(NULL, OPEN), 0);
	ck_assert_uint_eq(http_quality("", OPEN), 0);
	ck_assert_uint_eq(http_quality("*/*", OPEN), 0);
	ck_assert_uint_eq(http_quality(OPEN, OPEN), 1000);
	ck_assert_uint_eq(http_quality("text/plain;q=0.5, " OPEN, OPEN), 1000);
	ck_assert_uint_eq(
	    http_quality(OPEN "; version=1.0.0; q=0.25,*/*", OPEN), 250);
	ck_assert_uint_eq(http_quality(OPEN ";q=0", OPEN), 0);
	ck_assert_uint_eq(http_quality(OPEN ";q=0.000", OPEN), 0);
	ck_assert_uint_eq(http_quality(OPEN ";q=x", OPEN), 0);
	ck_assert_uint_eq(http_quality(OPEN "-x", OPEN), 0);
	ck_assert_uint_eq(http_quality("x" OPEN, OPEN), 0);
	/* the parameter of another type */
	ck_assert_uint_eq(http_quality(OPEN ",text/plain;q=0", OPEN), 1000);
}
END_TEST

START_TEST(own_hosts)
{
	static const char *const own[] = { "127.0.0.1", "127.0.0.1:8080",
		"192.0.2.1", "[::1]", "[::1]:8080", "localhost", "LOCALHOST:1",
		"localhost.", "pen.localhost:80", "web1", "web1:8080" };
	static const char *const others[] = { "", ":80", "evil.example",
		"evil.example:80", "localhost.evil.example", "xlocalhost",
		"127.0.0.1.evil.example", "[::1", "[evil]", "[::1]x",
		"web1.evil" };
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		ck_assert_msg(
		    http_host_is_own(own[i], "web1", NULL), "%s", own[i]);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(
		    !http_host_is_own(others[i], "web1", "a.test,evil"), "%s",
		    others[i]);
	ck_assert(http_host_is_own("B.test:80", "web1", "a.test,b.test"));
	ck_assert(http_host_is_own("a.test.", "web1", "a.test,b.test"));
	ck_assert(!http_host_is_own("test", "web1", "a.test,b.test"));
	ck_assert(!http_host_is_own("a", "web1", "a.test"));
}
END_TEST

SUITE(test_http_words)
{
	Suite *s = suite_create("http_words");

	SUITE_ADD(s, quality, 10);
	SUITE_ADD(s, own_hosts, 10);
	return s;
}
