/* frame_ip.c: the headers of IPv4 and IPv6, of packets that came and of those
 * that errors quote. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

/* More extension headers are no traffic but an attack (RFC 8504, 5.3). */
enum { EXTENSIONS_MAX = 8 };

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

bool
ip_is_group(unsigned family, const unsigned char *ip)
{
	static const unsigned char all[4] = { 255, 255, 255, 255 };

	if (family == AF_INET6)
		return ip[0] == 0xff;
	return (ip[0] & 0xf0) == 0xe0 || memcmp(ip, all, 4) == 0;
}

void
peer_of_ip(struct peer *p, unsigned family, const unsigned char *ip)
{
	memset(p, 0, sizeof(*p));
	p->family = (uint16_t)family;
	if (family == AF_INET) {
		memcpy(p->ip, mapped, sizeof(mapped));
		memcpy(p->ip + 12, ip, 4);
	} else {
		memcpy(p->ip, ip, 16);
	}
}

const unsigned char *
ip_of_peer(const struct peer *p)
{
	return p->family == AF_INET ? p->ip + 12 : p->ip;
}

/* A source route makes another address the last one, and no server takes it. */
static const char *
check_options(const unsigned char *p, const unsigned char *end)
{
	while (p < end && *p != 0) {
		if (*p == 1) {
			p++;
			continue;
		}
		if (end - p < 2 || p[1] < 2 || p[1] > end - p)
			return "header";
		if (*p == 131 || *p == 137)
			return "routing";
		p += p[1];
	}
	return NULL;
}

static const char *
read_ip4(struct packet *p)
{
	const unsigned char *ip = p->bytes + p->at;
	size_t n = p->end - p->at, head, total;
	unsigned fragment;

	if (n < IP4_HEAD || ip[0] >> 4 != 4)
		return "header";
	head = (size_t)(ip[0] & 15) * 4;
	if (head < IP4_HEAD || head > n)
		return "header";
	total = get16(ip + 2);
	p->from = ip + 12;
	p->to = ip + 16;
	p->protocol = ip[9];
	p->transport = p->part = p->at + head;
	fragment = get16(ip + 6);
	p->offset = (fragment & IP4_OFFSET) * 8;
	p->more = (fragment & IP4_MORE) != 0;
	p->id = get16(ip + 4);
	/* Routers quote a part only, and may have changed lengths. */
	if (p->quoted)
		return NULL;
	if (total < head || total > n)
		return "length";
	p->end = p->at + total;
	if (sum_end(sum_of(0, ip, head)) != 0)
		return "checksum";
	return check_options(ip + IP4_HEAD, ip + head);
}

static const char *
read_ip6(struct packet *p)
{
	const unsigned char *ip = p->bytes + p->at;
	size_t n = p->end - p->at, total;

	if (n < IP6_HEAD || ip[0] >> 4 != 6)
		return "header";
	p->from = ip + 8;
	p->to = ip + 24;
	p->protocol = ip[6];
	p->transport = p->at + IP6_HEAD;
	if (p->quoted)
		return NULL;
	total = IP6_HEAD + (size_t)get16(ip + 4);
	if (total > n)
		return "length";
	p->end = p->at + total;
	/* They would be taken for IPv4 clients, which cannot be answered. */
	if (memcmp(p->from, mapped, sizeof(mapped)) == 0 ||
	    memcmp(p->to, mapped, sizeof(mapped)) == 0)
		return "address";
	return NULL;
}

/* RFC 8200, 4.5 */
static const char *
read_fragment_header(struct packet *p, const unsigned char *head)
{
	unsigned field = get16(head + 2);

	/* One is enough for any sender. */
	if (p->marked)
		return "fragment";
	p->marked = true;
	p->offset = field & 0xfff8;
	p->more = (field & 1) != 0;
	p->id = get32(head + 4);
	p->part = p->transport + 8;
	return NULL;
}

static bool
is_extension(const struct packet *p)
{
	switch (p->protocol) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_FRAGMENT:
	case IPPROTO_DSTOPTS:
		return p->family == AF_INET6;
	case IPPROTO_AH:
		return true;
	default:
		return false;
	}
}

/* The header p->transport points to; on to the next. */
static const char *
read_extension(struct packet *p, bool first)
{
	const unsigned char *head = p->bytes + p->transport;
	size_t size, there = p->end - p->transport;
	const char *wrong = NULL;

	if (there < 8)
		return "header";
	size = ((size_t)head[1] + 1) * 8;
	switch (p->protocol) {
	case IPPROTO_HOPOPTS:
		/* It comes first or not at all (RFC 8200, 4.1). */
		if (!first)
			return "header";
		break;
	case IPPROTO_ROUTING:
		/* Segments left: the address is not the last one. */
		if (head[3] != 0)
			return "routing";
		break;
	case IPPROTO_FRAGMENT:
		size = 8;
		wrong = read_fragment_header(p, head);
		break;
	case IPPROTO_AH:
		size = ((size_t)head[1] + 2) * 4;
		if (size < 12)
			return "header";
		break;
	}
	if (size > there)
		return "header";
	p->protocol = head[0];
	p->transport += size;
	return wrong;
}

const char *
packet_read(struct packet *p)
{
	const char *wrong;
	size_t n, counted;
	int i;

	wrong = p->family == AF_INET ? read_ip4(p) : read_ip6(p);
	/* A later fragment has content where the next header would be. */
	for (i = 0; wrong == NULL && p->offset == 0 && is_extension(p); i++)
		wrong =
		    i == EXTENSIONS_MAX ? "header" : read_extension(p, i == 0);
	if (wrong != NULL || p->quoted)
		return wrong;
	if (ip_is_group(p->family, p->from))
		return "address";
	/* Fragments that would overlap the start of TCP (RFC 3128), or end
	 * behind the longest packet, have no honest sender. */
	n = p->end - p->part;
	counted = p->part - p->at;
	if (!p->more && p->offset == 0)
		return NULL;
	/* of the whole packet: IPv6 does not count its own header */
	if (p->family == AF_INET6)
		counted -= IP6_HEAD + 8;
	counted += p->offset + n;
	if (n == 0 || (p->more && n % 8 != 0) || counted > UINT16_MAX)
		return "fragment";
	if (p->protocol == IPPROTO_TCP && p->offset != 0 &&
	    p->offset < TCP_HEAD - 4)
		return "fragment";
	return NULL;
}
