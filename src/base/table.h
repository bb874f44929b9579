/* table.h: a keyed hash table whose nodes live inside the stored things.
 *
 * Lookup, insert and remove are O(1) at any size; the table grows by moving a
 * few chains with every insert, so no single operation stalls the loop. Keys
 * are hashed by the caller with hash_keyed(). The table owns its array of
 * chains, never the things. */
#ifndef PEN_BASE_TABLE_H
#define PEN_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_node {
	struct table_node *next;
	uint64_t hash;
};

struct table; /* private */

/* Whether the thing that holds `node` has this key. */
typedef bool table_match_fn(const struct table_node *node, const void *key);

/* A new empty table, or NULL with errno ENOMEM. */
struct table *table_new(void);
/* Frees the array; the things are the caller's. NULL is fine. */
void table_free(struct table *t);

struct table_node *table_find(
    const struct table *t, uint64_t hash, table_match_fn *match, const void *key);
/* Adds `node`; its key must not be there yet. Never fails: when memory for
 * growing is short the chains just get longer. */
void table_insert(struct table *t, struct table_node *node, uint64_t hash);
/* Removes `node`, which must be there. */
void table_remove(struct table *t, struct table_node *node);
size_t table_count(const struct table *t);

#endif
