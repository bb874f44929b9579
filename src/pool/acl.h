/* acl.h: access lists: permit and deny entries over client addresses, in order.
 *
 * The first entry that matches decides. If none matches, the opposite of the
 * last entry holds. An empty list permits all clients. (Pen's rules.)
 *
 * Copies of a list share its entries as long as they only append. A copy costs
 * nothing, and a configuration that appends one entry to a list of a million
 * pays for one entry. */
#ifndef PEN_POOL_ACL_H
#define PEN_POOL_ACL_H

#include <stdbool.h>

#include "base/addr.h"

/* Classic Pen's lists, which have a number only; and all of a pool. */
enum { ACL_LISTS = 10, ACL_MAX = 256, ACL_TEXT_MAX = 80 };

/* An entry matches clients of its own family only: ::/0 is all of IPv6 and
 * nothing of IPv4. */
struct acl_entry {
	uint8_t ip[16]; /* as in struct peer: IPv4 is mapped */
	uint8_t mask[16];
	uint16_t family; /* AF_INET, AF_INET6, AF_UNIX: all Unix clients */
	bool permit;
	bool was_cut; /* the address as given had bits outside the mask */
};

struct acl_entries; /* private; see acl_private.h */

struct acl {
	struct acl_entries *shared; /* reference counted; NULL: none */
	size_t count;		    /* so many of them belong to this list */
};

void acl_init(struct acl *l);
void acl_fini(struct acl *l);
/* Appends an entry. `address` is an IPv4 or IPv6 address, with or without /LEN,
 * or "unix"; `mask` is a dotted IPv4 mask, only without /LEN, or NULL. Bits of
 * the address outside the mask are cleared. Returns 0, or -1 with errno EINVAL
 * or ENOMEM. */
int acl_add(struct acl *l, bool permit, const char *address, const char *mask);
void acl_clear(struct acl *l);
/* Makes `to`, an empty list, a copy of `from`. */
void acl_copy(struct acl *to, const struct acl *from);
bool acl_equal(const struct acl *a, const struct acl *b);
/* Whether nothing has been added to it. */
bool acl_is_empty(const struct acl *l);
/* Returns entry `i`, which is below `count`; the list owns it. */
const struct acl_entry *acl_at(const struct acl *l, size_t i);
/* How many leading bits of a mask are set, of all 128, with IPv4 as well. */
unsigned acl_prefix_length(const uint8_t mask[16]);
/* Prints "permit 10.0.0.0 255.0.0.0", "deny fe80::/10" or "deny unix", as
 * acl_add() takes it. Returns `text`. */
const char *acl_format_entry(
    const struct acl_entry *e, char text[ACL_TEXT_MAX]);
/* Returns the number of the first entry that matches the client, or `count`. */
size_t acl_find(const struct acl *l, const struct peer *who);
/* Whether the list lets the client in. */
bool acl_permits(const struct acl *l, const struct peer *who);

#endif
