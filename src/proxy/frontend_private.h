/* frontend_private.h: the frontend's inside, for the files of this room that
 * serve its clients (frontend.c, session.c, dummy.c) and nobody else. */
#ifndef PEN_PROXY_FRONTEND_PRIVATE_H
#define PEN_PROXY_FRONTEND_PRIVATE_H

#include "base/list.h"
#include "net/listener.h"
#include "net/pipe.h"
#include "net/sock.h"
#include "net/timeouts.h"
#include "tls/tls_client.h"
#include "tls/tls_server.h"
#include "proxy/dns.h"
#include "proxy/flow.h"
#include "proxy/frontend.h"
#include "proxy/id_table.h"
#include "proxy/preopened.h"

/* What is to become of a listener while they are moved. */
enum disposition { DISPOSITION_STAYS, DISPOSITION_COMES, DISPOSITION_GOES };

struct frontend_listener {
	struct list link;
	struct listener listener;
	struct frontend_address address;
	enum disposition disposition;
	struct task task; /* frees it */
};

/* The walk over all sessions that adds up their bytes. */
struct session_walk {
	struct timer timer;
	bool walking;
	uint32_t next; /* number it goes on with */
};

/* Clients that wait for a place at a server. */
struct session_queue {
	struct list sessions; /* by `queue_link`, the oldest first */
	struct task task;     /* serves them */
	bool due;	      /* there may be places: the task will see */
	bool serving;
	struct timer look;    /* now and then, all the same */
};

struct frontend {
	struct loop *loop;
	struct pool *pool;
	struct frontend_options options;
	struct sock_tuning up_tuning; /* what they say of servers' sockets */
	bool tuned;		      /* they say something */
	struct frontend_stats stats;
	struct frontend_tls tls;
	struct pipe_share share;
	struct requestlog *requestlog; /* NULL: none; not owned */
	struct list listeners;	       /* struct frontend_listener */
	struct list sessions;	       /* young ones, the oldest first */
	struct list settled; /* those that have been there for a while */
	struct list
	    stale; /* sessions that a time set anew has not reached yet */
	struct task rescheduling; /* reaches them */
	bool retune;		  /* keep-alive was set anew, too */
	struct timer aging;	  /* of young sessions, while there are any */
	bool is_aging;
	struct id_table connections; /* the same, by number */
	struct session_walk count;
	struct session_queue queue;
	struct preopened preopened;
	struct flows flows;
	struct dns dns;
	struct list dummies;
	struct timeouts dummies_silent;
	bool started;
	bool full;		 /* a limit is reached: listeners are paused */
	unsigned source_turn;	 /* which source was used last */
	struct timeouts session_times; /* one for each: its state's */
};

/* When a server, or a client, that says nothing is taken for gone. */
struct sock_keepalive frontend_keepalive(const struct frontend *f);
/* How to connect to servers; `port` is of those that have none of their own. */
struct sock_connect_options frontend_connect_options(
    struct frontend *f, uint16_t port);

/* Whether this server talks TLS. */
bool frontend_server_is_tls(const struct frontend *f, const struct server *s);

/* Logs that a server failed, by an errno and, if that says more, in words (else
 * NULL), and tells the pool. */
void frontend_server_failed(
    struct frontend *f, struct server *s, int error, const char *why);

/* Pauses or resumes all listeners. */
void frontend_hold(struct frontend *f, bool hold);

/* Tells them how many connections to accept at a time, and what those inherit.
 */
void frontend_tune_listeners(struct frontend *f);

/* A client came in, went; began, ended waiting for its server. */
void frontend_client_in(struct frontend *f);
void frontend_client_out(struct frontend *f, enum reason why);
void frontend_connecting(struct frontend *f, bool begins);

#endif
