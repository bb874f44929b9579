/* test_http_requests.c: requests in, requests with added lines out: generated
 * streams, cut everywhere, against a parser of another kind; and the published
 * ways to smuggle requests, one by one. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/http/http_requests.h"
#include "support/httpgen.h"
#include "support/httpref.h"
#include "support/suite.h"

static const char lines[] =
    "X-Forwarded-Proto: http\r\nX-Forwarded-For: 10.1.2.3\r\n";

/* What came out of the bytes given so far. */
static struct {
	struct http_requests r;
	struct http_pending pending;
	struct http_adding adding;
	char out[HTTPREF_MAX];
	size_t length;
} seen;

static void
begin(unsigned drop)
{
	http_requests_fini(&seen.r);
	memset(&seen.r, 0, sizeof(seen.r));
	memset(&seen.pending, 0, sizeof(seen.pending));
	seen.length = 0;
	seen.adding = (struct http_adding){
		.bytes = lines, .length = sizeof(lines) - 1, .drop = drop,
		.connect = true
	};
	seen.r.adding = &seen.adding;
	seen.r.pending = &seen.pending;
}

/* The bytes come in memory of their own, and the room is as large as it must
 * be, so that sanitizers see what goes beyond. */
static void
give(const char *bytes, size_t n)
{
	size_t room_size = n + HTTP_GROWTH + buffer_length(&seen.r.held);
	char *copy = malloc(n + 1), *room = malloc(room_size);
	struct http_text out;

	ck_assert(copy != NULL && room != NULL);
	memcpy(copy, bytes, n);
	ck_assert_int_eq(http_requests_take(&seen.r,
			     (struct http_text){ copy, n }, room, &out),
	    0);
	ck_assert_uint_le(seen.length + out.length, sizeof(seen.out));
	memcpy(seen.out + seen.length, out.at, out.length);
	seen.length += out.length;
	free(room);
	free(copy);
}

static struct httpref ref;

static void
compare(const char *what, unsigned number, size_t cut)
{
	if (seen.length != ref.length ||
	    memcmp(seen.out, ref.out, ref.length) != 0)
		ck_abort_msg("stream %u (%s) cut at %zu:\n%.*s\n---\n%.*s",
		    number, what, cut, (int)seen.length, seen.out,
		    (int)ref.length, ref.out);
	if (ref.wrong && seen.r.status == 0)
		ck_abort_msg("stream %u (%s) cut at %zu: not refused", number,
		    what, cut);
	if (!ref.wrong && !ref.partial && seen.r.status != 0)
		ck_abort_msg("stream %u (%s) cut at %zu: refused: %s", number,
		    what, cut, seen.r.wrong);
}

static void
play(unsigned number, unsigned drop, size_t *accepted)
{
	static struct httpgen g;
	struct httpref_adding adding = { lines, drop != HTTP_SEEN_PROTO };
	size_t cut, i;

	httpgen_make(&g, number);
	httpref_read(&ref, &adding, g.bytes, g.length);
	*accepted += !ref.wrong && !ref.partial;
	for (cut = 0; cut < g.length; cut++) {
		begin(drop);
		give(g.bytes, cut);
		give(g.bytes + cut, g.length - cut);
		compare(g.what, number, cut);
	}
	begin(drop);
	for (i = 0; i < g.length; i++)
		give(g.bytes + i, 1);
	compare(g.what, number, g.length);
}

enum { STREAMS = 2000 };

START_TEST(streams_cut_everywhere)
{
	unsigned drop = HTTP_SEEN_PROTO |
	    (_i % 2 == 1 ? HTTP_SEEN_FOR | HTTP_SEEN_FORWARDED : 0u);
	size_t accepted = 0;
	unsigned rounds = suite_is_in_valgrind()
	    ? STREAMS / 100
	    : (unsigned)suite_amount(STREAMS / 10, STREAMS / 40);
	unsigned i;

	for (i = 0; i < rounds; i++)
		play((unsigned)_i * STREAMS + i, drop, &accepted);
	ck_assert_uint_gt(accepted, rounds / 5);
	ck_assert_uint_lt(accepted, rounds * 4 / 5);
}
END_TEST

/* What RFC 9112, 3.2, does not know, or not of that method. */
START_TEST(targets_of_no_form)
{
	static const char *const bad[] = { "GET admin", "GET *", "PRI *",
		"CONNECT /", "CONNECT a", "CONNECT :1", "CONNECT http://a/",
		"GET http://user@a/", "GET http://", "GET a:1", "OPTIONS **",
		"GET /a#b", "GET /#", "GET #", "GET http://a/#b",
		"GET http://a#", "OPTIONS *#", "CONNECT a:1#" };
	static const char *const good[] = { "GET /", "GET //a@b",
		"GET http://a/@", "GET https://a?x@y", "OPTIONS *",
		"CONNECT a:1" };
	char stream[128];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(stream, sizeof(stream),
		    "%s HTTP/1.1\r\nHost: a\r\n\r\n", bad[i]);
		begin(HTTP_SEEN_PROTO);
		give(stream, strlen(stream));
		ck_assert_msg(seen.r.status == 400, "%s", stream);
		ck_assert_uint_eq(seen.length, 0);
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		(void)snprintf(stream, sizeof(stream),
		    "%s HTTP/1.1\r\nHost: a\r\n\r\n", good[i]);
		begin(HTTP_SEEN_PROTO);
		give(stream, strlen(stream));
		ck_assert_msg(seen.r.status == 0, "%s", stream);
	}
}
END_TEST

START_TEST(connect_is_refused)
{
	static const char stream[] = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";

	begin(HTTP_SEEN_PROTO);
	seen.adding.connect = false;
	give(stream, strlen(stream));
	ck_assert_uint_eq(seen.r.status, 501);
	ck_assert_uint_eq(seen.length, 0);
}
END_TEST

/* What a client sends behind its last request goes nowhere (RFC 9112, 9.3 and
 * 9.6). */
START_TEST(nothing_follows_the_last)
{
	static const char get[] = "GET / HTTP/1.1\r\nHost: a\r\n";
	static const char *const last[] = {
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n",
		"GET / HTTP/1.0\r\n",
		"POST / HTTP/1.0\r\nContent-Length: 2\r\n",
	};
	const char *body = _i == 2 ? "ok" : "";
	char stream[512], passes[512];
	size_t n, cut;

	n = (size_t)snprintf(stream, sizeof(stream), "%s\r\n%s%s\r\n", last[_i],
	    body, get);
	(void)snprintf(
	    passes, sizeof(passes), "%s%s\r\n%s", last[_i], lines, body);
	for (cut = 0; cut < n; cut++) {
		begin(HTTP_SEEN_PROTO);
		give(stream, cut);
		give(stream + cut, n - cut);
		ck_assert_uint_eq(seen.length, strlen(passes));
		ck_assert_mem_eq(seen.out, passes, seen.length);
		ck_assert_uint_eq(seen.r.status, 0);
		ck_assert(!http_requests_wait(&seen.r));
		ck_assert(http_requests_are_idle(&seen.r));
	}
}
END_TEST

/* A server may go by either: both name the same (RFC 9112, 3.2 and 3.2.2). */
START_TEST(host_of_the_target)
{
	static const char *const same[][2] = { { "GET http://a/", "a" },
		{ "GET http://A.b:80/", "a.B" }, { "GET http://a", "a:80" },
		{ "GET https://a/", "a:443" }, { "GET http://a:/?x", "a" },
		{ "GET http://a?b", "a" }, { "GET ftp://[::1]:9/", "[::1]:9" },
		{ "GET http://[::1]/", "[::1]" }, { "GET /", "b" },
		{ "OPTIONS *", "b" }, { "CONNECT a:443", "a" },
		{ "CONNECT [::1]:443", "[::1]:443" } };
	static const char *const others[][2] = { { "GET http://a/", "b" },
		{ "GET http://a/", "" }, { "GET http://a/", "a.b" },
		{ "GET http://a.b/", "a" }, { "GET http://a:81/", "a" },
		{ "GET http://a/", "a:81" }, { "GET https://a/", "a:80" },
		{ "GET http://[::1]/", "[::2]" }, { "GET http://a/b", "a/b" },
		{ "CONNECT a:443", "b" }, { "CONNECT a:443", "a:80" },
		{ "OPTIONS http://a", "b" } };
	char stream[128];
	size_t i, n, cut;
	bool good;

	for (i = 0; i < sizeof(same) + sizeof(others); i += sizeof(same[0])) {
		const char *const *x;

		good = i < sizeof(same);
		x = good ? same[i / sizeof(same[0])]
			 : others[(i - sizeof(same)) / sizeof(same[0])];
		n = (size_t)snprintf(stream, sizeof(stream),
		    "%s HTTP/1.1\r\nX: y\r\nHost: %s\r\n\r\n", x[0], x[1]);
		for (cut = 0; cut < n; cut++) {
			begin(HTTP_SEEN_PROTO);
			give(stream, cut);
			give(stream + cut, n - cut);
			ck_assert_msg(
			    seen.r.status == (good ? 0 : 400), "%s", stream);
		}
	}
}
END_TEST

/* An empty list has no expectation that could fail (RFC 9110, 10.1.1). */
START_TEST(expectations)
{
	static const char *const good[] = { "", "100-continue", "100-Continue,",
		", ", "100-continue\r\nExpect: 100-continue",
		"\r\nExpect: 100-continue" };
	static const char *const bad[] = { "x", "100-continue, x", "100",
		"100-continue x", "\r\nExpect: x" };
	char stream[128];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		(void)snprintf(stream, sizeof(stream),
		    "GET / HTTP/1.1\r\nHost: a\r\nExpect: %s\r\n\r\n", good[i]);
		begin(HTTP_SEEN_PROTO);
		give(stream, strlen(stream));
		ck_assert_msg(seen.r.status == 0, "%s", stream);
		ck_assert(seen.r.repeatable == (strchr(good[i], '1') == NULL));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(stream, sizeof(stream),
		    "GET / HTTP/1.1\r\nHost: a\r\nExpect: %s\r\n\r\n", bad[i]);
		begin(HTTP_SEEN_PROTO);
		give(stream, strlen(stream));
		ck_assert_msg(seen.r.status == 417, "%s", stream);
	}
}
END_TEST

/* ---- published patterns ---- */

/* Refused, and of it the server gets `passes` alone. */
static void
refused(const char *stream, const char *passes, unsigned status)
{
	size_t n = strlen(stream), cut;

	for (cut = 0; cut < n; cut++) {
		begin(HTTP_SEEN_PROTO);
		give(stream, cut);
		give(stream + cut, n - cut);
		ck_assert_msg(seen.length == strlen(passes) &&
			memcmp(seen.out, passes, seen.length) == 0,
		    "%s\ngot past as %.*s", stream, (int)seen.length, seen.out);
		ck_assert_msg(
		    seen.r.status == status, "%s: %u", stream, seen.r.status);
	}
}

#define POST	 "POST / HTTP/1.1\r\nHost: a\r\n"
#define SMUGGLED "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"

START_TEST(cl_te)
{
	refused(POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
		     "0\r\n\r\n" SMUGGLED,
	    "", 400);
}
END_TEST

START_TEST(te_cl)
{
	refused(POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
		     "2c\r\n" SMUGGLED "0\r\n\r\n",
	    "", 400);
}
END_TEST

START_TEST(te_te)
{
	static const char *const codings[] = { "Transfer-Encoding: xchunked",
		"Transfer-Encoding : chunked", "Transfer-Encoding: x",
		"Transfer-Encoding:\013chunked", " Transfer-Encoding: chunked",
		"X: X\nTransfer-Encoding: chunked",
		"Transfer-Encoding\r\n : chunked",
		"Transfer-Encoding: \"chunked\"",
		"Transfer-Encoding: chunked, identity",
		"Transfer-Encoding: identity, chunked" };
	char stream[400];
	size_t i;
	bool unknown;

	for (i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
		snprintf(stream, sizeof(stream),
		    POST "Transfer-Encoding: chunked\r\n%s\r\n\r\n0\r\n\r\n",
		    codings[i]);
		refused(stream, "", 400);
		snprintf(stream, sizeof(stream), POST "%s\r\n\r\n0\r\n\r\n",
		    codings[i]);
		unknown = i == 0 || i == 2 || i == 9;
		refused(stream, "", unknown ? 501 : 400);
	}
}
END_TEST

START_TEST(cl_cl)
{
	refused(POST "Content-Length: 0\r\nContent-Length: 44\r\n\r\n" SMUGGLED,
	    "", 400);
	refused(POST "Content-Length: 0, 44\r\n\r\n" SMUGGLED, "", 400);
	refused(POST "Content-Length: +0\r\n\r\n" SMUGGLED, "", 400);
	refused(POST "Content-Length: 18446744073709551616\r\n\r\n", "", 400);
}
END_TEST

/* The front end takes no length where the server takes one. */
START_TEST(zero_cl)
{
	refused(POST " Content-Length: 44\r\n\r\n" SMUGGLED, "", 400);
	refused(POST "Content-Length : 44\r\n\r\n" SMUGGLED, "", 400);
	refused(POST "Content-Length\t: 44\r\n\r\n" SMUGGLED, "", 400);
	refused(POST
	    "Expect: y 100-continue\r\nContent-Length: 44\r\n\r\n" SMUGGLED,
	    "", 417);
	refused(POST
	    "Connection: Content-Length\r\nContent-Length: 44\r\n\r\n" SMUGGLED,
	    "", 400);
}
END_TEST

START_TEST(obs_fold)
{
	refused(POST "X: a\r\n b\r\n\r\n", "", 400);
	refused(POST "X: a\r\n\tTransfer-Encoding: chunked\r\n\r\n", "", 400);
	refused("GET / HTTP/1.1\r\n Host: a\r\n\r\n", "", 400);
	refused(POST "Transfer-Encoding:\r\n chunked\r\n\r\n", "", 400);
}
END_TEST

START_TEST(bare_cr_and_lf)
{
	refused("GET / HTTP/1.1\nHost: a\n\n", "", 400);
	refused(POST "X: a\nContent-Length: 5\r\n\r\n", "", 400);
	refused(POST "X: a\rContent-Length: 5\r\n\r\n", "", 400);
	refused(POST "\n", "", 400);
	refused("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", "", 400);
}
END_TEST

#define CHUNKED POST "Transfer-Encoding: chunked\r\n"
#define ADDED	"X-Forwarded-Proto: http\r\nX-Forwarded-For: 10.1.2.3\r\n"

START_TEST(chunk_extensions)
{
	static const char *const sizes[] = { "5;a\n", "5;\n", "5;\r\n",
		"5 ;\r\n", "5;a \r\n", "5;a= \r\n", "5 a\r\n", "5;a=\r\n",
		"5;a=\"b\r\n", "5;a\rb\r\n", "5;a=b c\r\n", "5;\"a\"\r\n",
		"5,a\r\n" };
	char stream[300];
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(stream, sizeof(stream),
		    CHUNKED "\r\n%shello\r\n0\r\n\r\n" SMUGGLED, sizes[i]);
		refused(stream, CHUNKED ADDED "\r\n", 400);
	}
}
END_TEST

START_TEST(chunk_sizes)
{
	static const char *const sizes[] = { "\r\n", "g\r\n", "0x5\r\n",
		"-5\r\n", "+5\r\n", "5 \r\n", " 5\r\n", "5\n", "5\r\r\n",
		"10000000000000005\r\n", "ffffffffffffffff\r\n", "80000000\r\n",
		"100000005\r\n", "0000000080000005\r\n",
		"000000000000000000000000000000005\r\n" };
	char stream[300];
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(stream, sizeof(stream),
		    CHUNKED "\r\n%shello\r\n0\r\n\r\n" SMUGGLED, sizes[i]);
		refused(stream, CHUNKED ADDED "\r\n", 400);
	}
	refused(CHUNKED "\r\n5\r\nhelloX\n0\r\n\r\n",
	    CHUNKED ADDED "\r\n5\r\nhello", 400);
	refused(CHUNKED "\r\n5\r\nhello\n0\r\n\r\n",
	    CHUNKED ADDED "\r\n5\r\nhello", 400);
}
END_TEST

/* Blanks around ";" and "=", and digits that mean nothing (RFC 9112, 7.1 and
 * 7.1.1). */
START_TEST(chunk_lines_as_the_rfc_has_them)
{
	static const char *const sizes[] = { "5;a", "5 ; a = b", "5\t;\ta",
		"5 ;a;b = \"c ; d\" ; e", "00000000000000005",
		"00000000000000000000000000000005", "0005;x=y" };
	char stream[300], passes[400];
	size_t i, n, cut;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		n = (size_t)snprintf(stream, sizeof(stream),
		    CHUNKED "\r\n%s\r\nhello\r\n0\r\n\r\n", sizes[i]);
		snprintf(passes, sizeof(passes),
		    CHUNKED ADDED "\r\n%s\r\nhello\r\n0\r\n\r\n", sizes[i]);
		for (cut = 0; cut < n; cut++) {
			begin(HTTP_SEEN_PROTO);
			give(stream, cut);
			give(stream + cut, n - cut);
			ck_assert_msg(seen.r.status == 0, "%s", stream);
			ck_assert_uint_eq(seen.length, strlen(passes));
			ck_assert_mem_eq(seen.out, passes, seen.length);
		}
	}
	begin(HTTP_SEEN_PROTO);
	give(CHUNKED "\r\n7fffffff\r\n", strlen(CHUNKED "\r\n7fffffff\r\n"));
	ck_assert_uint_eq(seen.r.status, 0);
	ck_assert_uint_eq(seen.r.left, 0x7fffffff);
}
END_TEST

/* A server that merges trailers with the header would believe them. */
START_TEST(trailers)
{
	static const char *const bad[] = { "X-Forwarded-For: 1.1.1.1",
		"Content-Length: 5", "Transfer-Encoding: chunked", "Host: b",
		" folded", "no colon", "Forwarded: for=1.1.1.1" };
	char stream[300];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(stream, sizeof(stream),
		    CHUNKED "\r\n0\r\nX: y\r\n%s\r\n\r\n" SMUGGLED, bad[i]);
		refused(stream, CHUNKED ADDED "\r\n0\r\n", 400);
	}
}
END_TEST

START_TEST(other_versions_and_protocols)
{
	refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", 505);
	refused("GET / HTTP/1.2\r\nHost: a\r\n\r\n", "", 505);
	refused("GET / http/1.1\r\nHost: a\r\n\r\n", "", 400);
	refused("GET /\r\n\r\n", "", 400);
	refused("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "", 400);
	refused("GET / x HTTP/1.1\r\nHost: a\r\n\r\n", "", 400);
	refused("\x16\x03\x01\x02", "", 400);
	refused("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "", 400);
	refused("GET / HTTP/1.1\r\n\r\n", "", 400);
	refused(
	    "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "", 400);
	refused("CONNECT a:1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
	    "", 400);
}
END_TEST

/* ---- limits ---- */

START_TEST(long_heads_are_refused)
{
	static char stream[HTTP_HEAD_MAX + 100];
	int n = snprintf(stream, sizeof(stream), POST "X: ");

	memset(stream + n, 'x', sizeof(stream) - (size_t)n);
	begin(0);
	give(stream, HTTP_HEAD_MAX);
	ck_assert_uint_eq(seen.r.status, 0);
	give(stream + HTTP_HEAD_MAX, 1);
	ck_assert_uint_eq(seen.r.status, 431);
	ck_assert_uint_eq(seen.length, 0);
	memcpy(stream + HTTP_HEAD_MAX - 4, "\r\n\r\n", 4);
	begin(0);
	give(stream, sizeof(stream));
	ck_assert_uint_eq(seen.pending.count, 1);
	memcpy(stream + HTTP_HEAD_MAX - 3, "\r\n\r\n", 4);
	stream[HTTP_HEAD_MAX - 4] = 'x';
	begin(0);
	give(stream, sizeof(stream));
	ck_assert_uint_eq(seen.r.status, 431);
}
END_TEST

START_TEST(many_requests_wait_for_answers)
{
	unsigned i;

	begin(0);
	for (i = 0; i < HTTP_PENDING_MAX; i++)
		give(SMUGGLED, sizeof(SMUGGLED) - 1);
	ck_assert(!http_requests_wait(&seen.r));
	give(SMUGGLED, sizeof(SMUGGLED) - 1);
	ck_assert(http_requests_wait(&seen.r));
	ck_assert_uint_eq(seen.r.count, HTTP_PENDING_MAX);
	http_pending_remove(&seen.pending);
	ck_assert(!http_requests_wait(&seen.r));
	give("", 0);
	ck_assert_uint_eq(seen.r.count, HTTP_PENDING_MAX + 1);
	ck_assert(http_requests_are_idle(&seen.r));
}
END_TEST

/* ---- other protocols ---- */

#define UPGRADE "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"

static void
ends_with(const char *what)
{
	size_t n = strlen(what);

	ck_assert_uint_ge(seen.length, n);
	ck_assert_mem_eq(seen.out + seen.length - n, what, n);
}

START_TEST(what_follows_an_upgrade_waits)
{
	begin(0);
	give(UPGRADE "\r\nGET", sizeof(UPGRADE) + 4);
	ends_with("10.1.2.3\r\n\r\n");
	ck_assert(http_requests_wait(&seen.r));
	http_requests_decided(&seen.r, true);
	give("", 0);
	ends_with("\r\n\r\nGET");
	give("\0 anything\n", 11);
	ck_assert_mem_eq(seen.out + seen.length - 11, "\0 anything\n", 11);
	ck_assert(http_requests_clear(&seen.r) == UINT64_MAX);
}
END_TEST

START_TEST(refused_upgrades_go_on_with_requests)
{
	begin(0);
	give(UPGRADE "\r\n\0bad\r\n", sizeof(UPGRADE) + 7);
	http_requests_decided(&seen.r, false);
	give("", 0);
	ends_with("10.1.2.3\r\n\r\n");
	ck_assert_uint_eq(seen.r.status, 400);
	ck_assert(!seen.r.cut);
}
END_TEST

START_TEST(protocols_with_requests_are_not_offered)
{
	static const char stream[] =
	    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket, h2c\r\n"
	    "HTTP2-Settings: x\r\n\r\n" SMUGGLED;

	begin(0);
	give(stream, sizeof(stream) - 1);
	ck_assert_uint_eq(seen.r.count, 2);
	ck_assert(memmem(seen.out, seen.length, "Upgrade", 7) == NULL);
}
END_TEST

/* ---- lines that are kept ---- */

START_TEST(a_protocol_that_was_told_is_kept)
{
	static const char told[] =
	    "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\n";

	begin(0);
	seen.adding.keep_proto = true;
	seen.adding.proto_length = 25;
	give(told, sizeof(told) - 1);
	give("\r\n", 2);
	ends_with("https\r\nX-Forwarded-For: 10.1.2.3\r\n\r\n");
	give(SMUGGLED, sizeof(SMUGGLED) - 1);
	ends_with("Host: a\r\n" ADDED "\r\n");
}
END_TEST

/* lighttpd and others make HTTP_X_FORWARDED_FOR of each of them. */
START_TEST(names_that_become_the_same_variable)
{
	static const char *const names[] = { "X_Forwarded_For",
		"x.forwarded.for", "X-Forwarded+For", "X~FORWARDED-FOR" };
	char stream[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		begin(HTTP_SEEN_FOR);
		snprintf(stream, sizeof(stream),
		    "GET / HTTP/1.1\r\nHost: a\r\n%s: 1.2.3.4\r\n\r\n",
		    names[i]);
		give(stream, strlen(stream));
		ck_assert_msg(
		    memmem(seen.out, seen.length, "1.2.3.4", 7) == NULL, "%s",
		    names[i]);
	}
	begin(HTTP_SEEN_FOR);
	give("GET / HTTP/1.1\r\nHost: a\r\nXaForwarded9For: b\r\n\r\n", 48);
	ck_assert(memmem(seen.out, seen.length, "9For", 4) != NULL);
}
END_TEST

START_TEST(bodies_pass_unread)
{
	begin(0);
	give(POST "Content-Length: 1000\r\n\r\nabc", sizeof(POST) + 26);
	ck_assert_uint_eq(http_requests_clear(&seen.r), 997);
	ends_with("\r\n\r\nabc");
	ck_assert(!http_requests_are_idle(&seen.r));
}
END_TEST

SUITE(test_http_requests)
{
	Suite *s = suite_create("http_requests");
	TCase *t = tcase_create("streams");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, streams_cut_everywhere, 0, 10);
	suite_add_tcase(s, t);
	SUITE_ADD(s, cl_te, 5);
	SUITE_ADD(s, te_cl, 5);
	SUITE_ADD(s, te_te, 5);
	SUITE_ADD(s, cl_cl, 5);
	SUITE_ADD(s, zero_cl, 5);
	SUITE_ADD(s, obs_fold, 5);
	SUITE_ADD(s, bare_cr_and_lf, 5);
	SUITE_ADD(s, chunk_extensions, 5);
	SUITE_ADD(s, chunk_lines_as_the_rfc_has_them, 5);
	SUITE_ADD(s, chunk_sizes, 5);
	SUITE_ADD(s, trailers, 5);
	SUITE_ADD(s, other_versions_and_protocols, 5);
	SUITE_ADD(s, long_heads_are_refused, 5);
	SUITE_ADD(s, many_requests_wait_for_answers, 5);
	SUITE_ADD(s, what_follows_an_upgrade_waits, 5);
	SUITE_ADD(s, refused_upgrades_go_on_with_requests, 5);
	SUITE_ADD(s, protocols_with_requests_are_not_offered, 5);
	SUITE_ADD(s, a_protocol_that_was_told_is_kept, 5);
	SUITE_ADD(s, names_that_become_the_same_variable, 5);
	SUITE_ADD(s, bodies_pass_unread, 5);
	SUITE_ADD(s, host_of_the_target, 5);
	SUITE_ADD(s, expectations, 5);
	SUITE_ADD(s, targets_of_no_form, 5);
	SUITE_ADD(s, connect_is_refused, 5);
	SUITE_ADD_LOOP(s, nothing_follows_the_last, 5, 3);
	return s;
}
