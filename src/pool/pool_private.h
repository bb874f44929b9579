/* pool_private.h: the pool's inside, for pool.c (the list, settings),
 * pool_state.c (what happens to servers, who may be chosen) and pool_choose.c
 * (who is). */
#ifndef PEN_POOL_POOL_PRIVATE_H
#define PEN_POOL_POOL_PRIVATE_H

#include "base/heap.h"
#include "pool/balance.h"
#include "pool/sticky.h"

struct pool {
	struct pool_options options;
	struct server **servers; /* by slot; each keeps its address */
	unsigned slots, room;
	unsigned weighted; /* servers with a weight */
	unsigned with_acl; /* servers with an access list */
	struct eligible eligible;
	struct heap revive; /* blacklisted servers, by the time they are back */
	/* Of these, the ones that nothing else keeps out, in the order in which
	 * they are tried when nobody is left. Both heaps are of slots. */
	struct heap last_resort;
	unsigned full; /* servers that only their limits keep out */
	void (*on_eligible)(void *arg); /* see pool_on_eligible() */
	void *on_eligible_arg;
	bool changing;	    /* nobody is in the set and the order meanwhile */
	void *order;	    /* of options.balance */
	struct sticky *sticky;
	struct acl acls[ACL_LISTS];
};

/* May serve somebody: a client that was there before. */
bool pool_is_serving(const struct server *s);
/* How long it is blacklisted when it fails; 0: not at all. */
uint64_t pool_blacklist_ms(const struct server *s);
/* It is not blacklisted any more; its sets are not brought in step yet. */
void pool_end_blacklisting(struct server *s);

/* A removed server without connections is an empty slot again. */
void pool_forget_server(struct server *s);

/* Takes all servers out of the eligible set and the order; puts those in that
 * may be chosen. */
void pool_leave_all(struct pool *p);
void pool_enter_all(struct pool *p);
/* The list itself changed: orders depend on its length and weights. Returns 0,
 * or -1 with errno ENOMEM. */
int pool_list_changed(struct pool *p);

#endif
