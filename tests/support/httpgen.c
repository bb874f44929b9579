/* httpgen.c: see httpgen.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/httpgen.h"
#include "support/pattern.h"

struct dice {
	uint64_t seed, rolls;
};

static unsigned
roll(struct dice *d, unsigned sides)
{
	return (unsigned)(pattern_mix(d->seed * 65537 + d->rolls++) % sides);
}

static void __attribute__((format(printf, 2, 3)))
say(struct httpgen *g, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(g->bytes + g->length, HTTPGEN_MAX - g->length, format,
	    args);
	va_end(args);
	if (n < 0 || (size_t)n >= HTTPGEN_MAX - g->length)
		abort();
	g->length += (size_t)n;
}

static void
fill(struct httpgen *g, struct dice *d, size_t n)
{
	pattern_fill(roll(d, 1000), 0, g->bytes + g->length, n);
	if (n > 8 && roll(d, 3) == 0)
		memcpy(g->bytes + g->length, "\r\n0\r\n\r\n", 7);
	g->length += n;
}

static const char *const fields[] = { "Accept: */*", "User-Agent: a (b; c)",
	"X-Forwarded-For: 1.2.3.4", "x-forwarded-for: 9.9.9.9, 8.8.8.8",
	"X-Forwarded-Proto: https", "X_Forwarded_For: 7.7.7.7",
	"Forwarded: for=\"[::1]\"", "Cookie: a=b; c=d", "Empty:",
	"Tabs:\t a \t", "Connection: keep-alive, x-other", "Connection: close",
	"Obs: \xe9t\xe9", "TE: trailers", "Expect: 100-continue",
	"X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"Upgrade: h2c", "Content-Type: text/plain", "!#$%&'*+-.^_`|~: x",
	"Range: bytes=0-1" };
static const char *const odd_fields[] = { "Content-Length: 3",
	"Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked",
	"Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, chunked",
	"Transfer-Encoding:\x0b"
	"chunked",
	"Transfer-Encoding : chunked", " Transfer-Encoding: chunked",
	"\tfolded", "Content-Length: +3", "Content-Length: 3, 3",
	"Content-Length: 0x3", "Content-Length:", "Content-Length: -0",
	"Content-Length: 99999999999999999999", "Content-Length : 3",
	"Host: other", "Host: a b", "No colon", ": no name", "X: nul\x01",
	"X: del\x7f", "Connection: Host", "Connection: close, X-Forwarded-For",
	"Upgrade: websocket", "Expect:", "Expect: , 100-Continue",
	"Expect: 100-continued",
	"Expect:\x0c"
	"100-continue" };

static void
say_chunks(struct httpgen *g, struct dice *d)
{
	static const char *const sizes[] = { "%x", "%X", "0%x", "%x;a=b",
		"%x;a", "%x;a=\"b;\\\"c\"", "%04x", "%x ; a\t= b", "%020x" };
	static const char *const trailers[] = {
		"X-Sum: 1\r\n", "A: b\r\nC:d\r\n", "", "", "" };
	unsigned n = roll(d, 4), size;

	while (n-- > 0) {
		size = 1 + roll(d, roll(d, 5) == 0 ? 300 : 20);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		say(g, sizes[roll(d, 9)], size);
#pragma GCC diagnostic pop
		say(g, "\r\n");
		fill(g, d, size);
		say(g, "\r\n");
	}
	say(g, "%s\r\n%s\r\n", roll(d, 4) == 0 ? "000;end" : "0",
	    trailers[roll(d, 5)]);
}

static void
say_request(struct httpgen *g, struct dice *d, const char *extra)
{
	static const char *const methods[] = { "GET", "POST", "HEAD", "PUT",
		"OPTIONS", "get", "M-SEARCH" };
	static const char *const targets[] = { "/", "/a?b=c&d", "*",
		"http://h1:80/x", "/%20~[]{}|" };
	unsigned body = roll(d, 3), n = roll(d, 6), size = roll(d, 60);
	unsigned minor = body == 2 || roll(d, 4) > 0;
	unsigned target = roll(d, 5);

	if (roll(d, 12) == 0)
		say(g, "\r\n");
	say(g, "%s %s HTTP/1.%u\r\n", methods[target == 2 ? 4 : roll(d, 7)],
	    targets[target], minor);
	if (minor == 1 || roll(d, 2) == 0)
		say(g, "Host: h%u:80\r\n",
		    target == 3 && roll(d, 8) > 0 ? 1 : roll(d, 9));
	if (minor == 0 && roll(d, 4) > 0)
		say(g, "Connection: keep-alive\r\n");
	while (n-- > 0) {
		const char *field = fields[roll(d, 20)];

		if (strncmp(field, "Expect", 6) != 0 || n == 0)
			say(g, "%s\r\n", field);
	}
	if (extra != NULL)
		say(g, "%s\r\n", extra);
	if (body == 1)
		say(g, "Content-Length: %u\r\n", size);
	if (body == 2)
		say(g, "Transfer-Encoding: Chunked\r\n");
	say(g, "\r\n");
	if (body == 1)
		fill(g, d, size);
	if (body == 2)
		say_chunks(g, d);
}

/* ---- one thing is done to it ---- */

static void
put_in(struct httpgen *g, size_t at, const char *bytes, size_t n)
{
	memmove(g->bytes + at + n, g->bytes + at, g->length - at);
	memcpy(g->bytes + at, bytes, n);
	g->length += n;
}

static void
take_out(struct httpgen *g, size_t at, size_t n)
{
	memmove(g->bytes + at, g->bytes + at + n, g->length - at - n);
	g->length -= n;
}

static void
corrupt(struct httpgen *g, struct dice *d)
{
	static const char odd[] = "\r\n \t:;,\"\\\x0b\x7f\xff" "0a-+";
	size_t at = roll(d, (unsigned)g->length);
	char *feed;

	switch (roll(d, 6)) {
	case 0:
		g->what = "a byte put in";
		put_in(g, at, odd + roll(d, sizeof(odd)), 1);
		break;
	case 1:
		g->what = "a byte taken out";
		take_out(g, at, 1);
		break;
	case 2:
		g->what = "another byte";
		g->bytes[at] = odd[roll(d, sizeof(odd))];
		break;
	case 3:
		g->what = "cut off";
		g->length = at;
		break;
	case 4:
		g->what = "a CR taken out";
		feed = memchr(g->bytes + at, '\r', g->length - at);
		if (feed != NULL)
			take_out(g, (size_t)(feed - g->bytes), 1);
		break;
	default:
		g->what = "a LF taken out";
		feed = memchr(g->bytes + at, '\n', g->length - at);
		if (feed != NULL)
			take_out(g, (size_t)(feed - g->bytes), 1);
		break;
	}
}

void
httpgen_make(struct httpgen *g, uint64_t number)
{
	struct dice d = { .seed = number };
	unsigned n = 1 + roll(&d, 4), odd = roll(&d, n);
	unsigned kind = roll(&d, 3), i;

	g->length = 0;
	g->what = "right";
	for (i = 0; i < n; i++) {
		if (kind == 1 && i == odd) {
			g->what = odd_fields[roll(&d,
			    sizeof(odd_fields) / sizeof(odd_fields[0]))];
			say_request(g, &d, g->what);
		} else {
			say_request(g, &d, NULL);
		}
	}
	if (kind == 2)
		corrupt(g, &d);
}
