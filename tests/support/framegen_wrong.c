/* framegen_wrong.c: frames with headers that lie, and frames for others. */
#include "config.h"

#include <string.h>

#include "support/framegen_private.h"

/* ---- headers that lie ---- */

static void
cut_off(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	drop(g, m, s);
	m->length = HEAD + framegen_below(g, (uint32_t)(m->end - HEAD));
}

static void
wrong_version(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const unsigned char v[] = { 0, 3, 5, 7, 15 };
	unsigned char *ip;

	drop(g, m, s);
	ip = m->bytes + m->net;
	ip[0] = (unsigned char)(v[framegen_below(g, 5)] << 4 | (ip[0] & 15));
	if (!m->v6)
		sum_header(m);
}

/* Too short, or longer than the packet. */
static void
wrong_head(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->v6 = false;
	if (framegen_below(g, 2) == 0) {
		drop(g, m, s);
		m->bytes[m->net] = (unsigned char)(0x40 | framegen_below(g, 5));
	} else {
		s->bare = true;
		s->content_n = framegen_below(g, 40);
		drop(g, m, s);
		m->bytes[m->net] = 0x4f;
	}
	sum_header(m);
}

static void
wrong_length(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	unsigned char *ip;
	unsigned is;

	drop(g, m, s);
	ip = m->bytes + m->net;
	is = (unsigned)(m->end - m->net);
	if (m->v6)
		set16(ip + 4, is - IP6 + 1 + framegen_below(g, 60000));
	else if (framegen_below(g, 2) == 0)
		set16(ip + 2, is + 1 + framegen_below(g, 60000));
	else
		set16(ip + 2, framegen_below(g, IP4));
	if (!m->v6)
		sum_header(m);
}

/* The length stops in the middle of the transport's header. */
static void
short_length(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	size_t head = m->protocol == P_TCP ? TCP : UDP;
	unsigned n = framegen_below(g, (uint32_t)head);

	drop(g, m, s);
	if (m->v6)
		set16(m->bytes + m->net + 4, n);
	else
		set16(m->bytes + m->net + 2, IP4 + n);
	if (!m->v6)
		sum_header(m);
}

static void
flipped_head(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	unsigned bit = framegen_below(g, IP4 * 8);

	m->v6 = false;
	drop(g, m, s);
	m->bytes[m->net + bit / 8] ^= (unsigned char)(1 << bit % 8);
}

static void
wrong_transport(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	unsigned char *p;
	size_t n;

	s->content_n %= 16;
	drop(g, m, s);
	p = m->bytes + m->transport;
	n = m->end - m->transport;
	if (m->protocol == P_UDP)
		set16(p + 4,
		    framegen_below(g, 2) == 0 ? framegen_below(g, UDP)
					    : (unsigned)n + 1);
	else
		p[12] = (unsigned char)((framegen_below(g, 2) == 0
						? framegen_below(g, 5)
						: n / 4 + 1)
		    << 4);
	sum_transport(m);
}

static void
wrong_between(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const unsigned char bad4[][4] = { { 7, 0, 1, 1 }, { 7, 1, 1, 1 },
		{ 7, 5, 1, 1 }, { 1, 1, 1, 7 }, { 131, 3, 4, 0 },
		{ 137, 3, 4, 0 } };

	s->content_n %= 1000;
	if (!m->v6) {
		memcpy(s->between, bad4[framegen_below(g, 6)], 4);
		s->between_n = 4;
	} else if (framegen_below(g, 2) == 0) {
		/* by other nodes still to be visited */
		s->first = P_ROUTING;
		s->between_n = 8;
		s->between[3] = (unsigned char)(1 + framegen_below(g, 255));
	} else {
		/* longer than all there is */
		s->first = P_DST;
		s->between_n = 8;
		s->between[1] = 250;
	}
	drop(g, m, s);
}

static void
many_between(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	unsigned i;

	m->v6 = true;
	s->content_n %= 1000;
	s->first = P_DST;
	s->between_n = 9 * 8;
	s->last_at = 8 * 8;
	for (i = 0; i < 8; i++)
		s->between[8 * i] = P_DST;
	drop(g, m, s);
}

static void
late_hops(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->v6 = true;
	s->content_n %= 1000;
	s->first = P_DST;
	s->between_n = 16;
	s->between[0] = P_HOPS;
	s->last_at = 8;
	drop(g, m, s);
}

/* Nobody can answer a group, or IPv4 inside IPv6. */
static void
wrong_sender(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	unsigned char *from;

	drop(g, m, s);
	from = m->bytes + m->net + (m->v6 ? 8 : 12);
	if (!m->v6) {
		memset(from, framegen_below(g, 2) == 0 ? 255 : 224, 4);
		sum_header(m);
	} else if (framegen_below(g, 2) == 0) {
		from[0] = 0xff;
	} else {
		memset(from, 0, 10);
		memset(from + 10, 255, 2);
	}
	sum_transport(m);
}

/* ---- not for us ---- */

static void
other_vip(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	drop(g, m, s);
	m->bytes[m->net + (m->v6 ? 39 : 19)] ^= 4;
	if (!m->v6)
		sum_header(m);
	sum_transport(m);
}

static void
other_port(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	build(g, m, s);
	m->bytes[m->transport + 2] ^= 0x10;
	sum_transport(m);
	m->passes &= g->port == 0;
}

static void
other_protocol(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const uint8_t some[] = { 2, 4, 41, 47, 50, 59, 132, 255 };

	m->protocol = some[framegen_below(g, sizeof(some))];
	s->bare = true;
	drop(g, m, s);
}

static void
other_mac(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	drop(g, m, s);
	m->bytes[5] ^= 0x80;
}

/* What everybody hears has no business with an address that one has. */
static void
group_mac(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	drop(g, m, s);
	if (framegen_below(g, 2) == 0)
		memset(m->bytes, 255, 6);
	else
		memcpy(m->bytes, "\1\0\136\0\0\1", 6);
}

static void
other_type(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const uint16_t some[] = { 0, 46, 1500, 0x0801, 0x88cc, 0x8847,
		0x8864, 0xffff };

	drop(g, m, s);
	set16(m->bytes + 12, some[framegen_below(g, 8)]);
}

static void
two_tags(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->content_n %= 1000;
	s->tag_type = framegen_below(g, 2) == 0 ? 0x8100 : 0x88a8;
	s->tag = (uint16_t)framegen_below(g, 4095);
	drop(g, m, s);
	memmove(m->bytes + 16 + 4, m->bytes + 16, m->length - 16);
	set16(m->bytes + 16, 0x8100);
	set16(m->bytes + 18, framegen_below(g, 4095));
	m->length += 4;
}

static void
noise(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const uint16_t types[] = { 0x0800, 0x86dd, 0x0806, 0x8100 };

	drop(g, m, s);
	m->length = HEAD + framegen_below(g, 1400);
	random_bytes(g, m->bytes + 12, m->length - 12);
	if (framegen_below(g, 4) != 0)
		set16(m->bytes + 12, types[framegen_below(g, 4)]);
}

static void
noise_in_packet(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	unsigned char to[16];
	size_t n = vip(g, m, to);

	drop(g, m, s);
	random_bytes(g, m->bytes + m->net, m->length - m->net);
	memcpy(m->bytes + m->net + (m->v6 ? 24 : 16), to, n);
	/* else it would be right now and then */
	m->bytes[m->net] =
	    (unsigned char)((m->v6 ? 0x40 : 0x60) | (m->bytes[m->net] & 15));
}

/* clang-format off */
const struct kind framegen_wrong[] = {
	{ "cut_off", cut_off, 4, 0 },
	{ "wrong_version", wrong_version, 1, 0 },
	{ "wrong_head", wrong_head, 1, 0 },
	{ "wrong_length", wrong_length, 4, 0 },
	{ "short_length", short_length, 1, 0 },
	{ "flipped_head", flipped_head, 4, 0 },
	{ "wrong_transport", wrong_transport, 4, 0 },
	{ "wrong_between", wrong_between, 4, 0 },
	{ "many_between", many_between, 1, 0 },
	{ "late_hops", late_hops, 1, 0 },
	{ "wrong_sender", wrong_sender, 1, 0 },
	{ "other_vip", other_vip, 1, 0 },
	{ "other_port", other_port, 1, 0 },
	{ "other_protocol", other_protocol, 1, 0 },
	{ "other_mac", other_mac, 1, 0 },
	{ "group_mac", group_mac, 1, 0 },
	{ "other_type", other_type, 1, 0 },
	{ "two_tags", two_tags, 1, 0 },
	{ "noise", noise, 4, 0 },
	{ "noise_in_packet", noise_in_packet, 4, 0 },
	{ NULL, NULL, 0, 0 }
};
