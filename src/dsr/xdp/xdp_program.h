/* xdp_program.h: the program of the fast path and its maps, loaded into the
 * kernel by libbpf. What it does is in xdp_program.bpf.c. Both vanish when
 * their descriptors are closed, however this process ends. */
#ifndef PEN_DSR_XDP_PROGRAM_H
#define PEN_DSR_XDP_PROGRAM_H

#include <string.h>

#include "dsr/frame/mac.h"
#include "dsr/link/link.h"
#include "dsr/xdp/xdp_shared.h"

/* Writes an entry in the map's memory while the program may read it; bpf(2)
 * would copy it byte by byte on some processors. For machines with words of 64
 * bits. */
static inline void
xdp_entry_set(struct xdp_entry *at, const struct link_entry *e)
{
	union xdp_target to = { 0 };

	if (e->longest > 0) {
		memcpy(&to.mac_first, e->to.byte, 4);
		memcpy(&to.mac_last, e->to.byte + 4, 2);
		to.tag = xdp_epoch_tag(e->epoch);
	}
	__atomic_store_n(&at->epoch, e->epoch, __ATOMIC_RELAXED);
	__atomic_store_n(&at->longest, e->longest, __ATOMIC_RELAXED);
	*(volatile uint64_t *)&at->target = to.word;
}

struct xdp_program_options {
	/* 0, or the number of the interface if its driver reports VLAN tags by
	 * bpf_xdp_metadata_rx_vlan_tag(): the program inserts them into frames,
	 * and only this interface takes it. */
	int tags_of;
	int back;	/* as in struct xdp_config */
	uint32_t flows; /* that it has room for */
};

/* Zeroes and fd -1: nothing is loaded. */
struct xdp_program {
	struct bpf_object *object; /* owned, with all descriptors */
	/* The descriptors are another process's, and owned: without object. */
	bool adopted;
	int fd, mac;
	int flows, entries, totals; /* as in xdp_shared.h */
};

/* Creates the maps and loads the program. Returns 0, or -1 with errno and
 * nothing loaded. */
int xdp_program_load(
    struct xdp_program *p, const struct xdp_program_options *o);
/* Sets the interface's MAC, without which no frame is to it: before the program
 * is attached, and when it changes. Returns 0, or -1 with errno. */
int xdp_program_set_mac(const struct xdp_program *p, const struct mac *mac);
void xdp_program_close(struct xdp_program *p); /* not loaded is fine */

#endif
