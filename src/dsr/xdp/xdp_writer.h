/* xdp_writer.h: instructions of programs for the kernel, one behind the other,
 * and jumps to places that are not written yet. Linux, Documentation/bpf/
 * standardization/instruction-set.rst. The inside of xdp_program.c (what comes
 * up) and xdp_fast.c (what is passed on); registers as they use them:
 *
 *     r6 the frame's xdp_md   r7 the frame, from put_type() on what is next
 *     r8 its end              r9 the flow, in the fast path
 *     r10 the end of the stack */
#ifndef PEN_DSR_XDP_WRITER_H
#define PEN_DSR_XDP_WRITER_H

#include "dsr/xdp/xdp_program.h"

enum xdp_label {
	XDP_HERE, /* the next instruction: not a jump */
	XDP_NO_TAG,
	XDP_FAST_IP6,
	XDP_FAST_TRANSPORT,
	XDP_FAST_UDP,
	XDP_FAST_SUM,
	XDP_FAST_COUNTED,
	XDP_TYPE, /* what comes up */
	XDP_LAYER3,
	XDP_ARP,
	XDP_IP6,
	XDP_IP6_ADDRESS,
	XDP_LOOK_UP,
	XDP_FOUND,
	XDP_QUEUE,
	XDP_TO_KERNEL,
	XDP_LOST,
	XDP_LABELS
};

/* On the stack, seen from its end. */
enum {
	XDP_KEY = -24, /* struct xdp_key */
	XDP_FAMILY = XDP_KEY + 4,
	XDP_IP = XDP_KEY + 8,
	XDP_TAG_TYPE = -40, /* both in the kernel's words */
	XDP_TAG_VALUE = -38,
	XDP_TAGGED = -48,   /* 0: no tag */
	XDP_FLOW_KEY = -88, /* struct xdp_flow_key */
	XDP_GATE = -92,	    /* a key of the entries, or of the totals */
	XDP_TO = -104	    /* where a entry leads to */
};

struct xdp_writer {
	struct xdp_program *p;
	unsigned place[XDP_LABELS];
	unsigned char to[XDP_PROGRAM_MAX]; /* label that it jumps to */
};

/* One instruction. */
void xdp_put(struct xdp_writer *w, uint8_t code, unsigned to, unsigned from,
    int offset, int32_t value);
/* What comes next is that label's. */
void xdp_mark(struct xdp_writer *w, enum xdp_label l);
/* Jumps know where to: the last call for a program. */
void xdp_settle(struct xdp_writer *w);

/* Sizes are BPF_B, BPF_H, BPF_W, BPF_DW.
 * to = what is at `from` + offset, in the order of this machine */
void xdp_read(
    struct xdp_writer *w, uint8_t size, unsigned to, unsigned from, int offset);
/* what is at `to` + offset = from */
void xdp_write(
    struct xdp_writer *w, uint8_t size, unsigned to, int offset, unsigned from);
/* the stack at `offset` = from */
void xdp_store(struct xdp_writer *w, uint8_t size, int offset, unsigned from);
/* to = from */
void xdp_copy(struct xdp_writer *w, unsigned to, unsigned from);
/* to = value */
void xdp_set(struct xdp_writer *w, unsigned to, int32_t value);
/* to = from + n */
void xdp_add(struct xdp_writer *w, unsigned to, unsigned from, int32_t n);
/* to = to HOW value, to = to HOW from: BPF_ADD etc., of all 64 bits */
void xdp_alu(struct xdp_writer *w, uint8_t how, unsigned to, int32_t value);
void xdp_alu_of(struct xdp_writer *w, uint8_t how, unsigned to, unsigned from);
/* its lowest 16 bits, from or to the order of networks, and no more */
void xdp_turn(struct xdp_writer *w, unsigned r);

/* Jumps when the lower half of `r` is so to the value; BPF_JA: always. */
void xdp_jump(struct xdp_writer *w, uint8_t how, unsigned r, uint32_t value,
    enum xdp_label l);
/* Jumps when all of `r` is so to the other. */
void xdp_jump_by(struct xdp_writer *w, uint8_t how, unsigned r, unsigned other,
    enum xdp_label l);
/* Jumps when the frame has not n bytes from `r` on; changes r4. */
void xdp_need(struct xdp_writer *w, unsigned r, int32_t n, enum xdp_label l);

/* r1 = the map */
void xdp_put_map(struct xdp_writer *w, int fd);
/* Changes r0 to r5. `from`: 0, or BPF_PSEUDO_KFUNC_CALL. */
void xdp_call(struct xdp_writer *w, unsigned from, int32_t function);
/* r0 = the value of the key at that place of the stack; jumps when there is
 * none */
void xdp_look_up(struct xdp_writer *w, int map, int key, enum xdp_label l);
void xdp_end(struct xdp_writer *w, enum xdp_action verdict);

/* ---- xdp_fast.c ---- */

/* Passes a frame on whose flow goes by the fast path; else goes on at XDP_TYPE,
 * with r7 and r8 as they were. `tag`: there may be one apart from the frame. */
void xdp_put_fast(struct xdp_writer *w, const struct mac *mac, bool tag,
    const struct xdp_maps *maps);

#endif
