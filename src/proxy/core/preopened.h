/* preopened.h: connections to the servers that are opened in advance, for the
 * next clients (the setting `idlers`).
 *
 *     connecting -> idle -> used by a session, which needs another
 *         |          '----> closed by the server: replaced
 *         '-> failed: its server is blacklisted, as by a client's connect
 *
 * They are spread evenly over the servers that may be chosen, in list order. A
 * server that is not healthy any more loses its own at once. They count neither
 * as sessions nor as connections of their servers. A connection that its server
 * closes within a second, or that could not be opened, is replaced a second
 * later at the earliest. */
#ifndef PEN_PROXY_PREOPENED_H
#define PEN_PROXY_PREOPENED_H

#include "base/addr.h"
#include "base/list.h"
#include "net/sock.h"
#include "net/sources.h"
#include "net/loop/timeouts.h"

struct frontend_core;
struct server;
struct preopened_server;

struct preopened {
	struct frontend_core *frontend;
	struct preopened_server *servers; /* by slot */
	unsigned room;
	uint64_t count; /* connecting and idle */
	struct timeouts *connecting;
	struct timer tick;  /* looks after them every second */
	struct sources *source; /* what they were opened with; owned; NULL:
				 * without any */
	struct sock_keepalive keepalive;
	struct sock_tuning tuning;
};

/* `p` is zeroed. Returns 0, or -1 with errno ENOMEM. */
int preopened_init(struct preopened *p, struct frontend_core *f);
/* Closes all. */
void preopened_fini(struct preopened *p);
/* Opens and closes what the settings and the servers' state require. To be
 * called after a change of either. */
void preopened_adjust(struct preopened *p);
/* The server failed: closes its connections. */
void preopened_drop(struct preopened *p, const struct server *s);
/* Returns a connected descriptor to the server, which is the caller's now, or
 * -1. Bytes that the server has sent already are still in it; with HTTP there
 * are none. */
int preopened_take(struct preopened *p, struct server *s);
/* Replaces those that were taken. To be called when the pool has the result of
 * the client, because it may blacklist the server. */
void preopened_refill(struct preopened *p, struct server *s);

#endif
