/* hash_list.h: the servers among which balance_hash.c spreads clients, and what
 * has changed of them lately.
 *
 *     id = hash_stable("ADDRESS:PORT" as text), of several addresses the
 *          smallest; of the n-th duplicate, in list order, hash_mix(id + n)
 *
 * A server is listed while it is present and has a weight. A change of one
 * server costs O(log n), and a move of 4 bytes for each server after it in the
 * order of texts; of duplicates, all with that text are numbered anew. */
#ifndef PEN_POOL_HASH_LIST_H
#define PEN_POOL_HASH_LIST_H

#include "pool/pool.h"

struct hash_listed {
	uint64_t id;
	unsigned weight; /* 0: not listed */
	unsigned slot;
};

/* The server in the slot has another claim than before. */
struct hash_change {
	unsigned slot;
	bool lost; /* to some client it may be worse than before */
};

/* How many changes, and servers noted, are remembered one by one. */
enum { HASH_CHANGES = 1024, HASH_NOTED = 64 };

struct hash_list {
	const struct pool *pool;
	struct hash_listed *one; /* by slot */
	uint64_t *text; /* by slot: the hash of its text; those present */
	unsigned *sorted; /* slots of those present, by text, then slot */
	unsigned slots;	  /* of one[] that are in use */
	unsigned present;
	uint32_t one_room, text_room, sorted_room;
	unsigned noted[HASH_NOTED];
	unsigned notes; /* above HASH_NOTED: too many */
	/* Changes are numbered; those from `oldest` to `changes` are in
	 * change[number % HASH_CHANGES]. Of those before nothing is known. */
	struct hash_change change[HASH_CHANGES];
	uint64_t oldest, changes;
};

/* Takes the list of the pool, as change 1. Returns 0, or -1 with errno ENOMEM.
 * `l` is zero; hash_list_fini() frees its memory in both cases. */
int hash_list_init(struct hash_list *l, const struct pool *p);
void hash_list_fini(struct hash_list *l);

/* The server has come or gone, or has another address or weight. */
void hash_list_note(struct hash_list *l, const struct server *s);
/* Brings the list in step with the servers noted; `all`: with the weights of
 * all. Returns 0, or -1 with errno ENOMEM and the list as it was. */
int hash_list_follow(struct hash_list *l, bool all);

#endif
