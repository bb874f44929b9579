/* acl_entry.c: words into entries and back; IPv4 in its IPv4-mapped form. */
#include "config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>

#include "base/number.h"
#include "base/user.h"
#include "pool/acl/acl_entry.h"
#include "pool/acl/countries.h"

/* Bits in front of an IPv4 address in its IPv4-mapped form. */
enum { BEFORE_IP4 = 96 };

/* ---- networks ---- */

unsigned
acl_prefix_length(const uint8_t mask[16])
{
	unsigned i = 0;

	while (i < 16 && mask[i] == 0xff)
		i++;
	return i == 16
	    ? 128
	    : 8 * i + (unsigned)__builtin_clz(~(mask[i] * 0x1000000u));
}

/* Parses "ADDRESS" or "ADDRESS/LEN" into an entry's ip, mask and family. */
static int
parse_network(struct acl_entry *e, const char *address)
{
	char host[ADDR_TEXT_MAX];
	const char *slash = strchr(address, '/');
	size_t n = slash != NULL ? (size_t)(slash - address) : strlen(address);
	uint64_t length;
	struct addr a;
	struct peer p;
	unsigned before;

	if (n >= sizeof(host))
		return -1;
	memcpy(host, address, n);
	host[n] = '\0';
	if (addr_parse_ip(&a, host, 0) < 0)
		return -1;
	peer_from_addr(&p, &a);
	before = a.u.sa.sa_family == AF_INET ? BEFORE_IP4 : 0;
	length = 128 - before;
	if (p.scope != 0 ||
	    (slash != NULL && number_parse(slash + 1, 0, length, &length) < 0))
		return -1;
	memcpy(e->ip, p.ip, sizeof(e->ip));
	peer_prefix_mask(e->mask, before + (unsigned)length);
	e->family = before + length < BEFORE_IP4 ? AF_INET6 : p.family;
	return 0;
}

/* The length of a prefix may be what is wrong. */
static int
refuse_address(const char *what, const char *mask, struct error *e)
{
	const char *slash = mask == NULL ? strchr(what, '/') : NULL;
	struct acl_entry whole;
	uint64_t length;
	char host[64];

	snprintf(host, sizeof(host), "%.*s",
	    (int)(slash != NULL && slash - what < 60 ? slash - what : 0), what);
	if (slash != NULL &&
	    number_parse(slash + 1, 0, UINT32_MAX, &length) == 0 &&
	    parse_network(&whole, host) == 0)
		return error_set(e,
		    "\"%.100s\": the prefix is longer than %d bits", what,
		    whole.family == AF_INET ? 32 : 128);
	return error_set(e,
	    "\"%.100s\" is not an address with an optional /LEN or mask, nor "
	    "unix, uid, gid or country",
	    what);
}

static int
parse_address(struct acl_entry *entry, const char *what, const char *mask,
    struct error *e)
{
	struct in_addr dotted;
	size_t i;

	if ((mask != NULL && strchr(what, '/') != NULL) ||
	    parse_network(entry, what) < 0 ||
	    (mask != NULL &&
		(entry->family != AF_INET ||
		    inet_pton(AF_INET, mask, &dotted) != 1)))
		return refuse_address(what, mask, e);
	if (mask != NULL)
		memcpy(entry->mask + 12, &dotted, 4);
	for (i = 0; i < sizeof(entry->ip); i++) {
		entry->was_cut |= (entry->ip[i] & ~entry->mask[i]) != 0;
		entry->ip[i] &= entry->mask[i];
	}
	return 0;
}

/* ---- Unix clients ---- */

static int
acl_entry_parse_owner(
    struct acl_entry *entry, bool group, const char *who, struct error *e)
{
	struct peer p = { .family = AF_UNIX };
	struct peer_owner owner = { .pid = 0 };

	if ((group ? user_find(GROUPS_FILE, who, &owner.gid, e)
		   : user_find(USERS_FILE, who, &owner.uid, e)) < 0)
		return -1;
	peer_set_owner(&p, &owner);
	memcpy(entry->ip, p.ip, sizeof(entry->ip));
	peer_owner_mask(entry->mask, group);
	return 0;
}

bool
acl_entry_needs_owner(const struct acl_entry *e)
{
	static const uint8_t all[16];

	return e->family == AF_UNIX &&
	    memcmp(e->mask, all, sizeof(all)) != 0;
}

/* ---- countries ---- */

static int
parse_country(struct acl_entry *entry, const char *code, struct error *e)
{
	if (!isalpha((unsigned char)code[0]) ||
	    !isalpha((unsigned char)code[1]) || code[2] != '\0')
		return error_set(e,
		    "country: \"%.100s\" is not a code of two letters (ISO "
		    "3166-1)",
		    code);
	if (!countries_are_built_in())
		return error_set(e, "country: built without libmaxminddb");
	entry->family = ACL_COUNTRY;
	entry->ip[0] = (uint8_t)toupper((unsigned char)code[0]);
	entry->ip[1] = (uint8_t)toupper((unsigned char)code[1]);
	return 0;
}

/* ---- entries ---- */

int
acl_entry_parse(struct acl_entry *entry, bool permit, const char *what,
    const char *more, struct error *e)
{
	bool group = strcmp(what, "gid") == 0;

	*entry = (struct acl_entry){ .permit = permit, .family = AF_UNIX };
	if (strcmp(what, "unix") == 0 && more == NULL)
		return 0;
	if (group || strcmp(what, "uid") == 0)
		return more != NULL
		    ? acl_entry_parse_owner(entry, group, more, e)
		    : error_set(e, "%s: missing %s", what,
			  group ? "group" : "user");
	if (strcmp(what, "country") == 0)
		return more != NULL
		    ? parse_country(entry, more, e)
		    : error_set(e, "country: missing country code");
	return parse_address(entry, what, more, e);
}

/* Only IPv4 masks can have gaps: those of IPv6 are given as /LEN. */
const char *
acl_format_entry(const struct acl_entry *e, char text[ACL_TEXT_MAX])
{
	const char *verb = e->permit ? "permit" : "deny";
	char host[INET6_ADDRSTRLEN], mask[INET_ADDRSTRLEN];

	if (e->family == AF_UNIX) {
		struct peer p = { .family = AF_UNIX };
		struct peer_owner owner;
		uint8_t group[16];

		peer_owner_mask(group, true);
		memcpy(p.ip, e->ip, sizeof(p.ip));
		owner = peer_owner(&p);
		if (!acl_entry_needs_owner(e))
			snprintf(text, ACL_TEXT_MAX, "%s unix", verb);
		else if (memcmp(e->mask, group, sizeof(group)) == 0)
			snprintf(text, ACL_TEXT_MAX, "%s gid %u", verb,
			    (unsigned)owner.gid);
		else
			snprintf(text, ACL_TEXT_MAX, "%s uid %u", verb,
			    (unsigned)owner.uid);
	} else if (e->family == ACL_COUNTRY) {
		snprintf(text, ACL_TEXT_MAX, "%s country %c%c", verb, e->ip[0],
		    e->ip[1]);
	} else if (e->family == AF_INET) {
		inet_ntop(AF_INET, e->ip + 12, host, sizeof(host));
		inet_ntop(AF_INET, e->mask + 12, mask, sizeof(mask));
		snprintf(text, ACL_TEXT_MAX, "%s %s %s", verb, host, mask);
	} else {
		inet_ntop(AF_INET6, e->ip, host, sizeof(host));
		snprintf(text, ACL_TEXT_MAX, "%s %s/%u", verb, host,
		    acl_prefix_length(e->mask));
	}
	return text;
}

bool
acl_entry_equal(const struct acl_entry *a, const struct acl_entry *b)
{
	return a->permit == b->permit && a->family == b->family &&
	    memcmp(a->ip, b->ip, sizeof(a->ip)) == 0 &&
	    memcmp(a->mask, b->mask, sizeof(a->mask)) == 0;
}
