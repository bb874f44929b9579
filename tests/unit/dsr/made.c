/* made.c: frames by dice. Each is written from the inside out into the end of a
 * buffer: what a layer adds goes before what is there. */
#include "config.h"

#include <string.h>

#include "base/hash.h"
#include "unit/dsr/model.h"

/* A packet while it grows; `at` is where it begins. */
struct grow {
	unsigned char bytes[MADE_MAX];
	size_t at;
};

uint64_t
roll(uint64_t *seed)
{
	*seed += UINT64_C(0x9e3779b97f4a7c15);
	return hash_mix(*seed);
}

size_t
below(uint64_t *seed, size_t n)
{
	return (size_t)(roll(seed) % n);
}

/* n bytes before what is there, by dice */
static unsigned char *
before(struct grow *g, size_t n, uint64_t *seed)
{
	size_t i;

	g->at -= n;
	for (i = 0; i < n; i++)
		g->bytes[g->at + i] = (unsigned char)roll(seed);
	return g->bytes + g->at;
}

static void
set(unsigned char *p, size_t width, unsigned long n)
{
	while (width-- > 0) {
		p[width] = (unsigned char)n;
		n >>= 8;
	}
}

static void
some_peer(struct peer *p, bool four, uint64_t *seed)
{
	size_t i;

	memset(p, 0, sizeof(*p));
	p->family = four ? AF_INET : AF_INET6;
	for (i = four ? 12 : 0; i < 16; i++)
		p->ip[i] = (uint8_t)roll(seed);
	if (four)
		p->ip[10] = p->ip[11] = 0xff;
	p->ip[four ? 12 : 0] = four ? 10 : 0x20;
}

/* What the sum over the content begins with, as a plain number. */
static unsigned long
plain(const unsigned char *p, size_t n)
{
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += (unsigned long)p[i] << (i % 2 == 0 ? 8 : 0);
	return sum;
}

/* Sets the checksum at p[where] of n bytes so that all is a multiple. */
static void
set_sum(unsigned char *p, size_t where, size_t n, unsigned long start)
{
	unsigned long sum;

	set(p + where, 2, 0);
	sum = start + plain(p, n);
	sum = 65535 - sum % 65535;
	set(p + where, 2, sum);
}

static unsigned long
pseudo(const struct frame *f, unsigned protocol, size_t n)
{
	size_t skip = f->family == AF_INET ? 12 : 0;

	return plain(f->from.ip + skip, 16 - skip) +
	    plain(f->to.ip + skip, 16 - skip) + protocol + n;
}

static void
make_flow(struct grow *g, struct frame *f, uint64_t *seed)
{
	size_t data = below(seed, 200), head;
	unsigned char *p;

	f->kind = FRAME_FLOW;
	f->protocol = below(seed, 2) ? 6 : 17;
	head = f->protocol == 17 ? 8 : 20 + 4 * below(seed, 11);
	p = before(g, head + data, seed);
	f->from.port = (uint16_t)(p[0] << 8 | p[1]);
	f->to.port = (uint16_t)(p[2] << 8 | p[3]);
	if (f->protocol == 6) {
		p[12] = (unsigned char)(head * 4);
		f->tcp_flags = p[13];
	} else {
		set(p + 4, 2, head + data);
	}
	set_sum(p, f->protocol == 6 ? 16 : 6, head + data,
	    pseudo(f, f->protocol, head + data));
}

static void make_ip(struct grow *g, struct frame *f, const struct peer *from,
    const struct peer *to, unsigned protocol, unsigned hops, uint64_t *seed);

static void
sum_icmp(struct grow *g, const struct frame *f, size_t n)
{
	set_sum(g->bytes + g->at, 2, n,
	    f->family == AF_INET ? 0 : pseudo(f, 58, n));
}

static void
make_icmp(struct grow *g, struct frame *f, uint64_t *seed)
{
	size_t n = 8 + below(seed, 60);
	unsigned char *p = before(g, n, seed);

	f->kind = FRAME_ICMP;
	f->protocol = f->family == AF_INET ? 1 : 58;
	p[0] = f->family == AF_INET ? (below(seed, 2) ? 8 : 0)
				    : (below(seed, 2) ? 128 : 129);
	sum_icmp(g, f, n);
}

/* The quote keeps at least the ports. */
static void
make_error(struct grow *g, struct frame *f, uint64_t *seed)
{
	static const unsigned char four[] = { 3, 11, 12 };
	struct frame quoted = { .family = f->family, .from = f->to };
	unsigned char *p, copy[MADE_MAX];
	size_t end = g->at, n, whole;

	some_peer(&quoted.to, f->family == AF_INET, seed);
	make_flow(g, &quoted, seed);
	n = end - g->at;
	make_ip(
	    g, &quoted, &quoted.from, &quoted.to, quoted.protocol, 60, seed);
	whole = end - g->at;
	n = whole - n + 4 + below(seed, n - 3);
	memcpy(copy, g->bytes + g->at, n);
	g->at = end - n;
	memcpy(g->bytes + g->at, copy, n);
	p = before(g, 8, seed);
	p[0] = f->family == AF_INET ? four[below(seed, 3)]
				    : (unsigned char)(1 + below(seed, 4));
	sum_icmp(g, f, n + 8);
	f->kind = FRAME_ERROR;
	f->protocol = quoted.protocol;
	f->from = quoted.to;
	f->to = quoted.from;
}

static void
make_ndp(struct grow *g, struct frame *f, uint64_t *seed)
{
	unsigned char *p = before(g, 32, seed);

	f->kind = FRAME_NDP;
	f->protocol = 58;
	p[0] = (unsigned char)(133 + below(seed, 5));
	sum_icmp(g, f, 32);
}

/* A header of IPv6 (or AH) before what is there, whose first is `next`. */
static unsigned
extension(struct grow *g, unsigned type, unsigned next, uint64_t *seed)
{
	size_t n = 8 * (1 + below(seed, 3));
	unsigned char *p;

	if (type == 51)
		n += 8;
	p = before(g, n, seed);
	p[0] = (unsigned char)next;
	p[1] = (unsigned char)(type == 51 ? n / 4 - 2 : n / 8 - 1);
	if (type == 43)
		p[3] = 0;
	return type;
}

static void
make_ip6(struct grow *g, const struct peer *from, const struct peer *to,
    unsigned next, unsigned hops, uint64_t *seed)
{
	static const unsigned char types[] = { 43, 60, 51 };
	size_t n = MADE_MAX - g->at, have = below(seed, 5);
	unsigned char *p;

	while (have-- > 0)
		next = extension(g, types[below(seed, 3)], next, seed);
	if (below(seed, 4) == 0)
		next = extension(g, 0, next, seed);
	n = MADE_MAX - g->at;
	p = before(g, 40, seed);
	p[0] = (unsigned char)(0x60 | (p[0] & 15));
	set(p + 4, 2, n);
	p[6] = (unsigned char)next;
	p[7] = (unsigned char)hops;
	memcpy(p + 8, from->ip, 16);
	memcpy(p + 24, to->ip, 16);
}

static void
make_ip4(struct grow *g, const struct peer *from, const struct peer *to,
    unsigned next, unsigned hops, unsigned cut, uint64_t *seed)
{
	size_t words = below(seed, 2) ? 0 : below(seed, 11), i, n;
	unsigned char *p;

	if (cut == 0 && below(seed, 8) == 0)
		next = extension(g, 51, next, seed);
	p = before(g, words * 4, seed);
	for (i = 0; i < words; i++) { /* NOP, or one of three bytes and NOP */
		set(p + 4 * i, 4, below(seed, 2) ? 0x01010101 : 0x44030501);
	}
	n = MADE_MAX - g->at;
	p = before(g, 20, seed);
	p[0] = (unsigned char)(0x45 + words);
	set(p + 2, 2, n + 20);
	set(p + 6, 2, cut);
	p[8] = (unsigned char)hops;
	p[9] = (unsigned char)next;
	memcpy(p + 12, from->ip + 12, 4);
	memcpy(p + 16, to->ip + 12, 4);
	set_sum(p, 10, 20 + 4 * words, 0);
}

static void
make_ip(struct grow *g, struct frame *f, const struct peer *from,
    const struct peer *to, unsigned protocol, unsigned hops, uint64_t *seed)
{
	unsigned cut = below(seed, 2) ? 0x4000 : 0;

	if (f->family == AF_INET)
		make_ip4(g, from, to, protocol, hops, cut, seed);
	else
		make_ip6(g, from, to, protocol, hops, seed);
}

/* One of the fragments of a packet that is longer than any buffer here. */
static void
make_fragment(struct grow *g, struct frame *f, uint64_t *seed)
{
	bool head = below(seed, 2), more = head || below(seed, 2);
	unsigned where = head ? 0 : 24 + 8 * (unsigned)below(seed, 8000);
	size_t n = 8 * (1 + below(seed, 20));
	unsigned char *p;

	if (head) {
		make_flow(g, f, seed);
		n = MADE_MAX - g->at; /* of eights, with new bytes at the end */
		memmove(
		    g->bytes + g->at - (8 - n % 8) % 8, g->bytes + g->at, n);
		g->at -= (8 - n % 8) % 8;
	} else {
		f->kind = FRAME_FRAGMENT;
		f->protocol = below(seed, 2) ? 6 : 17;
		before(g, n, seed);
	}
	f->first_fragment = head;
	if (f->family == AF_INET) {
		make_ip4(g, &f->from, &f->to, f->protocol, 60,
		    where / 8 | (more ? 0x2000 : 0), seed);
		p = g->bytes + g->at;
		f->fragment_id = (uint32_t)(p[4] << 8 | p[5]);
		return;
	}
	p = before(g, 8, seed);
	p[0] = f->protocol;
	set(p + 2, 2, where | (unsigned)more);
	f->fragment_id =
	    (uint32_t)p[4] << 24 | (uint32_t)(p[5] << 16 | p[6] << 8 | p[7]);
	make_ip6(g, &f->from, &f->to, 44, 60, seed);
}

static void
make_arp(struct grow *g, struct frame *f, uint64_t *seed)
{
	unsigned char *p = before(g, 28, seed);

	set(p, 4, 0x00010800);
	set(p + 4, 4, 0x06040001 + below(seed, 2));
	f->kind = FRAME_ARP;
	memcpy(p + 14, f->from.ip + 12, 4);
	memcpy(p + 24, f->to.ip + 12, 4);
}

static void
make_ethernet(struct made *m, struct grow *g, unsigned type, uint64_t *seed)
{
	size_t n;
	unsigned char *p = before(g, 2, seed);

	set(p, 2, type);
	m->net = 14;
	if (below(seed, 3) == 0) {
		m->net = 18;
		p = before(g, 4, seed);
		set(p, 2, 0x8100);
		m->is.vlan = (uint16_t)(p[2] << 8 | p[3]);
	}
	before(g, 12, seed);
	n = MADE_MAX - g->at;
	memcpy(m->bytes, g->bytes + g->at, n);
	m->n = n;
	while (below(seed, 3) == 0) /* padding */
		m->bytes[m->n++] = (unsigned char)roll(seed);
}

static void
make_content(struct made *m, struct grow *g, uint64_t *seed)
{
	struct frame *f = &m->is;
	struct peer from = f->from, to = f->to;

	m->sum_ok = true;
	switch (below(seed, 8)) {
	case 0:
		make_icmp(g, f, seed);
		break;
	case 1:
		make_error(g, f, seed);
		break;
	case 2:
		m->sum_ok = false;
		make_fragment(g, f, seed);
		return;
	case 3:
		if (f->family == AF_INET6) {
			make_ndp(g, f, seed);
			break;
		}
		/* fall through */
	default:
		make_flow(g, f, seed);
		break;
	}
	make_ip(g, f, &from, &to,
	    f->kind != FRAME_ERROR ? f->protocol
				   : (f->family == AF_INET ? 1U : 58U),
	    f->kind == FRAME_NDP ? 255 : 60, seed);
}

void
made_frame(struct made *m, uint64_t *seed)
{
	static struct grow g;
	bool four = below(seed, 2);

	memset(m, 0, sizeof(*m));
	g.at = MADE_MAX;
	m->is.family = four ? AF_INET : AF_INET6;
	some_peer(&m->is.from, four, seed);
	some_peer(&m->is.to, four, seed);
	if (four && below(seed, 16) == 0) {
		make_arp(&g, &m->is, seed);
		make_ethernet(m, &g, 0x0806, seed);
	} else {
		make_content(m, &g, seed);
		m->is.packet = (uint32_t)(MADE_MAX - g.at);
		make_ethernet(m, &g, four ? 0x0800 : 0x86dd, seed);
	}
}

/* Spoiled headers are looked into only when their sum is right again. */
static void
heal(struct made *m)
{
	unsigned char *p = m->bytes + m->net;
	size_t head;

	if (m->n < m->net + 20 || p[-2] != 8 || p[-1] != 0)
		return;
	head = (p[0] & 15U) * 4;
	if (head >= 20 && m->net + head <= m->n)
		set_sum(p, 10, head, 0);
}

/* A group, or the address of an IPv4 client in IPv6. */
static void
spoil_sender(struct made *m, uint64_t *seed)
{
	bool four = m->is.family == AF_INET;
	unsigned char *p = m->bytes + m->net + (four ? 12 : 8);

	if (m->is.kind == FRAME_ARP)
		return;
	memset(p, four || below(seed, 2) ? 0xff : 0, four ? 4 : 10);
	if (!four)
		p[10] = p[11] = 0xff;
	else if (below(seed, 2))
		p[0] = 0xe0;
}

const char *
made_spoil(struct made *m, uint64_t *seed)
{
	static const unsigned char words[] = { 2, 4, 6, 16, 18, 20, 22, 40, 42,
		44, 46 };
	size_t head = m->net + 64 < m->n ? m->net + 64 : m->n, at, i;
	const char *way = "a byte";

	switch (below(seed, 7)) {
	case 0:
		m->n = below(seed, m->n);
		return "cut";
	case 1:
		m->n = below(seed, m->n);
		at = m->net + (m->is.family == AF_INET ? 2 : 4);
		if (at + 2 <= m->n && m->n >= m->net + 40)
			set(m->bytes + at, 2,
			    m->n - m->net - (m->is.family == AF_INET ? 0 : 40));
		way = "cut, and says so";
		break;
	case 2:
		at = m->net + words[below(seed, sizeof(words))];
		if (at + 2 <= m->n)
			set(m->bytes + at, 2,
			    below(seed, 2) ? below(seed, 64) : roll(seed));
		way = "a word";
		break;
	case 3:
		for (i = 0; i < 4; i++)
			m->bytes[below(seed, m->n)] = (unsigned char)roll(seed);
		way = "some bytes";
		break;
	case 4:
		spoil_sender(m, seed);
		way = "the sender";
		break;
	default:
		at = below(seed, 2) ? below(seed, head) : below(seed, m->n);
		m->bytes[at] = (unsigned char)(below(seed, 2)
			? m->bytes[at] ^ 1U << below(seed, 8)
			: below(seed, 64));
		break;
	}
	if (below(seed, 4) != 0)
		heal(m);
	return way;
}
