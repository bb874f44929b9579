/* link_xdp_past.c: an AF_XDP link that another process has opened. The kernel
 * keeps the memory of frames and the rings as long as a socket is open, and any
 * process that has the descriptors can map both (rings of a bound socket: since
 * Linux 6.4). The program remains attached: it is the other process's. */
#include "config.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/log.h"
#include "dsr/xdp/link_xdp.h"

/* The descriptors, in this order; those of the fast path, if there is one, are
 * behind the sockets of the queues. */
enum {
	FD_BOOK,
	FD_MEMORY,
	FD_CHANGES,
	FD_ATTACHED,
	FD_MAC,
	FD_ADDRESSES,
	FD_SOCKETS,
	FD_OUT,
	FD_QUEUES,
	FAST = 3
};
_Static_assert(FD_QUEUES + XDP_QUEUES + FAST <= LINK_FDS_MAX, "all fit");

unsigned
xdp_fds(const struct link *l, int list[LINK_FDS_MAX])
{
	const struct xdp_rings *x = l->inside;
	const struct xdp_program *p = &x->program;
	unsigned n = FD_QUEUES;

	x->book->features = x->changes.features;
	x->book->fast_flows = x->options.flows;
	list[FD_BOOK] = x->book_fd;
	list[FD_MEMORY] = x->memory_fd;
	list[FD_CHANGES] = x->changes.fd;
	list[FD_ATTACHED] = x->attached;
	list[FD_MAC] = p->mac;
	list[FD_ADDRESSES] = p->addresses;
	list[FD_SOCKETS] = p->sockets;
	list[FD_OUT] = x->out_fd;
	for (unsigned i = 0; i < x->book->queues; i++)
		list[n++] = x->queue[i].fd;
	if (x->options.flows > 0) {
		list[n++] = p->flows;
		list[n++] = p->entries;
		list[n++] = p->totals;
	}
	return n;
}

/* ---- rings ---- */

/* The ring of a socket whose positions the kernel has at those offsets: `n`
 * things of `each` bytes. Returns its memory, or NULL. */
static unsigned char *
map_ring(int fd, const struct xdp_ring_offset *o, unsigned n, size_t each,
    uint64_t at, struct xdp_map *map)
{
	map->size = (size_t)o->desc + n * each;
	map->at = mmap(NULL, map->size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_POPULATE, fd, (off_t)at);
	if (map->at == MAP_FAILED)
		map->at = NULL;
	return map->at;
}

#define SET_RING(r, memory, o, n)                                   \
	do {                                                        \
		(r)->mask = (n)-1;                                  \
		(r)->size = (n);                                    \
		(r)->producer = (void *)((memory) + (o)->producer); \
		(r)->consumer = (void *)((memory) + (o)->consumer); \
		(r)->flags = (void *)((memory) + (o)->flags);       \
		(r)->ring = (memory) + (o)->desc;                   \
	} while (0)

static int
map_queue(
    struct xdp_rings *x, struct xdp_queue *q, const struct xdp_mmap_offsets *o)
{
	unsigned n = xdp_burst(x);
	unsigned char *in = map_ring(q->fd, &o->rx, n, sizeof(struct xdp_desc),
	    XDP_PGOFF_RX_RING, &q->map[0]);
	unsigned char *fill = map_ring(q->fd, &o->fr, n, sizeof(uint64_t),
	    XDP_UMEM_PGOFF_FILL_RING, &q->map[1]);
	unsigned char *done = map_ring(q->fd, &o->cr, XDP_DONE,
	    sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING, &q->map[2]);

	if (in == NULL || fill == NULL || done == NULL)
		return -1;
	SET_RING(&q->in, in, &o->rx, n);
	SET_RING(&q->fill, fill, &o->fr, n);
	SET_RING(&q->done, done, &o->cr, XDP_DONE);
	return 0;
}

static int
map_rings(struct xdp_rings *x)
{
	struct xdp_mmap_offsets o;
	socklen_t len = sizeof(o);
	unsigned char *out;

	if (getsockopt(x->out_fd, SOL_XDP, XDP_MMAP_OFFSETS, &o, &len) != 0)
		return -1;
	if (len != sizeof(o)) {
		errno = EINVAL;
		return -1;
	}
	for (unsigned i = 0; i < x->book->queues; i++)
		if (map_queue(x, &x->queue[i], &o) != 0)
			return -1;
	out = map_ring(x->out_fd, &o.tx, XDP_OUT, sizeof(struct xdp_desc),
	    XDP_PGOFF_TX_RING, &x->out_map);
	if (out == NULL)
		return -1;
	SET_RING(&x->ring, out, &o.tx, XDP_OUT);
	return 0;
}

/* ---- all ---- */

/* A book that is not right must not lead beyond memory. */
static bool
is_xdp_book_right(const struct xdp_book *b)
{
	if (b->version != XDP_BOOK || b->queues == 0 ||
	    b->queues > XDP_QUEUES || b->chunks > XDP_CHUNKS ||
	    b->free_n > b->chunks || (b->shift != 11 && b->shift != 12) ||
	    memchr(b->mode, '\0', sizeof(b->mode)) == NULL)
		return false;
	for (unsigned i = 0; i < b->free_n; i++)
		if (b->free[i] >= b->chunks)
			return false;
	return true;
}

static int
xdp_move(struct link_past *past, unsigned i)
{
	int fd = i < past->count ? past->fd[i] : -1;

	if (fd >= 0)
		past->fd[i] = -1;
	return fd;
}

static int
take_book(struct link *l, struct xdp_rings *x, struct link_past *past,
    struct error *e)
{
	x->book_fd = xdp_move(past, FD_BOOK);
	if (x->book_fd >= 0)
		x->book = interface_memory(&x->book_fd, sizeof(*x->book));
	if (x->book != NULL && is_xdp_book_right(x->book) &&
	    past->count >= FD_QUEUES + x->book->queues)
		return xdp_open_lists(x) == 0
		    ? 0
		    : error_set(e, "interface %s: out of memory", l->name);
	return error_set(
	    e, "interface %s: the rings are those of another version", l->name);
}

static void
take_descriptors(struct xdp_rings *x, struct link_past *past)
{
	unsigned n = FD_QUEUES;

	x->memory_fd = xdp_move(past, FD_MEMORY);
	x->changes.fd = xdp_move(past, FD_CHANGES);
	x->attached = xdp_move(past, FD_ATTACHED);
	x->out_fd = xdp_move(past, FD_OUT);
	for (unsigned i = 0; i < x->book->queues; i++)
		x->queue[i].fd = xdp_move(past, n++);
	x->program = (struct xdp_program){ .adopted = true,
		.fd = -1,
		.mac = xdp_move(past, FD_MAC),
		.addresses = xdp_move(past, FD_ADDRESSES),
		.sockets = xdp_move(past, FD_SOCKETS),
		.flows = -1,
		.entries = -1,
		.totals = -1 };
	x->options.flows = x->book->fast_flows;
	if (x->options.flows == 0)
		return;
	x->program.flows = xdp_move(past, n++);
	x->program.entries = xdp_move(past, n++);
	x->program.totals = xdp_move(past, n);
}

static int
map_all(struct link *l, struct xdp_rings *x)
{
	x->size = (size_t)x->book->chunks << x->book->shift;
	x->memory =
	    x->memory_fd >= 0 ? interface_memory(&x->memory_fd, x->size) : NULL;
	if (x->memory == NULL || map_rings(x) != 0 ||
	    (x->options.flows > 0 && xdp_map_fast(x) != 0))
		return -1;
	for (unsigned i = 0; i < x->book->queues; i++)
		if (xdp_watch(l, &x->queue[i]) != 0)
			return -1;
	return 0;
}

int
xdp_adopt(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_rings *x = l->inside;

	l->paused = true;
	if (take_book(l, x, f->past, e) != 0)
		return -1;
	take_descriptors(x, f->past);
	l->mode = x->book->mode;
	if (x->options.flows > 0 && f->fast_flows == 0)
		return error_set(e,
		    "interface %s: dsr_fast_path needs a restart to be off",
		    l->name);
	if (interface_identify(l, x->changes.fd, e) != 0)
		return -1;
	if (map_all(l, x) != 0)
		return error_set(e,
		    "interface %s: cannot take over AF_XDP sockets: %s%s",
		    l->name, strerror(errno),
		    errno == EBUSY ? "; that needs Linux 6.4" : "");
	xdp_set_out(l);
	x->missed_before = xdp_missed(x);
	if (x->options.flows > 0) {
		l->fast = &xdp_fast;
		xdp_recheck_fast(l);
	}
	return 0;
}

/* ---- frames are ours ---- */

static void
follow_in(struct xsk_ring_cons *r)
{
	r->cached_prod = *r->producer;
	r->cached_cons = *r->consumer;
}

static void
follow_out(struct xsk_ring_prod *r)
{
	r->cached_prod = *r->producer;
	r->cached_cons = *r->consumer + r->size;
}

/* The other process has moved the positions in the rings. */
void
xdp_take_over(struct link *l)
{
	struct xdp_rings *x = l->inside;

	x->changes.features = x->book->features;
	for (unsigned i = 0; i < x->book->queues; i++) {
		follow_in(&x->queue[i].in);
		follow_out(&x->queue[i].fill);
	}
	follow_in(&x->queue[0].done);
	follow_out(&x->ring);
	xdp_read_addresses(x);
}
