/* acl.c: ordered entries over addresses; IPv4 in its IPv4-mapped form. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "pool/acl.h"

void
acl_init(struct acl *l)
{
	*l = (struct acl){ .entries = NULL };
}

void
acl_fini(struct acl *l)
{
	free(l->entries);
	acl_init(l);
}

void
acl_clear(struct acl *l)
{
	l->count = 0;
}

int
acl_copy(struct acl *to, const struct acl *from)
{
	acl_init(to);
	if (from->count == 0)
		return 0;
	to->entries = malloc(from->count * sizeof(*to->entries));
	if (to->entries == NULL)
		return -1;
	memcpy(to->entries, from->entries, from->count * sizeof(*to->entries));
	to->count = to->room = from->count;
	return 0;
}

bool
acl_equal(const struct acl *a, const struct acl *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++) {
		const struct acl_entry *x = &a->entries[i], *y = &b->entries[i];

		if (x->permit != y->permit ||
		    memcmp(x->ip, y->ip, sizeof(x->ip)) != 0 ||
		    memcmp(x->mask, y->mask, sizeof(x->mask)) != 0)
			return false;
	}
	return true;
}

unsigned
acl_prefix_length(const uint8_t mask[16])
{
	unsigned n = 0;

	while (n < 128 && mask[n / 8] & 0x80u >> n % 8)
		n++;
	return n;
}

/* Masks of IPv6 are always prefixes. */
const char *
acl_format_entry(const struct acl_entry *e, char text[ACL_TEXT_MAX])
{
	const char *verb = e->permit ? "permit" : "deny";
	struct peer p = { .family = AF_INET6 };
	char host[INET6_ADDRSTRLEN], mask[INET_ADDRSTRLEN];

	memcpy(p.ip, e->ip, sizeof(p.ip));
	if (acl_prefix_length(e->mask) >= 96 && peer_is_ip4(&p)) {
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

/* The first `bits` of a mask set, the rest clear. */
static void
set_prefix(uint8_t mask[16], unsigned bits)
{
	unsigned i;

	for (i = 0; i < 16; i++, bits -= bits < 8 ? bits : 8)
		mask[i] = bits >= 8 ? 0xff : (uint8_t)(0xff00u >> bits);
}

static int
bad(void)
{
	errno = EINVAL;
	return -1;
}

/* "ADDRESS" or "ADDRESS/LEN" into an entry's ip and mask. */
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
		return bad();
	memcpy(host, address, n);
	host[n] = '\0';
	if (addr_parse_ip(&a, host, 0) < 0)
		return bad();
	peer_from_addr(&p, &a);
	before = a.u.sa.sa_family == AF_INET ? 96 : 0;
	length = 128 - before;
	if (slash != NULL && number_parse(slash + 1, 0, length, &length) < 0)
		return bad();
	memcpy(e->ip, p.ip, sizeof(e->ip));
	set_prefix(e->mask, before + (unsigned)length);
	return 0;
}

/* A dotted mask, for an IPv4 address. */
static int
parse_mask(struct acl_entry *e, const char *mask)
{
	struct peer p = { .family = AF_INET };
	struct in_addr in;

	memcpy(p.ip, e->ip, sizeof(p.ip));
	if (!peer_is_ip4(&p) || inet_pton(AF_INET, mask, &in) != 1)
		return bad();
	memcpy(e->mask + 12, &in, 4);
	return 0;
}

int
acl_add(struct acl *l, bool permit, const char *address, const char *mask)
{
	struct acl_entry e = { .permit = permit };
	size_t i;

	if (parse_network(&e, address) < 0 ||
	    (mask != NULL && parse_mask(&e, mask) < 0))
		return -1;
	for (i = 0; i < sizeof(e.ip); i++)
		e.ip[i] &= e.mask[i];
	if (l->count == l->room) {
		size_t room = l->room > 0 ? 2 * l->room : 8;
		struct acl_entry *new =
		    realloc(l->entries, room * sizeof(*new));

		if (new == NULL)
			return -1;
		l->entries = new;
		l->room = room;
	}
	l->entries[l->count++] = e;
	return 0;
}

static bool
matches(const struct acl_entry *e, const struct peer *who)
{
	size_t i;

	for (i = 0; i < sizeof(e->ip); i++)
		if ((who->ip[i] & e->mask[i]) != e->ip[i])
			return false;
	return true;
}

bool
acl_permits(const struct acl *l, const struct peer *who)
{
	size_t i;

	if (l->count == 0)
		return true;
	if (who->family == AF_INET || who->family == AF_INET6)
		for (i = 0; i < l->count; i++)
			if (matches(&l->entries[i], who))
				return l->entries[i].permit;
	return !l->entries[l->count - 1].permit;
}
