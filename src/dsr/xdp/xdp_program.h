/* xdp_program.h: what comes up to AF_XDP sockets, as a program for the kernel:
 * the same that link_filter.h writes for packet sockets, but that addresses are
 * in a map, so that they can change while it runs. Pure. */
#ifndef PEN_DSR_XDP_PROGRAM_H
#define PEN_DSR_XDP_PROGRAM_H

#include <linux/bpf.h>
#include <string.h>
#include <sys/socket.h>

#include "dsr/link/link.h"

enum { XDP_PROGRAM_MAX = 512 }; /* more than the longest has */

/* A key of the addresses. */
struct xdp_key {
	uint32_t bits;	 /* of the prefix, as in xdp_key_bits() */
	uint32_t family; /* AF_INET or AF_INET6: no net is of both */
	uint8_t ip[16];	 /* as in struct peer */
};

/* How much of a key, its family first, the bits of a prefix are. */
static inline uint32_t
xdp_key_bits(unsigned family, unsigned bits)
{
	return 32 + (family == AF_INET ? 96 : 0) + bits;
}

/* A key of the flows, without holes. */
struct xdp_flow_key {
	struct dsr_key flow;
	uint16_t zero;
};

/* What the entries have of one: the bytes of its MAC and its longest frame are
 * one word, which is written and read at once, so that no frame goes to a MAC
 * that is half another one. Whoever reads the word first and the epoch then,
 * while they are written the other way round, meets no epoch that is older than
 * the word. */
struct xdp_gate {
	uint64_t where;
	uint32_t epoch;
	uint32_t zero;
};

/* Sets a entry in the map's memory, which the program may be reading: not by
 * bpf(2), which copies byte by byte on some processors. Where words have 64
 * bits. */
static inline void
xdp_gate_set(struct xdp_gate *at, const struct link_entry *g)
{
	uint64_t where;

	memcpy(&where, g, sizeof(where));
	__atomic_store_n(&at->epoch, g->epoch, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile uint64_t *)&at->where = where;
}

/* What the flows have of one. */
struct xdp_flow {
	uint32_t entry, epoch;
	uint64_t frames, bytes;
	uint64_t used_ns; /* of the monotonic clock: the last frame */
};

struct xdp_program {
	struct bpf_insn at[XDP_PROGRAM_MAX];
	unsigned count;
};

/* Writes a program that sends a frame to the socket of its receive queue when
 * it is to this MAC or a group and ARP, NDP, or IP to one of `addresses`,
 * behind one 802.1Q tag or none. Everything else goes to the kernel, and so
 * does what is for a queue without a socket.
 *
 * tag: the number (BTF) of the kernel's bpf_xdp_metadata_rx_vlan_tag(), for
 * drivers that tell of tags apart from frames and only so: such a tag is put
 * back into the frame. 0: tags are in frames. addresses: an LPM trie; values
 * have 32 bits and do not count. sockets: an xskmap by receive queue. flows,
 * entries, totals: of the fast path, as in link.h: a hash of struct xdp_flow,
 * an array of struct xdp_gate, one struct frame_count for each processor. All
 * are descriptors; flows -1: there is no fast path. back: 0, or the number of
 * the interface when it is one end of a cable (veth): the fast path redirects
 * frames to it then. Sent with XDP_TX they are left lying at the other end, if
 * that polls for GRO alone: the kernel wakes only a program there. */
struct xdp_maps {
	int addresses, sockets;
	int flows, entries, totals;
	int back;
};

void xdp_program_write(struct xdp_program *p, const struct mac *mac, int tag,
    const struct xdp_maps *maps);

#endif
