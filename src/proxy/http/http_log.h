/* http_log.h: what the log of requests has of a connection: the requests that
 * have no line so far, in order, each kept from its header section on until its
 * answer is with its client. While nothing is logged, or no request is under
 * way, a connection owns nothing of it. Pure.
 *
 *     http_log_request      its header section went on
 *     http_log_sent         so did all of it
 *     http_log_answer       its answer begins, which may be an interim one
 *     http_log_status       the header section of the final one went on
 *     http_log_answered     so did all of it
 *
 * Requests of a connection are numbered from 0 on. Of a number that is not
 * kept, as when the log began after it, nothing is noted. */
#ifndef PEN_PROXY_HTTP_LOG_H
#define PEN_PROXY_HTTP_LOG_H

#include "proxy/http/http_identity.h"

/* So many bytes are kept; of what is longer, the beginning. With each of them
 * escaped, a line still has room for all (log_format.h). */
enum {
	HTTP_LOG_PATH_MAX = 2048,
	HTTP_LOG_LINE_MAX = 1024, /* of what is no request line */
	HTTP_LOG_HOST_MAX = 256,
	HTTP_LOG_AGENT_MAX = 512,
	HTTP_LOG_REFERER_MAX = 1024
};

enum http_log_text {
	HTTP_LOG_LINE, /* the request line */
	HTTP_LOG_HOST,
	HTTP_LOG_AGENT,
	HTTP_LOG_REFERER,
	HTTP_LOG_IDENTITY, /* http_identity.h */
	HTTP_LOG_TEXTS
};

struct http_logged {
	struct http_logged *next;
	uint64_t number;
	uint64_t began_us;
	uint64_t first_us; /* the first byte of an answer; 0: none so far */
	/* Positions among all bytes of the connection to the server, and to the
	 * client. */
	uint64_t up_from, up_to;
	uint64_t down_from, body_from, down_to;
	unsigned status;  /* of its answer; 0: none so far */
	unsigned retries; /* servers that failed it */
	bool sent;	  /* up to `up_to` */
	bool answered;	  /* the same of down */
	bool refused;	  /* no server has it */
	bool endless;	  /* its answer ends with the connection */
	bool page;	  /* the answer is ours */
	bool cut;	  /* the server ended before its answer did */
	/* Within the line; 0: it is no request line. */
	uint16_t method, path;
	uint16_t length[HTTP_LOG_TEXTS];
	char bytes[]; /* the texts, one behind the other */
};

/* What the connections of a frontend have together. */
struct http_logging {
	bool on;
	uint64_t (*now_us)(struct http_logging *l);
	/* Bytes that have gone to a connection's server, or `down` to its
	 * client, or are on the way there. */
	uint64_t (*position)(const void *owner, bool down);
	/* A request is not kept, as memory is short. */
	void (*lose)(struct http_logging *l);
};

/* Of a connection; all zero: nothing is logged. */
struct http_log {
	struct http_logging *logging; /* not owned */
	const void *owner;	      /* for `position` */
	struct http_logged *first;
	struct http_text identity; /* of the next request; not owned */
};

static inline bool
http_log_is_on(const struct http_log *g)
{
	return g->logging != NULL && g->logging->on;
}

/* `emitted`: the bytes that this turn has passed on so far, beyond those of
 * `position`. The header section of the request is complete and right. */
void http_log_request(struct http_log *g, uint64_t number,
    struct http_text section, size_t emitted);
/* Notes that what a client has sent goes to no server, as it is refused, or
 * incomplete; whether it is HTTP or not. */
void http_log_refused(
    struct http_log *g, uint64_t number, struct http_text section);
void http_log_sent(struct http_log *g, uint64_t number, size_t emitted);
void http_log_answer(struct http_log *g, uint64_t number, size_t emitted);
void http_log_status(struct http_log *g, uint64_t number, unsigned status,
    bool endless, size_t emitted);
void http_log_answered(struct http_log *g, uint64_t number, size_t emitted);
/* An answer of ours, of which `head` and `body` bytes are on the way by now, is
 * that of this request. */
void http_log_page(struct http_log *g, uint64_t number, unsigned status,
    size_t head, size_t body);
/* A server has ended, and answers no more of those that are kept; or it has
 * failed them, and another one gets them. */
void http_log_cut(struct http_log *g);
void http_log_failed(struct http_log *g);

/* NULL: it is not kept. */
struct http_logged *http_log_find(const struct http_log *g, uint64_t number);
struct http_text http_logged_text(
    const struct http_logged *e, enum http_log_text which);
/* Forgets the last one, if that is it: it is as if it had not come; the first
 * one, or all. */
void http_log_withdraw(struct http_log *g, uint64_t number);
void http_log_remove(struct http_log *g);
void http_log_fini(struct http_log *g);

#endif
