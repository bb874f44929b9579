/* frame_make.c: headers of our own, and answers to what is too big. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

/* The longest errors: RFC 1812, 4.3.2.3; RFC 4443, 2.4 c. */
enum { IP4_ERROR_MAX = 576, IP6_ERROR_MAX = 1280 };
/* Smaller values need not be accepted. */
enum { IP4_LEAST = 68, IP6_LEAST = 1280 };

size_t
head_size(const struct frame_head *head)
{
	return head->vlan == 0 ? FRAME_HEAD : FRAME_HEAD_MAX;
}

size_t
make_head(unsigned char *out, const struct frame_head *head, unsigned type)
{
	memcpy(out, head->to.byte, 6);
	memcpy(out + 6, head->from.byte, 6);
	out += 12;
	if (head->vlan != 0) {
		put16(out, TYPE_VLAN);
		put16(out + 2, head->vlan);
		out += 4;
	}
	put16(out, type);
	return head_size(head);
}

size_t
ip_head_size(unsigned family)
{
	return family == AF_INET ? IP4_HEAD : IP6_HEAD;
}

static size_t
make_ip(unsigned char *out, const struct ip_fields *f)
{
	if (f->from->family != AF_INET) {
		put32(out,
		    UINT32_C(6) << 28 | (uint32_t)f->class << 20 |
			(f->label & 0xfffff));
		put16(out + 4, (uint32_t)f->content);
		out[6] = f->protocol;
		out[7] = f->hops;
		memcpy(out + 8, ip_of_peer(f->from), 16);
		memcpy(out + 24, ip_of_peer(f->to), 16);
		return IP6_HEAD;
	}
	memset(out, 0, IP4_HEAD);
	out[0] = 0x45;
	out[1] = f->class;
	put16(out + 2, (uint32_t)(IP4_HEAD + f->content));
	/* With DF the id means nothing (RFC 6864, 4.1). */
	if (f->may_fragment)
		put16(out + 4, f->id);
	else
		put16(out + 6, IP4_DONT_FRAGMENT);
	out[8] = f->hops;
	out[9] = f->protocol;
	memcpy(out + 12, ip_of_peer(f->from), 4);
	memcpy(out + 16, ip_of_peer(f->to), 4);
	put16(out + 10, sum_end(sum_of(0, out, IP4_HEAD)));
	return IP4_HEAD;
}

static bool
is_ip_family(unsigned family)
{
	return family == AF_INET || family == AF_INET6;
}

size_t
make_start(unsigned char *out, size_t room, const struct frame_head *head,
    const struct ip_fields *f)
{
	size_t ip = ip_head_size(f->from->family), at = head_size(head);
	/* The length in the header: that of IPv6 leaves itself out. */
	size_t counted = f->content + (f->from->family == AF_INET ? ip : 0);

	if (!is_ip_family(f->from->family) ||
	    f->to->family != f->from->family || counted > UINT16_MAX ||
	    room < at + ip + f->content)
		return 0;
	make_head(out, head, f->from->family == AF_INET ? TYPE_IP4 : TYPE_IP6);
	return at + make_ip(out + at, f);
}

bool
frame_may_fragment(const struct frame *f)
{
	return f->kind != FRAME_BAD && f->packet != 0 && f->family == AF_INET &&
	    (get16(f->bytes + f->net + 6) & IP4_DONT_FRAGMENT) == 0;
}

static bool
is_icmp_error(const struct frame *f)
{
	unsigned type = f->bytes[f->transport];

	if (f->family == AF_INET6)
		return type < 128;
	return type == IP4_UNREACHABLE || type == 4 || type == 5 ||
	    type == IP4_TIME || type == IP4_PARAMETER;
}

/* Whether an error may be sent about f: frame_make_too_big() has the rules. */
static bool
may_be_answered(const struct frame *f)
{
	static const unsigned char nobody[16];
	const unsigned char *from = ip_of_peer(&f->from);
	size_t width = f->family == AF_INET ? 4 : 16;

	if (f->packet == 0 || f->kind == FRAME_BAD || f->kind == FRAME_ERROR ||
	    f->kind == FRAME_NDP || frame_may_fragment(f))
		return false;
	/* RFC 4443 has no such rule. */
	if (f->kind == FRAME_FRAGMENT && f->family == AF_INET)
		return false;
	if (f->kind == FRAME_ICMP && is_icmp_error(f))
		return false;
	return (f->bytes[0] & 1) == 0 && memcmp(from, nobody, width) != 0 &&
	    !ip_is_group(f->family, from) &&
	    !ip_is_group(f->family, ip_of_peer(&f->to));
}

/* Bytes behind the headers of a quoted packet, its ports among them, that hosts
 * must find (RFC 792): they drop an error without. */
enum { LOOKED_AT = 8 };

size_t
frame_make_too_big(unsigned char *out, size_t room, const struct frame *f,
    const struct peer *from, unsigned mtu)
{
	struct frame_head head;
	bool ip4 = f->family == AF_INET;
	size_t most = ip4 ? IP4_ERROR_MAX - IP4_HEAD - ICMP_HEAD
			  : IP6_ERROR_MAX - IP6_HEAD - ICMP_HEAD;
	size_t quote = f->packet < most ? f->packet : most, at;
	struct ip_fields ip = { .from = from == NULL ? &f->to : from,
		.to = &f->from,
		.protocol = ip4 ? IPPROTO_ICMP : IPPROTO_ICMPV6,
		.hops = FRAME_HOPS,
		.content = ICMP_HEAD + quote };
	unsigned char *p;

	if (!may_be_answered(f) ||
	    (quote < f->packet &&
		f->transport - f->net + (size_t)LOOKED_AT > quote))
		return 0;
	head = frame_answer_head(f);
	at = make_start(out, room, &head, &ip);
	if (at == 0)
		return 0;
	p = out + at;
	memset(p, 0, ICMP_HEAD);
	if (ip4) {
		p[0] = IP4_UNREACHABLE;
		p[1] = 4;
		put16(p + 6, mtu < IP4_LEAST ? IP4_LEAST : mtu);
	} else {
		p[0] = IP6_TOO_BIG;
		put32(p + 4, mtu < IP6_LEAST ? IP6_LEAST : mtu);
	}
	memcpy(p + ICMP_HEAD, f->bytes + f->net, quote);
	put16(p + 2,
	    sum_end(sum_of(sum_icmp(f->family, ip_of_peer(ip.from),
			       ip_of_peer(ip.to), ip.content),
		p, ip.content)));
	return at + ip.content;
}
