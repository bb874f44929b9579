/* framegen.c: how a frame is built, and which comes next. */
#include "config.h"

#include <string.h>

#include "support/framegen_private.h"

/* xorshift64: the same on every machine. */
uint32_t
random_below(struct framegen *g, uint32_t n)
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
		*p++ = (unsigned char)random_below(g, 256);
}

void
set16(unsigned char *p, unsigned n)
{
	p[0] = (unsigned char)(n >> 8);
	p[1] = (unsigned char)n;
}

/* Nobody has these addresses, so that servers' answers reach nobody. */
size_t
client_ip(bool v6, unsigned client, unsigned char *ip)
{
	static const unsigned char net6[16] = { 0xfd, 0, 0, 0x64 };
	unsigned char last = (unsigned char)(60 + client);

	if (!v6) {
		memcpy(ip, "\300\250\144", 3);
		ip[3] = last;
		return 4;
	}
	memcpy(ip, net6, 16);
	ip[15] = last;
	return 16;
}

/* NETRIG_VIP4, NETRIG_VIP6 */
size_t
vip(bool v6, unsigned char *ip)
{
	size_t n = client_ip(v6, 0, ip);

	ip[n - 1] = v6 ? 0x10 : 10;
	return n;
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
	set16(to, ~sum & 0xffff);
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
	set16(p + 2, g->port != 0 ? g->port : 1 + random_below(g, 65535));
	if (m->protocol == P_TCP) {
		static const unsigned char flags[] = { 2, 16, 24, 17, 4, 20 };

		random_bytes(g, p + 4, 8);
		p[12] = 5 << 4;
		p[13] = flags[random_below(g, sizeof(flags))];
		m->begins = p[13] == 2;
	} else {
		set16(p + 4, (unsigned)(UDP + s->content_n));
	}
	return head;
}

static size_t
put_ip4(struct framegen *g, const struct framegen_frame *m,
    const struct shape *s, unsigned char *ip)
{
	ip[0] = (unsigned char)(0x40 | (IP4 + s->between_n) / 4);
	ip[1] = (unsigned char)random_below(g, 256);
	set16(ip + 4, s->id & 0xffff);
	set16(ip + 6, (s->more ? 0x2000 : 0) | s->offset);
	if (!s->cut && random_below(g, 2) == 0)
		ip[6] |= 0x40;
	ip[8] = (unsigned char)(1 + random_below(g, 255));
	ip[9] = m->protocol;
	client_ip(false, m->client, ip + 12);
	vip(false, ip + 16);
	memcpy(ip + IP4, s->between, s->between_n);
	return IP4 + s->between_n;
}

static size_t
put_ip6(struct framegen *g, const struct framegen_frame *m,
    const struct shape *s, unsigned char *ip)
{
	unsigned char *p = ip + IP6 + s->between_n;
	uint8_t last = m->protocol;

	random_bytes(g, ip, 4);
	ip[0] = 0x60 | (ip[0] & 15);
	ip[7] = (unsigned char)(1 + random_below(g, 255));
	client_ip(true, m->client, ip + 8);
	vip(true, ip + 24);
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

void
build(struct framegen *g, struct framegen_frame *m, const struct shape *s)
{
	unsigned char *p = m->bytes, *ip;

	memset(m->bytes, 0, sizeof(m->bytes));
	memcpy(p, g->mac, 6);
	memcpy(p + 6, g->from, 6);
	p += 12;
	if (s->tag_type != 0) {
		set16(p, s->tag_type);
		set16(p + 2, s->tag);
		p += 4;
	}
	set16(p, m->v6 ? 0x86dd : 0x0800);
	ip = p + 2;
	m->net = (size_t)(ip - m->bytes);
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
	m->protocol = random_below(g, 2) == 0 ? P_TCP : P_UDP;
	m->client = random_below(g, FRAMEGEN_CLIENTS);
	m->port = random_below(g, FRAMEGEN_PORTS);
	m->begins = false;
	memset(s, 0, sizeof(*s));
	s->id = ++g->ids;
	s->content_n = random_below(g, 4) == 0 ? random_below(g, 1400)
					       : random_below(g, 64);
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

static const struct kind *
choose(struct framegen *g)
{
	const struct kind *const lists[] = { framegen_kinds, framegen_wrong };
	const struct kind *k;
	unsigned all = 0, at, i;

	for (i = 0; i < 2; i++)
		for (k = lists[i]; k->what != NULL; k++)
			all += k->often;
	at = random_below(g, all);
	for (i = 0;; i++)
		for (k = lists[i]; k->what != NULL; k++) {
			if (at < k->often)
				return k;
			at -= k->often;
		}
}

void
framegen_next(struct framegen *g, struct framegen_frame *m)
{
	const struct kind *k = choose(g);
	struct shape s;

	begin(g, m, &s, random_below(g, 3) == 0 ? !g->v6 : g->v6);
	set_flow(g, m);
	m->what = k->what;
	k->make(g, m, &s);
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
