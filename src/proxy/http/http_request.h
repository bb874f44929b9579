/* http_request.h: the header section of a request of HTTP/1.0 or 1.1, or the
 * trailer section after its body, read strictly by RFC 9112. What two parsers
 * could read differently is wrong, even where the RFC lets a server guess: bare
 * CR or LF, folded lines, blanks before a colon, a second length, a length
 * beside a transfer coding, codings other than chunked. Pure.
 *
 *     GET /a HTTP/1.1 CRLF          http_head_take() is given the section from
 *     Host: b CRLF                  its first byte on, each time with what has
 *     X-Forwarded-For: c CRLF       come since after it, until it is complete
 *     CRLF                          or wrong. No byte is seen twice. */
#ifndef PEN_PROXY_HTTP_REQUEST_H
#define PEN_PROXY_HTTP_REQUEST_H

#include "proxy/http/http_field.h"

/* The longest header or trailer section that is taken. */
enum { HTTP_HEAD_MAX = 32 * 1024 };

/* What the answer to a request depends on; bits. */
enum http_kind {
	HTTP_KIND_HEAD = 1,    /* has no body (RFC 9112, 6.3) */
	HTTP_KIND_CONNECT = 2, /* 2xx begins a tunnel (RFC 9110, 9.3.6) */
	HTTP_KIND_UPGRADE = 4, /* 101 switches protocols (RFC 9110, 7.8) */
	/* A server that gets it twice does nothing twice: of a safe method (RFC
	 * 9110, 9.2.1), and nothing follows its header section. */
	HTTP_KIND_REPEATABLE = 8,
	HTTP_KIND_LAST = 16, /* no request follows (RFC 9112, 9.3 and 9.6) */
};

/* Fields that were there; bits. */
enum http_seen {
	HTTP_SEEN_HOST = 1,
	HTTP_SEEN_LENGTH = 2,
	HTTP_SEEN_CODING = 4,
	HTTP_SEEN_EXPECT = 8,
	HTTP_SEEN_FOR = 16, /* X-Forwarded-For */
	HTTP_SEEN_PROTO = 32, /* X-Forwarded-Proto */
	HTTP_SEEN_FORWARDED = 64,
	HTTP_SEEN_NO_UPGRADE = 128 /* to a protocol with requests of its own */
};

enum http_head_state {
	HTTP_HEAD_MORE, /* it goes on */
	HTTP_HEAD_DONE,
	HTTP_HEAD_WRONG /* `status` and `wrong` are the reason */
};

/* All zero at first, but for `trailers`. */
struct http_head {
	bool trailers; /* fields alone, of which some are forbidden */
	const char *cookie; /* its value is wanted; NULL: none is */

	/* Once it is done: */
	size_t skipped; /* bytes of an empty line before it */
	size_t length;	/* of all, with both empty lines */
	uint64_t body;	/* Content-Length */
	bool chunked;
	unsigned kind, seen; /* enum http_kind, http_seen */
	bool cookie_found;
	char cookie_value[24];

	unsigned status;   /* when it is wrong: 400, 417, 431, 501, 505 */
	const char *wrong; /* a short message */

	/* Private. */
	size_t line, searched;
	bool begun, old, safe;
	bool close, keep; /* by its field Connection */
	const char *section; /* during a call */
	/* Of a target that names a host: where in the section; and the port of
	 * its scheme, NULL of CONNECT. */
	size_t target_host, target_host_length;
	const char *port;
};

/* Goes on with a section of which `n` bytes are there. */
enum http_head_state http_head_take(
    struct http_head *h, const char *bytes, size_t n);

/* Whether a field of that name means something here, or to servers that cannot
 * distinguish '-' and '_'. */
bool http_field_is_known(struct http_text name);
/* Which fields a line of a complete section is, one of enum http_seen, or 0: of
 * those that may have to be left out. */
unsigned http_line_is(struct http_text line);

#endif
