/* xdp_program.h: what comes up to AF_XDP sockets, as a program for the kernel:
 * the same that link_filter.h writes for packet sockets, but that addresses are in
 * a map, so that they can change while it runs. Pure. */
#ifndef PEN_DSR_XDP_PROGRAM_H
#define PEN_DSR_XDP_PROGRAM_H

#include <linux/bpf.h>

#include "dsr/mac.h"

enum { XDP_PROGRAM_MAX = 128, XDP_KEY = 16 };

struct xdp_program {
	struct bpf_insn at[XDP_PROGRAM_MAX];
	unsigned count;
};

/* Writes a program that sends a frame to the socket of its receive queue when it
 * is to this MAC or a group and ARP, NDP, or IP to a key of `addresses`, behind
 * one 802.1Q tag or none. Everything else goes to the kernel, and so does what is
 * for a queue without a socket.
 *
 * tag: the number (BTF) of the kernel's bpf_xdp_metadata_rx_vlan_tag(), for drivers
 * that tell of tags apart from frames and only so: such a tag is put back into the
 * frame. 0: tags are in frames.
 * addresses: a hash; keys are the 16 bytes of struct peer's ip, values 32 bits.
 * With the key of zeros (which is nobody's address) frames to other MACs count.
 * sockets: an xskmap by receive queue. Both are descriptors. */
void xdp_program_write(struct xdp_program *p, const struct mac *mac, int tag,
    int addresses, int sockets);

#endif
