/* hash_table.h: a hash table for entries whose keys strangers choose.
 *
 * Keys are hashed with SipHash under a key of the table's own, so strangers
 * cannot fill one chain. Links lie inside the entries; the table owns only its
 * buckets. Finding, adding and removing are O(1). The table grows by doubling,
 * and moves a few chains with each addition, so that no single one is slow. */
#ifndef PEN_BASE_HASH_TABLE_H
#define PEN_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Embedded in each entry. */
struct hash_table_link {
	struct hash_table_link *next;
	uint64_t hash;
};

struct hash_table_half {
	struct hash_table_link **buckets;
	size_t mask; /* buckets - 1 */
};

struct hash_table {
	struct hash_key key;
	struct hash_table_half now, before; /* before: being emptied, or NULL */
	size_t moved;			    /* emptied buckets of `before` */
	size_t count;
};

/* Returns 0, or -1 with errno ENOMEM. */
int hash_table_init(struct hash_table *t);
void hash_table_fini(struct hash_table *t);

uint64_t hash_table_hash(const struct hash_table *t, const void *key, size_t n);
/* Returns the first link with that hash for which is(link, key) is true, or
 * NULL. */
struct hash_table_link *hash_table_find(const struct hash_table *t,
    uint64_t hash, bool (*is)(const struct hash_table_link *l, const void *key),
    const void *key);
/* A caller with several look-ups ahead can overlap their cache misses.
 * hash_table_expect() prefetches the bucket of a hash;
 * hash_table_expect_link(), a little later, prefetches the first entry in it.
 * Neither changes anything. */
void hash_table_expect(const struct hash_table *t, uint64_t hash);
void hash_table_expect_link(const struct hash_table *t, uint64_t hash);
/* Adds a link that is in no table. If memory for more buckets is short, chains
 * grow longer instead. */
void hash_table_add(
    struct hash_table *t, struct hash_table_link *l, uint64_t hash);
/* Removes a link that is in the table. */
void hash_table_remove(struct hash_table *t, struct hash_table_link *l);

#endif
