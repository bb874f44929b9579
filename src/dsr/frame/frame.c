/* frame.c: what a frame is: Ethernet, ports, errors and what they quote. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

static void
bad(struct frame *f, const char *wrong)
{
	f->kind = FRAME_BAD;
	f->wrong = wrong;
}

static void
parse_arp(struct frame *f)
{
	const unsigned char *p = f->bytes + f->net;

	if (f->length - f->net < ARP_SIZE) {
		bad(f, "short");
		return;
	}
	/* ARP of other networks is none of ours, but not wrong. */
	if (get16(p) != 1 || get16(p + 2) != TYPE_IP4)
		return;
	if (p[4] != 6 || p[5] != 4) {
		bad(f, "arp");
		return;
	}
	if (get16(p + 6) != 1 && get16(p + 6) != 2)
		return;
	f->kind = FRAME_ARP;
	f->family = AF_INET;
	peer_of_ip(&f->from, AF_INET, p + 14);
	peer_of_ip(&f->to, AF_INET, p + 24);
}

static void
frame_parse_ports(struct frame *f, size_t n)
{
	const unsigned char *p = f->bytes + f->transport;
	bool tcp = f->protocol == IPPROTO_TCP;
	size_t least = tcp ? TCP_HEAD : UDP_HEAD, says;

	/* RFC 9293, 3.1; RFC 768. Of a first fragment only the header must be
	 * there. */
	if (n < least) {
		bad(f, f->first_fragment ? "fragment" : "transport");
		return;
	}
	says = tcp ? (size_t)(p[12] >> 4) * 4 : get16(p + 4);
	if (says < least || (says > n && !f->first_fragment)) {
		bad(f, "transport");
		return;
	}
	f->kind = FRAME_FLOW;
	f->from.port = get16(p);
	f->to.port = get16(p + 2);
	if (tcp)
		f->tcp_flags = p[13];
}

/* The packet that an error is about was sent by a server, from the VIP. */
static void
parse_quote(struct frame *f, const struct packet *outer)
{
	struct packet p = { .bytes = f->bytes,
		.at = outer->transport + ICMP_HEAD,
		.end = outer->end,
		.family = f->family,
		.quoted = true };
	size_t width = f->family == AF_INET ? 4 : 16;

	if (packet_read(&p) != NULL || memcmp(p.from, outer->to, width) != 0) {
		bad(f, "quote");
		return;
	}
	/* A quote without ports is about a packet, but not about a flow. */
	f->kind = FRAME_ICMP;
	if (p.offset != 0 ||
	    (p.protocol != IPPROTO_TCP && p.protocol != IPPROTO_UDP))
		return;
	if (p.end - p.transport < 4) {
		bad(f, "quote");
		return;
	}
	/* The quoted packet went the other way: the client is its target. */
	f->kind = FRAME_ERROR;
	f->protocol = p.protocol;
	peer_of_ip(&f->from, f->family, p.to);
	f->to.port = get16(f->bytes + p.transport);
	f->from.port = get16(f->bytes + p.transport + 2);
}

static bool
frame_is_icmp_error(unsigned family, unsigned type)
{
	if (family == AF_INET6)
		return type >= 1 && type <= IP6_ERROR_LAST;
	return type == IP4_UNREACHABLE || type == IP4_TIME ||
	    type == IP4_PARAMETER;
}

static void
parse_icmp(struct frame *f, const struct packet *p)
{
	unsigned type;

	if (p->end - p->transport < ICMP_HEAD) {
		bad(f, p->more ? "fragment" : "transport");
		return;
	}
	type = f->bytes[f->transport];
	f->kind = FRAME_ICMP;
	if (f->family == AF_INET6 && type >= ND_FIRST && type <= ND_LAST) {
		f->kind = FRAME_NDP;
		if (p->marked) /* RFC 6980 */
			bad(f, "fragment");
		else if (f->bytes[f->net + 7] != 255)
			bad(f, "hops");
	} else if (frame_is_icmp_error(f->family, type) && !p->more) {
		parse_quote(f, p);
	}
}

static void
parse_ip(struct frame *f, unsigned family)
{
	struct packet p = { .bytes = f->bytes,
		.at = f->net,
		.end = f->length,
		.family = (uint8_t)family };
	const char *wrong = packet_read(&p);

	if (wrong != NULL) {
		bad(f, wrong);
		return;
	}
	f->family = (uint8_t)family;
	f->protocol = p.protocol;
	f->packet = (uint32_t)(p.end - p.at);
	f->transport = (uint16_t)p.transport;
	peer_of_ip(&f->from, family, p.from);
	peer_of_ip(&f->to, family, p.to);
	if (p.more || p.offset != 0)
		f->fragment_id = p.id;
	/* The rest of a packet has no ports: its bytes are content. */
	if (p.offset != 0) {
		f->kind = FRAME_FRAGMENT;
		return;
	}
	f->first_fragment = p.more;
	if (p.protocol == IPPROTO_TCP || p.protocol == IPPROTO_UDP)
		frame_parse_ports(f, p.end - p.transport);
	else if (p.protocol ==
	    (family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		parse_icmp(f, &p);
}

void
frame_parse(struct frame *f, unsigned char *bytes, size_t length)
{
	unsigned type;

	memset(f, 0, sizeof(*f));
	f->bytes = bytes;
	f->length = length;
	f->kind = FRAME_OTHER;
	f->net = FRAME_HEAD;
	if (length < FRAME_HEAD) {
		bad(f, "short");
		return;
	}
	type = get16(bytes + 12);
	if (type == TYPE_VLAN) {
		if (length < FRAME_HEAD_MAX) {
			bad(f, "short");
			return;
		}
		f->net = FRAME_HEAD_MAX;
		f->vlan = get16(bytes + 14);
		type = get16(bytes + 16);
	}
	if (type == TYPE_ARP)
		parse_arp(f);
	else if (type == TYPE_IP4)
		parse_ip(f, AF_INET);
	else if (type == TYPE_IP6)
		parse_ip(f, AF_INET6);
}

void
frame_set_macs(struct frame *f, const struct mac *to, const struct mac *from)
{
	memcpy(f->bytes, to->byte, 6);
	memcpy(f->bytes + 6, from->byte, 6);
}

struct mac
frame_mac_to(const struct frame *f)
{
	struct mac m;

	memcpy(m.byte, f->bytes, 6);
	return m;
}

struct mac
frame_mac_from(const struct frame *f)
{
	struct mac m;

	memcpy(m.byte, f->bytes + 6, 6);
	return m;
}

struct frame_head
frame_answer_head(const struct frame *f)
{
	return (struct frame_head){ .to = frame_mac_from(f),
		.from = frame_mac_to(f),
		.vlan = f->vlan };
}
