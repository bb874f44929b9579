/* frame_ndp.c: NDP: neighbour solicitations and advertisements (RFC 4861). */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

enum { ND_SIZE = 24, OPTION_SIZE = 8 };
enum { OPTION_SOURCE = 1, OPTION_TARGET = 2 };
enum { FLAG_ROUTER = 0x80, FLAG_SOLICITED = 0x40, FLAG_OVERRIDE = 0x20 };

const uint8_t ndp_all_nodes[16] = { 0xff, 0x02, [15] = 1 };

static const uint8_t nobody[16];
/* ff02::1:ff00:0/104 */
static const uint8_t group_start[13] = { 0xff, 0x02, [11] = 1, [12] = 0xff };

void
ndp_group(uint8_t group[16], const uint8_t ip[16])
{
	memcpy(group, group_start, sizeof(group_start));
	memcpy(group + 13, ip + 13, 3);
}

/* Reads the options of a message. Each must have a length, even if it is
 * unknown. */
static bool
ndp_read_options(
    struct ndp *n, const unsigned char *p, const unsigned char *end)
{
	unsigned wanted = n->advertisement ? OPTION_TARGET : OPTION_SOURCE;

	while (p < end) {
		if (end - p < OPTION_SIZE || p[1] == 0 || p[1] * 8 > end - p)
			return false;
		/* One unit of 8 bytes: an Ethernet address (RFC 2464, 6). */
		if (p[0] == wanted && p[1] == 1) {
			n->has_mac = true;
			memcpy(n->mac.byte, p + 2, 6);
		}
		p += p[1] * 8;
	}
	return true;
}

/* The requirements of RFC 4861, 7.1.1 and 7.1.2 on the fields together. */
static bool
is_valid(const struct ndp *n)
{
	if (ip_is_group(AF_INET6, n->target))
		return false;
	if (n->advertisement)
		return !ip_is_group(AF_INET6, n->to) || !n->solicited;
	if (memcmp(n->from, nobody, 16) != 0)
		return true;
	return !n->has_mac &&
	    memcmp(n->to, group_start, sizeof(group_start)) == 0;
}

bool
frame_read_ndp(const struct frame *f, struct ndp *n)
{
	const unsigned char *p = f->bytes + f->transport, *end;

	if (f->kind != FRAME_NDP || (p[0] != ND_SOLICIT && p[0] != ND_ADVERT))
		return false;
	end = f->bytes + f->net + f->packet;
	/* frame_parse() has seen to the hop limit of 255. */
	if (p[1] != 0 || end - p < ND_SIZE || !frame_checksum_ok(f))
		return false;
	memset(n, 0, sizeof(*n));
	memcpy(n->from, f->from.ip, 16);
	memcpy(n->to, f->to.ip, 16);
	memcpy(n->target, p + 8, 16);
	n->advertisement = p[0] == ND_ADVERT;
	if (n->advertisement) {
		n->router = (p[4] & FLAG_ROUTER) != 0;
		n->solicited = (p[4] & FLAG_SOLICITED) != 0;
		n->override = (p[4] & FLAG_OVERRIDE) != 0;
	}
	return ndp_read_options(n, p + ND_SIZE, end) && is_valid(n);
}

size_t
frame_make_ndp(unsigned char *out, size_t room, const struct frame_head *head,
    const struct ndp *n)
{
	size_t size = ND_SIZE + (n->has_mac ? OPTION_SIZE : 0), at;
	struct frame_head real = *head;
	struct peer from, to;
	unsigned char *p;
	struct ip_fields ip = { .from = &from,
		.to = &to,
		.protocol = IPPROTO_ICMPV6,
		.hops = 255,
		.content = size };

	peer_of_ip(&from, AF_INET6, n->from);
	peer_of_ip(&to, AF_INET6, n->to);
	if (ip_is_group(AF_INET6, n->to))
		mac_of_group(&real.to, n->to);
	at = make_start(out, room, &real, &ip);
	if (at == 0)
		return 0;
	p = out + at;
	memset(p, 0, size);
	p[0] = n->advertisement ? ND_ADVERT : ND_SOLICIT;
	if (n->advertisement)
		p[4] = (unsigned char)((n->router ? FLAG_ROUTER : 0) |
		    (n->solicited ? FLAG_SOLICITED : 0) |
		    (n->override ? FLAG_OVERRIDE : 0));
	memcpy(p + 8, n->target, 16);
	if (n->has_mac) {
		p[ND_SIZE] = n->advertisement ? OPTION_TARGET : OPTION_SOURCE;
		p[ND_SIZE + 1] = 1;
		memcpy(p + ND_SIZE + 2, n->mac.byte, 6);
	}
	put16(p + 2,
	    sum_end(sum_of(sum_icmp(AF_INET6, n->from, n->to, size), p, size)));
	return at + size;
}
