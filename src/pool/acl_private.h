/* acl_private.h: the entries of access lists, for acl.c and acl_index.c. */
#ifndef PEN_POOL_ACL_PRIVATE_H
#define PEN_POOL_ACL_PRIVATE_H

#include <string.h>

#include "pool/acl_index.h"

/* The entries that lists share. A list that has all `count` entries may append
 * here. A list that has fewer sees the first ones only, and copies them before
 * it appends. */
struct acl_entries {
	unsigned users; /* how many lists */
	struct acl_entry *entry;
	size_t count, room;
	struct acl_index index; /* of all entries, once there are many */
};

static inline bool
acl_matches(const struct acl_entry *e, const struct peer *who)
{
	uint64_t ip[2], mask[2], client[2];

	memcpy(ip, e->ip, sizeof(ip));
	memcpy(mask, e->mask, sizeof(mask));
	memcpy(client, who->ip, sizeof(client));
	return e->family == who->family && (client[0] & mask[0]) == ip[0] &&
	    (client[1] & mask[1]) == ip[1];
}

#endif
