/* acl.c: ordered entries over addresses; IPv4 in its IPv4-mapped form. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "base/number.h"
#include "pool/acl_private.h"

/* Lists of more entries than that have an index. */
enum { WALKED = 32 };
/* Bits in front of an IPv4 address in its IPv4-mapped form. */
enum { BEFORE_IP4 = 96 };

void
acl_init(struct acl *l)
{
	*l = (struct acl){ .shared = NULL };
}

static void
acl_drop_entries(struct acl_entries *s)
{
	acl_index_fini(&s->index);
	free(s->entry);
	free(s);
}

void
acl_fini(struct acl *l)
{
	struct acl_entries *s = l->shared;

	acl_init(l);
	if (s != NULL && --s->users == 0)
		acl_drop_entries(s);
}

void
acl_clear(struct acl *l)
{
	acl_fini(l);
}

void
acl_copy(struct acl *to, const struct acl *from)
{
	*to = *from;
	if (to->shared != NULL)
		to->shared->users++;
}

bool
acl_is_empty(const struct acl *l)
{
	return l->count == 0;
}

const struct acl_entry *
acl_at(const struct acl *l, size_t i)
{
	return &l->shared->entry[i];
}

static bool
same_entry(const struct acl_entry *a, const struct acl_entry *b)
{
	return a->permit == b->permit && a->family == b->family &&
	    memcmp(a->ip, b->ip, sizeof(a->ip)) == 0 &&
	    memcmp(a->mask, b->mask, sizeof(a->mask)) == 0;
}

bool
acl_equal(const struct acl *a, const struct acl *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; a->shared != b->shared && i < a->count; i++)
		if (!same_entry(acl_at(a, i), acl_at(b, i)))
			return false;
	return true;
}

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

/* Only IPv4 masks can have gaps: those of IPv6 are given as /LEN. */
const char *
acl_format_entry(const struct acl_entry *e, char text[ACL_TEXT_MAX])
{
	const char *verb = e->permit ? "permit" : "deny";
	char host[INET6_ADDRSTRLEN], mask[INET_ADDRSTRLEN];

	if (e->family == AF_UNIX) {
		snprintf(text, ACL_TEXT_MAX, "%s unix", verb);
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

static int
acl_invalid(void)
{
	errno = EINVAL;
	return -1;
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
		return acl_invalid();
	memcpy(host, address, n);
	host[n] = '\0';
	if (addr_parse_ip(&a, host, 0) < 0)
		return acl_invalid();
	peer_from_addr(&p, &a);
	before = a.u.sa.sa_family == AF_INET ? BEFORE_IP4 : 0;
	length = 128 - before;
	if (p.scope != 0 ||
	    (slash != NULL && number_parse(slash + 1, 0, length, &length) < 0))
		return acl_invalid();
	memcpy(e->ip, p.ip, sizeof(e->ip));
	peer_prefix_mask(e->mask, before + (unsigned)length);
	e->family = before + length < BEFORE_IP4 ? AF_INET6 : p.family;
	return 0;
}

/* A dotted mask, for an IPv4 address. */
static int
parse_mask(struct acl_entry *e, const char *mask)
{
	struct in_addr in;

	if (e->family != AF_INET || inet_pton(AF_INET, mask, &in) != 1)
		return acl_invalid();
	memcpy(e->mask + 12, &in, 4);
	return 0;
}

static void
cut_to_mask(struct acl_entry *e)
{
	size_t i;

	for (i = 0; i < sizeof(e->ip); i++) {
		e->was_cut |= (e->ip[i] & ~e->mask[i]) != 0;
		e->ip[i] &= e->mask[i];
	}
}

/* ---- adding ---- */

static int
acl_build_index(struct acl_entries *s, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (acl_index_add(&s->index, s->entry, (uint32_t)i) < 0) {
			acl_index_fini(&s->index);
			return -1;
		}
	return 0;
}

/* Copies the entries of a list to memory of its own, with room for more. */
static struct acl_entries *
acl_copy_entries(const struct acl *l)
{
	struct acl_entries *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->users = 1;
	s->count = l->count;
	s->room = l->count > 0 ? 2 * l->count : 8;
	s->entry = malloc(s->room * sizeof(*s->entry));
	if (s->entry != NULL && l->count > 0)
		memcpy(s->entry, acl_at(l, 0), l->count * sizeof(*s->entry));
	if (s->entry == NULL ||
	    (s->count > WALKED && acl_build_index(s, s->count) < 0)) {
		acl_drop_entries(s);
		return NULL;
	}
	return s;
}

/* Gives the list entries that it may append to: those it has, unless another
 * list has appended to them. */
static int
acl_detach(struct acl *l)
{
	struct acl own = { .count = l->count };

	if (l->shared != NULL && l->shared->count == l->count)
		return 0;
	own.shared = acl_copy_entries(l);
	if (own.shared == NULL)
		return -1;
	acl_fini(l);
	*l = own;
	return 0;
}

static int
acl_append(struct acl_entries *s, const struct acl_entry *e)
{
	size_t room = 2 * s->room, n = s->count;

	if (n == s->room) {
		struct acl_entry *new =
		    huge_grow(s->entry, n * sizeof(*new), room * sizeof(*new));

		if (new == NULL)
			return -1;
		s->entry = new;
		s->room = room;
	}
	s->entry[n] = *e;
	if (n == WALKED && acl_build_index(s, n) < 0)
		return -1;
	if (n >= WALKED && acl_index_add(&s->index, s->entry, (uint32_t)n) < 0)
		return -1;
	s->count++;
	return 0;
}

int
acl_add(struct acl *l, bool permit, const char *address, const char *mask)
{
	struct acl_entry e = { .permit = permit, .family = AF_UNIX };

	if (mask != NULL && strchr(address, '/') != NULL)
		return acl_invalid();
	if ((mask != NULL || strcmp(address, "unix") != 0) &&
	    (parse_network(&e, address) < 0 ||
		(mask != NULL && parse_mask(&e, mask) < 0)))
		return -1;
	cut_to_mask(&e);
	if (acl_detach(l) < 0 || acl_append(l->shared, &e) < 0)
		return -1;
	l->count++;
	return 0;
}

/* ---- asking ---- */

size_t
acl_find(const struct acl *l, const struct peer *who)
{
	const struct acl_entry *entry;
	size_t i = 0;

	if (l->count == 0)
		return 0;
	entry = l->shared->entry;
	if (l->count > WALKED)
		return acl_index_find(
		    &l->shared->index, entry, (uint32_t)l->count, who);
	while (i < l->count && !acl_matches(&entry[i], who))
		i++;
	return i;
}

bool
acl_permits(const struct acl *l, const struct peer *who)
{
	size_t i;

	if (l->count == 0)
		return true;
	i = acl_find(l, who);
	return i < l->count ? acl_at(l, i)->permit
			    : !acl_at(l, l->count - 1)->permit;
}
