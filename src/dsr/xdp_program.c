/* xdp_program.c: writes the program
 *
 *     a tag apart from the frame: on the stack
 *     to this MAC or a group?  else r9 = 1
 *     r7 = behind the Ethernet header and a tag
 *     ARP:  request or reply?
 *     IPv6: NDP?  the address: a key
 *     IPv4: the address: a key
 *     the key is in the map?  r9 = 0, or does the setting say so?
 *     the tag comes back into the frame
 *     the queue's socket, or the kernel when it has none
 *
 * The kernel refuses a program that reads behind the end (r8) without having
 * compared. Jumps are written to labels, and go to where those are in the end. */
#include "config.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "dsr/xdp_program.h"

enum label {
	HERE, /* the next instruction: not a jump */
	NO_TAG,
	OTHER_MAC,
	TYPE,
	LAYER3,
	ARP,
	IP6,
	IP6_ADDRESS,
	LOOK_UP,
	FOUND,
	UP,
	QUEUE,
	PASS,
	DROP,
	LABELS
};

/* On the stack, seen from its end. */
enum {
	KEY = -24, /* struct xdp_key */
	FAMILY = KEY + 4,
	IP = KEY + 8,
	SETTING = -28,	/* a key of the settings */
	TAG_TYPE = -40, /* both in the kernel's words */
	TAG_VALUE = -38,
	TAGGED = -48, /* 0: no tag */
	TAG = 4	      /* bytes of one */
};

struct writer {
	struct xdp_program *p;
	unsigned place[LABELS];
	unsigned char to[XDP_PROGRAM_MAX]; /* label that it jumps to */
};

static void
put(struct writer *w, uint8_t code, unsigned to, unsigned from, int offset,
    int32_t value)
{
	w->p->at[w->p->count++] = (struct bpf_insn){ .code = code,
		.dst_reg = to & 0xf,
		.src_reg = from & 0xf,
		.off = (int16_t)offset,
		.imm = value };
}

static void
label(struct writer *w, enum label l)
{
	w->place[l] = w->p->count;
}

/* to = the bytes at `from`, in the order of this machine */
static void
load(struct writer *w, uint8_t size, unsigned to, unsigned from, int offset)
{
	put(w, BPF_LDX | BPF_MEM | size, to, from, offset, 0);
}

static void
store(struct writer *w, uint8_t size, int offset, unsigned from)
{
	put(w, BPF_STX | BPF_MEM | size, BPF_REG_10, from, offset, 0);
}

static void
copy(struct writer *w, unsigned to, unsigned from)
{
	put(w, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void
set(struct writer *w, unsigned to, int32_t value)
{
	put(w, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

/* to = from + n */
static void
add(struct writer *w, unsigned to, unsigned from, int32_t n)
{
	copy(w, to, from);
	put(w, BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, n);
}

/* Jumps when the lower half of `r` is so to the value; BPF_JA: always. */
static void
jump(struct writer *w, uint8_t how, unsigned r, uint32_t value, enum label l)
{
	w->to[w->p->count] = (unsigned char)l;
	put(w,
	    how == BPF_JA ? BPF_JMP | BPF_JA
			  : (uint8_t)(BPF_JMP32 | how | BPF_K),
	    how == BPF_JA ? 0 : r, 0, 0, (int32_t)value);
}

/* Jumps when the frame has not n bytes from `r` on. */
static void
need(struct writer *w, unsigned r, int32_t n, enum label l)
{
	add(w, BPF_REG_4, r, n);
	w->to[w->p->count] = (unsigned char)l;
	put(w, BPF_JMP | BPF_JGT | BPF_X, BPF_REG_4, BPF_REG_8, 0, 0);
}

static void
put_map(struct writer *w, int fd)
{
	put(w, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, fd);
	put(w, 0, 0, 0, 0, 0);
}

static void
call(struct writer *w, unsigned from, int32_t function)
{
	put(w, BPF_JMP | BPF_CALL, 0, from, 0, function);
}

/* r7 = the frame, r8 = its end */
static void
put_ends(struct writer *w)
{
	load(w, BPF_W, BPF_REG_7, BPF_REG_6, offsetof(struct xdp_md, data));
	load(w, BPF_W, BPF_REG_8, BPF_REG_6, offsetof(struct xdp_md, data_end));
}

static void
put_tag_aside(struct writer *w, int tag)
{
	set(w, BPF_REG_5, 0);
	store(w, BPF_DW, TAG_TYPE, BPF_REG_5);
	store(w, BPF_DW, TAGGED, BPF_REG_5);
	copy(w, BPF_REG_1, BPF_REG_6);
	add(w, BPF_REG_2, BPF_REG_10, TAG_TYPE);
	add(w, BPF_REG_3, BPF_REG_10, TAG_VALUE);
	call(w, BPF_PSEUDO_KFUNC_CALL, tag);
	jump(w, BPF_JNE, BPF_REG_0, 0, NO_TAG);
	load(w, BPF_H, BPF_REG_5, BPF_REG_10, TAG_TYPE);
	jump(w, BPF_JNE, BPF_REG_5, htons(0x8100), PASS);
	store(w, BPF_DW, TAGGED, BPF_REG_5);
	label(w, NO_TAG);
}

/* The MACs move to the front; the rest is where it is. */
static void
put_tag_back(struct writer *w)
{
	load(w, BPF_DW, BPF_REG_5, BPF_REG_10, TAGGED);
	jump(w, BPF_JEQ, BPF_REG_5, 0, QUEUE);
	copy(w, BPF_REG_1, BPF_REG_6);
	set(w, BPF_REG_2, -TAG);
	call(w, 0, BPF_FUNC_xdp_adjust_head);
	jump(w, BPF_JNE, BPF_REG_0, 0, PASS);
	put_ends(w);
	need(w, BPF_REG_7, 18, DROP);
	for (int i = 0; i < 12; i += 4) {
		load(w, BPF_W, BPF_REG_5, BPF_REG_7, i + TAG);
		put(w, BPF_STX | BPF_MEM | BPF_W, BPF_REG_7, BPF_REG_5, i, 0);
	}
	load(w, BPF_H, BPF_REG_5, BPF_REG_10, TAG_TYPE);
	put(w, BPF_STX | BPF_MEM | BPF_H, BPF_REG_7, BPF_REG_5, 12, 0);
	load(w, BPF_H, BPF_REG_5, BPF_REG_10, TAG_VALUE);
	put(w, BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_5, 0, 0, 16);
	put(w, BPF_STX | BPF_MEM | BPF_H, BPF_REG_7, BPF_REG_5, 14, 0);
}

/* r0 = the value of the key at that place of the stack, or 0 */
static void
put_look_up(struct writer *w, int map, int key)
{
	put_map(w, map);
	add(w, BPF_REG_2, BPF_REG_10, key);
	call(w, 0, BPF_FUNC_map_lookup_elem);
	w->to[w->p->count] = PASS;
	put(w, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
}

static void
put_mac(struct writer *w, const struct mac *mac)
{
	uint32_t first;
	uint16_t last;

	memcpy(&first, mac->byte, 4);
	memcpy(&last, mac->byte + 4, 2);
	set(w, BPF_REG_9, 0);
	load(w, BPF_B, BPF_REG_5, BPF_REG_7, 0);
	jump(w, BPF_JSET, BPF_REG_5, 1, TYPE);
	load(w, BPF_W, BPF_REG_5, BPF_REG_7, 0);
	jump(w, BPF_JNE, BPF_REG_5, first, OTHER_MAC);
	load(w, BPF_H, BPF_REG_5, BPF_REG_7, 4);
	jump(w, BPF_JEQ, BPF_REG_5, last, TYPE);
	label(w, OTHER_MAC);
	set(w, BPF_REG_9, 1);
}

static void
put_type(struct writer *w, bool tag)
{
	label(w, TYPE);
	load(w, BPF_H, BPF_REG_5, BPF_REG_7, 12);
	put(w, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_7, 0, 0, 14);
	if (tag) {
		/* a second one is none of ours */
		load(w, BPF_DW, BPF_REG_4, BPF_REG_10, TAGGED);
		jump(w, BPF_JNE, BPF_REG_4, 0, LAYER3);
	}
	jump(w, BPF_JNE, BPF_REG_5, htons(0x8100), LAYER3);
	need(w, BPF_REG_7, 4, PASS);
	load(w, BPF_H, BPF_REG_5, BPF_REG_7, 2);
	put(w, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_7, 0, 0, 4);
	label(w, LAYER3);
	jump(w, BPF_JEQ, BPF_REG_5, htons(0x0806), ARP);
	jump(w, BPF_JEQ, BPF_REG_5, htons(0x86dd), IP6);
	jump(w, BPF_JNE, BPF_REG_5, htons(0x0800), PASS);
}

static void
put_ip4(struct writer *w)
{
	need(w, BPF_REG_7, 20, PASS);
	set(w, BPF_REG_5, 0);
	store(w, BPF_W, IP, BPF_REG_5);
	store(w, BPF_W, IP + 4, BPF_REG_5);
	set(w, BPF_REG_5, (int32_t)htonl(0xffff));
	store(w, BPF_W, IP + 8, BPF_REG_5);
	load(w, BPF_W, BPF_REG_5, BPF_REG_7, 16);
	store(w, BPF_W, IP + 12, BPF_REG_5);
	set(w, BPF_REG_5, AF_INET);
	store(w, BPF_W, FAMILY, BPF_REG_5);
	jump(w, BPF_JA, 0, 0, LOOK_UP);
}

static void
put_arp(struct writer *w)
{
	label(w, ARP);
	need(w, BPF_REG_7, 8, PASS);
	load(w, BPF_H, BPF_REG_5, BPF_REG_7, 6);
	jump(w, BPF_JEQ, BPF_REG_5, htons(1), FOUND);
	jump(w, BPF_JEQ, BPF_REG_5, htons(2), FOUND);
	jump(w, BPF_JA, 0, 0, PASS);
}

static void
put_ip6(struct writer *w)
{
	label(w, IP6);
	need(w, BPF_REG_7, 40, PASS);
	load(w, BPF_B, BPF_REG_5, BPF_REG_7, 6);
	jump(w, BPF_JNE, BPF_REG_5, 58, IP6_ADDRESS);
	need(w, BPF_REG_7, 41, IP6_ADDRESS);
	load(w, BPF_B, BPF_REG_5, BPF_REG_7, 40);
	jump(w, BPF_JLT, BPF_REG_5, 133, IP6_ADDRESS);
	jump(w, BPF_JLE, BPF_REG_5, 137, FOUND);
	label(w, IP6_ADDRESS);
	for (int i = 0; i < 16; i += 4) {
		load(w, BPF_W, BPF_REG_5, BPF_REG_7, 24 + i);
		store(w, BPF_W, IP + i, BPF_REG_5);
	}
	set(w, BPF_REG_5, AF_INET6);
	store(w, BPF_W, FAMILY, BPF_REG_5);
}

static void
put_verdict(struct writer *w, bool tag, const struct xdp_maps *maps)
{
	label(w, LOOK_UP);
	set(w, BPF_REG_5, (int32_t)xdp_key_bits(AF_INET6, 128));
	store(w, BPF_W, KEY, BPF_REG_5);
	put_look_up(w, maps->addresses, KEY);
	label(w, FOUND);
	jump(w, BPF_JEQ, BPF_REG_9, 0, UP);
	set(w, BPF_REG_5, 0);
	store(w, BPF_W, SETTING, BPF_REG_5);
	put_look_up(w, maps->settings, SETTING);
	load(w, BPF_W, BPF_REG_5, BPF_REG_0, 0);
	jump(w, BPF_JEQ, BPF_REG_5, 0, PASS);
	label(w, UP);
	if (tag)
		put_tag_back(w);
	label(w, QUEUE);
	load(w, BPF_W, BPF_REG_2, BPF_REG_6,
	    offsetof(struct xdp_md, rx_queue_index));
	put_map(w, maps->sockets);
	set(w, BPF_REG_3, XDP_PASS);
	call(w, 0, BPF_FUNC_redirect_map);
	put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	label(w, PASS);
	set(w, BPF_REG_0, XDP_PASS);
	put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (!tag)
		return;
	label(w, DROP);
	set(w, BPF_REG_0, XDP_DROP);
	put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

void
xdp_program_write(struct xdp_program *p, const struct mac *mac, int tag,
    const struct xdp_maps *maps)
{
	struct writer w = { .p = p };

	p->count = 0;
	copy(&w, BPF_REG_6, BPF_REG_1);
	if (tag != 0)
		put_tag_aside(&w, tag);
	put_ends(&w);
	need(&w, BPF_REG_7, 14, PASS);
	put_mac(&w, mac);
	put_type(&w, tag != 0);
	put_ip4(&w);
	put_arp(&w);
	put_ip6(&w);
	put_verdict(&w, tag != 0, maps);
	for (unsigned i = 0; i < p->count; i++)
		if (w.to[i] != HERE)
			p->at[i].off = (int16_t)(w.place[w.to[i]] - i - 1);
}
