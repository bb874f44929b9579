/* offload.c: segments GSO frames, and does checksums left to do.
 *
 *     | Ethernet | IP | TCP or UDP | segment | segment | rest |
 *                                  head                       end
 */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"
#include "dsr/link/offload.h"

enum { FIN_PSH = FRAME_FIN | FRAME_PSH, CWR = 0x80 };

struct parts {
	struct frame frame;
	size_t head, end;
	unsigned segments;
};

bool
offload_finish(struct link_frame *f)
{
	struct link_offload *o = &f->offload;
	size_t at = (size_t)o->sum_start + o->sum_offset;
	uint16_t sum;

	if (!(o->flags & LINK_CHECKSUM))
		return true;
	if (at + 2 > f->length)
		return false;
	sum = sum_end(
	    sum_of(0, f->bytes + o->sum_start, f->length - o->sum_start));
	/* the same number; in UDP, zero would mean no sum */
	put16(f->bytes + at, sum == 0 ? 0xffff : sum);
	o->flags &= (uint8_t)~LINK_CHECKSUM;
	return true;
}

/* Finds the headers and how many segments follow them. */
static bool
parts_find(struct parts *c, const struct link_frame *f)
{
	unsigned type = f->offload.type & ~(unsigned)LINK_GSO_ECN;
	const struct frame *p = &c->frame;
	bool tcp = type == LINK_GSO_TCP4 || type == LINK_GSO_TCP6;

	frame_parse(&c->frame, f->bytes, f->length);
	if (p->kind != FRAME_FLOW || p->first_fragment ||
	    f->offload.segment_size == 0 || (!tcp && type != LINK_GSO_UDP) ||
	    p->protocol != (tcp ? IPPROTO_TCP : IPPROTO_UDP))
		return false;
	c->end = p->net + p->packet;
	c->head = p->transport +
	    (tcp ? (size_t)(p->bytes[p->transport + 12] >> 4) * 4 : UDP_HEAD);
	if (c->head >= c->end)
		return false;
	c->segments =
	    (unsigned)((c->end - c->head + f->offload.segment_size - 1) /
		f->offload.segment_size);
	return true;
}

unsigned
offload_segments(const struct link_frame *f)
{
	struct parts c;

	if (f->offload.type == 0)
		return 1;
	return parts_find(&c, f) ? c.segments : 0;
}

static void
set_ip(const struct parts *c, unsigned char *ip, size_t packet, unsigned i)
{
	if (c->frame.family == AF_INET6) {
		put16(ip + 4, (uint32_t)(packet - IP6_HEAD));
		return;
	}
	put16(ip + 2, (uint32_t)packet);
	put16(ip + 4, get16(ip + 4) + i);
	put16(ip + 10, 0);
	put16(
	    ip + 10, sum_end(sum_of(0, ip, c->frame.transport - c->frame.net)));
}

static void
set_tcp(const struct parts *c, unsigned char *tcp, unsigned i, size_t before)
{
	put32(tcp + 4, get32(tcp + 4) + (uint32_t)before);
	if (i + 1 < c->segments)
		tcp[13] &= (unsigned char)~FIN_PSH;
	if (i > 0)
		tcp[13] &= (unsigned char)~CWR;
}

static void
set_sum(const struct parts *c, unsigned char *out, size_t length, size_t at)
{
	const unsigned char *ip = out + c->frame.net;
	bool ip4 = c->frame.family == AF_INET;
	size_t n = length - c->frame.transport;
	uint16_t sum;

	put16(out + at, 0);
	sum = sum_end(sum_of(sum_pseudo(c->frame.family, ip + (ip4 ? 12 : 8),
				 ip + (ip4 ? 16 : 24), c->frame.protocol, n),
	    out + c->frame.transport, n));
	put16(out + at, sum == 0 ? 0xffff : sum);
}

size_t
offload_segment(
    unsigned char *out, size_t room, const struct link_frame *f, unsigned i)
{
	struct parts c;
	size_t before, n, transport;
	bool no_sum;

	if (!parts_find(&c, f) || i >= c.segments)
		return 0;
	before = (size_t)i * f->offload.segment_size;
	n = c.end - c.head - before;
	if (n > f->offload.segment_size)
		n = f->offload.segment_size;
	if (c.head + n > room)
		return 0;
	memcpy(out, f->bytes, c.head);
	memcpy(out + c.head, f->bytes + c.head + before, n);
	transport = c.frame.transport;
	set_ip(&c, out + c.frame.net, c.head - c.frame.net + n, i);
	if (c.frame.protocol == IPPROTO_TCP) {
		set_tcp(&c, out + transport, i, before);
		set_sum(&c, out, c.head + n, transport + 16);
		return c.head + n;
	}
	no_sum = get16(out + transport + 6) == 0 &&
	    !(f->offload.flags & LINK_CHECKSUM);
	put16(out + transport + 4, (uint32_t)(UDP_HEAD + n));
	if (!no_sum)
		set_sum(&c, out, c.head + n, transport + 6);
	return c.head + n;
}
