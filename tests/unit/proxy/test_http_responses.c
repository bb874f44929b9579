/* test_http_responses.c: answers as they pass: where each ends, cut everywhere;
 * what is believed of them, and what lasts until the connection ends. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_responses.h"
#include "support/suite.h"

static struct {
	struct http_requests requests;
	struct http_responses r;
	struct http_pending pending;
	struct http_adding adding;
	char room[4096], out[4096];
	size_t length;
} seen;

static void
begin(const unsigned *kinds, unsigned n)
{
	memset(&seen, 0, sizeof(seen));
	seen.requests.pending = &seen.pending;
	seen.requests.adding = &seen.adding;
	seen.r.pending = &seen.pending;
	seen.r.requests = &seen.requests;
	while (n-- > 0)
		http_pending_add(&seen.pending, *kinds++);
}

static void
give(const char *bytes, size_t n)
{
	struct http_text out;

	http_responses_take(
	    &seen.r, (struct http_text){ bytes, n }, seen.room, &out);
	memcpy(seen.out + seen.length, out.at, out.length);
	seen.length += out.length;
}

enum outcome { ALL, CLOSING, TUNNEL };

/* The answers to requests of these kinds, cut everywhere, leave `left` of them
 * without one. */
static void
answers(const char *text, const unsigned *kinds, unsigned n, unsigned left,
    enum outcome wanted)
{
	size_t length = strlen(text), cut;

	for (cut = 0; cut <= length; cut++) {
		begin(kinds, n);
		give(text, cut);
		give(text + cut, length - cut);
		ck_assert_msg(seen.length == length &&
			memcmp(seen.out, text, length) == 0,
		    "cut at %zu: %s", cut, text);
		ck_assert_msg(seen.pending.count == left, "cut at %zu: %s: %u",
		    cut, text, seen.pending.count);
		ck_assert_msg(seen.pending.closing == (wanted == CLOSING),
		    "cut at %zu: %s", cut, text);
		ck_assert_msg((seen.r.stage == HTTP_RESPONSES_TUNNEL) ==
			(wanted == TUNNEL),
		    "cut at %zu: %s", cut, text);
	}
}

static void
one(const char *text, unsigned kind, unsigned left, enum outcome wanted)
{
	answers(text, &kind, 1, left, wanted);
}

#define OK "HTTP/1.1 200 OK\r\n"
#define LENGTH(n) "Content-Length: " #n "\r\n"

START_TEST(ends_of_answers)
{
	one(OK LENGTH(2) "\r\nok", 0, 0, ALL);
	one(OK LENGTH(2) "\r\no", 0, 1, ALL);
	one(OK LENGTH(0) "\r\n", 0, 0, ALL);
	one("HTTP/1.1 204 No\r\n\r\n", 0, 0, ALL);
	one("HTTP/1.1 304 No\r\n" LENGTH(9) "\r\n", 0, 0, ALL);
	one(OK LENGTH(9) "\r\n", HTTP_KIND_HEAD, 0, ALL);
	one(OK "\r\n", HTTP_KIND_HEAD, 0, ALL);
	one("HTTP/1.0 200\nContent-length:2\n\nok", 0, 0, CLOSING);
	one("HTTP/1.0 200\nConnection: Keep-Alive\n"
	    "Content-length:2\n\nok",
	    0, 0, ALL);
	one(OK "Connection: x, close\r\n" LENGTH(2) "\r\nok", 0, 0, CLOSING);
	one(OK "Connection: close\r\n" LENGTH(2) "\r\no", 0, 1, ALL);
	one(OK "Connections\r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	one("HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hint\r\nLink: x\r\n\r\n" OK
		LENGTH(1) "\r\nx",
	    0, 0, ALL);
	one("HTTP/1.1 100 Go\r\n\r\n", 0, 1, ALL);
}
END_TEST

START_TEST(chunks)
{
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
	one(CHUNKED "5\r\nhello\r\n0\r\n\r\n", 0, 0, ALL);
	one(CHUNKED "a;x=y\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\nT: x\r\n\r\n", 0, 0,
	    ALL);
	one(CHUNKED "5   \r\nhello\r\n0\r\n\r\n", 0, 0, ALL);
	one(CHUNKED "5\r\nhello\r\n0\r\n", 0, 1, ALL);
	one(CHUNKED "x\r\n", 0, 1, CLOSING);
	one(CHUNKED "5\r\nhelloworld\r\n", 0, 1, CLOSING);
}
END_TEST

/* What could end elsewhere for the client is not followed by requests. */
START_TEST(answers_in_doubt)
{
	one(OK "\r\nall of it", 0, 1, CLOSING);
	one("HTTP/1.0 200 OK\r\n\r\n", 0, 1, CLOSING);
	one(OK LENGTH(2) LENGTH(3) "\r\n", 0, 1, CLOSING);
	one(OK LENGTH(2) LENGTH(2) "\r\nok", 0, 0, ALL);
	one(OK LENGTH(-2) "\r\n", 0, 1, CLOSING);
	one(OK LENGTH(2) "Transfer-Encoding: chunked\r\n\r\n", 0, 1, CLOSING);
	one(OK "Transfer-Encoding: gzip\r\n\r\n", 0, 1, CLOSING);
	one(OK "Content-Length : 2\r\n\r\n", 0, 1, CLOSING);
	one(OK LENGTH(2) " 3\r\n\r\n", 0, 1, CLOSING);
	one("220 mail.example.org ESMTP\r\n", 0, 1, CLOSING);
	one("HTTP/2 200\r\n\r\n", 0, 1, CLOSING);
	answers(OK LENGTH(2) "\r\nok", NULL, 0, 0, CLOSING);
	one(OK LENGTH(0) "\r\n" OK, 0, 0, CLOSING);
}
END_TEST

/* Of a long line the beginning alone is read, wherever it was cut: a length of
 * which there is more must not end an answer early. */
START_TEST(long_lines)
{
#define ZEROS "0000000000000000000000000000000000000000"
	one(OK "Content-Length: " ZEROS ZEROS ZEROS "2\r\n\r\nok", 0, 1,
	    CLOSING);
	one(OK "Connection: " ZEROS ZEROS ZEROS ", close\r\n" LENGTH(
		2) "\r\nok",
	    0, 1, CLOSING);
	one(OK "Content-Type: " ZEROS ZEROS ZEROS "\r\n" LENGTH(2) "\r\nok", 0,
	    0, ALL);
}
END_TEST

START_TEST(other_protocols)
{
	unsigned up = HTTP_KIND_UPGRADE, tunnel = HTTP_KIND_CONNECT;
	unsigned kinds[] = { HTTP_KIND_HEAD, 0, HTTP_KIND_UPGRADE };

	one("HTTP/1.1 101 Go\r\n\r\n\n\n\x81", up, 0, TUNNEL);
	one("HTTP/1.1 101 Go\r\n\r\n", 0, 1, CLOSING);
	one(OK LENGTH(2) "\r\nany", tunnel, 0, TUNNEL);
	one("HTTP/1.1 407 No\r\n" LENGTH(2) "\r\nno", tunnel, 0, ALL);
	one("HTTP/1.1 100 Go\r\n\r\n", up, 1, ALL);
	answers(OK LENGTH(2) "\r\n" OK LENGTH(37)
		"\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n!"
		"HTTP/1.1 101 Go\r\n\r\nframes",
	    kinds, 3, 0, TUNNEL);
	answers(OK LENGTH(2) "\r\n" OK LENGTH(18) "\r\nHTTP/1.1 101 Go\r\n\r",
	    kinds, 3, 1, ALL);
}
END_TEST

/* The requests that wait are told. */
START_TEST(decisions)
{
	unsigned kind = HTTP_KIND_UPGRADE;

	begin(&kind, 1);
	seen.requests.stage = HTTP_REQUESTS_ANSWER;
	seen.requests.undecided = true;
	give("HTTP/1.1 426 No\r\n" LENGTH(2) "\r\n", 38);
	ck_assert_int_eq(seen.requests.stage, HTTP_REQUESTS_HEAD);
	begin(&kind, 1);
	seen.requests.stage = HTTP_REQUESTS_BODY;
	seen.requests.undecided = true;
	give("HTTP/1.1 101 Go\r\n\r\n", 19);
	ck_assert_int_eq(seen.requests.stage, HTTP_REQUESTS_BODY);
	ck_assert(seen.requests.switched);
}
END_TEST

START_TEST(a_line_is_added_to_the_first_answer)
{
	static const char text[] = "HTTP/1.1 100 Go\r\n\r\n" OK LENGTH(0) "\r\n"
	    OK LENGTH(0) "\r\n";
	static const char wanted[] = "HTTP/1.1 100 Go\r\n\r\n" OK
	    "Added: x\r\n" LENGTH(0) "\r\n" OK LENGTH(0) "\r\n";
	unsigned kinds[] = { 0, 0 };
	size_t cut;

	for (cut = 0; cut < sizeof(text); cut++) {
		begin(kinds, 2);
		seen.r.add = "Added: x\r\n";
		give(text, cut);
		give(text + cut, sizeof(text) - 1 - cut);
		ck_assert_uint_eq(seen.length, sizeof(wanted) - 1);
		ck_assert_mem_eq(seen.out, wanted, seen.length);
	}
}
END_TEST

/* Each status line counts once, wherever it was cut; what is none does not. */
START_TEST(classes_are_counted)
{
	static const char text[] =
	    "HTTP/1.1 100 Continue\r\n\r\n"
	    "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHTTP/1.1 500"
	    "HTTP/1.1 304\r\n\r\n"
	    "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
	    "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"
	    "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
	static const unsigned kinds[5];
	static const uint64_t wanted[HTTP_CLASSES] = { 1, 1, 1, 1, 1 };
	uint64_t classes[HTTP_CLASSES];
	size_t cut;

	for (cut = 0; cut < sizeof(text); cut++) {
		begin(kinds, 5);
		memset(classes, 0, sizeof(classes));
		seen.r.classes = classes;
		give(text, cut);
		give(text + cut, sizeof(text) - 1 - cut);
		ck_assert_mem_eq(classes, wanted, sizeof(classes));
		give("HTTP/1.1 200 OK\r\n\r\n", 19); /* not asked for */
		ck_assert_mem_eq(classes, wanted, sizeof(classes));
	}
}
END_TEST

START_TEST(bodies_pass_unread)
{
	unsigned kind = 0;

	begin(&kind, 1);
	give(OK LENGTH(1000) "\r\nabc", 44);
	ck_assert_uint_eq(http_responses_clear(&seen.r), 997);
}
END_TEST

SUITE(test_http_responses)
{
	Suite *s = suite_create("http_responses");

	SUITE_ADD(s, ends_of_answers, 5);
	SUITE_ADD(s, chunks, 5);
	SUITE_ADD(s, answers_in_doubt, 5);
	SUITE_ADD(s, long_lines, 5);
	SUITE_ADD(s, other_protocols, 5);
	SUITE_ADD(s, decisions, 5);
	SUITE_ADD(s, a_line_is_added_to_the_first_answer, 5);
	SUITE_ADD(s, classes_are_counted, 10);
	SUITE_ADD(s, bodies_pass_unread, 5);
	return s;
}
