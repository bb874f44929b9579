/* http_responses.h: the answers of a server, as they pass on the way to the
 * client: read as far as needed to know which request each one answers, where
 * it ends (RFC 9112, 6.3) and whether another protocol begins after it. The
 * bytes stay as they are; a field may be added to the first answer. Pure.
 *
 *     STATUS -> FIELDS -> BODY | CHUNK_SIZE .. TRAILERS -> STATUS
 *       |          '----> TUNNEL
 *       '---> CLOSE
 *
 *     CLOSE      the answer lasts until the connection ends: by its fields, or
 *                because its end cannot be trusted
 *
 * Servers are read with less rigour than clients: after a doubtful answer no
 * further request is sent. */
#ifndef PEN_PROXY_HTTP_RESPONSES_H
#define PEN_PROXY_HTTP_RESPONSES_H

#include "proxy/http/http_requests.h"

/* As much as has to be known of a line; the rest is not read. */
enum { HTTP_RESPONSE_LINE = 128, HTTP_RESPONSE_HEAD_MAX = 256 * 1024 };

enum http_responses_stage {
	HTTP_RESPONSES_STATUS,
	HTTP_RESPONSES_FIELDS,
	HTTP_RESPONSES_BODY,
	HTTP_RESPONSES_CHUNK_SIZE,
	HTTP_RESPONSES_CHUNK,
	HTTP_RESPONSES_CHUNK_END,
	HTTP_RESPONSES_TRAILERS,
	HTTP_RESPONSES_TUNNEL,
	HTTP_RESPONSES_CLOSE
};

/* Of statuses: 1xx to 5xx. */
enum { HTTP_CLASSES = 5 };

/* All zero at first, but for the first three and `add`. */
struct http_responses {
	struct http_pending *pending;
	struct http_requests *requests; /* gets the decisions */
	uint64_t *classes; /* counts them by the class of their status, of
			    * which it has HTTP_CLASSES; NULL: not counted */
	/* A line for the first answer that is not interim; NULL: none. */
	const char *add;
	/* The next answer without a request waiting after it is the last one,
	 * and is marked so (RFC 9112, 9.6). */
	bool ends;

	enum http_responses_stage stage;
	bool begun; /* an answer has, and is not complete */
	uint64_t answers; /* that have begun, but interim ones */
	unsigned status;
	bool chunked, has_length, odd;
	bool cut; /* a line was longer than what is kept */
	bool last; /* the connection ends after it, by its own fields */
	bool ending; /* and by the field that we added */
	uint64_t left; /* of the body or the chunk */
	size_t head_length;
	char line[HTTP_RESPONSE_LINE]; /* its beginning, when it was split */
	size_t line_length;
};

/* Sees n bytes. What is to go on is *out: within `bytes`, or within `room` of n
 * and HTTP_ADDED_MAX bytes. */
void http_responses_take(struct http_responses *r, struct http_text bytes,
    char *room, struct http_text *out);
/* How many of the next bytes pass whatever they are; UINT64_MAX: all. */
uint64_t http_responses_clear(const struct http_responses *r);

#endif
