/* framegen_kinds.c: what is done to a frame that is right. */
#include "config.h"

#include <string.h>

#include "support/framegen_private.h"

/* Most kinds: the shape first, or the bytes afterwards. */
static void
drop(struct framegen *g, struct framegen_frame *m, const struct shape *s)
{
	build(g, m, s);
	m->passes = false;
}

/* ---- right ones ---- */

static void
plain(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	build(g, m, s);
}

static void
long_one(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->content_n =
	    1500 - (m->v6 ? IP6 : IP4) - (m->protocol == P_TCP ? TCP : UDP);
	build(g, m, s);
}

static void
padded(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->content_n %= 1000;
	build(g, m, s);
	m->length += 1 + random_below(g, 64);
	random_bytes(g, m->bytes + m->end, m->length - m->end);
}

/* Including no VLAN at all, only a priority. */
static void
tagged(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->tag_type = 0x8100;
	s->tag = (uint16_t)random_below(g, 0xffff);
	build(g, m, s);
}

static void
wrong_transport_sum(
    struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	build(g, m, s);
	m->bytes[m->transport + (m->protocol == P_TCP ? 16 : 6)] ^= 0x55;
}

static void
other_content(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->content_n += 1;
	build(g, m, s);
	m->bytes[m->end - 1] ^= (unsigned char)(1 << random_below(g, 8));
}

static void
put_routing(struct shape *s, unsigned left)
{
	s->first = P_ROUTING;
	s->between_n = 8;
	s->between[3] = (unsigned char)left;
}

/* Options or extensions that servers take. */
static void
between(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const unsigned char option4[] = { 148, 4, 0, 0, 1, 1, 7, 7, 4 };
	static const unsigned char head6[] = { P_DST, 0, 1, 4, 0, 0, 0, 0, P_AH,
		1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0,
		0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4 };

	s->content_n %= 1000;
	if (m->v6 && random_below(g, 3) == 0) {
		put_routing(s, 0);
	} else if (m->v6) {
		/* hop by hop, destination of 16 bytes, AH of 24 */
		s->first = P_HOPS;
		s->between_n = 8 + 16 + 24;
		s->last_at = 24;
		memcpy(s->between, head6, sizeof(head6));
		s->between[25] = 4;
	} else {
		s->between_n = 4u * (1 + random_below(g, 4));
		memcpy(s->between, option4, sizeof(option4));
		if (s->between_n < 16)
			memset(s->between + 4, 1, 12);
	}
	build(g, m, s);
}

/* ---- fragments ---- */

static struct framegen_train *
remember(struct framegen *g, const struct framegen_frame *m, uint32_t id)
{
	struct framegen_train *t = &g->train[g->trains++ % FRAMEGEN_TRAINS];

	*t = (struct framegen_train){ .v6 = m->v6,
		.passes = m->passes,
		.protocol = m->protocol,
		.client = m->client,
		.flow = m->flow,
		.id = id };
	return t;
}

static void
first_part(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->cut = s->more = true;
	s->content_n = 8u * (1 + random_below(g, 100));
	if (m->protocol == P_TCP)
		s->content_n += 4;
	build(g, m, s);
	/* which of several went to a server is only known for known flows */
	if (g->port != 0 && !m->begins)
		remember(g, m, s->id);
}

static void
later_part(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	const struct framegen_train *t =
	    &g->train[random_below(g, FRAMEGEN_TRAINS)];

	s->cut = s->bare = true;
	s->more = random_below(g, 2) == 0;
	s->offset = 2 + random_below(g, 1000);
	s->content_n =
	    s->more ? 8 * (1 + random_below(g, 100)) : 1 + random_below(g, 800);
	m->passes = t->passes;
	if (t->id != 0) {
		s->id = t->id;
		m->v6 = t->v6;
		m->protocol = t->protocol;
		m->client = t->client;
		/* a connection may have begun again elsewhere since */
		m->flow = t->protocol == P_TCP ? FRAMEGEN_FLOWS : t->flow;
	}
	build(g, m, s);
}

static void
part_of_nothing(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->cut = s->bare = true;
	s->offset = 3;
	s->content_n += 1;
	drop(g, m, s);
}

/* A fragment header though nothing is cut; IPv4 has no such thing. */
static void
atomic(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->cut = m->v6;
	build(g, m, s);
}

static void
overlapping(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->protocol = P_TCP;
	s->cut = s->bare = true;
	s->offset = 1;
	s->content_n = 8;
	drop(g, m, s);
}

static void
tiny_first(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->protocol = P_TCP;
	s->cut = s->more = s->bare = true;
	s->content_n = 16;
	drop(g, m, s);
}

static void
uneven(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->cut = s->more = true;
	s->content_n = 8u * random_below(g, 50) + 1;
	drop(g, m, s);
}

static void
too_far(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->cut = s->bare = true;
	s->offset = 8191;
	s->content_n = 9;
	drop(g, m, s);
}

/* ---- ICMP ---- */

static void
put_quote(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const unsigned char types[2][3] = { { 3, 11, 12 }, { 1, 2, 4 } };
	unsigned char *q = s->content + ICMP, *ports;

	memset(s->content, 0, sizeof(s->content));
	s->bare = true;
	s->content[0] = types[m->v6][random_below(g, 3)];
	if (m->v6) {
		q[0] = 0x60;
		set16(q + 4, 1000);
		q[6] = m->protocol;
		vip(true, q + 8);
		client_ip(true, m->client, q + 24);
		ports = q + IP6;
	} else {
		q[0] = 0x45;
		set16(q + 2, 1000);
		q[9] = m->protocol;
		vip(false, q + 12);
		client_ip(false, m->client, q + 16);
		ports = q + IP4;
	}
	set16(ports, g->port != 0 ? g->port : 80);
	set16(ports + 2, 1024 + m->port);
	s->content_n = (size_t)(ports + 8 - s->content);
	m->protocol = m->v6 ? P_ICMP6 : P_ICMP;
}

static void
finish_icmp(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	build(g, m, s);
	sum_transport(m);
}

static void
error(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	put_quote(g, m, s);
	finish_icmp(g, m, s);
	/* from whoever is on the way */
	m->bytes[m->net + (m->v6 ? 23 : 15)] = 99;
	if (!m->v6)
		sum_header(m);
	sum_transport(m);
}

static void
error_of_other(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	put_quote(g, m, s);
	s->content[ICMP + (m->v6 ? 23 : 15)] ^= 1;
	finish_icmp(g, m, s);
	m->passes = false;
}

static void
error_of_port(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	put_quote(g, m, s);
	s->content[ICMP + (m->v6 ? IP6 : IP4)] ^= 0x40;
	finish_icmp(g, m, s);
	m->passes &= g->port == 0;
}

/* Without both ports nobody knows whose it is. */
static void
error_cut(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	put_quote(g, m, s);
	s->content_n -= 5 + random_below(g, (uint32_t)s->content_n - 5);
	finish_icmp(g, m, s);
	m->passes = false;
}

static void
echo(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->protocol = m->v6 ? P_ICMP6 : P_ICMP;
	m->flow = FRAMEGEN_FLOWS;
	s->bare = true;
	s->content[0] = m->v6 ? 128 : 8;
	s->content_n += ICMP;
	finish_icmp(g, m, s);
}

/* Neighbours do not come through a router. */
static void
far_neighbor(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->v6 = true;
	m->protocol = P_ICMP6;
	memset(s->content, 0, sizeof(s->content));
	s->bare = true;
	s->content[0] = (unsigned char)(133 + random_below(g, 5));
	vip(true, s->content + 8);
	s->content_n = 24;
	drop(g, m, s);
	m->bytes[m->net + 7] = 64;
	sum_transport(m);
}

/* ---- headers that lie ---- */

static void
cut_off(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	drop(g, m, s);
	m->length = HEAD + random_below(g, (uint32_t)(m->end - HEAD));
}

static void
wrong_version(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const unsigned char v[] = { 0, 3, 5, 7, 15 };
	unsigned char *ip;

	drop(g, m, s);
	ip = m->bytes + m->net;
	ip[0] = (unsigned char)(v[random_below(g, 5)] << 4 | (ip[0] & 15));
	if (!m->v6)
		sum_header(m);
}

/* Too short, or longer than the packet. */
static void
wrong_head(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->v6 = false;
	if (random_below(g, 2) == 0) {
		drop(g, m, s);
		m->bytes[m->net] = (unsigned char)(0x40 | random_below(g, 5));
	} else {
		s->bare = true;
		s->content_n = random_below(g, 40);
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
		set16(ip + 4, is - IP6 + 1 + random_below(g, 60000));
	else if (random_below(g, 2) == 0)
		set16(ip + 2, is + 1 + random_below(g, 60000));
	else
		set16(ip + 2, random_below(g, IP4));
	if (!m->v6)
		sum_header(m);
}

/* The length stops in the middle of the transport's header. */
static void
short_length(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	size_t head = m->protocol == P_TCP ? TCP : UDP;
	unsigned n = random_below(g, (uint32_t)head);

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
	unsigned bit = random_below(g, IP4 * 8);

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
		    random_below(g, 2) == 0 ? random_below(g, UDP)
					    : (unsigned)n + 1);
	else
		p[12] = (unsigned char)((random_below(g, 2) == 0
						? random_below(g, 5)
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
		memcpy(s->between, bad4[random_below(g, 6)], 4);
		s->between_n = 4;
	} else if (random_below(g, 2) == 0) {
		put_routing(s, 1 + random_below(g, 255));
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
		memset(from, random_below(g, 2) == 0 ? 255 : 224, 4);
		sum_header(m);
	} else if (random_below(g, 2) == 0) {
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

	m->protocol = some[random_below(g, sizeof(some))];
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
	if (random_below(g, 2) == 0)
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
	set16(m->bytes + 12, some[random_below(g, 8)]);
}

static void
two_tags(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->content_n %= 1000;
	s->tag_type = random_below(g, 2) == 0 ? 0x8100 : 0x88a8;
	s->tag = (uint16_t)random_below(g, 4095);
	drop(g, m, s);
	memmove(m->bytes + 16 + 4, m->bytes + 16, m->length - 16);
	set16(m->bytes + 16, 0x8100);
	set16(m->bytes + 18, random_below(g, 4095));
	m->length += 4;
}

static void
noise(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const uint16_t types[] = { 0x0800, 0x86dd, 0x0806, 0x8100 };

	drop(g, m, s);
	m->length = HEAD + random_below(g, 1400);
	random_bytes(g, m->bytes + 12, m->length - 12);
	if (random_below(g, 4) != 0)
		set16(m->bytes + 12, types[random_below(g, 4)]);
}

static void
noise_in_packet(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	unsigned char to[16];
	size_t n = vip(m->v6, to);

	drop(g, m, s);
	random_bytes(g, m->bytes + m->net, m->length - m->net);
	memcpy(m->bytes + m->net + (m->v6 ? 24 : 16), to, n);
	/* else it would be right now and then */
	m->bytes[m->net] =
	    (unsigned char)((m->v6 ? 0x40 : 0x60) | (m->bytes[m->net] & 15));
}

#define KIND(name)          \
	{                   \
#name, name \
	}
#define OFTEN(name) KIND(name), KIND(name), KIND(name), KIND(name)
const struct kind framegen_kinds[] = { OFTEN(plain), OFTEN(later_part),
	OFTEN(first_part), KIND(long_one), KIND(padded), KIND(tagged),
	KIND(wrong_transport_sum), KIND(other_content), OFTEN(between),
	KIND(part_of_nothing), KIND(atomic), KIND(overlapping),
	KIND(tiny_first), KIND(uneven), KIND(too_far), OFTEN(error),
	KIND(error_of_other), KIND(error_of_port), KIND(error_cut), KIND(echo),
	KIND(far_neighbor), OFTEN(cut_off), KIND(wrong_version),
	KIND(wrong_head), OFTEN(wrong_length), KIND(short_length),
	OFTEN(flipped_head), OFTEN(wrong_transport), OFTEN(wrong_between),
	KIND(many_between), KIND(late_hops), KIND(wrong_sender),
	KIND(other_vip), KIND(other_port), KIND(other_protocol),
	KIND(other_mac), KIND(group_mac), KIND(other_type), KIND(two_tags),
	OFTEN(noise), OFTEN(noise_in_packet) };
const unsigned framegen_kinds_n =
    sizeof(framegen_kinds) / sizeof(framegen_kinds[0]);
