/* pool_private.h: struct pool, for pool.c (the list and the settings),
 * pool_state.c (which servers are eligible), pool_traffic.c (what connections
 * do to them), pool_choose.c and pool_next.c (which one a client gets). */
#ifndef PEN_POOL_POOL_PRIVATE_H
#define PEN_POOL_POOL_PRIVATE_H

#include "base/hash_table.h"
#include "base/heap.h"
#include "pool/balance.h"
#include "pool/pool_change.h"
#include "pool/history.h"
#include "pool/server/server_set.h"
#include "pool/sticky/sticky.h"

/* Access lists; several pools may have the same. */
struct pool_lists {
	struct acl acls[ACL_MAX];
	unsigned of_owners; /* lists with entries for users or groups */
};

struct pool {
	struct pool_options options;
	struct server **servers; /* by slot; each keeps its address */
	unsigned slots, room;
	unsigned weighted;	  /* regular servers with a weight */
	unsigned with_acl;	  /* regular servers with an access list */
	unsigned unresolved;	  /* servers without an address */
	unsigned full;		  /* servers that only their limits keep out */
	struct eligible eligible; /* servers that may take a new client */
	/* Blacklisted servers, by slot, keyed by the end of their time. */
	struct heap revive;
	/* Those of them that failed a client and that nothing else keeps out,
	 * by slot, keyed by the order in which they are tried when no other
	 * server is left. */
	struct heap last_resort;
	/* Servers that start slowly, by slot, keyed by their next step. */
	struct heap slow;
	struct hash_table digests; /* servers that are present */
	void (*on_eligible)(void *arg, unsigned slot); /* see pool.h */
	void *on_eligible_arg;
	struct pool_watcher watcher;
	const char *why;   /* see pool_begin_changes(); "" without one */
	bool changing;	   /* pool_begin_changes() .. pool_end_changes() */
	bool was_weighted; /* any server had a weight when that began */
	bool reweighted;   /* weights have meant something else since then */
	bool list_changed; /* since then: a server, its address or weight */
	void *order;	   /* of options.balance */
	struct server_set everyone; /* all servers, or fewer: pool_choose.c */
	struct sticky *sticky;
	void (*on_client)(void *arg, uint32_t position); /* or NULL */
	void *on_client_arg;
	struct pool_lists *lists;
	struct countries *countries;	     /* of clients, for these */
	bool shares_lists, shares_countries; /* another pool owns them */
	struct pool_panic panic;
	/* In one of several processes: */
	struct pool_share *share; /* NULL: it is the only one; not owned */
	unsigned joined;	  /* slots with numbers there */
	struct server *reserved;  /* chosen, and counted there; or NULL */
	uint64_t refreshed;	  /* when pool_refresh_full() did that */
};

/* Whether `s` may serve a client that was there before. */
bool pool_is_serving(const struct server *s);
/* For how long the first refusal blacklists a server. */
enum { REFUSED_MS = 1000 };
/* How long a failure blacklists `s`, in ms; 0: it does not. */
uint64_t pool_blacklist_ms(const struct server *s);

/* ---- pool_share.c ---- */

/* The server's connections of this process; in a process that opens none
 * itself, those of all. */
uint64_t pool_own_connections(const struct server *s);
/* Writes the number of this process's connections where the other processes
 * read it. */
void pool_share_report(struct server *s);
/* Takes a place of `s` for the next pool_opened(), with no more than `limit`
 * (0: any number) taken in all. Returns whether there was one. */
bool pool_reserve(struct server *s, uint64_t limit);
/* Gives a reserved place back, for which no connection was opened. */
void pool_unreserve(struct pool *p);

/* Takes a server out of the eligible set and the algorithm's order. */
void pool_set_ineligible(struct server *s);
/* pool_set_ineligible() and pool_refresh() of all servers. */
void pool_reorder(struct pool *p);
void pool_enter_all(struct pool *p);

#endif
