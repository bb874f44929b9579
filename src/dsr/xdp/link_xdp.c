/* link_xdp.c: frames of a link by AF_XDP, the kernel's
 * Documentation/networking/af_xdp.rst.
 *
 *     free --> fill ring --> [kernel] --> rx ring --> received --> free
 *       ^                                                |
 *       '------- done ring <-- [kernel] <-- tx ring <----'  sent
 *
 * All frames are in one memory, a chunk each. A received frame is sent from the
 * chunk it came to; one in the caller's memory is copied to a free chunk. A
 * chunk that is sent before a release stays readable until then, even if the
 * kernel was faster: it is free when neither uses it any more.
 *
 * AF_XDP does not report which checksums a sender on this host has left to a
 * card: checksum.h finds out. */
#include "config.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "dsr/frame/checksum.h"
#include "dsr/frame/frame.h"
#include "dsr/link/link_kinds.h"
#include "dsr/link/offload.h"
#include "dsr/xdp/link_xdp.h"

enum { HOST_EVERY = 16, FAST_EVERY = 4 }; /* refreshes, to the next check */

/* ---- chunks ---- */

static uint64_t
xdp_chunk_address(const struct xdp_rings *x, uint32_t chunk)
{
	return (uint64_t)chunk << x->book->shift;
}

/* A driver that ran out of chunks waits for a call. */
static void
wake(const struct xdp_queue *q)
{
	if (q->fd >= 0 && xsk_ring_prod__needs_wakeup(&q->fill))
		(void)recvfrom(q->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

void
xdp_fill(struct xdp_rings *x, struct xdp_queue *q)
{
	struct xdp_book *b = x->book;
	unsigned *due = &b->due[q - x->queue];
	unsigned n = *due < b->free_n ? *due : b->free_n;
	uint32_t at;

	if (n == 0 || xsk_ring_prod__reserve(&q->fill, n, &at) == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&q->fill, at + i) =
		    xdp_chunk_address(x, b->free[--b->free_n]);
	xsk_ring_prod__submit(&q->fill, n);
	*due -= n;
	wake(q);
}

/* Takes back the chunks that the kernel has sent. */
static void
xdp_reap(struct xdp_rings *x)
{
	struct xsk_ring_cons *done = &x->queue[0].done;
	uint32_t at = 0;
	unsigned n = xsk_ring_cons__peek(done, XDP_OUT, &at);

	for (unsigned i = 0; i < n; i++) {
		uint64_t address = *xsk_ring_cons__comp_addr(done, at + i);
		uint32_t chunk = (uint32_t)(address >> x->book->shift);

		if (x->state[chunk] == XDP_SENT)
			x->state[chunk] = XDP_RECEIVED;
		else
			x->book->free[x->book->free_n++] = chunk;
	}
	if (n > 0)
		xsk_ring_cons__release(done, n);
}

static void
xdp_release(struct link *l)
{
	struct xdp_rings *x = l->inside;

	xdp_reap(x);
	for (unsigned i = 0; i < x->received_n; i++) {
		uint32_t chunk = x->received[i];

		if (x->state[chunk] == XDP_RECEIVED)
			x->book->free[x->book->free_n++] = chunk;
		x->state[chunk] = XDP_IDLE;
	}
	x->received_n = 0;
	for (unsigned i = 0; i < x->book->queues; i++)
		xdp_fill(x, &x->queue[i]);
}

/* ---- in ---- */

static unsigned
xdp_take(struct xdp_rings *x, struct xdp_queue *q, struct link_frame *list,
    unsigned most)
{
	uint32_t at;
	unsigned n = xsk_ring_cons__peek(&q->in, most, &at);

	for (unsigned i = 0; i < n; i++) {
		const struct xdp_desc *d =
		    xsk_ring_cons__rx_desc(&q->in, at + i);
		uint32_t chunk = (uint32_t)(d->addr >> x->book->shift);

		list[i] = (struct link_frame){ .bytes = x->memory + d->addr,
			.length = d->len };
		__builtin_prefetch(list[i].bytes);
		x->state[chunk] = XDP_RECEIVED;
		x->received[x->received_n++] = chunk;
	}
	if (n > 0)
		xsk_ring_cons__release(&q->in, n);
	x->book->due[q - x->queue] += n;
	return n;
}

/* Reports a change of the interface that concerns the caller. */
static int
xdp_report_change(struct link *l)
{
	struct xdp_rings *x = l->inside;
	bool was = l->up, any = false;
	char text[4096];

	/* more than the socket holds counts, too */
	while (recv(x->netlink, text, sizeof(text), MSG_DONTWAIT) >= 0 ||
	    errno == ENOBUFS)
		any = true;
	if (!any)
		return 0;
	x->changed = true;
	interface_refresh(l, x->changes.fd);
	if (interface_may_send(l, x->changes.fd) == 0)
		return 0;
	return was || errno == ENODEV ? -1 : 0;
}

static int
xdp_receive(struct link *l, struct link_frame *list, unsigned most)
{
	struct xdp_rings *x = l->inside;
	unsigned n = 0;

	/* a queue that is always full must not starve the others */
	for (unsigned i = 0; i < x->book->queues && n < most; i++) {
		n += xdp_take(x, &x->queue[x->next], list + n, most - n);
		if (++x->next == x->book->queues)
			x->next = 0;
	}
	if (n == 0)
		return xdp_report_change(l);
	for (unsigned i = 0; i < n; i++)
		list[i].summed_here =
		    checksum_complete(list[i].bytes, list[i].length);
	l->count.received += n;
	l->up = true;
	return (int)n;
}

static bool
xdp_more(const struct link *l)
{
	const struct xdp_rings *x = l->inside;

	for (unsigned i = 0; i < x->book->queues; i++) {
		const struct xsk_ring_cons *in = &x->queue[i].in;

		if (__atomic_load_n(in->producer, __ATOMIC_ACQUIRE) !=
		    in->cached_cons)
			return true;
	}
	return false;
}

/* ---- out ---- */

static unsigned
waiting(const struct xdp_rings *x)
{
	return __atomic_load_n(x->ring.producer, __ATOMIC_RELAXED) -
	    __atomic_load_n(x->ring.consumer, __ATOMIC_RELAXED);
}

static void
push(struct link *l)
{
	struct xdp_rings *x = l->inside;
	unsigned left = waiting(x), before;

	while (left > 0 && xsk_ring_prod__needs_wakeup(&x->ring)) {
		before = left;
		if (sendto(x->out_fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 &&
		    (errno == ENETDOWN || errno == ENXIO)) {
			l->up = false;
			return;
		}
		if (!x->copies)
			return;
		left = waiting(x);
		if (left == before) {
			/* it may wait for chunks that have left */
			xdp_reap(x);
			return;
		}
	}
}

/* A driver that had no room does not report when it has some. */
static void
kick(struct link *l)
{
	const struct xdp_rings *x = l->inside;

	push(l);
	l->waits = x->copies && l->up && waiting(x) > 0;
}

/* What fits into a chunk: the MTU may have grown since they were made. */
static unsigned
longest(const struct xdp_rings *x)
{
	return (1U << x->book->shift) - XDP_FRONT;
}

/* Whether the frame may be sent; if not, it is counted. */
static bool
may_go(struct link *l, const struct link_frame *f)
{
	const struct xdp_rings *x = l->inside;

	if (f->length < FRAME_HEAD || f->offload.type != 0) {
		l->count.refused++;
		return false;
	}
	if (f->length > longest(x) ||
	    (f->length > l->mtu + FRAME_HEAD &&
		(f->length > l->mtu + FRAME_HEAD_MAX || f->bytes[12] != 0x81 ||
		    f->bytes[13] != 0))) {
		l->count.too_long++;
		return false;
	}
	return true;
}

/* Sets where the frame is sent from. Returns false if there is no room. */
static bool
xdp_settle(struct link *l, struct xdp_rings *x, const struct link_frame *f,
    struct xdp_desc *d)
{
	uintptr_t offset = (uintptr_t)f->bytes - (uintptr_t)x->memory;
	struct link_frame copy = *f;
	uint32_t chunk;

	d->len = f->length;
	d->options = 0;
	if (offset < x->size) {
		chunk = (uint32_t)(offset >> x->book->shift);
		if (x->state[chunk] == XDP_RECEIVED &&
		    !(f->offload.flags & LINK_CHECKSUM)) {
			x->state[chunk] = XDP_SENT;
			d->addr = offset;
			return true;
		}
	}
	if (x->book->free_n == 0)
		xdp_reap(x);
	if (x->book->free_n == 0)
		kick(l);
	if (x->book->free_n == 0)
		return false;
	chunk = x->book->free[--x->book->free_n];
	d->addr = xdp_chunk_address(x, chunk);
	copy.bytes = x->memory + d->addr;
	memcpy(copy.bytes, f->bytes, f->length);
	if (f->offload.flags & LINK_CHECKSUM)
		(void)offload_finish(&copy);
	return true;
}

static int
xdp_send(struct link *l, const struct link_frame *list, unsigned n)
{
	struct xdp_rings *x = l->inside;
	unsigned i, put = 0;
	uint32_t at;

	if (!l->up && interface_may_send(l, x->changes.fd) != 0)
		return -1;
	xdp_reap(x);
	for (i = 0; i < n; i++) {
		struct xdp_desc d;

		if (!may_go(l, &list[i]))
			continue;
		if (xsk_prod_nb_free(&x->ring, 1) == 0 ||
		    !xdp_settle(l, x, &list[i], &d) ||
		    xsk_ring_prod__reserve(&x->ring, 1, &at) == 0)
			break;
		*xsk_ring_prod__tx_desc(&x->ring, at) = d;
		put++;
	}
	if (put > 0)
		xsk_ring_prod__submit(&x->ring, put);
	l->count.sent += put;
	kick(l);
	return (int)i;
}

/* ---- the rest ---- */

uint64_t
xdp_missed(const struct xdp_rings *x)
{
	struct xdp_statistics s;
	uint64_t missed = 0;

	for (unsigned i = 0; i < x->book->queues; i++) {
		socklen_t len = sizeof(s);

		if (getsockopt(
			x->queue[i].fd, SOL_XDP, XDP_STATISTICS, &s, &len) == 0)
			missed += s.rx_dropped + s.rx_ring_full;
	}
	return missed;
}

static void
xdp_refresh(struct link *l)
{
	struct xdp_rings *x = l->inside;

	l->count.missed = xdp_missed(x) - x->missed_before;
	interface_refresh(l, x->changes.fd);
	if (l->mtu + FRAME_HEAD > longest(x) && !x->outgrown)
		log_warn("the MTU has grown, frames of more than %u bytes are "
			 "lost until pen is started again interface=%s",
		    longest(x), l->name);
	x->outgrown = l->mtu + FRAME_HEAD > longest(x);
	if (++x->refreshes % HOST_EVERY == 0)
		xdp_recheck_host(l);
	if (x->refreshes % FAST_EVERY == 0)
		xdp_recheck_fast(l);
	kick(l);
	/* A queue without chunks receives nothing, so no release would give it
	 * any. A driver may have begun to wait just after it got some. */
	xdp_reap(x);
	for (unsigned i = 0; i < x->book->queues; i++) {
		xdp_fill(x, &x->queue[i]);
		wake(&x->queue[i]);
	}
}

static int
xdp_set_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_rings *x = l->inside;

	return interface_set_filter(l, &x->changes, f, xdp_set_addresses, e);
}

const struct link_ops link_xdp = { .name = "xdp",
	.takes = true,
	.open = xdp_open,
	.set_filter = xdp_set_filter,
	.receive = xdp_receive,
	.send = xdp_send,
	.release = xdp_release,
	.more = xdp_more,
	.refresh = xdp_refresh,
	.close = xdp_close,
	.fds = xdp_fds,
	.take = xdp_take_over };
