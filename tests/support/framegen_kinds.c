/* framegen_kinds.c: frames that are right, fragments and ICMP, good and bad. */
#include "config.h"

#include <string.h>

#include "support/framegen_private.h"

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
	m->length += 1 + framegen_below(g, 64);
	random_bytes(g, m->bytes + m->end, m->length - m->end);
}

/* Including no VLAN at all, only a priority. */
static void
tagged(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->tag_type = 0x8100;
	s->tag = (uint16_t)framegen_below(g, 0xffff);
	build(g, m, s);
}

static void
wrong_transport_sum(
    struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	build(g, m, s);
	m->bytes[m->transport + (m->protocol == P_TCP ? 16 : 6)] ^= 0x55;
	m->sum_ok = false;
}

static void
other_content(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	s->content_n += 1;
	build(g, m, s);
	m->bytes[m->end - 1] ^= (unsigned char)(1 << framegen_below(g, 8));
	m->sum_ok = false;
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
	if (m->v6 && framegen_below(g, 3) == 0) {
		put_routing(s, 0);
	} else if (m->v6) {
		/* hop by hop, destination of 16 bytes, AH of 24 */
		s->first = P_HOPS;
		s->between_n = 8 + 16 + 24;
		s->last_at = 24;
		memcpy(s->between, head6, sizeof(head6));
		s->between[25] = 4;
	} else {
		s->between_n = 4u * (1 + framegen_below(g, 4));
		memcpy(s->between, option4, sizeof(option4));
		if (s->between_n < 16)
			memset(s->between + 4, 1, 12);
		s->ah = framegen_below(g, 3) == 0;
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
	s->content_n = 8u * (1 + framegen_below(g, 100));
	if (m->protocol == P_TCP)
		s->content_n += 4;
	build(g, m, s);
	/* which of several went to a server is only known for known flows */
	if (g->port != 0 && !m->begins)
		remember(g, m, s->id);
}

/* Makes it part of a packet whose first fragment was there. */
static void
join(struct framegen_frame *m, struct shape *s, const struct framegen_train *t)
{
	if (t->id == 0)
		return;
	s->id = t->id;
	m->v6 = t->v6;
	m->protocol = t->protocol;
	m->client = t->client;
	/* a connection may have begun again elsewhere since */
	m->flow = t->protocol == P_TCP ? FRAMEGEN_FLOWS : t->flow;
}

static void
later_part(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	const struct framegen_train *t =
	    &g->train[framegen_below(g, FRAMEGEN_TRAINS)];

	s->cut = s->bare = true;
	s->more = framegen_below(g, 2) == 0;
	s->offset = 2 + framegen_below(g, 1000);
	s->content_n = s->more ? 8 * (1 + framegen_below(g, 100))
			       : 1 + framegen_below(g, 800);
	m->passes = t->passes;
	join(m, s, t);
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
	unsigned i = framegen_below(g, FRAMEGEN_TRAINS);

	m->protocol = P_TCP;
	if (g->train[i].protocol == P_TCP)
		join(m, s, &g->train[i]);
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
	s->content_n = 8u * framegen_below(g, 50) + 1;
	drop(g, m, s);
}

static void
too_far(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	join(m, s, &g->train[framegen_below(g, FRAMEGEN_TRAINS)]);
	s->cut = s->bare = true;
	s->offset = 8191;
	s->content_n = 9;
	drop(g, m, s);
}

/* ---- ICMP ---- */

/* Ports of the quoted packet. */
static unsigned
quoted_port(const struct framegen *g)
{
	return g->port != 0 ? g->port : 80;
}

static void
put_quote(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const unsigned char types[2][4] = { { 3, 11, 12, 3 },
		{ 1, 2, 3, 4 } };
	unsigned char *q = s->content + ICMP, *ports;

	memset(s->content, 0, sizeof(s->content));
	s->bare = true;
	s->content[0] = types[m->v6][framegen_below(g, 4)];
	if (m->v6) {
		q[0] = 0x60;
		set16(q + 4, 1000);
		q[6] = m->protocol;
		vip(g, m, q + 8);
		client_ip(g, m, q + 24);
		ports = q + IP6;
	} else {
		q[0] = 0x45;
		set16(q + 2, 1000);
		q[9] = m->protocol;
		vip(g, m, q + 12);
		client_ip(g, m, q + 16);
		ports = q + IP4;
	}
	set16(ports, quoted_port(g));
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
	uint8_t quoted = m->protocol;

	put_quote(g, m, s);
	finish_icmp(g, m, s);
	m->is.kind = FRAME_ERROR;
	m->is.protocol = quoted;
	set_ends(g, m, 1024 + m->port, quoted_port(g));
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
	s->content_n -= 5 + framegen_below(g, (uint32_t)s->content_n - 5);
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

static void
neighbor(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	m->v6 = true;
	m->protocol = P_ICMP6;
	memset(s->content, 0, sizeof(s->content));
	s->bare = true;
	s->content[0] = (unsigned char)(133 + framegen_below(g, 5));
	vip(g, m, s->content + 8);
	s->content_n = 24;
	build(g, m, s);
	m->bytes[m->net + 7] = 255;
	sum_transport(m);
	m->is.kind = FRAME_NDP;
}

/* Neighbours do not come through a router. */
static void
far_neighbor(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	neighbor(g, m, s);
	m->bytes[m->net + 7] = 64;
	m->passes = false;
}

static void
arp(struct framegen *g, struct framegen_frame *m, struct shape *s)
{
	static const unsigned char start[] = { 0, 1, 8, 0, 6, 4, 0 };
	unsigned char *p = put_link(g, m, s, 0x0806);

	m->v6 = false;
	random_bytes(g, p, ARP);
	memcpy(p, start, sizeof(start));
	p[7] = (unsigned char)(1 + framegen_below(g, 2));
	client_ip(g, m, p + 14);
	vip(g, m, p + 24);
	m->end = m->length = m->net + ARP;
	m->is.kind = FRAME_ARP;
	m->is.family = AF_INET;
	set_ends(g, m, 0, 0);
	m->sum_ok = false;
}

/* clang-format off */
const struct kind framegen_kinds[] = {
	{ "plain", plain, 4, 6 },
	{ "later_part", later_part, 4, 2 },
	{ "first_part", first_part, 4, 2 },
	{ "long_one", long_one, 1, 1 },
	{ "padded", padded, 1, 0 },
	{ "tagged", tagged, 1, 0 },
	{ "wrong_transport_sum", wrong_transport_sum, 1, 1 },
	{ "other_content", other_content, 1, 1 },
	{ "between", between, 4, 6 },
	{ "part_of_nothing", part_of_nothing, 1, 0 },
	{ "atomic", atomic, 1, 1 },
	{ "overlapping", overlapping, 1, 0 },
	{ "tiny_first", tiny_first, 1, 0 },
	{ "uneven", uneven, 1, 0 },
	{ "too_far", too_far, 1, 0 },
	{ "error", error, 4, 3 },
	{ "error_of_other", error_of_other, 1, 0 },
	{ "error_of_port", error_of_port, 1, 0 },
	{ "error_cut", error_cut, 1, 0 },
	{ "echo", echo, 1, 2 },
	{ "neighbor", neighbor, 0, 2 },
	{ "far_neighbor", far_neighbor, 1, 0 },
	{ "arp", arp, 0, 1 },
	{ NULL, NULL, 0, 0 }
};
