/* framegen.c: how a frame is built, and which comes next. */
#include "config.h"

#include <string.h>

#include "support/framegen_private.h"

void
framegen_seed(struct framegen *g, uint64_t number)
{
	g->random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	g->ids = (uint32_t)g->random;
}

/* xorshift64: the same on every machine. */
uint32_t
framegen_below(struct framegen *g, uint32_t n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (uint32_t)(g->random >> 16) % n;
}

void
random_bytes(struct framegen *g, unsigned char *p, size_t n)
{
	while (n-- > 0)
		*p++ = (unsigned char)framegen_below(g, 256);
}

void
set16(unsigned char *p, unsigned n)
{
	p[0] = (unsigned char)(n >> 8);
	p[1] = (unsigned char)n;
}

/* Anybody's: neither a group nor IPv4 in IPv6. */
static size_t
any_ip(bool v6, uint64_t salt, unsigned char *ip)
{
	size_t width = v6 ? 16 : 4, i;

	for (i = 0; i < width; i++) {
		salt = salt * UINT64_C(6364136223846793005) + 1;
		ip[i] = (unsigned char)(salt >> 56);
	}
	ip[0] = v6 ? 0x20 : 10;
	return width;
}

/* On the segment of net_fixture.h; nobody has the clients' addresses, so that
 * servers' answers reach nobody. */
static size_t
segment_ip(bool v6, unsigned last, unsigned char *ip)
{
	static const unsigned char net4[] = { 192, 168, 100 };
	static const unsigned char net6[15] = { 0xfd, 0, 0, 0x64 };
	size_t n = v6 ? sizeof(net6) : sizeof(net4);

	memcpy(ip, v6 ? net6 : net4, n);
	ip[n] = (unsigned char)last;
	return n + 1;
}

size_t
client_ip(const struct framegen *g, const struct framegen_frame *m,
    unsigned char *ip)
{
	return g->anybody ? any_ip(m->v6, m->salt, ip)
			  : segment_ip(m->v6, 60 + m->client, ip);
}

size_t
vip(const struct framegen *g, const struct framegen_frame *m,
    unsigned char *ip)
{
	return g->anybody ? any_ip(m->v6, ~m->salt, ip)
			  : segment_ip(m->v6, m->v6 ? 0x10 : 10, ip);
}

static void
set_peer(struct peer *p, const unsigned char *ip, size_t width, unsigned port)
{
	memset(p, 0, sizeof(*p));
	p->family = width == 4 ? AF_INET : AF_INET6;
	p->port = (uint16_t)port;
	if (width == 4)
		memset(p->ip + 10, 0xff, 2);
	memcpy(p->ip + 16 - width, ip, width);
}

void
set_ends(const struct framegen *g, struct framegen_frame *m,
    unsigned client_port, unsigned vip_port)
{
	unsigned char ip[16];

	set_peer(&m->is.from, ip, client_ip(g, m, ip), client_port);
	set_peer(&m->is.to, ip, vip(g, m, ip), vip_port);
}

static uint32_t
add_up(uint32_t sum, const unsigned char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	return sum;
}

static void
write_sum(unsigned char *to, uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	/* all bits set are as good as none, and no "without" of UDP */
	set16(to, sum != 0xffff ? ~sum & 0xffff : 0xffff);
}

void
sum_header(struct framegen_frame *m)
{
	unsigned char *ip = m->bytes + m->net;

	set16(ip + 10, 0);
	write_sum(ip + 10, add_up(0, ip, (size_t)(ip[0] & 15) * 4));
}

void
sum_transport(struct framegen_frame *m)
{
	static const size_t at[] = {
		[P_ICMP] = 2, [P_TCP] = 16, [P_UDP] = 6, [P_ICMP6] = 2
	};
	unsigned char *p = m->bytes + m->transport, *ip = m->bytes + m->net;
	size_t n = m->end - m->transport;
	uint32_t sum = 0;

	if (n < at[m->protocol] + 2)
		return;
	if (m->protocol != P_ICMP)
		sum = m->protocol + (uint32_t)n +
		    (m->v6 ? add_up(0, ip + 8, 32) : add_up(0, ip + 12, 8));
	set16(p + at[m->protocol], 0);
	write_sum(p + at[m->protocol], add_up(sum, p, n));
}

static size_t
put_ports(struct framegen *g, struct framegen_frame *m, const struct shape *s,
    unsigned char *p)
{
	size_t head = m->protocol == P_TCP ? TCP : UDP;

	memset(p, 0, head);
	set16(p, 1024 + m->port);
	set16(p + 2, g->port != 0 ? g->port : 1 + framegen_below(g, 65535));
	if (m->protocol == P_TCP) {
		static const unsigned char flags[] = { 2, 16, 24, 17, 4, 20 };
		size_t words = s->content_n / 4;

		random_bytes(g, p + 4, 8);
		/* options are content here */
		p[12] = (unsigned char)((5 +
		    framegen_below(g, 1 + (uint32_t)(words < 10 ? words : 10)))
		    << 4);
		p[13] = g->anybody
		    ? (unsigned char)framegen_below(g, 256)
		    : flags[framegen_below(g, sizeof(flags))];
		m->begins = p[13] == 2;
	} else {
		set16(p + 4, (unsigned)(UDP + s->content_n));
	}
	return head;
}

enum { AH4 = 12 };

static size_t
put_ip4(struct framegen *g, const struct framegen_frame *m,
    const struct shape *s, unsigned char *ip)
{
	unsigned char *ah = ip + IP4 + s->between_n;

	ip[0] = (unsigned char)(0x40 | (IP4 + s->between_n) / 4);
	ip[1] = (unsigned char)framegen_below(g, 256);
	set16(ip + 4, s->id & 0xffff);
	set16(ip + 6, (s->more ? 0x2000 : 0) | s->offset);
	if (!s->cut && framegen_below(g, 2) == 0)
		ip[6] |= 0x40;
	ip[8] = (unsigned char)(1 + framegen_below(g, 255));
	ip[9] = m->protocol;
	client_ip(g, m, ip + 12);
	vip(g, m, ip + 16);
	memcpy(ip + IP4, s->between, s->between_n);
	if (!s->ah)
		return IP4 + s->between_n;
	ip[9] = P_AH;
	ah[0] = m->protocol;
	ah[1] = AH4 / 4 - 2;
	return IP4 + s->between_n + AH4;
}

static size_t
put_ip6(struct framegen *g, const struct framegen_frame *m,
    const struct shape *s, unsigned char *ip)
{
	unsigned char *p = ip + IP6 + s->between_n;
	uint8_t last = m->protocol;

	random_bytes(g, ip, 4);
	ip[0] = 0x60 | (ip[0] & 15);
	ip[7] = (unsigned char)(1 + framegen_below(g, 255));
	client_ip(g, m, ip + 8);
	vip(g, m, ip + 24);
	if (s->cut) {
		p[0] = last;
		p[1] = 0;
		set16(p + 2, s->offset << 3 | s->more);
		set16(p + 4, s->id >> 16);
		set16(p + 6, s->id & 0xffff);
		last = P_FRAGMENT;
		p += 8;
	}
	memcpy(ip + IP6, s->between, s->between_n);
	if (s->between_n > 0)
		ip[IP6 + s->last_at] = last;
	ip[6] = s->between_n > 0 ? s->first : last;
	return (size_t)(p - ip);
}

unsigned char *
put_link(const struct framegen *g, struct framegen_frame *m,
    const struct shape *s, unsigned type)
{
	unsigned char *p = m->bytes;

	memset(m->bytes, 0, sizeof(m->bytes));
	memcpy(p, g->mac, 6);
	memcpy(p + 6, g->from, 6);
	p += 12;
	memset(&m->is, 0, sizeof(m->is));
	if (s->tag_type != 0) {
		set16(p, s->tag_type);
		set16(p + 2, s->tag);
		p += 4;
		m->is.vlan = s->tag;
	}
	set16(p, type);
	m->net = (size_t)(p + 2 - m->bytes);
	m->is.net = (uint16_t)m->net;
	return p + 2;
}

/* What a reader must find. */
static void
note(const struct framegen *g, struct framegen_frame *m, const struct shape *s)
{
	const unsigned char *p = m->bytes + m->transport;
	struct frame *f = &m->is;

	f->family = m->v6 ? AF_INET6 : AF_INET;
	f->protocol = m->protocol;
	f->transport = (uint16_t)m->transport;
	f->packet = (uint32_t)(m->end - m->net);
	if (s->more || s->offset != 0)
		f->fragment_id = m->v6 ? s->id : s->id & 0xffff;
	f->first_fragment = s->more && s->offset == 0;
	f->kind = s->offset != 0 ? FRAME_FRAGMENT
		: s->bare	 ? FRAME_ICMP
				 : FRAME_FLOW;
	m->sum_ok = !s->more && s->offset == 0;
	if (s->bare) {
		set_ends(g, m, 0, 0);
		return;
	}
	set_ends(g, m, (unsigned)p[0] << 8 | p[1], (unsigned)p[2] << 8 | p[3]);
	if (m->protocol == P_TCP)
		f->tcp_flags = p[13];
}

void
build(struct framegen *g, struct framegen_frame *m, const struct shape *s)
{
	unsigned char *ip = put_link(g, m, s, m->v6 ? 0x86dd : 0x0800), *p;

	m->transport =
	    m->net + (m->v6 ? put_ip6(g, m, s, ip) : put_ip4(g, m, s, ip));
	p = m->bytes + m->transport;
	if (!s->bare)
		p += put_ports(g, m, s, p);
	memcpy(p, s->content, s->content_n);
	m->end = m->length = (size_t)(p - m->bytes) + s->content_n;
	if (m->v6)
		set16(ip + 4, (unsigned)(m->end - m->net - IP6));
	else
		set16(ip + 2, (unsigned)(m->end - m->net));
	if (!m->v6)
		sum_header(m);
	if (!s->bare)
		sum_transport(m);
	note(g, m, s);
}

void
drop(struct framegen *g, struct framegen_frame *m, const struct shape *s)
{
	build(g, m, s);
	m->passes = false;
}

static void
begin(struct framegen *g, struct framegen_frame *m, struct shape *s, bool v6)
{
	m->v6 = v6;
	m->passes = v6 == g->v6;
	m->protocol = framegen_below(g, 2) == 0 ? P_TCP : P_UDP;
	m->client = framegen_below(g, FRAMEGEN_CLIENTS);
	m->port = framegen_below(g, g->anybody ? 60000 : FRAMEGEN_PORTS);
	m->salt = g->random;
	m->begins = false;
	memset(s, 0, sizeof(*s));
	if (g->anybody && framegen_below(g, 3) == 0) {
		s->tag_type = 0x8100;
		s->tag = (uint16_t)framegen_below(g, 65536);
	}
	s->id = ++g->ids;
	s->content_n = framegen_below(g, 4) == 0 ? framegen_below(g, 1400)
					       : framegen_below(g, 64);
	random_bytes(g, s->content, s->content_n);
}

static void
set_flow(const struct framegen *g, struct framegen_frame *m)
{
	m->flow = (m->protocol == P_TCP ? 0 : FRAMEGEN_CLIENTS) + m->client;
	m->flow = m->flow * FRAMEGEN_PORTS + m->port;
	/* with any port of the VIP each frame is of another flow */
	if (g->port == 0)
		m->flow = FRAMEGEN_FLOWS;
}

static unsigned
weight(const struct framegen *g, const struct kind *k)
{
	return g->anybody ? k->anybody : k->often;
}

static const struct kind *
choose(struct framegen *g)
{
	const struct kind *const lists[] = { framegen_kinds, framegen_wrong };
	const struct kind *k;
	unsigned all = 0, at, i;

	for (i = 0; i < 2; i++)
		for (k = lists[i]; k->what != NULL; k++)
			all += weight(g, k);
	at = framegen_below(g, all);
	for (i = 0;; i++)
		for (k = lists[i]; k->what != NULL; k++) {
			if (at < weight(g, k))
				return k;
			at -= weight(g, k);
		}
}

void
framegen_next(struct framegen *g, struct framegen_frame *m)
{
	const struct kind *k = choose(g);
	struct shape s;

	begin(g, m, &s,
	    g->anybody			     ? framegen_below(g, 2) == 0
		: framegen_below(g, 3) == 0 ? !g->v6
					     : g->v6);
	set_flow(g, m);
	m->what = k->what;
	k->make(g, m, &s);
	while (g->anybody && m->length < FRAMEGEN_MAX &&
	    framegen_below(g, 3) == 0)
		m->bytes[m->length++] = (unsigned char)framegen_below(g, 256);
}

void
framegen_mark(struct framegen *g, struct framegen_frame *m, uint64_t number)
{
	struct shape s;

	begin(g, m, &s, g->v6);
	m->protocol = P_UDP;
	set_flow(g, m);
	m->what = "mark";
	memcpy(s.content, &number, sizeof(number));
	s.content_n = sizeof(number);
	build(g, m, &s);
}
