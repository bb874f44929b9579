/* framemodel.c: frames read the slow way: every header takes a slice off what
 * is left, and a sum is a remainder. Written from the RFCs and frame.h, not
 * from frame.c. */
#include "config.h"

#include <string.h>

#include "support/framemodel.h"

struct slice {
	const unsigned char *at;
	size_t n;
};

struct ip {
	const char *wrong;
	unsigned family, next;
	struct slice from, to, rest;
	bool has_fragment, more;
	/* of a fragment: bytes in it, and others the length counts */
	unsigned long where, id, part, others;
	unsigned long before; /* bytes of extensions so far */
	int headers;
};

static struct slice
after(struct slice s, size_t n)
{
	return (struct slice){ s.at + n, s.n - n };
}

static struct slice
first(struct slice s, size_t n)
{
	return (struct slice){ s.at, n };
}

static unsigned long
number(struct slice s, size_t at, size_t width)
{
	unsigned long value = 0;

	while (width-- > 0)
		value = value * 256 + s.at[at++];
	return value;
}

/* The sum as a number: a right one is a multiple of 65535 and not 0. */
static unsigned long
total(struct slice s)
{
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < s.n; i++)
		sum += (i % 2 == 0 ? 256UL : 1UL) * s.at[i];
	return sum;
}

static bool
right(unsigned long sum)
{
	return sum != 0 && sum % 65535 == 0;
}

static const char *
options(struct slice s)
{
	if (s.n == 0 || s.at[0] == 0)
		return NULL;
	if (s.at[0] == 1)
		return options(after(s, 1));
	if (s.n == 1 || s.at[1] < 2 || s.at[1] > s.n)
		return "header";
	if ((s.at[0] & 0x7f) == 3 || (s.at[0] & 0x7f) == 9)
		if (s.at[0] & 0x80)
			return "routing";
	return options(after(s, s.at[1]));
}

static struct ip ip_next(struct ip ip);

static struct ip
ip_wrong(struct ip ip, const char *wrong)
{
	ip.wrong = wrong;
	return ip;
}

static struct ip
ip_behind(struct ip ip, size_t size)
{
	if (size > ip.rest.n)
		return ip_wrong(ip, "header");
	ip.next = ip.rest.at[0];
	ip.rest = after(ip.rest, size);
	ip.headers++;
	ip.before += size;
	return ip_next(ip);
}

static struct ip
ip_fragment(struct ip ip)
{
	if (ip.has_fragment)
		return ip_wrong(ip, "fragment");
	ip.has_fragment = true;
	ip.where = number(ip.rest, 2, 2) / 8 * 8;
	ip.more = number(ip.rest, 2, 2) % 2 != 0;
	ip.id = number(ip.rest, 4, 4);
	ip.part = ip.rest.n - 8;
	ip.others = ip.before;
	return ip_behind(ip, 8);
}

static struct ip
ip_next(struct ip ip)
{
	bool six = ip.family == AF_INET6;
	bool known = ip.next == 51 ||
	    (six &&
		(ip.next == 0 || ip.next == 43 || ip.next == 44 ||
		    ip.next == 60));

	if (!known || ip.where != 0)
		return ip;
	if (ip.headers == 8 || ip.rest.n < 8)
		return ip_wrong(ip, "header");
	if (ip.next == 51)
		return ip.rest.at[1] == 0
		    ? ip_wrong(ip, "header")
		    : ip_behind(ip, 8 + 4 * (size_t)ip.rest.at[1]);
	if (ip.next == 44)
		return ip_fragment(ip);
	if (ip.next == 43 && ip.rest.at[3] > 0)
		return ip_wrong(ip, "routing");
	if (ip.next == 0 && ip.headers > 0)
		return ip_wrong(ip, "header");
	return ip_behind(ip, 8 + 8 * (size_t)ip.rest.at[1]);
}

static struct ip
ip4(struct slice s, bool quoted)
{
	struct ip ip = { .family = AF_INET };
	const char *wrong;
	size_t head, all;

	if (s.n < 20 || s.at[0] < 0x45 || s.at[0] > 0x4f)
		return ip_wrong(ip, "header");
	head = (s.at[0] - 0x40U) * 4;
	all = quoted ? s.n : number(s, 2, 2);
	if (head > s.n)
		return ip_wrong(ip, "header");
	if (all > s.n || all < head)
		return ip_wrong(ip, "length");
	if (!quoted && !right(total(first(s, head))))
		return ip_wrong(ip, "checksum");
	wrong = quoted ? NULL : options(first(after(s, 20), head - 20));
	if (wrong != NULL)
		return ip_wrong(ip, wrong);
	ip.next = s.at[9];
	ip.from = first(after(s, 12), 4);
	ip.to = first(after(s, 16), 4);
	ip.rest = after(first(s, all), head);
	ip.more = (s.at[6] & 0x20) != 0;
	ip.where = number(s, 6, 2) % 8192 * 8;
	ip.id = number(s, 4, 2);
	ip.part = ip.rest.n;
	ip.others = head;
	return ip_next(ip);
}

static struct ip
ip6(struct slice s, bool quoted)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ip ip = { .family = AF_INET6 };
	size_t all;

	if (s.n < 40 || s.at[0] / 16 != 6)
		return ip_wrong(ip, "header");
	all = quoted ? s.n : 40 + number(s, 4, 2);
	if (all > s.n)
		return ip_wrong(ip, "length");
	ip.next = s.at[6];
	ip.from = first(after(s, 8), 16);
	ip.to = first(after(s, 24), 16);
	if (!quoted &&
	    (memcmp(ip.from.at, mapped, 12) == 0 ||
		memcmp(ip.to.at, mapped, 12) == 0))
		return ip_wrong(ip, "address");
	ip.rest = after(first(s, all), 40);
	return ip_next(ip);
}

static struct ip
ip_of(unsigned family, struct slice s, bool quoted)
{
	struct ip ip = family == AF_INET ? ip4(s, quoted) : ip6(s, quoted);
	bool in_parts = ip.more || ip.where != 0;

	if (ip.wrong != NULL || quoted)
		return ip;
	if (family == AF_INET6
		? ip.from.at[0] == 255
		: (ip.from.at[0] >= 224 && ip.from.at[0] < 240) ||
		    number(ip.from, 0, 4) == 0xffffffff)
		return ip_wrong(ip, "address");
	if (!in_parts)
		return ip;
	if (ip.part == 0 || (ip.more && ip.part % 8 > 0) ||
	    ip.others + ip.where + ip.part > 65535 ||
	    (ip.where == 8 && ip.next == 6))
		return ip_wrong(ip, "fragment");
	return ip;
}

static void
who(struct peer *p, struct slice ip)
{
	memset(p, 0, sizeof(*p));
	p->family = ip.n == 4 ? AF_INET : AF_INET6;
	if (ip.n == 4)
		p->ip[10] = p->ip[11] = 255;
	memcpy(p->ip + 16 - ip.n, ip.at, ip.n);
}

static void
judge(struct frame *f, const char *wrong)
{
	f->wrong = wrong;
	f->kind = FRAME_BAD;
}

static void
flow(struct frame *f, struct slice s)
{
	size_t head = f->protocol == 6 ? 20 : 8, says;

	if (s.n < head) {
		judge(f, f->first_fragment ? "fragment" : "transport");
		return;
	}
	says = f->protocol == 6 ? s.at[12] / 16 * 4U : number(s, 4, 2);
	if (says < head || (!f->first_fragment && says > s.n)) {
		judge(f, "transport");
		return;
	}
	f->kind = FRAME_FLOW;
	f->from.port = (uint16_t)number(s, 0, 2);
	f->to.port = (uint16_t)number(s, 2, 2);
	f->tcp_flags = f->protocol == 6 ? s.at[13] : 0;
}

static void
report(struct frame *f, struct slice vip, struct slice s)
{
	struct ip q = ip_of(f->family, s, true);

	if (q.wrong != NULL || memcmp(q.from.at, vip.at, vip.n) != 0) {
		judge(f, "quote");
	} else if (q.where == 0 && (q.next == 6 || q.next == 17)) {
		if (q.rest.n < 4) {
			judge(f, "quote");
			return;
		}
		f->kind = FRAME_ERROR;
		f->protocol = (uint8_t)q.next;
		who(&f->from, q.to);
		f->from.port = (uint16_t)number(q.rest, 2, 2);
		f->to.port = (uint16_t)number(q.rest, 0, 2);
	}
}

static void
icmp(struct frame *f, const struct ip *ip, unsigned hops)
{
	unsigned type;
	bool six = ip->family == AF_INET6;

	if (ip->rest.n < 8) {
		judge(f, ip->more ? "fragment" : "transport");
		return;
	}
	f->kind = FRAME_ICMP;
	type = ip->rest.at[0];
	if (six && type >= 133 && type <= 137) {
		f->kind = FRAME_NDP;
		if (ip->has_fragment)
			judge(f, "fragment");
		else if (hops != 255)
			judge(f, "hops");
		return;
	}
	if (ip->more)
		return;
	if (six ? type >= 1 && type <= 4
		: type == 3 || type == 11 || type == 12)
		report(f, ip->to, after(ip->rest, 8));
}

static void
internet(struct frame *f, unsigned family, struct slice s)
{
	struct ip ip = ip_of(family, s, false);

	if (ip.wrong != NULL) {
		judge(f, ip.wrong);
		return;
	}
	f->family = (uint8_t)family;
	f->protocol = (uint8_t)ip.next;
	f->transport = (uint16_t)(ip.rest.at - f->bytes);
	f->packet = (uint32_t)(ip.rest.at + ip.rest.n - s.at);
	who(&f->from, ip.from);
	who(&f->to, ip.to);
	f->fragment_id = ip.more || ip.where ? (uint32_t)ip.id : 0;
	f->first_fragment = ip.more && ip.where == 0;
	if (ip.where > 0)
		f->kind = FRAME_FRAGMENT;
	else if (ip.next == 6 || ip.next == 17)
		flow(f, ip.rest);
	else if (ip.next == (family == AF_INET ? 1 : 58))
		icmp(f, &ip, s.at[7]);
}

static void
arp(struct frame *f, struct slice s)
{
	if (s.n < 28) {
		judge(f, "short");
	} else if (number(s, 0, 4) == 0x00010800) {
		if (number(s, 4, 2) != 0x0604) {
			judge(f, "arp");
		} else if (s.at[6] == 0 && (s.at[7] == 1 || s.at[7] == 2)) {
			f->kind = FRAME_ARP;
			f->family = AF_INET;
			who(&f->from, first(after(s, 14), 4));
			who(&f->to, first(after(s, 24), 4));
		}
	}
}

void
framemodel_parse(struct frame *f, unsigned char *bytes, size_t length)
{
	struct slice s = { bytes, length };
	unsigned long type;

	memset(f, 0, sizeof(*f));
	f->bytes = bytes;
	f->length = length;
	f->kind = FRAME_OTHER;
	f->net = 14;
	if (length >= 14 && number(s, 12, 2) == 0x8100) {
		f->net = 18;
		f->vlan = length < 18 ? 0 : (uint16_t)number(s, 14, 2);
	}
	if (length < f->net) {
		judge(f, "short");
		return;
	}
	type = number(s, f->net - 2U, 2);
	s = after(s, f->net);
	if (type == 0x0806)
		arp(f, s);
	else if (type == 0x0800)
		internet(f, AF_INET, s);
	else if (type == 0x86dd)
		internet(f, AF_INET6, s);
}

bool
framemodel_checksum_ok(const struct frame *f)
{
	struct slice all = { f->bytes, f->length };
	struct slice ip = first(after(all, f->net), f->packet), content;
	bool four = f->family == AF_INET;
	unsigned long sum;

	if (f->first_fragment ||
	    (f->kind != FRAME_FLOW && f->kind != FRAME_ERROR &&
		f->kind != FRAME_ICMP && f->kind != FRAME_NDP))
		return false;
	content = after(ip, (size_t)f->transport - f->net);
	if (f->kind == FRAME_FLOW && f->protocol == 17) {
		if (number(content, 6, 2) == 0)
			return four;
		content = first(content, number(content, 4, 2));
	}
	sum = total(content);
	if (f->kind == FRAME_FLOW || !four) {
		sum += f->kind == FRAME_FLOW ? f->protocol : 58;
		sum += content.n;
		sum += four ? total(first(after(ip, 12), 8))
			    : total(first(after(ip, 8), 32));
	}
	return right(sum);
}
