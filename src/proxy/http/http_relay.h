/* http_relay.h: HTTP on a connection: the filters of a session's two pipes, for
 * its requests and for their answers, and what either needs of the other.
 * Touches no socket. */
#ifndef PEN_PROXY_HTTP_RELAY_H
#define PEN_PROXY_HTTP_RELAY_H

#include "net/pipe.h"
#include "proxy/http/http_responses.h"

/* Room that all filters share; see http_requests_take(). */
enum { HTTP_ROOM = PIPE_SCRATCH + HTTP_HEAD_MAX + HTTP_GROWTH };

struct http_relay {
	struct pipe_filter up, down; /* for requests; for answers */
	struct http_requests requests;
	struct http_responses responses;
	struct http_pending pending;
	struct http_adding adding;
	char added[HTTP_ADDED_MAX];
	char *room; /* not owned */
	uint64_t partial_since; /* ms; 0: see http_relay_is_partial() */
	uint64_t noted; /* requests that http_relay_note() has seen */
	uint64_t sent;	/* bytes, to servers that the connection had before */
};

/* The kind of requests that were passed on, which may have to be sent again. */
enum http_repeat {
	HTTP_REPEAT_NO,	  /* they may not be sent twice, nor those before */
	HTTP_REPEAT_MORE, /* they may, and those before that are not answered */
	HTTP_REPEAT_ALL	  /* they may, and are all that is not answered */
};

/* Action for a request that was refused. */
enum http_refusal {
	HTTP_REFUSAL_NONE,  /* there is none, or answers come before */
	HTTP_REFUSAL_PAGE,  /* its client may get a page */
	HTTP_REFUSAL_BREAK, /* too late: an answer has begun, or is complete */
};

/* `room` of HTTP_ROOM bytes outlives it. The caller sets `adding`. */
void http_relay_init(struct http_relay *h, char *room);
void http_relay_fini(struct http_relay *h);

enum http_refusal http_relay_refusal(const struct http_relay *h);
/* Bytes went on: with `all`, all those of requests that are not answered. */
enum http_repeat http_relay_note(struct http_relay *h, bool all);
/* Whether another server may answer the next request: all are answered, and
 * neither side marked it as the last one. */
bool http_relay_may_move(const struct http_relay *h);
/* Whether the last answer, which was marked so, is complete. */
bool http_relay_is_over(const struct http_relay *h);
/* Whether it carries requests: no other protocol, nor may one have begun. */
bool http_relay_is_http(const struct http_relay *h);
/* Whether no request is under way: none without its answer, none half here. */
bool http_relay_is_idle(const struct http_relay *h);
/* Whether a part of a header section, or of a line in a chunked body, is here
 * and the client has to send the rest. */
bool http_relay_is_partial(const struct http_relay *h);

#endif
