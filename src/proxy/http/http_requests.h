/* http_requests.h: the requests of a connection, on their way to the server:
 * bytes in as they come, bytes out with fields added to each header section,
 * and nothing else changed (see http_request.h for what is refused). A section
 * goes on only when it is complete and right; so does each line of a chunked
 * body, and its trailers. Pure.
 *
 *     HEAD -> BODY | CHUNK_SIZE -> CHUNK -> CHUNK_END .. TRAILERS -> HEAD
 *       |                                                       |
 *       v                                                       '-> ANSWER
 *     REFUSED: nothing more goes on                TUNNEL <--- HEAD <---'
 *
 *     ANSWER     what follows CONNECT or Upgrade waits for the response of the
 *                server: another protocol begins, or requests continue
 *     OVER       after the request that is marked as the last one: what else
 *                the client sends is discarded
 *
 * `held` has what came and cannot go on yet: at most HTTP_HEAD_MAX and what was
 * given last. */
#ifndef PEN_PROXY_HTTP_REQUESTS_H
#define PEN_PROXY_HTTP_REQUESTS_H

#include "base/addr.h"
#include "base/buffer.h"
#include "proxy/http/http_identity.h"
#include "proxy/http/http_log.h"
#include "proxy/http/http_request.h"

/* Requests without an answer: others wait. Bytes that may be added to one. */
enum { HTTP_PENDING_MAX = 64, HTTP_ADDED_MAX = 256 };
/* Beyond the bytes given, at most so many come out. */
enum {
	HTTP_GROWTH = HTTP_HEAD_MAX +
	    HTTP_PENDING_MAX * (HTTP_ADDED_MAX + HTTP_IDENTITY_LINE)
};

/* Requests whose answers are not complete, in order. */
struct http_pending {
	uint8_t kind[HTTP_PENDING_MAX];
	uint8_t first, count;
	bool closing; /* the answer lasts until the connection ends */
};

void http_pending_add(struct http_pending *p, unsigned kind);
void http_pending_remove(struct http_pending *p);

/* What happens to the fields with the client address. */
struct http_adding {
	const char *bytes; /* lines that are added */
	size_t length;
	size_t proto_length; /* of those, X-Forwarded-Proto: the first */
	unsigned drop;	     /* enum http_seen: the client's that go */
	bool keep_proto;     /* X-Forwarded-Proto only where there is none */
	bool connect;	     /* CONNECT passes */
};

enum http_requests_stage {
	HTTP_REQUESTS_HEAD,
	HTTP_REQUESTS_BODY,
	HTTP_REQUESTS_CHUNK_SIZE,
	HTTP_REQUESTS_CHUNK,
	HTTP_REQUESTS_CHUNK_END,
	HTTP_REQUESTS_TRAILERS,
	HTTP_REQUESTS_ANSWER,
	HTTP_REQUESTS_TUNNEL,
	HTTP_REQUESTS_OVER,
	HTTP_REQUESTS_REFUSED
};

/* All zero at first, but for `adding` and `pending`, and what `log` has of its
 * frontend, where there is one. */
struct http_requests {
	const struct http_adding *adding;
	struct http_pending *pending;
	struct http_identity *identity; /* owned; NULL: requests have none */

	enum http_requests_stage stage;
	uint64_t left; /* of the body or the chunk */
	bool undecided; /* CONNECT or Upgrade is not answered yet */
	bool switched;	/* it was: TUNNEL comes after this request */
	bool last;	/* OVER does */
	bool repeatable; /* all that are pending may be sent twice */
	uint64_t count; /* header sections that went on */
	struct buffer held;
	struct http_head head;
	struct http_log log; /* of those without a line so far */

	unsigned status;   /* of what was refused; 0: nothing */
	const char *wrong; /* a short message */
	bool cut; /* the server has a part of what was refused */
};

void http_requests_fini(struct http_requests *r);

/* Takes n bytes and what is held, as far as that goes. What is to go on is
 * *out: within `bytes`, or within `room`, of n + HTTP_GROWTH and what is held
 * bytes. Returns 0, or -1 with errno ENOMEM. */
int http_requests_take(struct http_requests *r, struct http_text bytes,
    char *room, struct http_text *out);
/* Whether what is held waits for an answer: there is no use in reading on. */
bool http_requests_wait(const struct http_requests *r);
/* How many of the next bytes go on whatever they are; UINT64_MAX: all. */
uint64_t http_requests_clear(const struct http_requests *r);
/* More than an empty line of the next request or chunk is held. */
bool http_requests_have_begun(const struct http_requests *r);
/* No request has begun that is not complete, nor waits. */
bool http_requests_are_idle(const struct http_requests *r);
/* No more comes of a header section that has begun, and no server gets it: it
 * is for the log, once. */
void http_requests_log_rest(struct http_requests *r);
/* The one that is under way is the last: what follows is thrown away. */
void http_requests_end(struct http_requests *r);
/* The one that is undecided was answered. */
void http_requests_decided(struct http_requests *r, bool switched);

/* The lines that tell a server who its client is.
 * Writes X-Forwarded-Proto and X-Forwarded-For, and with `standard` also
 * Forwarded (RFC 7239), each with its CRLF. A client without an address is
 * "unknown" (RFC 7239, 6.2). Returns how many bytes they are; the first,
 * X-Forwarded-Proto, has *proto of them. */
size_t http_forwarded_lines(char lines[HTTP_ADDED_MAX],
    const struct peer *client, bool tls, bool standard, size_t *proto);

#endif
