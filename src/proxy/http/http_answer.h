/* http_answer.h: an answer of HTTP/1.0 or 1.1 (RFC 9112) as it comes, a piece
 * at a time: its status, then the bytes of its body, without the framing of
 * chunks. Bounded: no more than HTTP_ANSWER_MAX bytes are taken. Pure. */
#ifndef PEN_PROXY_HTTP_ANSWER_H
#define PEN_PROXY_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_ANSWER_MAX = 64 * 1024, HTTP_LINE_MAX = 256 };

enum http_event {
	HTTP_MORE,    /* all was taken */
	HTTP_HEADERS, /* status is known, and where the body ends */
	HTTP_BODY,    /* `body` has the next of its bytes */
	HTTP_END,     /* the answer is complete */
	HTTP_WRONG    /* it is none: `wrong` is the reason */
};

enum http_stage {
	HTTP_IN_STATUS,
	HTTP_IN_HEADERS,
	HTTP_IN_BODY,
	HTTP_IN_CHUNK_SIZE,
	HTTP_IN_CHUNK,
	HTTP_IN_CHUNK_END,
	HTTP_AT_END
};

/* All zero at first. */
struct http_answer {
	unsigned status;
	const char *body; /* of HTTP_BODY, within the bytes that were given */
	size_t body_length;
	const char *wrong; /* a short message */

	/* Private. */
	enum http_stage stage;
	char line[HTTP_LINE_MAX]; /* its beginning */
	size_t line_length;
	size_t taken;
	bool coded, chunked, has_length, bad_length;
	uint64_t left; /* of the body or the chunk */
};

/* Takes what it can of *n bytes, which it moves on. Call it until it returns
 * HTTP_MORE, HTTP_END or HTTP_WRONG. */
enum http_event http_answer_take(
    struct http_answer *h, const char **bytes, size_t *n);
/* The connection has ended. Returns whether that is the end of the answer
 * (RFC 9112, 6.3: a body without a length). */
bool http_answer_ends(const struct http_answer *h);

#endif
