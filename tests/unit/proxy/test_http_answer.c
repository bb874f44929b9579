/* test_http_answer.c: answers of HTTP/1 as they come, whole and byte by
 * byte. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/http/http_answer.h"
#include "support/suite.h"

/* What came of an answer. */
static struct {
	enum http_event last;
	unsigned status, headers;
	char body[200];
	size_t length;
	bool ends;
	const char *wrong;
} seen;

static void
take(struct http_answer *h, const char *bytes, size_t n)
{
	do {
		seen.last = http_answer_take(h, &bytes, &n);
		seen.headers += seen.last == HTTP_HEADERS;
		if (seen.last == HTTP_BODY) {
			if (seen.length + h->body_length <= sizeof(seen.body))
				memcpy(seen.body + seen.length, h->body,
				    h->body_length);
			seen.length += h->body_length;
		}
	} while (seen.last == HTTP_HEADERS || seen.last == HTTP_BODY);
}

static void
read_answer(const char *text, size_t step)
{
	struct http_answer h = { .status = 0 };
	size_t n = strlen(text), at, part;

	memset(&seen, 0, sizeof(seen));
	for (at = 0; at < n && seen.last == HTTP_MORE; at += part) {
		part = n - at < step ? n - at : step;
		take(&h, text + at, part);
	}
	seen.status = h.status;
	seen.ends = http_answer_ends(&h);
	seen.wrong = h.wrong;
	http_answer_fini(&h);
}

static void
expect(const char *text, unsigned status, const char *body, bool ends)
{
	static const size_t steps[] = { 1, 2, 3, 7, 1000 };
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		read_answer(text, steps[i]);
		ck_assert_msg(seen.wrong == NULL, "%s: %s", text, seen.wrong);
		ck_assert_uint_eq(seen.status, status);
		ck_assert_uint_eq(seen.headers, 1);
		ck_assert_uint_eq(seen.length, strlen(body));
		ck_assert_int_eq(memcmp(seen.body, body, seen.length), 0);
		ck_assert_int_eq(seen.ends, ends);
	}
}

START_TEST(bodies_end_as_they_say)
{
	expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200,
	    "hello", true);
	expect("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", 200,
	    "hello", false);
	expect("HTTP/1.0 404 Not Found\r\n\r\nhello", 404, "hello", true);
	expect("HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", 200, "", true);
	expect("HTTP/1.1 204 No Content\r\n\r\n", 204, "", true);
	expect("HTTP/1.1 204 No\r\nContent-Length: x\r\n\r\n", 204, "", true);
	expect(
	    "HTTP/1.1 304 No\r\nContent-Length: 1, 2\r\n\r\n", 304, "", true);
	expect("\r\nHTTP/1.1 600 Odd\r\nContent-Length : 2\r\n\r\nok", 600,
	    "ok", true);
	expect("HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok", 200, "ok",
	    true);
	expect("HTTP/1.1 200 OK\nA: b\n\nhello", 200, "hello", true);
}
END_TEST

START_TEST(chunks_are_joined)
{
	expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	       "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
	    200, "hello", true);
	expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	       "5\r\nhello\r\n0\r\nA: b\r\n",
	    200, "hello", false);
	expect("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
	       "Transfer-Encoding:  chunked \r\n\r\nA\r\n0123456789\r\n",
	    200, "0123456789", false);
}
END_TEST

/* A check must not fail for what clients get. */
START_TEST(lengths_and_codings_in_lists)
{
	expect("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n"
	       "Content-Length: 5\r\n\r\nhello",
	    200, "hello", true);
	expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"
	       "5\r\nhello\r\n0\r\n\r\n",
	    200, "hello", true);
	expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n"
	       "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"
	       "Content-Length: x\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	    200, "hello", true);
	expect("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
	       "Transfer-Encoding: gzip\r\n\r\nhello",
	    200, "hello", true);
	expect("HTTP/1.1 103 Early Hints\r\nContent-Length: 7, 8\r\n\r\n"
	       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	    200, "ok", true);
}
END_TEST

START_TEST(interim_answers_are_passed_over)
{
	expect("HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\n\r\n"
	       "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno",
	    503, "no", true);
}
END_TEST

START_TEST(what_is_no_answer_is_wrong)
{
	static const char *const wrong[] = {
		"SSH-2.0-x\r\n",
		"HTTP/2.0 200 OK\r\n",
		"HTTP/1.1 20 OK\r\n",
		"HTTP/1.1 2000 OK\r\n",
		"HTTP/1.1  200 OK\r\n",
		"HTTP/1.1 099 OK\r\n",
		"\r\nHTTQ",
		"HTTP/1.1 101 Go\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
		"Content-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		"1\r\nab\r\n",
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		read_answer(wrong[i], 1);
		ck_assert_msg(seen.last == HTTP_WRONG && seen.wrong != NULL,
		    "%s", wrong[i]);
		read_answer(wrong[i], 1000);
		ck_assert_int_eq(seen.last, HTTP_WRONG);
	}
}
END_TEST

/* Neither headers nor a body without end are taken for ever. */
START_TEST(no_answer_is_endless)
{
	static const char *const begins[] = { "", "HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\n\r\n" };
	char many[1024];
	size_t i, n;

	memset(many, 'x', sizeof(many));
	for (i = 0; i < 3; i++) {
		struct http_answer h = { .status = 0 };

		memset(&seen, 0, sizeof(seen));
		take(&h, begins[i], strlen(begins[i]));
		for (n = 0; seen.last == HTTP_MORE; n++) {
			ck_assert_uint_le(n, HTTP_ANSWER_MAX / 1024 + 1);
			take(&h, many, sizeof(many));
		}
		ck_assert_int_eq(seen.last, HTTP_WRONG);
		http_answer_fini(&h);
	}
}
END_TEST

SUITE(test_http_answer)
{
	Suite *s = suite_create("http_answer");

	SUITE_ADD(s, bodies_end_as_they_say, 10);
	SUITE_ADD(s, chunks_are_joined, 10);
	SUITE_ADD(s, lengths_and_codings_in_lists, 10);
	SUITE_ADD(s, interim_answers_are_passed_over, 10);
	SUITE_ADD(s, what_is_no_answer_is_wrong, 10);
	SUITE_ADD(s, no_answer_is_endless, 10);
	return s;
}
