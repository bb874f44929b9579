/* frontend_private.h: the whole of a frontend, for frontend.c,
 * frontend_listen.c and the sessions. What else serves clients sees its core
 * (frontend_core.h). */
#ifndef PEN_PROXY_FRONTEND_PRIVATE_H
#define PEN_PROXY_FRONTEND_PRIVATE_H

#include "base/list.h"
#include "net/listener.h"
#include "net/timeouts.h"
#include "proxy/dns.h"
#include "proxy/dummy.h"
#include "proxy/flow.h"
#include "proxy/frontend_core.h"
#include "proxy/id_table.h"
#include "proxy/preopened.h"
#include "proxy/route.h"

/* What is to become of a listener while they are moved. */
enum disposition { DISPOSITION_STAYS, DISPOSITION_COMES, DISPOSITION_GOES };

struct frontend_listener {
	struct list link;
	struct listener listener;
	struct frontend_address address;
	enum disposition disposition;
	struct task task; /* frees it */
};

/* What few sessions have; NULL: they have not. */
struct session_more {
	struct session_facts *facts;
	struct source *source; /* that it counts in, or waits for */
	struct http_relay *http_relay;
};

/* Sessions that asked for another turn, in this order. */
struct session_turns {
	struct session *first, *last;
	struct task task;
};

/* The walk over all sessions that adds up their bytes. */
struct session_walk {
	struct timer timer;
	bool walking;
	uint32_t next; /* number it goes on with */
};

/* Of the walk that ends what servers that are down still have. */
struct session_cut {
	struct task task;
	struct id_walk sessions, flows;
};

/* Of the walk that asks sessions to end, for others to get their share. */
struct session_rebalance {
	struct task task;
	struct id_walk sessions;
	uint64_t *surplus; /* by slot: how many to ask yet; NULL: no walk */
	unsigned slots;
};

/* Clients that wait for a place at a server, those of each route by themselves:
 * a server of one route does not walk those who wait for the others. */
struct session_queue {
	struct route_queue all; /* of clients without a route */
	struct list queues;     /* in which somebody waits, by `link` */
	struct task task;	/* serves them */
	bool due;	      /* there may be places: the task will see */
	bool serving;
	struct timer look;    /* now and then, all the same */
};

struct frontend {
	struct frontend_core core;
	struct requestlog *requestlog; /* NULL: none; not owned */
	struct list listeners;	       /* struct frontend_listener */
	struct inherited *inherited;   /* sockets for them; NULL: none */
	bool full; /* a limit is reached: listeners are paused */
	struct rate_bucket rate; /* of conn_rate */
	struct timer rate_timer; /* while it is empty */
	bool rate_reached;
	bool paused; /* all of them are, by frontend_pause() */

	/* The sessions are in one of these, and in the table of all. */
	struct list sessions; /* young ones, the oldest first */
	struct list settled;  /* those that have been there for a while */
	struct list stale;    /* those that a new time has not reached yet */
	struct id_table connections;
	struct session_turns turns;
	struct session_more nothing; /* of sessions that have none */
	struct timeouts session_times; /* one for each: its state's */
	struct task rescheduling;      /* reaches the stale ones */
	bool retune;		       /* keep-alive was set anew, too */
	struct timer aging; /* of young sessions, while there are any */
	bool is_aging;
	struct session_walk count;
	struct session_queue queue;
	struct session_cut cut;
	struct session_rebalance rebalance;
	bool clients_begin;   /* the last one had said something by then */
	size_t kept_requests; /* bytes of those that may be sent again */

	char *http_room; /* for the filters of HTTP; NULL: none so far */
	struct preopened preopened;
	struct flows flows;
	struct dns dns;
	struct dummies dummies;
};

/* Pauses or resumes all listeners. */
void frontend_hold(struct frontend *f, bool hold);

/* Tells them how many connections to accept at a time, and which socket options
 * those inherit. */
void frontend_tune_listeners(struct frontend *f);

/* A session begins to wait for its server, or does so no more. */
void frontend_connecting(struct frontend *f, bool begins);

#endif
