/* frame_fragment.c: an IP packet in fragments. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

/* ---- IPv4 ---- */

static void
finish_header4(unsigned char *ip, size_t head, size_t n, size_t at, bool more)
{
	unsigned char *p = ip + IP4_HEAD;
	unsigned was = get16(ip + 6);
	size_t option;

	/* Options that only the first fragment has become padding (RFC 791,
	 * 3.1). */
	for (; at > 0 && p < ip + head && *p != 0; p += option) {
		option = *p == 1 ? 1 : p[1];
		if (!(*p & 0x80))
			memset(p, 1, option);
	}
	put16(ip + 2, (uint32_t)(head + n));
	/* The packet may be a fragment itself. */
	put16(ip + 6,
	    (uint32_t)((was & IP4_MORE) | ((was & IP4_OFFSET) + at / 8) |
		(more ? IP4_MORE : 0)));
	put16(ip + 10, 0);
	put16(ip + 10, sum_end(sum_of(0, ip, head)));
}

/* ---- IPv6 ---- */

static void
finish_header6(unsigned char *ip, size_t n, size_t at, bool more, uint32_t id)
{
	unsigned char *p = ip + IP6_HEAD;

	p[0] = ip[6];
	p[1] = 0;
	put16(p + 2, (uint32_t)(at | more));
	put32(p + 4, id);
	ip[6] = IPPROTO_FRAGMENT;
	put16(ip + 4, (uint32_t)(FRAGMENT_HEAD + n));
}

size_t
frame_fragment(unsigned char *out, size_t room, const struct frame *f,
    unsigned mtu, uint32_t id, size_t *done)
{
	const unsigned char *ip = f->bytes + f->net;
	bool ip4 = f->family == AF_INET;
	size_t head = ip4 ? (size_t)(ip[0] & 15) * 4 : IP6_HEAD;
	size_t heads = ip4 ? head : head + FRAGMENT_HEAD, left, n;

	if (f->kind == FRAME_BAD || f->packet < head || mtu < heads + 8)
		return 0;
	left = f->packet - head - *done;
	/* Offsets count units of 8 bytes: all but the last fragment are
	 * such. */
	n = mtu - heads;
	n = left <= n ? left : n / 8 * 8;
	if (left == 0 || room < f->net + heads + n)
		return 0;
	memcpy(out, f->bytes, f->net + head);
	memcpy(out + f->net + heads, ip + head + *done, n);
	if (ip4)
		finish_header4(out + f->net, head, n, *done, n < left);
	else
		finish_header6(out + f->net, n, *done, n < left, id);
	*done += n;
	return f->net + heads + n;
}
