/* http_responses.h: the answers of a server, on the way to the client: read as
 * far as needed to know which request each one answers, where it ends (RFC
 * 9112, 6.3) and whether another protocol begins after it. A header section
 * goes on only when it is complete; so does each line of a chunked body, and
 * its trailers. No byte goes on that belongs to no answer. Pure.
 *
 *     HEAD -> BODY | CHUNK_SIZE -> CHUNK -> CHUNK_END .. TRAILERS -> HEAD
 *       |                                                      '---> OVER
 *       '---> TUNNEL | CLOSE | UNASKED | WRONG
 *
 *     CLOSE      the answer lasts until the connection ends, and was marked so
 *                (Connection: close); no request follows it
 *     OVER       the last answer is complete: by its fields, or those of its
 *                request, the connection ends (RFC 9112, 9.6)
 *     UNASKED    bytes came without a request
 *     WRONG      it is no answer, or its framing is invalid, so that the rest
 *                cannot be read
 *
 * In these last three, all that comes is thrown away, and no further request
 * goes on. What goes on stays as it came, but for these: a line that is added;
 * rough lines, and what frames a body where it is wrong or repeated, or none
 * may follow (see http_response.h); "keep-alive" in an answer that is marked as
 * the last.
 *
 * Servers are read with less rigour than clients: lines may end with LF, a size
 * may be filled up with blanks.
 *
 * `held` has the beginning of a header section or line: at most
 * HTTP_RESPONSE_HEAD_MAX and what was given last. */
#ifndef PEN_PROXY_HTTP_RESPONSES_H
#define PEN_PROXY_HTTP_RESPONSES_H

#include "proxy/http/http_requests.h"
#include "proxy/http/http_response.h"

/* The longest header section, trailer section or line that is taken. */
enum { HTTP_RESPONSE_HEAD_MAX = 256 * 1024 };

enum http_responses_stage {
	HTTP_RESPONSES_HEAD,
	HTTP_RESPONSES_BODY,
	HTTP_RESPONSES_CHUNK_SIZE,
	HTTP_RESPONSES_CHUNK,
	HTTP_RESPONSES_CHUNK_END,
	HTTP_RESPONSES_TRAILERS,
	HTTP_RESPONSES_TUNNEL,
	HTTP_RESPONSES_CLOSE,
	HTTP_RESPONSES_OVER, /* nothing goes on from here */
	HTTP_RESPONSES_UNASKED,
	HTTP_RESPONSES_WRONG
};

/* Of statuses: 1xx to 5xx. */
enum { HTTP_CLASSES = 5 };

/* All zero at first, but for the first four and `add`. */
struct http_responses {
	struct http_pending *pending;
	struct http_requests *requests; /* gets the decisions */
	uint64_t *classes;   /* counts them by the class of their status, of
			    * which it has HTTP_CLASSES; NULL: not counted */
	uint64_t *of_server; /* the same of its server alone */
	/* A line for the first answer that is not interim; NULL: none. */
	const char *add;
	/* The next answer without a request waiting after it is the last one,
	 * and is marked so (RFC 9112, 9.6). */
	bool ends;

	enum http_responses_stage stage;
	bool begun;	  /* bytes of one came that is not complete */
	bool excess;	  /* something came after the last one */
	bool ending;	  /* it is the last by the field that `ends` added */
	uint64_t answers; /* header sections that went on, but interim ones */
	bool last;	  /* it is, by what the server sent */
	uint64_t left;	  /* of the body or the chunk */
	struct buffer held;
	struct http_response head;
	const char *wrong; /* a short message */

	/* Private: of the section, or line, that is being read. */
	size_t line, searched; /* the next line of it; seen up to here */
	bool rough;	       /* trailers do not go on as they came */
};

void http_responses_fini(struct http_responses *r);

/* Takes n bytes and what is held, as far as that goes. What is to go on is
 * *out: within `bytes`, or within `room`, which has n, HTTP_ADDED_MAX and what
 * is held, and a byte for each response, whose length may be written anew.
 * Returns 0, or -1 with errno ENOMEM. */
int http_responses_take(struct http_responses *r, struct http_text bytes,
    char *room, struct http_text *out);
/* How many of the next bytes pass whatever they are; UINT64_MAX: all. */
uint64_t http_responses_clear(const struct http_responses *r);
/* Whether the client has a part of an answer that is not complete. */
bool http_responses_are_within(const struct http_responses *r);
/* The next bytes are of another connection. */
void http_responses_restart(struct http_responses *r);

#endif
