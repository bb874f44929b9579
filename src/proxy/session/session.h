/* session.h: one client's connection and its server's, joined by two pipes.
 *
 *     HELLO -> CONNECTING -> RELAYING -> DRAINING -> CLOSED
 *       |        ^ |            |                      ^
 *       |        | v            |                      |
 *       |       QUEUED          |                      |
 *       '----------'------------'----------------------'
 *
 *     HELLO       accepted; no server chosen yet. RELAYING comes back here for
 *                 a moment when the server ends between two requests
 *     QUEUED      all servers are full; waits for a free slot, reads nothing
 *     CONNECTING  waits for a server; on failure the next one is tried
 *     RELAYING    bytes flow both ways, or one way when half-closed; once more
 *                 CONNECTING when the server has lost a request
 *     DRAINING    the server is let go, the client is still being served
 *     CLOSED      freed at the end of this wake-up
 *
 * A session owns its two streams and two pipes. Everything below reports and
 * never closes; only the session_on_ functions here close a session, as the
 * last thing they do. */
#ifndef PEN_PROXY_SESSION_H
#define PEN_PROXY_SESSION_H

#include <stddef.h>

#include "base/addr.h"
#include "base/error.h"
#include "base/list.h"
#include "net/loop/loop.h"
#include "net/loop/timeouts.h"
#include "proxy/core/id_table.h"
#include "proxy/wire/route.h"

struct frontend_core;
struct session;

/* What few sessions have; NULL: they have not. */
struct session_more {
	struct session_facts *facts;
	struct source *source; /* that it counts in, or waits for */
	struct http_relay *http_relay;
};

/* Sessions that requested another turn, in this order. */
struct session_turns {
	struct session *first, *last;
	struct task task;
};

/* Of the walk that drains sessions, for other servers to get their share. */
struct session_rebalance {
	struct task task;
	struct id_walk walk;
	uint64_t *surplus; /* by slot: how many to drain yet; NULL: no walk */
	unsigned slots;
};

/* Clients that wait for a place at a server, those of each route by themselves:
 * a server of one route does not walk the clients that wait for the others. */
struct session_queue {
	struct route_queue all; /* of clients without a route */
	struct list queues;	/* in which a client waits, by `link` */
	struct task task;	/* serves them */
	bool due;		/* there may be places: the task will see */
	bool serving;
	struct timer regular; /* serves it without such a report */
};

/* All of a frontend. Each is in one of the lists, and in the table. */
struct sessions {
	struct frontend_core *frontend;
	struct list young;   /* the oldest first */
	struct list settled; /* those that have been there for a while */
	struct list stale;   /* those that a new time has not reached yet */
	struct id_table ids;
	struct session_turns turns;
	struct session_more nothing; /* of sessions that have none */
	struct timeouts *times;	     /* one for each: its state's */
	struct task rescheduling;    /* reaches the stale ones */
	bool retune;		     /* keep-alive was set anew, too */
	bool is_aging;
	struct timer aging; /* of young sessions, while there are any */
	struct session_queue queue;
	struct session_rebalance rebalance;
	bool clients_begin;   /* the last one had sent bytes by then */
	size_t kept_requests; /* bytes of those that may be sent again */
	char *http_room;      /* for the filters of HTTP; NULL: none so far */
};

/* `all` is zeroed. Returns 0, or -1 with errno ENOMEM and what sessions_fini()
 * takes. */
int sessions_init(struct sessions *all, struct frontend_core *f);
/* Ends all of them abortively. */
void sessions_fini(struct sessions *all);

/* Serves the client on `fd`, which it takes over. When memory is short the
 * client is closed and that is logged. It came to `port`, 0: a Unix socket. */
void session_start(
    struct sessions *all, int fd, const struct peer *who, uint16_t port);

/* What clients must do before they get a server: a bit of each step. */
unsigned session_hello_steps(const struct frontend_core *f);

/* The routes in force are others: those that wait for a server are routed
 * anew. */
void sessions_reroute(struct sessions *all);
/* A time was set anew, with `retune` those of keep-alive, too: those that are
 * there wait by it from now on. They are looked through in portions, so that
 * many do not hold up the loop. */
void sessions_reschedule(struct sessions *all, bool retune);
/* Drains sessions of servers that have more than their share, so that their
 * clients are balanced anew; soon, in portions. Of each such server `percent`
 * of its sessions at most. Returns 0 and how many they are at most, or -1 with
 * a short message. */
int sessions_rebalance(
    struct sessions *all, unsigned percent, uint64_t *asked, struct error *e);
/* Ends the session where its server is down with on_down cut, or where
 * frontend_core.best_level is better than its server's. For id_table_walk(). */
void session_cut(void *session);

#endif
