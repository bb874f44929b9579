/* xdp_shared.h: what the program in the kernel (xdp_program.bpf.c) and user
 * space share: its settings, keys and values of its maps. Each of them has the
 * same layout for any compiler. */
#ifndef PEN_DSR_XDP_SHARED_H
#define PEN_DSR_XDP_SHARED_H

#include "dsr/frame/dsr_key.h"
#include "dsr/frame/frame_count.h"

enum { XDP_ENTRIES = 4096 }; /* servers; those with higher numbers are slow */

/* What is fixed when the program is loaded. */
struct xdp_config {
	/* 0, or the number of the interface if it is one end of a veth pair:
	 * the fast path redirects frames to it then. Frames sent with XDP_TX
	 * stay in the peer's queue if it polls for GRO only: the kernel wakes
	 * it for an XDP program alone. */
	uint32_t back;
};

/* The interface's MAC, which may change. A frame that sees half of each is left
 * to the kernel, or has that as its source. */
struct xdp_mac {
	uint32_t first; /* four bytes, */
	uint16_t last;	/* and the other two */
	uint16_t zero;
};

/* A key of the flows, without holes, aligned for words. */
struct xdp_flow_key {
	_Alignas(8) struct dsr_key flow;
	uint16_t zero;
};

/* A flow of the fast path. */
struct xdp_flow {
	uint32_t entry, epoch;
	uint64_t frames, bytes;
	uint64_t used_ns; /* of the monotonic clock: the last frame */
};

/* Where an entry leads to: one word, which is written and read at once. */
union xdp_target {
	uint64_t word; /* 0: the entry is disabled */
	struct {
		uint32_t mac_first;
		uint16_t mac_last, tag;
	};
};

/* An entry of the fast path. Its MAC and the tag of its epoch are one word, so
 * a frame never goes to a MAC that is half another one, or that belongs to
 * another epoch than the frame's flow, in whatever order processors see the
 * writes. */
struct xdp_entry {
	uint64_t target;
	uint32_t epoch, longest;
};

/* The tag of an epoch: its low bits, and one that a disabled entry lacks. */
static inline uint16_t
xdp_epoch_tag(uint32_t epoch)
{
	return (uint16_t)(epoch << 1 | 1);
}

#endif
