/* frame_tunnel.c: packets in packets, and ICMP errors about them. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

size_t
frame_tunnel_adds(unsigned family)
{
	return ip_head_size(family);
}

size_t
frame_make_tunnel(unsigned char *out, size_t room,
    const struct frame_head *head, const struct frame *f,
    const struct tunnel *t)
{
	const unsigned char *inner = f->bytes + f->net;
	struct ip_fields ip = {
		.from = &t->from, .to = &t->to, .hops = FRAME_HOPS, .id = t->id
	};
	size_t at;

	if (f->kind == FRAME_BAD || f->packet == 0)
		return 0;
	/* DF is copied (RFC 2003, 3.1), unless the caller sets it. */
	ip.content = f->packet;
	ip.may_fragment = t->may_fragment || frame_may_fragment(f);
	if (f->family == AF_INET) {
		ip.protocol = IPPROTO_IPIP;
		ip.class = inner[1];
	} else {
		ip.protocol = IPPROTO_IPV6;
		ip.class = (uint8_t)(get16(inner) >> 4);
		ip.label = get32(inner);
	}
	at = make_start(out, room, head, &ip);
	if (at == 0)
		return 0;
	memcpy(out + at, inner, f->packet);
	return at + f->packet;
}

/* ---- errors ---- */

/* The size that fits, of "fragmentation needed" or "packet too big"; 0: it is
 * something else. */
static unsigned
read_size(const struct frame *f, size_t quoted)
{
	/* the MTUs that networks have (RFC 1191, 7) */
	static const unsigned sizes[] = { 65535, 32000, 17914, 8166, 4352, 2002,
		1492, 1006, 508, 296, 68 };
	const unsigned char *p = f->bytes + f->transport;
	size_t i, n = sizeof(sizes) / sizeof(sizes[0]);
	unsigned mtu;

	if (f->family == AF_INET6)
		return p[0] == IP6_TOO_BIG ? get32(p + 4) : 0;
	if (p[0] != IP4_UNREACHABLE || p[1] != 4)
		return 0;
	mtu = get16(p + 6);
	if (mtu != 0)
		return mtu;
	for (i = 0; i < n - 1 && sizes[i] >= quoted; i++)
		;
	return sizes[i]; /* the next smaller one */
}

/* Whether the quoted packet is a tunnel's that the receiver of the error sent;
 * sets the tunnel's end and the packet's length. */
static bool
read_quote(const struct frame *f, const unsigned char *q, size_t n,
    struct peer *to, size_t *length)
{
	bool ip4 = f->family == AF_INET;
	size_t width = ip4 ? 4 : 16, head = ip4 ? IP4_HEAD : IP6_HEAD;
	unsigned protocol;

	if (n < head || q[0] >> 4 != (ip4 ? 4 : 6) ||
	    memcmp(q + (ip4 ? 12 : 8), ip_of_peer(&f->to), width) != 0)
		return false;
	/* Our fragments of outer packets have no other extension header. */
	protocol = ip4 ? q[9] : q[6];
	if (!ip4 && protocol == IPPROTO_FRAGMENT && n > head)
		protocol = q[head];
	peer_of_ip(to, f->family, q + (ip4 ? 16 : 24));
	*length = ip4 ? get16(q + 2) : IP6_HEAD + (size_t)get16(q + 4);
	return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6;
}

bool
frame_read_tunnel_error(const struct frame *f, struct tunnel_error *e)
{
	const unsigned char *q = f->bytes + f->transport + ICMP_HEAD;
	size_t end = f->net + (size_t)f->packet, length;

	if (f->kind != FRAME_ICMP || f->first_fragment ||
	    f->transport + (size_t)ICMP_HEAD > end ||
	    !read_quote(f, q, end - f->transport - ICMP_HEAD, &e->to, &length))
		return false;
	e->mtu = read_size(f, length);
	return e->mtu != 0 && e->mtu < length && frame_checksum_ok(f);
}
