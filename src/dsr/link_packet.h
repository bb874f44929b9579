/* link_packet.h: the inside of links on Linux, which two files share: frames
 * (link_packet.c) and the interface they belong to (link_interface.c). */
#ifndef PEN_DSR_LINK_PACKET_H
#define PEN_DSR_LINK_PACKET_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "dsr/link.h"

struct ifreq;

enum { PACKET_BATCH = 256 }; /* frames a system call */

struct packet_place {
	unsigned block, index;
};

struct packet_ring {
	int out; /* sends; link.fd does what this cannot, frames with offloads */
	unsigned char *ring;
	unsigned slot; /* bytes of one, and how many there are */
	unsigned in_block, blocks, slots;
	struct packet_place head, tail;
	unsigned held;	      /* slots from tail to head */
	unsigned char *large; /* owned: frames that are longer than a slot */
	unsigned large_used;
	bool merging_changed; /* large receive offload was on */
	/* What is wanted of the interface. */
	bool promiscuous, all_groups;
	struct mac *group; /* owned */
	unsigned groups;
	struct mmsghdr message[PACKET_BATCH];
	struct iovec part[PACKET_BATCH][2];
};

/* Clears `r` but for the interface's name. */
void packet_ask(const struct link *l, struct ifreq *r);
/* As link_look(). */
void packet_look(struct link *l);
/* Sets what the link says about the interface. Returns 0, or -1 with a sentence
 * when there is no such interface, or when it is no Ethernet. */
int packet_identify(struct link *l, struct error *e);
/* As link_set_filter(): the program, the groups of IPv6, promiscuity. */
int packet_set_filter(
    struct link *l, const struct link_filter *f, struct error *e);
/* A card's own merging (LRO) loses what is needed to take frames apart again, so
 * the kernel switches it off where it forwards, and so do we, with a line in the
 * log. The kernel's (GRO) keeps all. */
void packet_merging_exact(struct link *l);
void packet_merging_restore(struct link *l);

#endif
