/* http_clients.h: the connections of http_server: how many there are, how long
 * each has been without progress, and which ends first when there are too many.
 *
 * evhttp owns a connection, and does not report that it frees one without a
 * request. So this keeps one more reference, and http_clients_sweep() detects
 * it; for the others on_closed() of http_server is called at once. */
#ifndef PEN_NET_HTTP_CLIENTS_H
#define PEN_NET_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct event_base;

enum { HTTP_CLIENTS = 64, HTTP_SWEEP_MS = 1000 };

struct http_client {
	struct bufferevent *bev; /* NULL: the slot is free */
	uint64_t since;		 /* ms */
	uint64_t moved;		 /* ms: its last progress */
	void *answer;		 /* http_server's; NULL: not a long one */
	bool asked;		 /* its request is complete */
	bool waits;		 /* for its next piece, which is not made yet */
	bool ended;		 /* by us */
	/* evhttp's callbacks for the answer, and their argument */
	void (*on_written)(struct bufferevent *bev, void *evhttp);
	void (*on_event)(struct bufferevent *bev, short what, void *evhttp);
	void *evhttp;
};

struct http_clients {
	struct http_client slot[HTTP_CLIENTS];
	unsigned count;
};

/* Memory for a connection that evhttp is about to accept; NULL: too many, or
 * out of memory. */
struct bufferevent *http_clients_add(
    struct http_clients *c, struct event_base *base, uint64_t now);
/* NULL: it was never added. */
struct http_client *http_clients_find(
    struct http_clients *c, const struct bufferevent *bev);
/* evhttp is about to free it. */
void http_clients_remove(struct http_clients *c, struct http_client *client);
/* After evhttp was given the answer, or a part. A FIN of the client does not
 * end it: evhttp would leave out the rest. NULL, or one that has gone, is
 * fine. */
void http_client_answers(struct http_client *client);
/* Ends its connection with a reset, which evhttp finds out, and closes it. */
void http_client_end(struct http_client *client);
/* Forgets what evhttp has freed, and ends what takes too long; when all slots
 * are taken, also some of those that are without progress longest. Returns in
 * how many ms it is to be called again. */
unsigned http_clients_sweep(struct http_clients *c, uint64_t now);
/* In a child process: closes its copies of all sockets, without a shutdown, as
 * evhttp would do it: they are the parent's. */
void http_clients_close_in_child(struct http_clients *c);
/* Drops all references; evhttp has freed the connections. */
void http_clients_fini(struct http_clients *c);

#endif
