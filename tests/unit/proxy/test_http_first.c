/* test_http_first.c: what the first bytes of a client say. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_first.h"
#include "support/suite.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define END "\r\n"

static const struct {
	const char *bytes;
	enum http_first is;
} rows[] = {
	{ GET END, HTTP_FIRST_REPEATABLE },
	{ "HEAD /a HTTP/1.0\r\n\r\n", HTTP_FIRST_REPEATABLE },
	{ "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_FIRST_REPEATABLE },
	{ GET "Cookie: c=d\r\nTE: trailers\r\nUser-Agent: x\r\n" END,
	    HTTP_FIRST_REPEATABLE },
	/* with a body, or maybe */
	{ GET "Content-Length: 0\r\n" END, HTTP_FIRST_REQUEST },
	{ GET "content-length : 5\r\n" END, HTTP_FIRST_REQUEST },
	{ GET "TRANSFER-ENCODING: chunked\r\n" END, HTTP_FIRST_REQUEST },
	{ GET "Expect: 100-continue\r\n" END, HTTP_FIRST_REQUEST },
	/* not safe */
	{ "POST / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_FIRST_REQUEST },
	{ "PUT / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_FIRST_REQUEST },
	{ "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_FIRST_REQUEST },
	{ "GETX / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_FIRST_REQUEST },
	{ "GE / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_FIRST_REQUEST },
	/* not alone */
	{ GET END "x", HTTP_FIRST_REQUEST },
	{ GET END GET END, HTTP_FIRST_REQUEST },
	/* lines that end without CR */
	{ "GET / HTTP/1.1\nHost: a\n\n", HTTP_FIRST_REQUEST },
	{ "GET / HTTP/1.1\r\nHost: a\n\r\n", HTTP_FIRST_REQUEST },
	/* becomes something else */
	{ GET "Upgrade: websocket\r\n" END, HTTP_FIRST_OTHER },
	{ GET "upgrade:h2c\r\nHost: a\r\n" END, HTTP_FIRST_OTHER },
	{ "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_FIRST_OTHER },
	{ GET "Upgrade-Insecure-Requests: 1\r\n" END, HTTP_FIRST_REPEATABLE },
	/* is something else */
	{ "", HTTP_FIRST_OTHER },
	{ "G", HTTP_FIRST_OTHER },
	{ "GET", HTTP_FIRST_OTHER },
	{ "GET ", HTTP_FIRST_OTHER },
	{ "GET  HTTP/1.1\r\n\r\n", HTTP_FIRST_OTHER },
	{ "get / HTTP/1.1\r\n\r\n", HTTP_FIRST_OTHER },
	{ " / HTTP/1.1\r\n\r\n", HTTP_FIRST_OTHER },
	{ "GET / HTTP/2.0\r\n\r\n", HTTP_FIRST_OTHER },
	{ "GET /\r\n\r\n", HTTP_FIRST_OTHER },
	{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HTTP_FIRST_OTHER },
	{ "QUIT\r\n\r\n", HTTP_FIRST_OTHER },
	{ "\x16\x03\x01", HTTP_FIRST_OTHER },
	{ "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n\r\n",
	    HTTP_FIRST_OTHER },
	{ "\n\n\n", HTTP_FIRST_OTHER },
};

START_TEST(first_bytes)
{
	size_t n = strlen(rows[_i].bytes);

	ck_assert_int_eq(http_first_of(rows[_i].bytes, n), rows[_i].is);
}
END_TEST

/* A header that has not come completely says nothing; no byte behind its end is
 * read (the sanitizers see to that). */
START_TEST(beginnings)
{
	static const char all[] = GET "Accept: b\r\n" END;
	char bytes[sizeof(all)];
	size_t n;

	for (n = 0; n < strlen(all); n++) {
		char *at = bytes + sizeof(bytes) - n;

		memcpy(at, all, n);
		ck_assert_int_eq(http_first_of(at, n), HTTP_FIRST_OTHER);
	}
	ck_assert_int_eq(
	    http_first_of(all, strlen(all)), HTTP_FIRST_REPEATABLE);
}
END_TEST

SUITE(test_http_first)
{
	Suite *s = suite_create("http_first");

	SUITE_ADD_LOOP(s, first_bytes, 10, sizeof(rows) / sizeof(rows[0]));
	SUITE_ADD(s, beginnings, 10);
	return s;
}
