/* xdp_fast.c: the part of the program that passes frames on: the fast path of
 * link.h.
 *
 *     IPv4 without options, or IPv6 without extensions; whole, lengths right?
 *     UDP, or TCP in the middle of a connection; its checksum done?
 *     the flow is there, its entry open, and for it?
 *     then: MACs, counters, out where it came in
 *
 * Whatever is not so comes up: to know better is user space's part. So a doubt
 * costs time and nothing else; what is sent from here is what frame_parse()
 * would have called a flow, not a byte more. */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include "dsr/frame/frame_bytes.h"
#include "dsr/xdp/xdp_writer.h"

#ifndef BPF_ATOMIC /* Linux 5.12, of the same value */
#define BPF_ATOMIC 0xc0
#endif

/* Linux 5.11 */
enum { KTIME_GET_COARSE_NS = 160 };

enum { LAYER3 = FRAME_HEAD, KEY = XDP_FLOW_KEY };
#define IN_KEY(field) (KEY + (int)offsetof(struct dsr_key, field))
#define IN_TO(field)  (XDP_TO + (int)offsetof(struct link_entry, field))
_Static_assert(offsetof(struct link_entry, to) == 0 &&
	offsetof(struct link_entry, longest) == 6,
    "one word");
/* of IPv4 addresses in keys */
enum { MAPPED = 8, INSIDE = 12 };

/* r3 += the 32 bits at r7 + from, which go into the key as well */
static void
put_part(struct xdp_writer *w, int from, int to)
{
	xdp_read(w, BPF_W, BPF_REG_5, BPF_REG_7, from);
	xdp_store(w, BPF_W, to, BPF_REG_5);
	xdp_alu_of(w, BPF_ADD, BPF_REG_3, BPF_REG_5);
}

static void
put_family(struct xdp_writer *w, int family)
{
	xdp_set(w, BPF_REG_5, family);
	xdp_store(w, BPF_B, IN_KEY(family), BPF_REG_5);
}

/* A sum as sum_fold() has it; changes r4. */
static void
put_fold(struct xdp_writer *w, unsigned r)
{
	static const int bits[] = { 32, 16, 16, 16 };

	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		xdp_copy(w, BPF_REG_4, r);
		xdp_alu(w, BPF_RSH, BPF_REG_4, bits[i]);
		xdp_alu(w, BPF_LSH, r, 64 - bits[i]);
		xdp_alu(w, BPF_RSH, r, 64 - bits[i]);
		xdp_alu_of(w, BPF_ADD, r, BPF_REG_4);
	}
}

/* r = bytes of the frame */
static void
put_length(struct xdp_writer *w, unsigned r)
{
	xdp_copy(w, r, BPF_REG_8);
	xdp_alu_of(w, BPF_SUB, r, BPF_REG_7);
}

/* The packet's r1 bytes from r7 + LAYER3 on must be there. */
static void
put_packet_is_whole(struct xdp_writer *w)
{
	put_length(w, BPF_REG_4);
	xdp_alu(w, BPF_SUB, BPF_REG_4, LAYER3);
	xdp_jump_by(w, BPF_JGT, BPF_REG_1, BPF_REG_4, XDP_TYPE);
}

/* What either leaves: r0 = protocol, r1 = bytes of TCP or UDP, r2 = where they
 * begin, r3 = the sum of the addresses; and those in the key. */
static void
put_fast_ip4(struct xdp_writer *w)
{
	xdp_read(w, BPF_B, BPF_REG_5, BPF_REG_7, LAYER3);
	xdp_jump(w, BPF_JNE, BPF_REG_5, 0x45, XDP_TYPE);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_7, LAYER3 + 6);
	xdp_jump(
	    w, BPF_JSET, BPF_REG_5, htons(IP4_MORE | IP4_OFFSET), XDP_TYPE);
	xdp_set(w, BPF_REG_3, 0);
	for (int i = 0; i < IP4_HEAD; i += 4) {
		xdp_read(w, BPF_W, BPF_REG_5, BPF_REG_7, LAYER3 + i);
		xdp_alu_of(w, BPF_ADD, BPF_REG_3, BPF_REG_5);
	}
	put_fold(w, BPF_REG_3);
	xdp_jump(w, BPF_JNE, BPF_REG_3, 0xffff, XDP_TYPE);
	xdp_read(w, BPF_H, BPF_REG_1, BPF_REG_7, LAYER3 + 2);
	xdp_turn(w, BPF_REG_1);
	put_packet_is_whole(w);
	xdp_jump(w, BPF_JLT, BPF_REG_1, IP4_HEAD, XDP_TYPE);
	xdp_alu(w, BPF_SUB, BPF_REG_1, IP4_HEAD);
	xdp_set(w, BPF_REG_5, 0);
	xdp_store(w, BPF_DW, IN_KEY(client), BPF_REG_5);
	xdp_store(w, BPF_DW, IN_KEY(vip), BPF_REG_5);
	xdp_set(w, BPF_REG_5, (int32_t)htonl(0xffff));
	xdp_store(w, BPF_W, IN_KEY(client) + MAPPED, BPF_REG_5);
	xdp_store(w, BPF_W, IN_KEY(vip) + MAPPED, BPF_REG_5);
	xdp_set(w, BPF_REG_3, 0);
	put_part(w, LAYER3 + 12, IN_KEY(client) + INSIDE);
	put_part(w, LAYER3 + 16, IN_KEY(vip) + INSIDE);
	put_family(w, AF_INET);
	xdp_read(w, BPF_B, BPF_REG_0, BPF_REG_7, LAYER3 + 9);
	xdp_add(w, BPF_REG_2, BPF_REG_7, LAYER3 + IP4_HEAD);
	xdp_jump(w, BPF_JA, 0, 0, XDP_FAST_TRANSPORT);
}

static void
put_fast_ip6(struct xdp_writer *w)
{
	xdp_mark(w, XDP_FAST_IP6);
	xdp_need(w, BPF_REG_7, LAYER3 + IP6_HEAD, XDP_TYPE);
	xdp_read(w, BPF_B, BPF_REG_5, BPF_REG_7, LAYER3);
	xdp_alu(w, BPF_RSH, BPF_REG_5, 4);
	xdp_jump(w, BPF_JNE, BPF_REG_5, 6, XDP_TYPE);
	xdp_read(w, BPF_H, BPF_REG_1, BPF_REG_7, LAYER3 + 4);
	xdp_turn(w, BPF_REG_1);
	xdp_alu(w, BPF_ADD, BPF_REG_1, IP6_HEAD);
	put_packet_is_whole(w);
	xdp_alu(w, BPF_SUB, BPF_REG_1, IP6_HEAD);
	xdp_set(w, BPF_REG_3, 0);
	for (int i = 0; i < 16; i += 4) {
		put_part(w, LAYER3 + 8 + i, IN_KEY(client) + i);
		put_part(w, LAYER3 + 24 + i, IN_KEY(vip) + i);
	}
	put_family(w, AF_INET6);
	xdp_read(w, BPF_B, BPF_REG_0, BPF_REG_7, LAYER3 + 6);
	xdp_add(w, BPF_REG_2, BPF_REG_7, LAYER3 + IP6_HEAD);
}

/* r1 = bytes that are summed, r5 = the checksum; the rest as it was */
static void
put_ports(struct xdp_writer *w)
{
	xdp_mark(w, XDP_FAST_TRANSPORT);
	xdp_need(w, BPF_REG_2, UDP_HEAD, XDP_TYPE);
	xdp_store(w, BPF_B, IN_KEY(protocol), BPF_REG_0);
	for (int i = 0; i < 4; i += 2) {
		xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_2, i);
		xdp_turn(w, BPF_REG_5);
		xdp_store(w, BPF_H, IN_KEY(client_port) + i, BPF_REG_5);
	}
	xdp_set(w, BPF_REG_5, 0);
	xdp_store(w, BPF_H, KEY + (int)offsetof(struct xdp_flow_key, zero),
	    BPF_REG_5);
	xdp_jump(w, BPF_JEQ, BPF_REG_0, IPPROTO_UDP, XDP_FAST_UDP);
	xdp_jump(w, BPF_JNE, BPF_REG_0, IPPROTO_TCP, XDP_TYPE);
	xdp_need(w, BPF_REG_2, TCP_HEAD, XDP_TYPE);
	xdp_read(w, BPF_B, BPF_REG_5, BPF_REG_2, 13);
	xdp_alu(w, BPF_AND, BPF_REG_5,
	    FRAME_SYN | FRAME_FIN | FRAME_RST | FRAME_ACK);
	xdp_jump(w, BPF_JNE, BPF_REG_5, FRAME_ACK, XDP_TYPE);
	xdp_read(w, BPF_B, BPF_REG_5, BPF_REG_2, 12);
	xdp_alu(w, BPF_RSH, BPF_REG_5, 4);
	xdp_alu(w, BPF_LSH, BPF_REG_5, 2);
	xdp_jump(w, BPF_JLT, BPF_REG_5, TCP_HEAD, XDP_TYPE);
	xdp_jump_by(w, BPF_JGT, BPF_REG_5, BPF_REG_1, XDP_TYPE);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_2, 16);
	xdp_jump(w, BPF_JA, 0, 0, XDP_FAST_SUM);
	xdp_mark(w, XDP_FAST_UDP);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_2, 4);
	xdp_turn(w, BPF_REG_5);
	xdp_jump(w, BPF_JLT, BPF_REG_5, UDP_HEAD, XDP_TYPE);
	xdp_jump_by(w, BPF_JGT, BPF_REG_5, BPF_REG_1, XDP_TYPE);
	xdp_copy(w, BPF_REG_1, BPF_REG_5);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_2, 6);
}

/* A checksum that was left to a card is the pseudo header's sum; so are a few
 * others. */
static void
put_is_summed(struct xdp_writer *w)
{
	xdp_mark(w, XDP_FAST_SUM);
	xdp_turn(w, BPF_REG_1);
	xdp_turn(w, BPF_REG_0);
	xdp_alu_of(w, BPF_ADD, BPF_REG_3, BPF_REG_1);
	xdp_alu_of(w, BPF_ADD, BPF_REG_3, BPF_REG_0);
	put_fold(w, BPF_REG_3);
	xdp_jump_by(w, BPF_JEQ, BPF_REG_3, BPF_REG_5, XDP_TYPE);
}

/* r9 = the flow, r2 = bytes of the frame; the entry's MAC and limit, on the
 * stack, are read at once, before the epoch: they may be about to change. */
static void
put_find(struct xdp_writer *w, const struct xdp_maps *maps)
{
	xdp_look_up(w, maps->flows, KEY, XDP_TYPE);
	xdp_copy(w, BPF_REG_9, BPF_REG_0);
	xdp_read(
	    w, BPF_W, BPF_REG_5, BPF_REG_9, offsetof(struct xdp_flow, entry));
	xdp_store(w, BPF_W, XDP_GATE, BPF_REG_5);
	xdp_look_up(w, maps->entries, XDP_GATE, XDP_TYPE);
	xdp_read(
	    w, BPF_DW, BPF_REG_5, BPF_REG_0, offsetof(struct xdp_gate, where));
	xdp_store(w, BPF_DW, XDP_TO, BPF_REG_5);
	xdp_read(
	    w, BPF_W, BPF_REG_4, BPF_REG_9, offsetof(struct xdp_flow, epoch));
	xdp_read(
	    w, BPF_W, BPF_REG_5, BPF_REG_0, offsetof(struct xdp_gate, epoch));
	xdp_jump_by(w, BPF_JNE, BPF_REG_4, BPF_REG_5, XDP_TYPE);
	put_length(w, BPF_REG_2);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_10, IN_TO(longest));
	xdp_jump_by(w, BPF_JGT, BPF_REG_2, BPF_REG_5, XDP_TYPE);
}

/* r7: to the entry's MAC, and from this one */
static void
put_macs(struct xdp_writer *w, const struct mac *mac)
{
	uint32_t first;
	uint16_t last;

	memcpy(&first, mac->byte, 4);
	memcpy(&last, mac->byte + 4, 2);
	xdp_read(w, BPF_W, BPF_REG_5, BPF_REG_10, IN_TO(to));
	xdp_write(w, BPF_W, BPF_REG_7, 0, BPF_REG_5);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_10, IN_TO(to) + 4);
	xdp_write(w, BPF_H, BPF_REG_7, 4, BPF_REG_5);
	xdp_set(w, BPF_REG_5, (int32_t)first);
	xdp_write(w, BPF_W, BPF_REG_7, 6, BPF_REG_5);
	xdp_set(w, BPF_REG_5, last);
	xdp_write(w, BPF_H, BPF_REG_7, 10, BPF_REG_5);
}

/* A flow is of one processor at a time, mostly: it is counted for all to
 * see. */
static void
put_counters(struct xdp_writer *w, const struct xdp_maps *maps)
{
	xdp_set(w, BPF_REG_1, 1);
	xdp_put(w, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_9, BPF_REG_1,
	    offsetof(struct xdp_flow, frames), BPF_ADD);
	xdp_put(w, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_9, BPF_REG_2,
	    offsetof(struct xdp_flow, bytes), BPF_ADD);
	xdp_call(w, 0, KTIME_GET_COARSE_NS);
	xdp_write(w, BPF_DW, BPF_REG_9, offsetof(struct xdp_flow, used_ns),
	    BPF_REG_0);
	xdp_set(w, BPF_REG_5, 0);
	xdp_store(w, BPF_W, XDP_GATE, BPF_REG_5);
	xdp_look_up(w, maps->totals, XDP_GATE, XDP_FAST_COUNTED);
	xdp_read(w, BPF_DW, BPF_REG_5, BPF_REG_0,
	    offsetof(struct frame_count, frames));
	xdp_alu(w, BPF_ADD, BPF_REG_5, 1);
	xdp_write(w, BPF_DW, BPF_REG_0, offsetof(struct frame_count, frames),
	    BPF_REG_5);
	xdp_read(w, BPF_DW, BPF_REG_5, BPF_REG_0,
	    offsetof(struct frame_count, bytes));
	put_length(w, BPF_REG_2);
	xdp_alu_of(w, BPF_ADD, BPF_REG_5, BPF_REG_2);
	xdp_write(w, BPF_DW, BPF_REG_0, offsetof(struct frame_count, bytes),
	    BPF_REG_5);
	xdp_mark(w, XDP_FAST_COUNTED);
}

/* Out where it came in. */
static void
put_way_back(struct xdp_writer *w, const struct xdp_maps *maps)
{
	if (maps->back == 0) {
		xdp_end(w, XDP_TX);
		return;
	}
	xdp_set(w, BPF_REG_1, maps->back);
	xdp_set(w, BPF_REG_2, 0);
	xdp_call(w, 0, BPF_FUNC_redirect);
	xdp_put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

void
xdp_put_fast(struct xdp_writer *w, const struct mac *mac, bool tag,
    const struct xdp_maps *maps)
{
	if (tag) {
		xdp_read(w, BPF_DW, BPF_REG_4, BPF_REG_10, XDP_TAGGED);
		xdp_jump(w, BPF_JNE, BPF_REG_4, 0, XDP_TYPE);
	}
	xdp_need(w, BPF_REG_7, LAYER3 + IP4_HEAD, XDP_TYPE);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_7, 12);
	xdp_jump(w, BPF_JEQ, BPF_REG_5, htons(TYPE_IP6), XDP_FAST_IP6);
	xdp_jump(w, BPF_JNE, BPF_REG_5, htons(TYPE_IP4), XDP_TYPE);
	put_fast_ip4(w);
	put_fast_ip6(w);
	put_ports(w);
	put_is_summed(w);
	put_find(w, maps);
	put_macs(w, mac);
	put_counters(w, maps);
	put_way_back(w, maps);
}
