/* acl_index.h: which entry of a long access list matches a client first.
 *
 * A trie over the bits of addresses, four at a time, where stretches without a
 * branch are left out (Morrison 1968, as PATRICIA). A node has a slot for each
 * of the next four bits: the lowest number of the entries that end there, and
 * the node or the one entry below it. So a search reads one line of memory a
 * level and looks only at entries that lie on its way:
 *
 *     node at bit 8    slot 0..15: { entry, child }
 *                                     |      `-> node at bit 12, 16 .. or entry
 *                                     `-> covers all addresses of this slot
 *
 * Entries come in the order of their numbers, and one that an earlier entry
 * covers is left out, as it never matches first. Masks with gaps, and clients on
 * Unix sockets, are looked for one by one. It owns its memory, not the entries. */
#ifndef PEN_POOL_ACL_INDEX_H
#define PEN_POOL_ACL_INDEX_H

#include "pool/acl.h"

struct acl_node; /* private */

struct acl_index {
	struct acl_node *nodes;
	uint32_t *samples; /* an entry below each node */
	uint32_t count, room;
	uint32_t *others; /* entries that are in no trie */
	uint32_t others_count, others_room;
	uint32_t root4, root6; /* as a child of a slot */
};

enum { ACL_INDEX_MAX = 1 << 26 }; /* entries and nodes */

void acl_index_init(struct acl_index *x);
void acl_index_fini(struct acl_index *x);
/* Adds entry `n` of `entries`, all below it being there. Returns 0, or -1 with
 * errno ENOMEM; the index is as it was. */
int acl_index_add(
    struct acl_index *x, const struct acl_entry *entries, uint32_t n);
/* The first of the `count` entries that matches, or `count`. The index may have
 * more of them. */
uint32_t acl_index_find(const struct acl_index *x,
    const struct acl_entry *entries, uint32_t count, const struct peer *who);

#endif
