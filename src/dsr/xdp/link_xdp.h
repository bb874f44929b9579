/* link_xdp.h: the inside of links by AF_XDP, which four files share: frames
 * (link_xdp.c), how it is opened (link_xdp_open.c), what this machine must not
 * lose by it (link_xdp_host.c), and the program with its maps
 * (link_xdp_maps.c). */
#ifndef PEN_DSR_LINK_XDP_H
#define PEN_DSR_LINK_XDP_H

#include <xdp/xsk.h>

#include "dsr/link/link_interface.h"
#include "dsr/xdp/xdp_program.h"

enum {
	XDP_BURST = 8192, /* frames that can wait, in all queues together */
	XDP_LEAST = 512,  /* in one */
	XDP_OUT = 2048,	  /* on their way out, at a time */
	XDP_FRONT = 256,  /* that the kernel leaves in front of a frame */
	XDP_SMALL = 2048, /* sizes of a place */
	XDP_LARGE = 4096
};

/* Whose a place for a frame is. */
enum xdp_state {
	XDP_NOT_SEEN, /* the kernel's, or in the list of free ones */
	XDP_HELD,     /* received: the caller's, until a release */
	XDP_SENT      /* the caller's and the kernel's, to be sent */
};

struct xdp_queue {
	struct xsk_socket *socket;
	struct xsk_ring_cons in;
	struct xsk_ring_prod fill;
	struct xsk_ring_cons done; /* of places sent */
	unsigned owed;		   /* places to be given to the kernel again */
};

struct xdp_rings {
	struct interface_wants wants; /* its socket is owned */
	int news;		      /* about interfaces: netlink */
	struct xdp_program program;
	struct xdp_program_options options; /* it was loaded with */
	struct frame_count
	    *totals; /* owned; with a fast path: one for each of */
	unsigned processors;
	struct xdp_entry *entries; /* the map's memory; NULL: no fast path */
	struct xdp_key *key;	   /* owned: those of the addresses, in order */
	unsigned keys;
	int attached;
	bool tags_apart; /* the driver tells of VLAN tags when asked */
	/* All frames are here, one a place; places have numbers. */
	unsigned char *memory;
	size_t size;
	unsigned place; /* bytes of one; a power of two, this one: */
	unsigned shift;
	unsigned places;
	uint32_t *free, *held; /* owned: their numbers */
	unsigned frees, helds;
	uint8_t *state; /* owned: by number */
	struct xsk_umem *umem;
	struct xdp_queue *queue; /* owned */
	unsigned queues, next;	 /* the one to be asked first */
	/* Sends, for all queues: nobody waits for this socket, so that what
	 * has left wakes nobody. Its done ring is the first queue's. */
	struct xsk_socket *out;
	struct xsk_ring_prod ring;
	bool outgrown;	/* frames of the MTU do not fit into a place */
	bool overflown; /* there are queues that are not heard */
	bool needed;	/* this machine itself needs ARP */
	bool changed;	/* some interface has, or an address: who needs what? */
	unsigned looks; /* link_look() */
	bool copies;	/* the kernel sends only when told to */
};

/* ---- link_xdp_open.c ---- */

/* As link_open(), and its end. */
int xdp_open(struct link *l, const struct link_filter *f, struct error *e);
void xdp_close(struct link *l);

/* ---- link_xdp_host.c ---- */

/* Whether this machine can do without the interface's ARP and NDP: it has no
 * address there but link-local ones, no interface above it, and neither routes
 * through it nor neighbours that it talks to. Returns 0, or -1 with a sentence;
 * with a line in the log instead when this very kind is asked for. */
int xdp_check_host(const struct link *l, struct error *e);
/* Receive queues of the interface, one at least. */
unsigned xdp_count_queues(const struct link *l);
/* Whether frames that the program itself sends get anywhere. A cable (veth)
 * loses them without a word when nothing at its other end polls: neither GRO
 * nor a program; so also when the kernel does not tell (before Linux 6.3). */
bool xdp_can_send_back(const struct link *l);
/* Host and queues again, later: a line in the log says what is worse than it
 * was. */
void xdp_look_at_host(const struct link *l);

/* ---- link_xdp_maps.c ---- */

/* Makes the maps and loads the program, with a fast path if that is wanted and
 * can be. Returns 0, or -1 with a sentence; what is there is xdp_close()'s. */
int xdp_load(struct link *l, const struct link_filter *f, struct error *e);
/* As link_set_filter(), for the map alone. */
int xdp_set_addresses(
    struct link *l, const struct link_filter *f, struct error *e);
/* Frames of this queue go to this socket. */
int xdp_connect(
    struct link *l, unsigned queue, const struct xdp_queue *q, struct error *e);
/* Whether the driver takes the program, as far as the kernel tells without
 * attaching it. Returns 0, or -1 with a sentence. */
int xdp_check_driver(struct link *l, struct error *e);
/* From now on frames come; l->mode says how. */
int xdp_attach(struct link *l, struct error *e);

/* ---- link_xdp_fast.c ---- */

/* Loads the program, with a fast path for so many flows. Returns 0, or -1 with
 * errno and nothing loaded. */
int xdp_load_fast(struct xdp_rings *x, uint32_t flows);
void xdp_close_fast(struct xdp_rings *x); /* nothing loaded is fine */
/* Whether frames sent that way arrive: l->fast_fails, with a line in the log
 * when that has changed. */
void xdp_look_at_fast(struct link *l);
extern const struct link_fast xdp_fast;

/* ---- link_xdp.c ---- */

/* Gives the kernel the places it is owed, as many as are free. */
void xdp_fill(struct xdp_rings *x, struct xdp_queue *q);

#endif
