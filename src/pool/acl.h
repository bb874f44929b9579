/* acl.h: an access list: ordered permit and deny entries over client addresses.
 * The first entry that matches decides; else the opposite of the last entry;
 * an empty list permits all (Pen's rule).
 *
 * Lists that are copies of each other share their entries, as long as each only
 * appends: a copy costs nothing, and a draft that appends one entry to a list of
 * a million costs one entry. */
#ifndef PEN_POOL_ACL_H
#define PEN_POOL_ACL_H

#include <stdbool.h>

#include "base/addr.h"

enum { ACL_LISTS = 10, ACL_TEXT_MAX = 80 };

/* An entry is of one family and matches no client of another one: ::/0 is all
 * of IPv6 and nothing of IPv4. */
struct acl_entry {
	uint8_t ip[16]; /* as in struct peer: IPv4 is mapped */
	uint8_t mask[16];
	uint16_t family; /* AF_INET, AF_INET6, AF_UNIX: all Unix clients */
	bool permit;
	bool was_cut; /* it was given with bits that the mask does not have */
};

struct acl_entries; /* private; see acl_private.h */

struct acl {
	struct acl_entries *shared; /* counted; NULL: none */
	size_t count;		    /* of them, from the first on, are ours */
};

void acl_init(struct acl *l);
void acl_fini(struct acl *l);
/* Adds an entry: `address` is IPv4, IPv6 or IPv6/LEN (IPv4/LEN too), or "unix";
 * `mask` is a dotted IPv4 mask, not beside a LEN, or NULL. Bits of the address
 * that the mask does not have are cut off. Returns 0, or -1 with errno EINVAL or
 * ENOMEM. */
int acl_add(struct acl *l, bool permit, const char *address, const char *mask);
void acl_clear(struct acl *l);
/* Makes `to`, which is empty, a copy. */
void acl_copy(struct acl *to, const struct acl *from);
bool acl_equal(const struct acl *a, const struct acl *b);
/* Entry `i` of those below `count`. */
const struct acl_entry *acl_at(const struct acl *l, size_t i);
/* How many bits are set at the front of a mask; of IPv4, too, all 128 count. */
unsigned acl_prefix_length(const uint8_t mask[16]);
/* "permit 10.0.0.0 255.0.0.0", "deny fe80::/10", "deny unix": what acl_add()
 * takes. */
const char *acl_format_entry(
    const struct acl_entry *e, char text[ACL_TEXT_MAX]);
bool acl_permits(const struct acl *l, const struct peer *who);

#endif
