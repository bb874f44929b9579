/* acl.h: an access list: ordered permit and deny entries over client addresses.
 * The first entry that matches decides; else the opposite of the last entry;
 * an empty list permits all (Pen's rule). */
#ifndef PEN_POOL_ACL_H
#define PEN_POOL_ACL_H

#include <stdbool.h>

#include "base/addr.h"

enum { ACL_LISTS = 10, ACL_TEXT_MAX = 80 };

struct acl_entry {
	bool permit;
	uint8_t ip[16]; /* IPv4 mapped, as in struct peer */
	uint8_t mask[16];
};

struct acl {
	struct acl_entry *entries; /* owned */
	size_t count, room;
};

void acl_init(struct acl *l);
void acl_fini(struct acl *l);
/* Adds an entry: `address` is IPv4, IPv6 or IPv6/LEN (IPv4/LEN too); `mask` is
 * a dotted IPv4 mask or NULL. Returns 0, or -1 with errno EINVAL or ENOMEM. */
int acl_add(struct acl *l, bool permit, const char *address, const char *mask);
void acl_clear(struct acl *l);
/* Makes `to`, which is empty, a copy. Returns 0, or -1 with errno ENOMEM. */
int acl_copy(struct acl *to, const struct acl *from);
bool acl_equal(const struct acl *a, const struct acl *b);
/* How many bits are set at the front of a mask; of IPv4, too, all 128 count. */
unsigned acl_prefix_length(const uint8_t mask[16]);
/* "permit 10.0.0.0 255.0.0.0" or "deny fe80::/10": what acl_add() takes. */
const char *acl_format_entry(
    const struct acl_entry *e, char text[ACL_TEXT_MAX]);
/* Clients on Unix sockets match no entry. */
bool acl_permits(const struct acl *l, const struct peer *who);

#endif
