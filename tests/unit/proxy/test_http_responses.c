/* test_http_responses.c: answers as they pass: where each ends, cut everywhere;
 * what is believed of them, and what lasts until the connection ends. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "proxy/http/http_responses.h"
#include "support/httpansref.h"
#include "support/suite.h"

static struct {
	struct http_requests requests;
	struct http_responses r;
	struct http_pending pending;
	struct http_adding adding;
	char room[HTTP_RESPONSE_HEAD_MAX + 4096], out[4096];
	size_t length;
} seen;

static void
begin(const unsigned *kinds, unsigned n)
{
	http_responses_fini(&seen.r);
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

	ck_assert_int_eq(http_responses_take(&seen.r,
			     (struct http_text){ bytes, n }, seen.room, &out),
	    0);
	memcpy(seen.out + seen.length, out.at, out.length);
	seen.length += out.length;
}

enum outcome { ALL, CLOSING, LAST, TUNNEL, UNASKED, WRONG };

static const enum http_responses_stage stages[] = {
	[CLOSING] = HTTP_RESPONSES_CLOSE,
	[LAST] = HTTP_RESPONSES_OVER,
	[TUNNEL] = HTTP_RESPONSES_TUNNEL,
	[UNASKED] = HTTP_RESPONSES_UNASKED,
	[WRONG] = HTTP_RESPONSES_WRONG,
};

/* The answers to requests of these kinds, cut everywhere, leave `left` of them
 * without one; of them `passes` goes on. */
static void
become(const char *text, const char *passes, const unsigned *kinds, unsigned n,
    unsigned left, enum outcome wanted)
{
	size_t length = strlen(text), cut;

	for (cut = 0; cut <= length; cut++) {
		begin(kinds, n);
		give(text, cut);
		give(text + cut, length - cut);
		ck_assert_msg(seen.length == strlen(passes) &&
			memcmp(seen.out, passes, seen.length) == 0,
		    "cut at %zu: %s\nbecomes\n%.*s", cut, text,
		    (int)seen.length, seen.out);
		ck_assert_msg(seen.pending.count == left, "cut at %zu: %s: %u",
		    cut, text, seen.pending.count);
		ck_assert_msg(wanted == ALL
			? seen.r.stage < HTTP_RESPONSES_TUNNEL
			: seen.r.stage == stages[wanted],
		    "cut at %zu: %s: %d", cut, text, seen.r.stage);
		ck_assert(
		    wanted == ALL || wanted == TUNNEL || seen.pending.closing);
	}
}

static void
one_becomes(const char *text, const char *passes, unsigned kind, unsigned left,
    enum outcome wanted)
{
	become(text, passes, &kind, 1, left, wanted);
}

static void
one(const char *text, unsigned kind, unsigned left, enum outcome wanted)
{
	become(text, text, &kind, 1, left, wanted);
}

#define OK	  "HTTP/1.1 200 OK\r\n"
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
	one("HTTP/1.0 200\nContent-length:2\n\nok", 0, 0, LAST);
	one("HTTP/1.0 200\nConnection: Keep-Alive\n"
	    "Content-length:2\n\nok",
	    0, 0, ALL);
	one(OK "Connection: x, close\r\n" LENGTH(2) "\r\nok", 0, 0, LAST);
	one(OK "Connection: keep-alive, close\r\n" LENGTH(0) "\r\n", 0, 0,
	    LAST);
	one(OK "Connection: close\r\n" LENGTH(2) "\r\no", 0, 1, ALL);
	one(OK LENGTH(2) "\r\nok", HTTP_KIND_LAST, 0, LAST);
	one(OK "Connections\r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	one("HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hint\r\nLink: x\r\n\r\n" OK
		LENGTH(1) "\r\nx",
	    0, 0, ALL);
	one("HTTP/1.1 100 Go\r\n\r\n", 0, 1, ALL);
}
END_TEST

/* A header section goes on when it is whole. */
START_TEST(sections_in_part)
{
	one_becomes("H", "", 0, 1, ALL);
	one_becomes(OK LENGTH(2), "", 0, 1, ALL);
	one_becomes(OK LENGTH(2) "\r", "", 0, 1, ALL);
	one_becomes(
	    "HTTP/1.1 103 x\r\n\r\n" OK, "HTTP/1.1 103 x\r\n\r\n", 0, 1, ALL);
}
END_TEST

START_TEST(chunks)
{
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
	one(CHUNKED "5\r\nhello\r\n0\r\n\r\n", 0, 0, ALL);
	one(CHUNKED "a;x=y\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\nT: x\r\n\r\n", 0, 0,
	    ALL);
	one(CHUNKED "5   \r\nhello\r\n0\r\n\r\n", 0, 0, ALL);
	one(CHUNKED "5 ; a = b\r\nhello\r\n0\r\n\r\n", 0, 0, ALL);
	one(CHUNKED "000000000000000000000005\r\nhello\r\n000\r\n\r\n", 0, 0,
	    ALL);
	one(CHUNKED "5\nhello\n0\n\n", 0, 0, ALL);
	one(CHUNKED "5\r\nhello\r\n0\r\n", 0, 1, ALL);
	one(CHUNKED "5\r\nhello\r\n0\r\n\r\n", HTTP_KIND_LAST, 0, LAST);
	one_becomes(CHUNKED "5\r\nhello\r\n0\r\n\r", //
	    CHUNKED "5\r\nhello\r\n0\r\n", 0, 1, ALL);
}
END_TEST

/* What comes behind it cannot be read. */
START_TEST(wrong_chunks)
{
	one_becomes(CHUNKED "x\r\n", CHUNKED, 0, 1, WRONG);
	one_becomes(CHUNKED "\r\n", CHUNKED, 0, 1, WRONG);
	one_becomes(CHUNKED "5x\r\nhello\r\n", CHUNKED, 0, 1, WRONG);
	one_becomes(CHUNKED "8000000000000000\r\n", CHUNKED, 0, 1, WRONG);
	one_becomes(CHUNKED "55555555555555555\r\n", CHUNKED, 0, 1, WRONG);
	one_becomes(
	    CHUNKED "5\r\nhelloworld\r\n", CHUNKED "5\r\nhello", 0, 1, WRONG);
	one_becomes(CHUNKED "5;a\rb\r\nhello\r\n", CHUNKED, 0, 1, WRONG);
	one_becomes(
	    CHUNKED "5\r\nhello\rX\n", CHUNKED "5\r\nhello", 0, 1, WRONG);
	ck_assert(http_responses_are_within(&seen.r));
}
END_TEST

/* The coding counts (RFC 9112, 6.3), and Content-Length beside it goes. */
START_TEST(codings)
{
#define CODED "Transfer-Encoding: chunked\r\n"
#define BODY  "2\r\nok\r\n0\r\n\r\n"
	one(OK CODED CODED "\r\n" BODY, 0, 0, ALL);
	one(OK "Transfer-Encoding: chunked, chunked\r\n\r\n" BODY, 0, 0, ALL);
	one(OK "Transfer-Encoding: gzip, Chunked\r\n\r\n" BODY, 0, 0, ALL);
	one(OK "Transfer-Encoding: gzip\r\n" CODED "\r\n" BODY, 0, 0, ALL);
	one_becomes(
	    OK LENGTH(2) CODED "\r\n" BODY, OK CODED "\r\n" BODY, 0, 0, ALL);
	one_becomes(OK "A: b\r\n" CODED
		       "content-length:\t9\r\nC: d\r\n\r\n" BODY,
	    OK "A: b\r\n" CODED "C: d\r\n\r\n" BODY, 0, 0, ALL);
	one_becomes(OK LENGTH(x) LENGTH(3) CODED "\r\n" BODY,
	    OK CODED "\r\n" BODY, 0, 0, ALL);
	one("HTTP/1.0 200 OK\r\n" CODED "\r\n" BODY, 0, 0, LAST);
}
END_TEST

/* A length that is not valid does not go on, nor one that is repeated: that
 * goes on once (RFC 9110, 8.6). */
START_TEST(lengths)
{
	unsigned head = HTTP_KIND_HEAD;

	one_becomes(OK LENGTH(2) "A: b\r\n" LENGTH(2) "\r\nok",
	    OK LENGTH(2) "A: b\r\n\r\nok", 0, 0, ALL);
	one_becomes(OK "A: b\r\nContent-Length:02,2,\r\n\r\nok",
	    OK LENGTH(2) "A: b\r\n\r\nok", 0, 0, ALL);
	one_becomes(OK LENGTH(x) "\r\n", OK "\r\n", head, 0, ALL);
	one_becomes(OK LENGTH(2) "A: b\r\n" LENGTH(3) "\r\n", OK "A: b\r\n\r\n",
	    head, 0, ALL);
	one_becomes("HTTP/1.1 304 No\r\n" LENGTH(-1) "\r\n",
	    "HTTP/1.1 304 No\r\n\r\n", 0, 0, ALL);
	one_becomes("HTTP/1.1 204 No\r\nContent-Length:\r\n\r\n",
	    "HTTP/1.1 204 No\r\n\r\n", 0, 0, ALL);
}
END_TEST

/* What frames a body goes no further where none may follow: a client that
 * believed it would wait for one (RFC 9110, 8.6; RFC 9112, 6.1). */
START_TEST(answers_without_a_body)
{
#define NONE "HTTP/1.1 204 No\r\n"
	one_becomes(NONE CODED "A: b\r\n\r\n", NONE "A: b\r\n\r\n", 0, 0, ALL);
	one_becomes(NONE LENGTH(9) CODED "\r\n0\r\n\r\n", NONE "\r\n", 0, 0,
	    UNASKED);
	one_becomes(NONE LENGTH(9) "\r\n", NONE "\r\n", 0, 0, ALL);
	one(NONE LENGTH(0) "\r\n", 0, 0, ALL);
	one_becomes("HTTP/1.1 103 a\r\nTransfer-Encoding : chunked\r\n" LENGTH(
			7) "\r\n" OK LENGTH(0) "\r\n",
	    "HTTP/1.1 103 a\r\n\r\n" OK LENGTH(0) "\r\n", 0, 0, ALL);
	one_becomes("HTTP/1.1 101 a\r\n" CODED LENGTH(3) "\r\nabc",
	    "HTTP/1.1 101 a\r\n\r\nabc", HTTP_KIND_UPGRADE, 0, TUNNEL);
	one_becomes(OK CODED "\r\nabc", OK "\r\nabc", HTTP_KIND_CONNECT, 0,
	    TUNNEL);
	one("HTTP/1.1 304 No\r\n" CODED "\r\n", 0, 0, ALL);
	one(OK CODED "\r\n", HTTP_KIND_HEAD, 0, ALL);
}
END_TEST

/* They are read as the one line that goes on (RFC 9112, 5.2 and 2.2). */
START_TEST(folded_fields)
{
	one_becomes(OK "A: b\r\n c\r\n\td\r\n" LENGTH(2) "\r\nok",
	    OK "A: b c\td\r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	one_becomes(OK " A: b\r\n c\r\n" LENGTH(2) "\r\nok",
	    OK LENGTH(2) "\r\nok", 0, 0, ALL);
	one_becomes("HTTP/1.1 200\nA: b\n c\nContent-Length: 2\n\nok",
	    "HTTP/1.1 200\nA: b c\nContent-Length: 2\n\nok", 0, 0, ALL);
	one_becomes(OK LENGTH(9) " 9\r\n" CODED "\r\n" BODY,
	    OK CODED "\r\n" BODY, 0, 0, ALL);
	one_becomes(OK "Content-Length:\r\n 2\r\n\r\nok",
	    OK "Content-Length: 2\r\n\r\nok", 0, 0, ALL);
	one_becomes(OK LENGTH(2) " 3\r\n\r\n", "", 0, 1, WRONG);
	one_becomes(OK "Transfer-Encoding: gzip,\r\n\tchunked\r\n\r\n" BODY,
	    OK "Transfer-Encoding: gzip,\tchunked\r\n\r\n" BODY, 0, 0, ALL);
	one_becomes(OK "Connection: a,\r\n close\r\n" LENGTH(2) "\r\nok",
	    OK "Connection: a, close\r\n" LENGTH(2) "\r\nok", 0, 0, LAST);
	one_becomes("HTTP/1.1 103 x\r\nLink: a\r\n b\r\n\r\n",
	    "HTTP/1.1 103 x\r\nLink: a b\r\n\r\n", 0, 1, ALL);
	/* behind a line that is left out */
	one_becomes(OK LENGTH(9) CODED "Content-Length: 9\r\n x\r\n\r\n" BODY,
	    OK CODED "\r\n" BODY, 0, 0, ALL);
	one_becomes(OK "A: b\r\n\rC: d\r\n e\r\n\tf\r\n" LENGTH(2) "\r\nok",
	    OK "A: b\r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	one_becomes(CHUNKED "0\r\n a\r\nA: b\r\n c\r\n\r\n",
	    CHUNKED "0\r\nA: b c\r\n\r\n", 0, 0, ALL);
	one_becomes(CHUNKED "0\r\nA: b\r\n\rC: d\r\n e\r\nF: g\r\n\r\n",
	    CHUNKED "0\r\nA: b\r\nF: g\r\n\r\n", 0, 0, ALL);
}
END_TEST

/* Some clients take a CR or a NUL for the end of a line: a server that lets its
 * users write one into a field would let them answer another request. */
START_TEST(unclean_fields)
{
#define BYTES(a, to)                                            \
	do {                                                    \
		begin((unsigned[]){ 0 }, 1);                    \
		give(a, sizeof(a) - 1);                         \
		ck_assert_uint_eq(seen.length, sizeof(to) - 1); \
		ck_assert_mem_eq(seen.out, to, sizeof(to) - 1); \
	} while (0)
	one_becomes(OK "A: b\rContent-Length: 0\r\r\n" LENGTH(2) "\r\nok",
	    OK "A: b Content-Length: 0 \r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	BYTES(OK "A: b\0c\r\n" LENGTH(2) "\r\nok",
	    OK "A: b c\r\n" LENGTH(2) "\r\nok");
	one_becomes("HTTP/1.1 200 a\rb : c\r\n" LENGTH(2) "\r\nok",
	    "HTTP/1.1 200 a b : c\r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	one_becomes(OK "A \t: b : c\r\n" LENGTH(2) "\r\nok",
	    OK "A: b : c\r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	one_becomes(OK "A: b\r\n c : d\r\n" LENGTH(2) "\r\nok",
	    OK "A: b c : d\r\n" LENGTH(2) "\r\nok", 0, 0, ALL);
	/* they would become a part of the line before */
	one_becomes(OK LENGTH(2) "\rA: b\r\n\r\r\n\r\nok",
	    OK LENGTH(2) "\r\nok", 0, 0, ALL);
	one_becomes(OK "A: b\n\rB: c\nContent-Length: 2\n\nok",
	    OK "A: b\nContent-Length: 2\n\nok", 0, 0, ALL);
	one_becomes("HTTP/1.1 103 x\r\nLink: a\rb\r\n\r\n",
	    "HTTP/1.1 103 x\r\nLink: a b\r\n\r\n", 0, 1, ALL);
	/* trailers */
	one_becomes(CHUNKED "2\r\nok\r\n0\r\nA: b\rC: d\r\n\rE: f\r\n"
			    "\r\r\nG : h\nI: j\r\n\r\n",
	    CHUNKED "2\r\nok\r\n0\r\nA: b C: d\r\nG: h\nI: j\r\n\r\n", 0, 0,
	    ALL);
}
END_TEST

/* What a line means is decided by what goes on of it (RFC 9112, 5.1): pen and
 * client read the same. */
START_TEST(blanks_before_a_colon)
{
#define CLOSE "Connection: close\r\n"
	one_becomes(OK "Content-Length : 2\r\n\r\nok", OK LENGTH(2) "\r\nok", 0,
	    0, ALL);
	one_becomes(OK "Content-Length : 9\r\n" CODED "\r\n" BODY,
	    OK CODED "\r\n" BODY, 0, 0, ALL);
	one_becomes(OK LENGTH(9) "Transfer-Encoding\t: chunked\r\n\r\n" BODY,
	    OK CODED "\r\n" BODY, 0, 0, ALL);
	one_becomes(OK "Connection : keep-alive\r\nKeep-Alive : 5\r\n\r\nall",
	    OK CLOSE "\r\nall", 0, 1, CLOSING);
	one_becomes(OK "Connection : close\r\n" LENGTH(2) "\r\nok",
	    OK CLOSE LENGTH(2) "\r\nok", 0, 0, LAST);
	one_becomes(OK "Content-Length\r: 2\r\n\r\nok", OK LENGTH(2) "\r\nok",
	    0, 0, ALL);
	one_becomes(OK "Content-Length: 2\r\r\n\r\nok",
	    OK "Content-Length: 2 \r\n\r\nok", 0, 0, ALL);
	one_becomes(OK "Content-Length: 2\rA: b\r\n\r\n", "", 0, 1, WRONG);
	one_becomes(
	    OK "Content-Length : 2\r\n" LENGTH(3) "\r\nok", "", 0, 1, WRONG);
}
END_TEST

/* What could end elsewhere for the client is not followed by requests, and the
 * client is told. */
START_TEST(answers_in_doubt)
{
	one_becomes(
	    OK "\r\nall of it", OK CLOSE "\r\nall of it", 0, 1, CLOSING);
	one(OK CLOSE "\r\nall of it", 0, 1, CLOSING);
	one_becomes(OK "Connection: keep-alive\r\nKeep-Alive: 5\r\n\r\nall",
	    OK CLOSE "\r\nall", 0, 1, CLOSING);
	one_becomes("HTTP/1.0 200 OK\r\n\r\n",
	    "HTTP/1.0 200 OK\r\n" CLOSE "\r\n", 0, 1, CLOSING);
	one_becomes(OK "Transfer-Encoding: gzip\r\n" LENGTH(2) "\r\n",
	    OK CLOSE "Transfer-Encoding: gzip\r\n\r\n", 0, 1, CLOSING);
	one_becomes(OK CODED "Transfer-Encoding: x\r\n\r\n",
	    OK CLOSE CODED "Transfer-Encoding: x\r\n\r\n", 0, 1, CLOSING);
	one_becomes(OK "Content-Length\r\n\r\n",
	    OK CLOSE "Content-Length\r\n\r\n", 0, 1, CLOSING);
	one_becomes(OK "Content-Length@: 2\r\n\r\n",
	    OK CLOSE "Content-Length@: 2\r\n\r\n", 0, 1, CLOSING);
}
END_TEST

/* Of what is none nothing goes on. */
START_TEST(no_answers)
{
	one_becomes(OK LENGTH(2) LENGTH(3) "\r\n", "", 0, 1, WRONG);
	one_becomes(OK "Content-Length: 2, 3\r\n\r\n", "", 0, 1, WRONG);
	one_becomes(OK LENGTH(-2) "\r\n", "", 0, 1, WRONG);
	one_becomes(OK LENGTH() "\r\n", "", 0, 1, WRONG);
	one_becomes("220 mail.example.org ESMTP\r\n", "", 0, 1, WRONG);
	one_becomes("HTTP/2 200\r\n\r\n", "", 0, 1, WRONG);
	one_becomes("HTTP/1.1 099 No\r\n\r\n", "", 0, 1, WRONG);
	one_becomes("HTTP/1.1 2000\r\n\r\n", "", 0, 1, WRONG);
	one_becomes("HTTQ", "", 0, 1, WRONG);
	one_becomes("\rHTTP", "", 0, 1, WRONG);
	ck_assert(!http_responses_are_within(&seen.r));
}
END_TEST

/* It belongs to no request. */
START_TEST(excess)
{
	unsigned head = HTTP_KIND_HEAD, two[] = { 0, 0 };

	become(OK LENGTH(2) "\r\nok", "", NULL, 0, 0, UNASKED);
	one_becomes(OK LENGTH(0) "\r\n" OK, OK LENGTH(0) "\r\n", 0, 0, UNASKED);
	one_becomes(
	    OK LENGTH(2) "\r\nok\r\n", OK LENGTH(2) "\r\nok", 0, 0, UNASKED);
	one_becomes(
	    CHUNKED "0\r\n\r\n\r\n", CHUNKED "0\r\n\r\n", 0, 0, UNASKED);
	one_becomes(CHUNKED "0\r\n\r\n", CHUNKED, head, 0, UNASKED);
	one_becomes(
	    OK LENGTH(2) "\r\nok", OK LENGTH(2) "\r\n", head, 0, UNASKED);
	one_becomes("HTTP/1.1 204 No\r\n\r\n" OK, "HTTP/1.1 204 No\r\n\r\n", 0,
	    0, UNASKED);
	one_becomes("HTTP/1.1 304 No\r\n" LENGTH(1) "\r\nx",
	    "HTTP/1.1 304 No\r\n" LENGTH(1) "\r\n", 0, 0, UNASKED);
	ck_assert(!seen.r.begun);
	one_becomes(OK CLOSE LENGTH(2) "\r\nok" OK, OK CLOSE LENGTH(2) "\r\nok",
	    0, 0, LAST);
	become(OK LENGTH(2) "\r\nok\r\n\n\r\n" OK LENGTH(2) "\r\nok",
	    OK LENGTH(2) "\r\nok" OK LENGTH(2) "\r\nok", two, 2, 0, ALL);
	become(OK LENGTH(2) "\r\nokay" OK LENGTH(2) "\r\nok",
	    OK LENGTH(2) "\r\nok", two, 2, 1, WRONG);
	become(OK CLOSE LENGTH(2) "\r\nok" OK LENGTH(2) "\r\nok",
	    OK CLOSE LENGTH(2) "\r\nok", two, 2, 1, LAST);
}
END_TEST

/* However long a line is, all of it counts; the section has a limit. */
START_TEST(long_lines)
{
#define ZEROS "0000000000000000000000000000000000000000"
	static char text[1000];
	unsigned kind = 0;
	size_t i;

	one(OK "Content-Length: " ZEROS ZEROS ZEROS "2\r\n\r\nok", 0, 0, ALL);
	one(OK "Connection: " ZEROS ZEROS ZEROS
	       ", close\r\n" LENGTH(2) "\r\nok",
	    0, 0, LAST);
	one(OK "Content-Type: " ZEROS ZEROS ZEROS "\r\n" LENGTH(2) "\r\nok", 0,
	    0, ALL);
	memset(text, 'x', sizeof(text));
	begin(&kind, 1);
	give(OK, strlen(OK));
	for (i = 0; i < 2 * HTTP_RESPONSE_HEAD_MAX; i += sizeof(text))
		give(text, sizeof(text));
	ck_assert_int_eq(seen.r.stage, HTTP_RESPONSES_WRONG);
	ck_assert_uint_eq(seen.length, 0);
	ck_assert_uint_eq(buffer_length(&seen.r.held), 0);
}
END_TEST

START_TEST(other_protocols)
{
	unsigned up = HTTP_KIND_UPGRADE, tunnel = HTTP_KIND_CONNECT;
	unsigned kinds[] = { HTTP_KIND_HEAD, 0, HTTP_KIND_UPGRADE };

	one("HTTP/1.1 101 Go\r\n\r\n\n\n\x81", up, 0, TUNNEL);
	one_becomes("HTTP/1.1 101 Go\r\n\r\n", "", 0, 1, WRONG);
	one_becomes(OK LENGTH(2) "\r\nany", OK "\r\nany", tunnel, 0, TUNNEL);
	one("HTTP/1.1 407 No\r\n" LENGTH(2) "\r\nno", tunnel, 0, ALL);
	one("HTTP/1.1 100 Go\r\n\r\n", up, 1, ALL);
	become(OK LENGTH(2) "\r\n" OK LENGTH(
		   37) "\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n!"
		       "HTTP/1.1 101 Go\r\n\r\nframes",
	    OK LENGTH(2) "\r\n" OK LENGTH(
		37) "\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n!"
		    "HTTP/1.1 101 Go\r\n\r\nframes",
	    kinds, 3, 0, TUNNEL);
	become(OK LENGTH(2) "\r\n" OK LENGTH(18) "\r\nHTTP/1.1 101 Go\r\n\r",
	    OK LENGTH(2) "\r\n" OK LENGTH(18) "\r\nHTTP/1.1 101 Go\r\n\r",
	    kinds, 3, 1, ALL);
}
END_TEST

/* ---- streams ---- */

static unsigned dice;

static unsigned
roll(unsigned sides)
{
	dice = dice * 1103515245u + 12345u;
	return (dice >> 16) % sides;
}

#define PICK(list) list[roll(sizeof(list) / sizeof((list)[0]))]

/* Some answers, right or not, and maybe a byte of them changed. */
static void
make_stream(char *text, size_t room)
{
	static const char *const lines[] = { OK, OK, OK, OK, "HTTP/1.1 404\r\n",
		"HTTP/1.0 200 OK\r\n", "HTTP/1.1 204 No\r\n",
		"HTTP/1.1 304 No\n", "HTTP/1.1 100 Go\r\n",
		"HTTP/1.1 101 Go\r\n", "HTTP/1.1 999 Odd\r\n", ("\r\n" OK) };
	static const char *const fields[] = { LENGTH(2), LENGTH(2), CODED,
		CODED, LENGTH(0), LENGTH(3), "Content-Length: 2, 2\n",
		LENGTH(-1), "Content-Length : 2\r\n", "content-length:2\r\n",
		"Transfer-Encoding: gzip\r\n", "A: b\r\n", " folded\r\n",
		"\tfolded: too\n", CLOSE, "Connection: keep-alive\r\n",
		"Connection: a, keep-alive\r\n", "Keep-Alive: 5\r\n",
		"Connection : keep-alive\r\n", "Transfer-Encoding :chunked\r\n",
		"Content-Length\r: 2\r\n", "\rA: b\r\n", "Connection\r\n",
		"Content: x\r\n", "Connection: a,, Close\r\n",
		"Transfer-Encoding:\r\n", "Content-Length: ,\r\n" };
	static const char *const bodies[] = { "ok", "ok", BODY, BODY, "",
		"okay", "ok\r\n",
		"0\r\n f\r\n\rA: b\r\n c\r\nD : e\r\n f\r\n\r\n",
		"2;x=y\r\nok\r\n0\r\nT: u\r\n\r\n", "2 \nok\n00\n\n",
		"2\r\nokay\r\n", OK LENGTH(6) "\r\nforged", "x\r\n" };
	unsigned answers = 1 + roll(3), n;
	size_t at;

	*text = '\0';
	while (answers-- > 0) {
		strcat(text, PICK(lines));
		for (n = roll(4); n > 0; n--)
			strcat(text, PICK(fields));
		strcat(text, "\r\n");
		strcat(text, PICK(bodies));
	}
	ck_assert_uint_lt(strlen(text), room);
	at = roll((unsigned)strlen(text));
	if (roll(4) == 0)
		text[at] = "\r\n \t:;,05a\x7f"[roll(11)];
	else if (roll(8) == 0)
		text[at] = '\0'; /* its end */
}

static void
is_like(const struct httpansref *ref, const char *text, size_t cut)
{
	static const enum httpansref_end ends[] = {
		[HTTP_RESPONSES_TUNNEL] = HTTPANSREF_TUNNEL,
		[HTTP_RESPONSES_CLOSE] = HTTPANSREF_CLOSE,
		[HTTP_RESPONSES_OVER] = HTTPANSREF_OVER,
		[HTTP_RESPONSES_UNASKED] = HTTPANSREF_UNASKED,
		[HTTP_RESPONSES_WRONG] = HTTPANSREF_WRONG,
	};

	ck_assert_msg(ends[seen.r.stage] == ref->end, "cut at %zu: %s: %d, %d",
	    cut, text, seen.r.stage, ref->end);
	ck_assert_msg(seen.pending.count == ref->left, "cut at %zu: %s: %u, %u",
	    cut, text, seen.pending.count, ref->left);
	ck_assert_msg(seen.length == ref->length &&
		memcmp(seen.out, ref->out, ref->length) == 0,
	    "cut at %zu: %s\nbecomes\n%.*s\ninstead of\n%.*s", cut, text,
	    (int)seen.length, seen.out, (int)ref->length, ref->out);
}

/* What a reader of another kind makes of them is what goes on, cut anywhere. */
START_TEST(streams_as_another_reader_has_them)
{
	static const unsigned all[] = { 0, 0, 0, HTTP_KIND_HEAD, HTTP_KIND_LAST,
		HTTP_KIND_CONNECT, HTTP_KIND_UPGRADE };
	static struct httpansref ref;
	unsigned kinds[3], requests, i, k;
	uint8_t few[3] = { 0 };
	char text[2048];
	size_t n, cut;

	dice = (unsigned)_i + 1;
	for (i = 0; i < (unsigned)suite_rounds(500); i++) {
		requests = roll(4);
		for (k = 0; k < requests; k++)
			few[k] = (uint8_t)(kinds[k] = PICK(all));
		make_stream(text, sizeof(text));
		n = strlen(text);
		httpansref_read(&ref, few, requests, text, n);
		for (cut = 0; cut <= n; cut += 1 + roll(9)) {
			begin(kinds, requests);
			give(text, cut);
			give(text + cut, n - cut);
			is_like(&ref, text, cut);
		}
		begin(kinds, requests);
		for (cut = 0; cut < n; cut++)
			give(text + cut, 1);
		is_like(&ref, text, 1);
	}
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
	static const char text[] =
	    "HTTP/1.1 100 Go\r\n\r\n" OK LENGTH(0) "\r\n" OK LENGTH(0) "\r\n";
	static const char wanted[] =
	    "HTTP/1.1 100 Go\r\n\r\n" OK
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
	SUITE_ADD(s, sections_in_part, 5);
	SUITE_ADD(s, chunks, 5);
	SUITE_ADD(s, wrong_chunks, 5);
	SUITE_ADD(s, codings, 5);
	SUITE_ADD(s, lengths, 5);
	SUITE_ADD(s, answers_without_a_body, 5);
	SUITE_ADD(s, folded_fields, 5);
	SUITE_ADD(s, unclean_fields, 10);
	SUITE_ADD(s, blanks_before_a_colon, 5);
	SUITE_ADD(s, answers_in_doubt, 5);
	SUITE_ADD(s, no_answers, 5);
	SUITE_ADD(s, excess, 5);
	SUITE_ADD(s, long_lines, 5);
	SUITE_ADD_LOOP(s, streams_as_another_reader_has_them, 30, 4);
	SUITE_ADD(s, other_protocols, 5);
	SUITE_ADD(s, decisions, 5);
	SUITE_ADD(s, a_line_is_added_to_the_first_answer, 5);
	SUITE_ADD(s, classes_are_counted, 10);
	SUITE_ADD(s, bodies_pass_unread, 5);
	return s;
}
