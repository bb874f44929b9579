/* xdp_program.c: writes the program
 *
 *     a tag apart from the frame: on the stack
 *     to this MAC or a group?  else it is the kernel's
 *     its flow goes by the fast path?  then that is all: xdp_fast.c
 *     r7 = behind the Ethernet header and a tag
 *     ARP:  request or reply?
 *     IPv6: NDP?  the address: a key
 *     IPv4: the address: a key
 *     the key is in the map?
 *     the tag comes back into the frame
 *     the queue's socket, or the kernel when it has none
 *
 * The kernel refuses a program that reads behind the end (r8) without having
 * compared. Jumps are written to labels, and go to where those are in the
 * end. */
#include "config.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "dsr/xdp/xdp_writer.h"

enum { TAG = 4 }; /* bytes of one */

/* r7 = the frame, r8 = its end */
static void
put_ends(struct xdp_writer *w)
{
	xdp_read(w, BPF_W, BPF_REG_7, BPF_REG_6, offsetof(struct xdp_md, data));
	xdp_read(
	    w, BPF_W, BPF_REG_8, BPF_REG_6, offsetof(struct xdp_md, data_end));
}

static void
put_tag_aside(struct xdp_writer *w, int tag)
{
	xdp_set(w, BPF_REG_5, 0);
	xdp_store(w, BPF_DW, XDP_TAG_TYPE, BPF_REG_5);
	xdp_store(w, BPF_DW, XDP_TAGGED, BPF_REG_5);
	xdp_copy(w, BPF_REG_1, BPF_REG_6);
	xdp_add(w, BPF_REG_2, BPF_REG_10, XDP_TAG_TYPE);
	xdp_add(w, BPF_REG_3, BPF_REG_10, XDP_TAG_VALUE);
	xdp_call(w, BPF_PSEUDO_KFUNC_CALL, tag);
	xdp_jump(w, BPF_JNE, BPF_REG_0, 0, XDP_NO_TAG);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_10, XDP_TAG_TYPE);
	xdp_jump(w, BPF_JNE, BPF_REG_5, htons(0x8100), XDP_TO_KERNEL);
	xdp_store(w, BPF_DW, XDP_TAGGED, BPF_REG_5);
	xdp_mark(w, XDP_NO_TAG);
}

/* The MACs move to the front; the rest is where it is. */
static void
put_tag_back(struct xdp_writer *w)
{
	xdp_read(w, BPF_DW, BPF_REG_5, BPF_REG_10, XDP_TAGGED);
	xdp_jump(w, BPF_JEQ, BPF_REG_5, 0, XDP_QUEUE);
	xdp_copy(w, BPF_REG_1, BPF_REG_6);
	xdp_set(w, BPF_REG_2, -TAG);
	xdp_call(w, 0, BPF_FUNC_xdp_adjust_head);
	xdp_jump(w, BPF_JNE, BPF_REG_0, 0, XDP_TO_KERNEL);
	put_ends(w);
	xdp_need(w, BPF_REG_7, 18, XDP_LOST);
	for (int i = 0; i < 12; i += 4) {
		xdp_read(w, BPF_W, BPF_REG_5, BPF_REG_7, i + TAG);
		xdp_write(w, BPF_W, BPF_REG_7, i, BPF_REG_5);
	}
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_10, XDP_TAG_TYPE);
	xdp_write(w, BPF_H, BPF_REG_7, 12, BPF_REG_5);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_10, XDP_TAG_VALUE);
	xdp_turn(w, BPF_REG_5);
	xdp_write(w, BPF_H, BPF_REG_7, 14, BPF_REG_5);
}

static void
put_mac(struct xdp_writer *w, const struct mac *mac)
{
	uint32_t first;
	uint16_t last;

	memcpy(&first, mac->byte, 4);
	memcpy(&last, mac->byte + 4, 2);
	xdp_read(w, BPF_B, BPF_REG_5, BPF_REG_7, 0);
	xdp_jump(w, BPF_JSET, BPF_REG_5, 1, XDP_TYPE);
	xdp_read(w, BPF_W, BPF_REG_5, BPF_REG_7, 0);
	xdp_jump(w, BPF_JNE, BPF_REG_5, first, XDP_TO_KERNEL);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_7, 4);
	xdp_jump(w, BPF_JNE, BPF_REG_5, last, XDP_TO_KERNEL);
}

static void
put_type(struct xdp_writer *w, bool tag)
{
	xdp_mark(w, XDP_TYPE);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_7, 12);
	xdp_alu(w, BPF_ADD, BPF_REG_7, 14);
	if (tag) {
		/* a second one is none of ours */
		xdp_read(w, BPF_DW, BPF_REG_4, BPF_REG_10, XDP_TAGGED);
		xdp_jump(w, BPF_JNE, BPF_REG_4, 0, XDP_LAYER3);
	}
	xdp_jump(w, BPF_JNE, BPF_REG_5, htons(0x8100), XDP_LAYER3);
	xdp_need(w, BPF_REG_7, 4, XDP_TO_KERNEL);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_7, 2);
	xdp_alu(w, BPF_ADD, BPF_REG_7, 4);
	xdp_mark(w, XDP_LAYER3);
	xdp_jump(w, BPF_JEQ, BPF_REG_5, htons(0x0806), XDP_ARP);
	xdp_jump(w, BPF_JEQ, BPF_REG_5, htons(0x86dd), XDP_IP6);
	xdp_jump(w, BPF_JNE, BPF_REG_5, htons(0x0800), XDP_TO_KERNEL);
}

static void
put_ip4(struct xdp_writer *w)
{
	xdp_need(w, BPF_REG_7, 20, XDP_TO_KERNEL);
	xdp_set(w, BPF_REG_5, 0);
	xdp_store(w, BPF_W, XDP_IP, BPF_REG_5);
	xdp_store(w, BPF_W, XDP_IP + 4, BPF_REG_5);
	xdp_set(w, BPF_REG_5, (int32_t)htonl(0xffff));
	xdp_store(w, BPF_W, XDP_IP + 8, BPF_REG_5);
	xdp_read(w, BPF_W, BPF_REG_5, BPF_REG_7, 16);
	xdp_store(w, BPF_W, XDP_IP + 12, BPF_REG_5);
	xdp_set(w, BPF_REG_5, AF_INET);
	xdp_store(w, BPF_W, XDP_FAMILY, BPF_REG_5);
	xdp_jump(w, BPF_JA, 0, 0, XDP_LOOK_UP);
}

static void
put_arp(struct xdp_writer *w)
{
	xdp_mark(w, XDP_ARP);
	xdp_need(w, BPF_REG_7, 8, XDP_TO_KERNEL);
	xdp_read(w, BPF_H, BPF_REG_5, BPF_REG_7, 6);
	xdp_jump(w, BPF_JEQ, BPF_REG_5, htons(1), XDP_FOUND);
	xdp_jump(w, BPF_JEQ, BPF_REG_5, htons(2), XDP_FOUND);
	xdp_jump(w, BPF_JA, 0, 0, XDP_TO_KERNEL);
}

static void
put_ip6(struct xdp_writer *w)
{
	xdp_mark(w, XDP_IP6);
	xdp_need(w, BPF_REG_7, 40, XDP_TO_KERNEL);
	xdp_read(w, BPF_B, BPF_REG_5, BPF_REG_7, 6);
	xdp_jump(w, BPF_JNE, BPF_REG_5, 58, XDP_IP6_ADDRESS);
	xdp_need(w, BPF_REG_7, 41, XDP_IP6_ADDRESS);
	xdp_read(w, BPF_B, BPF_REG_5, BPF_REG_7, 40);
	xdp_jump(w, BPF_JLT, BPF_REG_5, 133, XDP_IP6_ADDRESS);
	xdp_jump(w, BPF_JLE, BPF_REG_5, 137, XDP_FOUND);
	xdp_mark(w, XDP_IP6_ADDRESS);
	for (int i = 0; i < 16; i += 4) {
		xdp_read(w, BPF_W, BPF_REG_5, BPF_REG_7, 24 + i);
		xdp_store(w, BPF_W, XDP_IP + i, BPF_REG_5);
	}
	xdp_set(w, BPF_REG_5, AF_INET6);
	xdp_store(w, BPF_W, XDP_FAMILY, BPF_REG_5);
}

static void
put_verdict(struct xdp_writer *w, bool tag, const struct xdp_maps *maps)
{
	xdp_mark(w, XDP_LOOK_UP);
	xdp_set(w, BPF_REG_5, (int32_t)xdp_key_bits(AF_INET6, 128));
	xdp_store(w, BPF_W, XDP_KEY, BPF_REG_5);
	xdp_look_up(w, maps->addresses, XDP_KEY, XDP_TO_KERNEL);
	xdp_mark(w, XDP_FOUND);
	if (tag)
		put_tag_back(w);
	xdp_mark(w, XDP_QUEUE);
	xdp_read(w, BPF_W, BPF_REG_2, BPF_REG_6,
	    offsetof(struct xdp_md, rx_queue_index));
	xdp_put_map(w, maps->sockets);
	xdp_set(w, BPF_REG_3, XDP_PASS);
	xdp_call(w, 0, BPF_FUNC_redirect_map);
	xdp_put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	xdp_mark(w, XDP_TO_KERNEL);
	xdp_set(w, BPF_REG_0, XDP_PASS);
	xdp_put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (!tag)
		return;
	xdp_mark(w, XDP_LOST);
	xdp_end(w, XDP_DROP);
}

void
xdp_program_write(struct xdp_program *p, const struct mac *mac, int tag,
    const struct xdp_maps *maps)
{
	struct xdp_writer w = { .p = p };

	p->count = 0;
	xdp_copy(&w, BPF_REG_6, BPF_REG_1);
	if (tag != 0)
		put_tag_aside(&w, tag);
	put_ends(&w);
	xdp_need(&w, BPF_REG_7, 14, XDP_TO_KERNEL);
	put_mac(&w, mac);
	if (maps->flows >= 0)
		xdp_put_fast(&w, mac, tag != 0, maps);
	put_type(&w, tag != 0);
	put_ip4(&w);
	put_arp(&w);
	put_ip6(&w);
	put_verdict(&w, tag != 0, maps);
	xdp_settle(&w);
}
