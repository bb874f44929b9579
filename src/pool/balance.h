/* balance.h: a balancing algorithm: a set of hooks that the pool calls.
 *
 * Each algorithm is a file balance_NAME.c and a row in balance.c. It keeps its
 * state in an order of its own and in the last members of struct server, and
 * chooses only among eligible servers: those that entered and have not left. */
#ifndef PEN_POOL_BALANCE_H
#define PEN_POOL_BALANCE_H

#include <stddef.h>

#include "pool/pool.h"
#include "pool/server/eligible.h"

struct balance {
	const char *name; /* as in "balance NAME" */
	const char *help;
	bool weighted; /* servers of weight 0 get nothing; see pool_weight() */
	/* Servers take turns. A client whose server failed takes the next turn
	 * as well; otherwise the server listed after the failed one would get
	 * all of its clients. */
	bool turns;

	/* Returns a new order without servers, or NULL with errno ENOMEM. */
	void *(*start)(const struct pool *p);
	void (*stop)(void *order);
	/* Others have this order's state: what is drawn is to differ from
	 * theirs. NULL: nothing is drawn. */
	void (*renew)(void *order);
	/* The list has changed: servers, eligible or not, have come or gone, or
	 * have other addresses or weights. All eligible servers are entered, or
	 * none. Returns 0, or -1 with errno ENOMEM. May be NULL. */
	int (*listed)(void *order);
	/* The server is eligible from now on; it no longer is. May be NULL.
	 * enter() returns 0, or -1 with errno ENOMEM. */
	int (*enter)(void *order, struct server *s);
	void (*leave)(void *order, struct server *s);
	/* An eligible server has more or fewer connections. May be NULL. */
	void (*changed)(void *order, struct server *s);
	/* A connect to the server, eligible or not, took `us`. NULL: connects
	 * are not timed. */
	void (*took)(void *order, struct server *s, uint64_t us);
	/* Returns the eligible server for `who`, or NULL if none has entered.
	 * This does not change which one is next; see take(). */
	struct server *(*next)(void *order, const struct peer *who);
	/* The server that next() returned gets the client. NULL: nothing
	 * depends on that. */
	void (*take)(void *order, struct server *s);
	/* Of the servers of a set (server_set.h) `who` gets the one that costs
	 * least, of equals the next in turn, with `shares` by their weights;
	 * the server is eligible, or, where there is an owner(), perhaps not.
	 * NULL: they take turns, by their weights if they have any. */
	uint64_t (*cost)(
	    void *order, const struct server *s, const struct peer *who);
	bool shares;
	/* Returns the server that `who` belongs to, eligible or not, or NULL if
	 * there is none. NULL: clients belong to no server. */
	struct server *(*owner)(void *order, const struct peer *who);
};

/* All algorithms, ended by NULL; the first is the default. */
extern const struct balance *const balance_table[];
const struct balance *balance_find(const char *name); /* or NULL */

/* ---- what an algorithm may read of the pool ---- */

/* The servers that may take a new client. */
const struct eligible *pool_eligible(const struct pool *p);
/* The effective weight. If no server has a weight, all weigh 1; else a server
 * of weight 0 gets no new clients. */
unsigned pool_weight(const struct pool *p, const struct server *s);

extern const struct balance balance_roundrobin, balance_wrr, balance_leastconn,
    balance_wleastconn, balance_prio, balance_hash, balance_p2c,
    balance_least_time;

#endif
