/* acl_index.h: finds the first entry of a long access list that matches a
 * client.
 *
 * A trie over the bits of addresses, four bits a level, that skips levels
 * without a fork (PATRICIA, Morrison 1968). A node has a branch for each value
 * of its four bits, with the lowest number of the entries whose prefix ends
 * there, and with the node or the single entry below. A search reads one cache
 * line a level and compares only the entries on its path:
 *
 *     node at bit 8    branch 0..15: { entry, child }
 *                                     |      `-> node at bit 12, 16 .. or entry
 *                                     `-> covers all addresses of this branch
 *
 * Entries are added in list order. One that an earlier entry covers is left
 * out, as it never matches first. Entries for Unix clients and masks with gaps
 * are searched one by one. The index owns its memory, but not the entries. */
#ifndef PEN_POOL_ACL_INDEX_H
#define PEN_POOL_ACL_INDEX_H

#include "pool/acl/acl.h"

struct acl_node; /* private */

struct acl_index {
	struct acl_node *nodes;
	uint32_t *samples; /* an entry below each node */
	uint32_t count, room;
	uint32_t *others; /* entries that are in no trie */
	uint32_t others_count, others_room;
	uint32_t root4, root6; /* as acl_branch.child */
};

enum { ACL_INDEX_MAX = 1 << 26 }; /* entries and nodes */

void acl_index_fini(struct acl_index *x);
/* Adds entry `n` of `entries`; all entries below it have been added. Returns 0,
 * or -1 with errno ENOMEM and the index as it was. */
int acl_index_add(
    struct acl_index *x, const struct acl_entry *entries, uint32_t n);
/* Returns the number of the first of `count` entries that matches, or `count`
 * if none does. The index may have more entries than that. */
uint32_t acl_index_find(const struct acl_index *x,
    const struct acl_entry *entries, uint32_t count, const struct peer *who);

#endif
