/* hash_table.h: a hash table whose links live inside the things in it, keyed by
 * bytes that strangers choose: SipHash with a key of its own. Finding, adding
 * and removing are O(1); it grows by doubling, a few chains with each addition,
 * so that no single one takes long. It owns only its buckets. */
#ifndef PEN_BASE_HASH_TABLE_H
#define PEN_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Embedded in what is in the table. */
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
	size_t moved;			    /* buckets of `before` done */
	size_t count;
};

/* Returns 0, or -1 with errno ENOMEM. */
int hash_table_init(struct hash_table *t);
void hash_table_fini(struct hash_table *t);

uint64_t hash_table_hash(const struct hash_table *t, const void *key, size_t n);
/* The first link with that hash for which `is` says so, or NULL. */
struct hash_table_link *hash_table_find(const struct hash_table *t,
    uint64_t hash, bool (*is)(const struct hash_table_link *l, const void *key),
    const void *key);
/* Look-ups that are to come can overlap their waits for memory:
 * hash_table_expect() fetches the bucket of a hash ahead,
 * hash_table_expect_link(), called for some of them a little later, what its
 * first link lies in. Both change nothing. */
void hash_table_expect(const struct hash_table *t, uint64_t hash);
void hash_table_expect_link(const struct hash_table *t, uint64_t hash);
/* Adds one that is in no table. When memory for more buckets is short chains
 * grow longer instead. */
void hash_table_add(
    struct hash_table *t, struct hash_table_link *l, uint64_t hash);
/* Removes one that is in it. */
void hash_table_remove(struct hash_table *t, struct hash_table_link *l);

#endif
