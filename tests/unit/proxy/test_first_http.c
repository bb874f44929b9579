/* test_first_http.c: the host that a request is for. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/wire/first.h"
#include "support/corrupt.h"
#include "support/suite.h"

static enum first_verdict
read_http(const char *bytes, size_t n, struct first *f)
{
	static const struct first_wants wants = { .host = true };

	return first_read(bytes, n, &wants, f);
}

/* Whole, and not before its last byte. */
static void
expect(const char *request, const char *host)
{
	size_t n = strlen(request), i;
	struct first f;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(read_http(request, i, &f), FIRST_MORE);
	ck_assert_msg(read_http(request, n, &f) == FIRST_KNOWN, "%s", request);
	ck_assert_int_eq(f.protocol, FIRST_HTTP);
	ck_assert_str_eq(f.host, host);
}

START_TEST(hosts)
{
	expect("GET / HTTP/1.1\r\nHost: www.example.org\r\n\r\n",
	    "www.example.org");
	expect("GET / HTTP/1.1\r\nA: b\r\nhOST:\t WWW.Example.ORG:8080 \t\r\n"
	       "C: d\r\n\r\n",
	    "www.example.org");
	expect("GET / HTTP/1.0\r\n\r\n", "");
	expect("GET / HTTP/1.1\r\nHost:\r\n\r\n", "");
	expect("GET / HTTP/1.1\r\nHost: a.b.\r\n\r\n", "a.b");
	expect("GET / HTTP/1.1\r\nHost: [2001:DB8::1]:80\r\n\r\n",
	    "[2001:db8::1]");
	expect("GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n", "10.0.0.1");
	expect("GET / HTTP/1.1\r\nHosts: a\r\nX-Host: b\r\n\r\n", "");
	expect("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "a");
}
END_TEST

/* RFC 9112, 3.2.2 and 3.2.3: a target with a host goes before Host. */
START_TEST(targets_with_a_host)
{
	expect("GET http://A.example/x?y HTTP/1.1\r\nHost: b\r\n\r\n",
	    "a.example");
	expect("GET HTTPS://a.example:443 HTTP/1.1\r\nHost: b\r\n\r\n",
	    "a.example");
	expect(
	    "GET http://a.example?q HTTP/1.1\r\nHost: b\r\n\r\n", "a.example");
	expect(
	    "CONNECT a.example:443 HTTP/1.1\r\nHost: b\r\n\r\n", "a.example");
}
END_TEST

static void
refuse(const char *request)
{
	struct first f;

	ck_assert_msg(read_http(request, strlen(request), &f) == FIRST_WRONG,
	    "%s", request);
	ck_assert_int_eq(f.protocol, FIRST_HTTP);
	ck_assert_str_eq(f.host, "");
}

START_TEST(wrong_ones_name_nobody)
{
	refuse("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n");
	refuse("GET / HTTP/1.1\nHost: a\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost: a\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost : a\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n");
	refuse("GET / HTTP/1.1\r\n Host: a\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost: a b\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nHost: a\rHost: b\r\n\r\n");
	refuse("GET / HTTP/1.1\r\nno header\r\nHost: a\r\n\r\n");
	refuse("GET / / HTTP/1.1\r\nHost: a\r\n\r\n");
	refuse("GET a.example HTTP/1.1\r\nHost: a\r\n\r\n");
	refuse("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n");
	refuse("GET http://u@b/ HTTP/1.1\r\nHost: a\r\n\r\n");
	refuse("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
}
END_TEST

START_TEST(mutations)
{
	static const char request[] =
	    "GET http://a.example/ HTTP/1.1\r\nHost: www.example.org:80\r\n"
	    "Accept: */*\r\n\r\n";
	struct dice d = { .seed = 3 };
	struct first f;
	char *alone;
	size_t n, i;
	int round, rounds = suite_rounds(20000);

	for (round = 0; round < rounds; round++) {
		n = sizeof(request) - 1 - dice_small(&d, 30);
		alone = malloc(n);
		memcpy(alone, request, n);
		for (i = dice_below(&d, 4); i > 0; i--)
			alone[dice_below(&d, n)] = dice_says(&d, 2)
			    ? (char)dice_roll(&d)
			    : request[dice_below(&d, n)];
		(void)read_http(alone, n, &f);
		free(alone);
		ck_assert_uint_eq(
		    strspn(
			f.host, "abcdefghijklmnopqrstuvwxyz0123456789.-_[]:"),
		    strlen(f.host));
	}
}
END_TEST

SUITE(test_first_http)
{
	Suite *s = suite_create("first_http");

	SUITE_ADD(s, hosts, 10);
	SUITE_ADD(s, targets_with_a_host, 10);
	SUITE_ADD(s, wrong_ones_name_nobody, 10);
	SUITE_ADD(s, mutations, 30);
	return s;
}
