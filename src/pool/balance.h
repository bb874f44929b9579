/* balance.h: a balancing algorithm is a table of hooks in a file of its own.
 *
 * The pool calls them; an algorithm keeps what it needs in its own order
 * structure and in the order_ members of the servers, and sees only servers
 * that may take a new client (enter..leave). Rows stand in balance.c. */
#ifndef PEN_POOL_BALANCE_H
#define PEN_POOL_BALANCE_H

#include <stddef.h>

#include "pool/pool.h"
#include "pool/eligible.h"

struct balance {
	const char *name; /* as in "balance NAME" */
	const char *help;
	bool weighted; /* servers of weight 0 get nothing; see pool_weight() */
	/* Each choice is a turn: whoever fails over takes the next one too, or
	 * the server behind one that fails would serve in its place. */
	bool turns;

	/* A new order with no server in it, or NULL with errno ENOMEM. */
	void *(*start)(const struct pool *p);
	void (*stop)(void *order);
	/* The list changed (a server, its address or weight), eligible or not.
	 * NULL: does not matter. Returns 0, or -1 with errno ENOMEM. */
	int (*listed)(void *order);
	/* The server may be chosen from now on; may not any more. NULL: fine. */
	int (*enter)(void *order, struct server *s);
	void (*leave)(void *order, struct server *s);
	/* Connections or priority of an entered server changed. NULL: fine. */
	void (*changed)(void *order, struct server *s);
	/* A connect to the server, entered or not, took so long. NULL: that does
	 * not matter, and is not measured. */
	void (*took)(void *order, struct server *s, uint64_t us);
	/* The server for `who` among the entered ones, of which there is one. */
	struct server *(*choose)(void *order, const struct peer *who);
	/* The server `who` belongs to even if it may not be chosen now, or NULL
	 * when there is none such. NULL: the algorithm has no such idea. */
	struct server *(*owner)(void *order, const struct peer *who);
};

/* All algorithms, ended by NULL; the first is the default. */
extern const struct balance *const balance_table[];
const struct balance *balance_find(const char *name); /* or NULL */

/* ---- what an algorithm may ask the pool ---- */

/* The servers that may be chosen. */
const struct eligible *pool_eligible(const struct pool *p);
/* The weight that counts: all servers weigh 1 when none was given a weight;
 * once one was, 0 means "gets no new clients". */
unsigned pool_weight(const struct pool *p, const struct server *s);

extern const struct balance balance_roundrobin, balance_wrr, balance_leastconn,
    balance_wleastconn, balance_prio, balance_hash, balance_p2c,
    balance_least_time;

#endif
