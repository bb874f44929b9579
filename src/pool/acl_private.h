/* acl_private.h: the inside of an access list, for acl.c and acl_index.c. */
#ifndef PEN_POOL_ACL_PRIVATE_H
#define PEN_POOL_ACL_PRIVATE_H

#include <string.h>

#include "pool/acl_index.h"

/* What lists share. Who has all `count` entries may append; who has fewer sees
 * the first ones only, and makes entries of its own to append. */
struct acl_entries {
	unsigned users; /* lists */
	struct acl_entry *entry;
	size_t count, room;
	struct acl_index index; /* of all, once there are many */
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
