/* peer.c: the address of the other end, in 24 bytes. */
#include "config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/addr.h"
#include "base/addr_text.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

void
peer_from_addr(struct peer *p, const struct addr *a)
{
	memset(p, 0, sizeof(*p));
	p->family = a->u.sa.sa_family;
	if (p->family == AF_INET) {
		memcpy(p->ip, mapped, sizeof(mapped));
		memcpy(p->ip + 12, &a->u.in.sin_addr, 4);
		p->port = ntohs(a->u.in.sin_port);
	} else if (p->family == AF_INET6) {
		memcpy(p->ip, &a->u.in6.sin6_addr, 16);
		p->port = ntohs(a->u.in6.sin6_port);
		p->scope = a->u.in6.sin6_scope_id;
		if (peer_is_ip4(p))
			p->family = AF_INET;
	}
}

void
addr_from_peer(struct addr *a, const struct peer *p)
{
	memset(a, 0, sizeof(*a));
	if (p->family == AF_INET) {
		a->u.in.sin_family = AF_INET;
		memcpy(&a->u.in.sin_addr, p->ip + 12, 4);
		a->u.in.sin_port = htons(p->port);
		a->len = sizeof(a->u.in);
	} else {
		a->u.in6.sin6_family = AF_INET6;
		memcpy(&a->u.in6.sin6_addr, p->ip, 16);
		a->u.in6.sin6_port = htons(p->port);
		a->u.in6.sin6_scope_id = p->scope;
		a->len = sizeof(a->u.in6);
	}
}

/* The address of a Unix client: process, user, that they are known, and group;
 * high bytes first, so that a hash of it is the same on all machines. */
enum { OWNER_PID = 0, OWNER_UID = 4, OWNER_KNOWN = 8, OWNER_GID = 12 };

static void
put32(uint8_t *at, uint32_t n)
{
	n = htonl(n);
	memcpy(at, &n, sizeof(n));
}

static unsigned
get32(const uint8_t *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof(n));
	return ntohl(n);
}

void
peer_set_owner(struct peer *p, const struct peer_owner *owner)
{
	put32(p->ip + OWNER_PID, owner->pid);
	put32(p->ip + OWNER_UID, owner->uid);
	put32(p->ip + OWNER_GID, owner->gid);
	p->ip[OWNER_KNOWN] = 1;
}

struct peer_owner
peer_owner(const struct peer *p)
{
	return (struct peer_owner){ .pid = get32(p->ip + OWNER_PID),
		.uid = get32(p->ip + OWNER_UID),
		.gid = get32(p->ip + OWNER_GID) };
}

void
peer_owner_mask(uint8_t mask[16], bool group)
{
	memset(mask, 0, 16);
	mask[OWNER_KNOWN] = 0xff;
	memset(mask + (group ? OWNER_GID : OWNER_UID), 0xff, 4);
}

bool
peer_is_ip4(const struct peer *p)
{
	return memcmp(p->ip, mapped, sizeof(mapped)) == 0;
}

static struct addr_text
peer_host_text(const struct peer *p)
{
	return p->family == AF_INET
	    ? (struct addr_text){ .ip = p->ip + 12 }
	    : (struct addr_text){ .is_ip6 = true,
		      .ip = p->ip,
		      .scope = p->scope };
}

static bool
peer_is_ip(const struct peer *p)
{
	return p->family == AF_INET || p->family == AF_INET6;
}

char *
peer_format_host(const struct peer *p, char text[PEER_TEXT_MAX])
{
	struct addr_text ip = peer_host_text(p);
	unsigned pid = get32(p->ip + OWNER_PID);
	unsigned uid = get32(p->ip + OWNER_UID);

	if (peer_is_ip(p))
		addr_text_host(text, &ip);
	else if (p->ip[OWNER_KNOWN] == 0)
		strcpy(text, "unix");
	else if (pid == 0)
		snprintf(text, PEER_TEXT_MAX, "unix:uid=%u", uid);
	else
		snprintf(text, PEER_TEXT_MAX, "unix:pid=%u,uid=%u", pid, uid);
	return text;
}

char *
peer_format(const struct peer *p, char text[PEER_TEXT_MAX])
{
	struct addr_text ip = peer_host_text(p);

	if (!peer_is_ip(p))
		return peer_format_host(p, text);
	addr_text_with_port(text, &ip, p->port);
	return text;
}

bool
peer_same_host(const struct peer *a, const struct peer *b)
{
	return a->family == b->family && a->scope == b->scope &&
	    memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

void
peer_prefix_mask(uint8_t mask[16], unsigned bits)
{
	unsigned i;

	for (i = 0; i < 16; i++, bits -= bits < 8 ? bits : 8)
		mask[i] = bits >= 8 ? 0xff : (uint8_t)(0xff00u >> bits);
}
