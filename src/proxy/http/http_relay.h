/* http_relay.h: HTTP on a connection: the filters of a session's two pipes, for
 * its requests and for their answers, and what either needs of the other.
 * Touches no socket. */
#ifndef PEN_PROXY_HTTP_RELAY_H
#define PEN_PROXY_HTTP_RELAY_H

#include "net/pipe.h"
#include "proxy/http/http_responses.h"

/* Room that all filters share; see http_requests_take(), where HTTP_GROWTH is
 * more than what answers may grow by, and http_responses_take(). */
enum { HTTP_ROOM = 2 * PIPE_SCRATCH + HTTP_RESPONSE_HEAD_MAX + HTTP_GROWTH };

struct http_relay {
	struct pipe_filter up, down; /* for requests; for answers */
	struct http_requests requests;
	struct http_responses responses;
	struct http_pending pending;
	struct http_adding adding;
	char added[HTTP_ADDED_MAX];
	char *room; /* not owned */
	uint64_t partial_since; /* ms; 0: see http_relay_is_partial() */
	bool unasked;	/* the server was left for bytes without a request */
	uint64_t noted; /* requests that http_relay_note() has seen */
	uint64_t answers; /* of servers that the connection had before */
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

/* What the answers of a server mean for its connection, and for its client's;
 * with a request that the server does not have all of, it goes on. */
enum http_course {
	HTTP_COURSE_ON,
	HTTP_COURSE_OVER,    /* the last answer is complete: both end */
	HTTP_COURSE_UNASKED, /* bytes came without a request: it ends, but the
			      * client may have another one */
	HTTP_COURSE_WRONG,   /* what came is no answer: nothing of it went on */
	HTTP_COURSE_BROKEN   /* an answer that went on has no valid end */
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
/* Whether nothing of an answer has come since the last one. */
bool http_relay_may_repeat(const struct http_relay *h);
/* Whether the server has answered a request on its connection: it may have
 * closed it for being idle as the next one came. */
bool http_relay_is_kept(const struct http_relay *h);
/* Whether each request has its answer, or gets none any more: the end of the
 * connection means nothing to them. */
bool http_relay_is_answered(const struct http_relay *h);
enum http_course http_relay_course(const struct http_relay *h);
/* The next answers are of another connection to a server. */
void http_relay_restart(struct http_relay *h);
/* Whether it carries requests: no other protocol, nor may one have begun. */
bool http_relay_is_http(const struct http_relay *h);
/* Whether no request is under way: none without its answer, none half here. */
bool http_relay_is_idle(const struct http_relay *h);
/* Whether a part of a header section, or of a line in a chunked body, is here
 * and the client has to send the rest. */
bool http_relay_is_partial(const struct http_relay *h);

#endif
