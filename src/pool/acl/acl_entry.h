/* acl_entry.h: one entry of an access list: which clients it matches, and the
 * verdict. */
#ifndef PEN_POOL_ACL_ENTRY_H
#define PEN_POOL_ACL_ENTRY_H

#include <stdbool.h>
#include <string.h>

#include "base/addr.h"
#include "base/error.h"

enum { ACL_TEXT_MAX = 80 };

/* The family of entries for countries, which no client has. */
enum { ACL_COUNTRY = AF_UNSPEC };

/* Matches clients of its own family only: ::/0 is all of IPv6 and nothing of
 * IPv4. Of AF_UNIX are entries for all Unix clients, for those of a user and
 * for those of a group. One for a country has its letters in `ip`. */
struct acl_entry {
	uint8_t ip[16]; /* as in struct peer: IPv4 is mapped */
	uint8_t mask[16];
	uint32_t line; /* of the file it comes from; 0: none */
	uint16_t family;
	bool permit;
	bool was_cut; /* the address as given had bits outside the mask */
};

/* Parses an entry of one or two words, `more` being the second or NULL:
 *
 *     ADDRESS[/LEN] | IP4 MASK | unix | uid USER | gid GROUP | country CC
 *
 * Bits of the address outside its mask are cleared. USER and GROUP are numbers
 * or names of /etc/passwd and /etc/group, which are read for them; no other
 * source of names is used, as that could block. Returns 0, or -1 with a full
 * message. */
int acl_entry_parse(struct acl_entry *entry, bool permit, const char *what,
    const char *more, struct error *e);
/* Prints "permit 10.0.0.0 255.0.0.0", "deny fe80::/10", "permit uid 33" or
 * "deny country SE", as acl_entry_parse() takes it. Returns `text`. */
const char *acl_format_entry(
    const struct acl_entry *e, char text[ACL_TEXT_MAX]);
bool acl_entry_equal(const struct acl_entry *a, const struct acl_entry *b);
/* Whether the entry needs the user or group of a Unix client. */
bool acl_entry_needs_owner(const struct acl_entry *e);
/* How many leading bits of a mask are set, of all 128, with IPv4 as well. */
unsigned acl_prefix_length(const uint8_t mask[16]);

/* Entries for countries match no client here. */
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
