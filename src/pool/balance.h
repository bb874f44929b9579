/* balance.h: a balancing algorithm is a table of hooks in a file of its own.
 *
 * The pool calls them; an algorithm keeps what it needs in its own order
 * structure and in the `order_*` members of the servers, and sees only servers
 * that may take a new client (enter..leave). Rows stand in balance.c. */
#ifndef PEN_POOL_BALANCE_H
#define PEN_POOL_BALANCE_H

#include <stddef.h>

#include "pool/pool.h"

struct balance {
	const char *name; /* as in "balance NAME" */
	const char *help;
	bool weighted;	  /* servers of weight 0 get nothing; see pool_weight() */

	/* A new order with no server in it, or NULL with errno ENOMEM. */
	void *(*start)(struct pool *p);
	void (*stop)(void *order);
	/* The server list changed (added, removed, renamed, reweighted), whether
	 * or not the server is usable. May be NULL. 0, or -1 with ENOMEM. */
	int (*listed)(void *order, struct pool *p);
	/* Server `s` may be chosen from now on; may no longer be chosen. */
	int (*enter)(void *order, struct server *s);
	void (*leave)(void *order, struct server *s);
	/* Connections, weight or priority of an entered server changed. NULL ok. */
	void (*changed)(void *order, struct server *s);
	/* The server for `who` among the entered ones; NULL when there are none. */
	struct server *(*choose)(void *order, const struct peer *who);
};

/* All algorithms, ended by NULL; the first is the default. */
extern const struct balance *const balance_table[];
const struct balance *balance_find(const char *name); /* or NULL */

#endif
