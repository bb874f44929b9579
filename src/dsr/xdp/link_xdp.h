/* link_xdp.h: the inside of links by AF_XDP, which six files share: frames
 * (link_xdp.c), opening and closing (link_xdp_open.c), a link of another
 * process (link_xdp_past.c), what this machine must
 * not lose by it (link_xdp_host.c), the program and the addresses
 * (link_xdp_maps.c), the fast path (link_xdp_fast.c). */
#ifndef PEN_DSR_LINK_XDP_H
#define PEN_DSR_LINK_XDP_H

#include <xdp/xsk.h>

#include "dsr/link/link_interface.h"
#include "dsr/xdp/xdp_program.h"

enum {
	XDP_BURST = 8192, /* frames that can wait, in all queues together */
	XDP_LEAST = 512,  /* in one */
	XDP_OUT = 2048,	  /* on their way out, at a time */
	XDP_DONE = 2 * XDP_OUT, /* with those that have not been read yet */
	XDP_CHUNKS = XDP_QUEUES * XDP_LEAST + XDP_DONE, /* at most */
	XDP_FRONT = 256,  /* that the kernel leaves in front of a frame */
	XDP_SMALL = 2048, /* sizes of chunks */
	XDP_LARGE = 4096
};

/* The owner of a chunk. */
enum xdp_state {
	XDP_IDLE,     /* the kernel, or none: it is free */
	XDP_RECEIVED, /* the caller, until a release */
	XDP_SENT      /* the caller and the kernel, which sends it */
};

/* What the next process must know: it is in memory of its own. A process that
 * has another version, of this, of the maps or of the sizes of rings, cannot
 * take the link over. */
enum { XDP_BOOK = 2 };
struct xdp_book {
	uint32_t version;
	uint32_t features; /* as in struct interface_changes */
	char mode[32];	   /* of the link */
	uint32_t fast_flows;
	bool tags_apart; /* the driver reports VLAN tags by a function */
	unsigned queues;
	unsigned chunks, shift;	  /* their size, a power of two */
	unsigned due[XDP_QUEUES]; /* chunks that the fill rings lack */
	unsigned free_n;
	uint32_t free[XDP_CHUNKS]; /* numbers of chunks */
};

/* The kernel's memory of a ring, if it was mapped here and not by libxdp. */
struct xdp_map {
	void *at; /* NULL: it was not */
	size_t size;
};

struct xdp_queue {
	struct xsk_socket *socket; /* NULL: another process has made it */
	int fd;
	struct xsk_ring_cons in;
	struct xsk_ring_prod fill;
	struct xsk_ring_cons done; /* of chunks sent */
	struct xdp_map map[3];
};

struct xdp_rings {
	struct interface_changes changes; /* its socket is owned */
	int netlink; /* reports that interfaces and addresses change */
	struct xdp_program program;
	struct xdp_program_options options; /* it was loaded with */
	struct frame_count *totals; /* owned: a fast path's, a processor each */
	unsigned processors;
	struct xdp_entry *entries; /* the map's memory; NULL: no fast path */
	struct xdp_key *key;	   /* owned: those of the addresses, in order */
	unsigned keys;
	int attached;
	struct xdp_book *book;
	/* All frames, in numbered chunks. */
	unsigned char *memory;
	size_t size;
	int book_fd, memory_fd;
	uint32_t *received; /* owned: numbers of chunks */
	unsigned received_n;
	uint8_t *state; /* owned: by number */
	struct xsk_umem *umem;
	struct xdp_queue *queue; /* owned */
	unsigned next;		 /* the one to be read first */
	uint64_t missed_before;	 /* by another process */
	/* Sends, for all queues. The loop does not watch this socket, so a
	 * frame that has left causes no wake-up. Its done ring is the first
	 * queue's. */
	struct xsk_socket *out; /* NULL: another process has made it */
	int out_fd;
	struct xdp_map out_map;
	struct xsk_ring_prod ring;
	bool outgrown;	/* frames of the MTU do not fit into chunks */
	bool overflown; /* there are queues without sockets */
	bool needed;	/* this machine itself needs ARP */
	bool changed;	/* since the last xdp_recheck_host() */
	unsigned refreshes;
	bool copies; /* the kernel sends only when called */
};

/* ---- link_xdp_open.c ---- */

/* As link_open() and link_close(). */
int xdp_open(struct link *l, const struct link_filter *f, struct error *e);
void xdp_close(struct link *l);
/* The size of each queue's rings. */
unsigned xdp_burst(const struct xdp_rings *x);
/* Makes what this process has of its own for `queues` and `chunks`. Returns 0,
 * or -1 without memory. */
int xdp_open_lists(struct xdp_rings *x);
/* Watches the socket of a queue. Returns 0, or -1 with errno. */
int xdp_watch(const struct link *l, const struct xdp_queue *q);
/* Sets the socket that sends up. */
void xdp_set_out(struct link *l);

/* ---- link_xdp_past.c ---- */

/* Takes the descriptors of the past, and maps their memory. Returns 0, or -1
 * with a full message. */
int xdp_adopt(struct link *l, const struct link_filter *f, struct error *e);
/* As link_fds() and link_take(). */
unsigned xdp_fds(const struct link *l, int list[LINK_FDS_MAX]);
void xdp_take_over(struct link *l);

/* ---- link_xdp_host.c ---- */

/* Checks that this machine can do without the interface's ARP and NDP: it has
 * only link-local addresses there, no interface above it, no routes through it
 * and no neighbours there. Returns 0, or -1 with a full message. If this kind
 * is set, the log gets a line instead. */
int xdp_check_host(const struct link *l, struct error *e);
/* How many receive queues the interface has, at least one. */
unsigned xdp_count_queues(const struct link *l);
/* Whether frames that the program itself sends get anywhere. A veth pair drops
 * them silently if nothing polls at the peer, neither GRO nor a program. False
 * also if the kernel does not report it (before Linux 6.3). */
bool xdp_can_send_back(const struct link *l);
/* Checks host and queues again: the log gets a line if either is worse. */
void xdp_recheck_host(const struct link *l);

/* ---- link_xdp_maps.c ---- */

/* Creates the maps and loads the program, with a fast path if that is wanted
 * and the kernel can do it. Returns 0, or -1 with a full message. */
int xdp_load(struct link *l, const struct link_filter *f, struct error *e);
/* Reads from the map which addresses another process has set. */
void xdp_read_addresses(struct xdp_rings *x);
/* As link_set_filter(), for the program's MAC and addresses alone. */
int xdp_set_addresses(
    struct link *l, const struct link_filter *f, struct error *e);
/* Frames of this queue go to this socket. */
int xdp_connect(
    struct link *l, unsigned queue, const struct xdp_queue *q, struct error *e);
/* Checks that the driver takes the program, as far as the kernel reports
 * without attaching it. Returns 0, or -1 with a full message. */
int xdp_check_driver(struct link *l, struct error *e);
/* Attaches the program: frames come from now on, in the mode of l->mode.
 * Returns 0, or -1 with a full message. */
int xdp_attach(struct link *l, struct error *e);

/* ---- link_xdp_fast.c ---- */

/* Loads the program, with a fast path for so many flows. Returns 0, or -1 with
 * errno and nothing loaded. */
int xdp_load_fast(struct xdp_rings *x, uint32_t flows);
/* Maps what the loaded fast path has. Returns 0, or -1 with errno. */
int xdp_map_fast(struct xdp_rings *x);
void xdp_close_fast(struct xdp_rings *x); /* nothing loaded is fine */
/* Sets l->fast_fails: frames sent that way would not arrive. The log gets a
 * line when that changes. */
void xdp_recheck_fast(struct link *l);
extern const struct link_fast xdp_fast;

/* ---- link_xdp.c ---- */

/* Gives the kernel the chunks that the ring lacks, as many as are free. */
void xdp_fill(struct xdp_rings *x, struct xdp_queue *q);
/* Frames that the sockets of the queues had no room for, since they exist. */
uint64_t xdp_missed(const struct xdp_rings *x);

#endif
