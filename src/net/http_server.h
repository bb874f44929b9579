/* http_server.h: a small HTTP server for pages about the program, by libevent's
 * evhttp in the loop of all others. GET and HEAD, no bodies, one request a
 * connection.
 *
 * It must not delay other traffic: a connection has 10 s for its request and 30
 * s in all; there are 64 at a time, others wait in the backlog, and the one
 * without progress longest is dropped for them; a long answer is made piece by
 * piece, the next when the client has read the last and all earlier requests
 * have had theirs.
 *
 * A client on loopback must name this machine: 421 for another Host; with names
 * of `hosts` each client but one of a Unix socket must, or one of these. */
#ifndef PEN_NET_HTTP_SERVER_H
#define PEN_NET_HTTP_SERVER_H

#include "base/addr.h"
#include "base/buffer.h"
#include "base/error.h"
#include "net/listener.h"
#include "net/loop/pieces.h"

struct http_exchange; /* one request, until it is answered */
struct http_server;

struct http_pages {
	/* Whether the client may send requests; Unix clients are AF_UNIX. */
	bool (*permits)(void *arg, const struct peer *who);
	/* Answers by http_reply() or http_stream(), before it returns. `path`
	 * has no query. */
	void (*get)(void *arg, struct http_exchange *x, const char *path);
	/* Names that this machine has besides, with commas; NULL: none. */
	const char *(*hosts)(void *arg);
	void *arg;
	struct pieces *pieces; /* in whose turns long answers are made */
};

/* Listens, and serves from now on. Of `wanted` the file mode, freebind and
 * table of sockets count. `before` (NULL: none) is closed next; it stops
 * listening if its address overlaps, as 127.0.0.1:80 with 0.0.0.0:80. NULL with
 * a full message that names the address. */
struct http_server *http_server_open(struct loop *l, const struct addr *at,
    const struct sock_listen_options *wanted, struct http_server *before,
    const struct http_pages *pages, struct error *e);
/* Accepts again, since the server is to stay after all; NULL is fine. */
void http_server_listen_again(struct http_server *before);
/* Ends what is under way; NULL is fine. */
void http_server_close(struct http_server *s);
/* In a child process, before http_server_close(): drops the connections without
 * closing those of the parent. */
void http_server_close_in_child(struct http_server *s);

/* The quality that the client gives to this media type by name, in thousandths;
 * 0: it does not want it. */
unsigned http_accepts(const struct http_exchange *x, const char *type);
/* The value of a parameter of the query, decoded and cut to `size`. Returns
 * whether it is there. */
bool http_parameter(
    const struct http_exchange *x, const char *name, char *to, size_t size);
/* Whether it is there, also without a value. */
bool http_has_parameter(const struct http_exchange *x, const char *name);
void http_reply(struct http_exchange *x, unsigned status, const char *type,
    const char *text, size_t n);
/* `more` appends the next piece, and returns false when that was the last.
 * `done` is called once, when all is sent or the client is gone. */
void http_stream(struct http_exchange *x, const char *type,
    bool (*more)(void *arg, struct buffer *out), void (*done)(void *arg),
    void *arg);

/* The name of this host; "" when it has none. */
const char *http_server_host(const struct http_server *s);

#endif
