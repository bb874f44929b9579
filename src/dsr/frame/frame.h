/* frame.h: what an Ethernet frame is, and frames of our own.
 *
 *     | to | from | [tag] | type |  IP header, extensions  | TCP, UDP, ICMP |
 *     0                          net                  transport
 *                                |<------------- packet ------------->| padding
 *
 * Pure: no system calls, no memory of its own, the same on every machine. Bytes
 * come from strangers: nothing is read that a length does not cover. */
#ifndef PEN_DSR_FRAME_H
#define PEN_DSR_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "dsr/frame/mac.h"

enum frame_kind {
	FRAME_BAD,   /* no machine should send it, or it is cut: see `wrong` */
	FRAME_OTHER, /* another protocol above Ethernet or IP; two tags */
	FRAME_ARP,   /* a request or a reply for IPv4 over Ethernet */
	FRAME_NDP,   /* ICMPv6 133 to 137, from the segment itself (hops 255) */
	FRAME_FLOW,  /* TCP or UDP with its ports: whole, or a first fragment */
	FRAME_FRAGMENT, /* a later one: no ports, but an id */
	FRAME_ERROR, /* ICMP about a packet of a flow, sent by `to` to `from` */
	FRAME_ICMP   /* all other ICMP */
};

enum {
	FRAME_HEAD = 14, /* Ethernet header; with a tag four more */
	FRAME_HEAD_MAX = 18,
	FRAME_VLAN_ID = 0xfff, /* of a tag; the rest is priority */
	/* Room that is enough for all that is made here but tunnels. */
	FRAME_MADE_MAX = FRAME_HEAD_MAX + 1280
};

enum {
	FRAME_FIN = 1,
	FRAME_SYN = 2,
	FRAME_RST = 4,
	FRAME_PSH = 8,
	FRAME_ACK = 16
};

/* The fields after `wrong` mean nothing when the kind is FRAME_BAD. */
struct frame {
	unsigned char *bytes; /* Ethernet header first; not owned */
	size_t length;
	enum frame_kind kind;
	/* FRAME_BAD, else NULL: "short": Ethernet or ARP is cut; "arp": wrong
	 * sizes in it; "header" of IP, its options or extensions; "length" that
	 * is more than there is, or too little; "checksum" of an IPv4 header;
	 * "address": a group as the sender, or IPv4 in IPv6; "routing" by the
	 * source; "fragment" that overlaps, is too small or too far;
	 * "transport": TCP, UDP or ICMP is cut or inconsistent; "quote" in an
	 * ICMP error that is of no packet of ours; "hops": NDP from beyond the
	 * segment */
	const char *wrong;
	uint16_t vlan;	    /* the tag's 16 bits; 0: none, or all zero */
	uint16_t net;	    /* offset of the IP header or of ARP */
	uint16_t transport; /* offset of what is behind the IP headers; of ICMP,
			     * when it is that */
	uint32_t packet;    /* bytes of the IP packet; 0: it is none */
	uint8_t family;	    /* AF_INET, AF_INET6; 0: neither */
	/* IPPROTO_; FRAME_ERROR: the flow's. A later IPv6 fragment: of the
	 * header that follows, which need not be the last. */
	uint8_t protocol;
	uint8_t tcp_flags;    /* of FRAME_FLOW with IPPROTO_TCP */
	bool first_fragment;  /* more of them follow, with the same id */
	uint32_t fragment_id; /* when it is any fragment */
	/* Source and destination, with the ports of a flow, else 0, and without
	 * scopes. FRAME_ERROR: client and VIP of the flow that the error is
	 * about, not the host that reports it. FRAME_ARP: the protocol
	 * addresses. */
	struct peer from, to;
};

/* Sets all of `f`. Writes nothing to `bytes`, which `f` goes on to point to.
 * IPv4 header checksums are verified, others not: frame_checksum_ok(). */
void frame_parse(struct frame *f, unsigned char *bytes, size_t length);

/* Whether the checksum of TCP, UDP or ICMP is right, or UDP over IPv4 has none.
 * False where it cannot be known: fragments, and other kinds. A frame of this
 * very machine may have left it to a network card that never saw it. */
bool frame_checksum_ok(const struct frame *f);

/* Replaces the two addresses in the Ethernet header, nothing else. The frame
 * has been parsed and is not FRAME_BAD. */
void frame_set_macs(
    struct frame *f, const struct mac *to, const struct mac *from);
/* The two addresses in the Ethernet header; same condition. */
struct mac frame_mac_to(const struct frame *f);
struct mac frame_mac_from(const struct frame *f);

/* All frame_make_X() write a whole frame, without padding and checksum of
 * Ethernet, to `out`, and return its length; 0 when it does not fit into
 * `room`, or when no such frame may be made. `out` is none of the bytes of a
 * frame they are given. */

/* The Ethernet header of frames we make. */
struct frame_head {
	struct mac to, from;
	uint16_t vlan; /* 0: without a tag */
};

/* The head of an answer to f, which is not FRAME_BAD: addresses the other way
 * round, the same tag. */
struct frame_head frame_answer_head(const struct frame *f);

struct arp {
	struct mac sender_mac, target_mac;
	uint8_t sender[4], target[4];
	bool request; /* else a reply */
};

/* False when f is not FRAME_ARP. What it claims is not judged. */
bool frame_read_arp(const struct frame *f, struct arp *a);
size_t frame_make_arp(unsigned char *out, size_t room,
    const struct frame_head *head, const struct arp *a);

/* A neighbour solicitation or advertisement (RFC 4861, 4.3 and 4.4). */
struct ndp {
	uint8_t from[16], to[16]; /* of the packet */
	uint8_t target[16];
	bool advertisement;
	bool router, solicited, override; /* of an advertisement, else false */
	/* The option: the sender's own address in a solicitation, the target's
	 * in an advertisement. */
	bool has_mac;
	struct mac mac;
};

/* False when f is neither of the two, or not valid: all of RFC 4861, 7.1.1 and
 * 7.1.2, with the checksum. */
bool frame_read_ndp(const struct frame *f, struct ndp *n);
/* Where n->to is a group the frame goes to the group's address, not to that of
 * the head. */
size_t frame_make_ndp(unsigned char *out, size_t room,
    const struct frame_head *head, const struct ndp *n);
/* The group that gets solicitations for an address (RFC 4291, 2.7.1). */
void ndp_group(uint8_t group[16], const uint8_t ip[16]);
extern const uint8_t ndp_all_nodes[16]; /* ff02::1 */

/* Which hosts of the segment want a group (RFC 2710, 3810). */
struct mld_query {
	uint8_t group[16]; /* all zero: all groups */
	uint32_t delay_ms; /* the latest answer */
	bool v1;	   /* of the older version, which knows no other */
};

/* False when f is no query, or not valid: hop limit, router alert, link-local
 * source, length and checksum (RFC 3810, 6.2 and 8.1). */
bool frame_read_mld_query(const struct frame *f, struct mld_query *q);

/* Types of records (RFC 3810, 5.2.5): without sources, all are wanted. */
enum mld_state { MLD_IS_MEMBER = 2, MLD_LEAVE = 3, MLD_JOIN = 4 };

struct mld_report {
	uint8_t from[16]; /* link-local, or :: */
	uint8_t group[16];
	enum mld_state state;
	bool v1; /* without a difference between the last one and the first */
};

/* The frame goes to the group that the version has for it. */
size_t frame_make_mld_report(unsigned char *out, size_t room,
    const struct frame_head *head, const struct mld_report *r);

/* A tunnel for IP packets. Ports do not count. */
struct tunnel {
	struct peer from, to; /* its ends, of one family */
	/* Of an outer packet of IPv4 that routers may fragment; each has its
	 * own (RFC 6864). */
	uint16_t id;
	/* Also if the inner packet may not be fragmented. */
	bool may_fragment;
};

/* How many bytes a tunnel between addresses of this family adds to a packet. */
size_t frame_tunnel_adds(unsigned family);
/* f's IP packet, unchanged, in another one: RFC 2003 and 4213 inside IPv4,
 * RFC 2473 inside IPv6; class and congestion bits as RFC 6040. */
size_t frame_make_tunnel(unsigned char *out, size_t room,
    const struct frame_head *head, const struct frame *f,
    const struct tunnel *t);

/* A router's error about a packet of ours that was too big for it. */
struct tunnel_error {
	struct peer to; /* where the tunnel ends, port 0 */
	unsigned mtu;	/* that fits there, outer header included */
};

/* Whether f is an error about a tunnelled packet, with a right checksum, that
 * makes sense: the packet it quotes is longer than what fits. Routers that name
 * no size (RFC 1191, 5) are taken to have the next usual one. Whether the
 * packet was sent cannot be known. */
bool frame_read_tunnel_error(const struct frame *f, struct tunnel_error *e);

/* A fragment of f's IP packet, of `mtu` bytes at the most, with its own headers
 * (RFC 791, 3.2; RFC 8200, 4.5) and f's Ethernet header. *done, 0 before the
 * first, is how much of the packet's content is in fragments so far. Returns 0
 * when there is no more, or when mtu has no room for content. IPv4: the packet
 * must be one that may be fragmented; its id stays. IPv6: a packet of this
 * machine, without extension headers; the fragments get `id`. */
size_t frame_fragment(unsigned char *out, size_t room, const struct frame *f,
    unsigned mtu, uint32_t id, size_t *done);

/* The answer to a packet that does not fit: "fragmentation needed" (RFC 1191)
 * or "packet too big" (RFC 4443, 3.2), which names the size that does: the IP
 * packet's, never less than a network must carry. `from` is the sender of the
 * error; NULL: the address the packet went to. 0 where no such answer may be
 * given (RFC 1122, 3.2.2; RFC 4443, 2.4 e): to errors, groups and broadcasts,
 * later fragments of IPv4, or when IPv4 may be fragmented; and where headers
 * are so long that it could not quote what is behind them. */
size_t frame_make_too_big(unsigned char *out, size_t room,
    const struct frame *f, const struct peer *from, unsigned mtu);
/* Whether a router may fragment the packet: IPv4 with DF clear. */
bool frame_may_fragment(const struct frame *f);

/* The fields of a TCP header that matter here. */
struct tcp_segment {
	uint32_t seq, ack;
	uint16_t window;
	uint16_t mss; /* an option of SYN; 0: none. Not read. */
	uint8_t flags;
};

/* False when f is not TCP with its header. Answers to a segment go to its
 * source: call frame_checksum_ok() first. */
bool frame_read_tcp(const struct frame *f, struct tcp_segment *s);
/* A segment without data. from and to are of one family. */
size_t frame_make_tcp(unsigned char *out, size_t room,
    const struct frame_head *head, const struct peer *from,
    const struct peer *to, const struct tcp_segment *s);

#endif
