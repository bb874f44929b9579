/* http_answer.h: an answer of HTTP/1.0 or 1.1 to a GET, a piece at a time: its
 * status, then the bytes of its body, without the framing of chunks. It accepts
 * what the relay would pass on to a client: http_responses.h reads both.
 * Bounded: no more than HTTP_ANSWER_MAX bytes are taken. */
#ifndef PEN_PROXY_HTTP_ANSWER_H
#define PEN_PROXY_HTTP_ANSWER_H

#include "proxy/http/http_responses.h"

enum { HTTP_ANSWER_MAX = 64 * 1024 };

enum http_event {
	HTTP_MORE,    /* all was taken */
	HTTP_HEADERS, /* status is known, and where the body ends */
	HTTP_BODY,    /* `body` has the next of its bytes */
	HTTP_END,     /* the answer is complete */
	HTTP_WRONG,   /* it is none: `wrong` is the reason */
	HTTP_NO_MEMORY
};

/* All zero at first. */
struct http_answer {
	unsigned status;
	const char *body; /* of HTTP_BODY, within the bytes that were given */
	size_t body_length;
	const char *wrong; /* a short message */

	/* Private. */
	struct http_responses responses;
	struct http_requests requests;
	struct http_pending pending;
	char *room; /* NULL until bytes come */
	size_t taken;
};

void http_answer_fini(struct http_answer *h);

/* Takes what it can of *n bytes, which it moves on. Call it until it returns
 * HTTP_MORE, HTTP_END, HTTP_WRONG or HTTP_NO_MEMORY. */
enum http_event http_answer_take(
    struct http_answer *h, const char **bytes, size_t *n);
/* The connection has ended. Returns whether that is the end of the answer
 * (RFC 9112, 6.3: a body without a length). */
bool http_answer_ends(const struct http_answer *h);

#endif
