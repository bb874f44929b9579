/* test_http_redirect.c: the answer that sends plain HTTP to HTTPS. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_redirect.h"
#include "support/pattern.h"
#include "support/suite.h"

#define HOST "Host: www.example.org\r\n\r\n"
#define BODY "308 Permanent Redirect\n\nUse the address with https.\n"

static struct buffer answer;

static const char *
redirect(const char *request, unsigned port)
{
	size_t n = strlen(request), i;
	const char *said;

	buffer_init(&answer);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(
		    http_redirect(request, i, port, &answer), FIRST_MORE);
	ck_assert_msg(http_redirect(request, n, port, &answer) == FIRST_KNOWN,
	    "%s", request);
	said = text("%.*s", (int)buffer_length(&answer), buffer_bytes(&answer));
	buffer_fini(&answer);
	return said;
}

static void
leads_to(const char *request, unsigned port, const char *where)
{
	const char *said = redirect(request, port);

	ck_assert_msg(
	    strstr(said, text("\r\nLocation: %s\r\n", where)) != NULL, "%s",
	    said);
}

START_TEST(places)
{
	leads_to("GET / HTTP/1.1\r\n" HOST, 443, "https://www.example.org/");
	leads_to("GET /a/b?c=d&e=%20 HTTP/1.1\r\n" HOST, 443,
	    "https://www.example.org/a/b?c=d&e=%20");
	leads_to("POST / HTTP/1.0\r\n" HOST, 8443,
	    "https://www.example.org:8443/");
	leads_to("GET / HTTP/1.1\r\nHost: a.b:8080\r\n\r\n", 443,
	    "https://a.b/");
	leads_to("GET /x HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n\r\n", 8443,
	    "https://[2001:db8::1]:8443/x");
	leads_to("GET http://c.d:80/e?f HTTP/1.1\r\n" HOST, 443,
	    "https://c.d/e?f");
	leads_to("GET HTTP://c.d HTTP/1.1\r\n" HOST, 443, "https://c.d/");
	leads_to("GET http://c.d?f HTTP/1.1\r\n" HOST, 443, "https://c.d/?f");
	leads_to("GET //evil.example/ HTTP/1.1\r\n" HOST, 443,
	    "https://www.example.org//evil.example/");
}
END_TEST

START_TEST(whole_answers)
{
	static const char head[] =
	    "HTTP/1.1 308 Permanent Redirect\r\n"
	    "Location: https://www.example.org/\r\n"
	    "Content-Type: text/plain\r\nContent-Length: 52\r\n"
	    "Connection: close\r\n\r\n";

	ck_assert_uint_eq(strlen(BODY), 52);
	ck_assert_str_eq(redirect("GET / HTTP/1.1\r\n" HOST, 443),
	    text("%s" BODY, head));
	ck_assert_str_eq(redirect("HEAD / HTTP/1.1\r\n" HOST, 443), head);
}
END_TEST

START_TEST(nowhere)
{
	static const char *const wrong[] = {
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost:\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"GET /\x01 HTTP/1.1\r\n" HOST,
		"GET /\xc3\xa4 HTTP/1.1\r\n" HOST,
		"OPTIONS * HTTP/1.1\r\n" HOST,
		"CONNECT a.b:443 HTTP/1.1\r\n" HOST,
		"GET ftp://a/ HTTP/1.1\r\n" HOST,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"SSH-2.0-OpenSSH_9.6\r\n",
		"EHLO there\r\n",
	};
	size_t i;

	buffer_init(&answer);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(http_redirect(wrong[i], strlen(wrong[i]), 443,
				  &answer) == FIRST_WRONG,
		    "%s", wrong[i]);
		ck_assert_uint_eq(buffer_length(&answer), 0);
	}
	buffer_fini(&answer);
}
END_TEST

/* The longest request that is kept. */
START_TEST(long_path)
{
	static char path[FIRST_MAX - 100];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	leads_to(text("GET %s HTTP/1.1\r\n" HOST, path), 443,
	    text("https://www.example.org%s", path));
}
END_TEST

SUITE(test_http_redirect)
{
	Suite *s = suite_create("http_redirect");

	SUITE_ADD(s, places, 10);
	SUITE_ADD(s, whole_answers, 10);
	SUITE_ADD(s, nowhere, 10);
	SUITE_ADD(s, long_path, 60);
	return s;
}
