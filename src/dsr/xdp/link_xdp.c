/* link_xdp.c: frames of a link by AF_XDP, the kernel's
 * Documentation/networking/af_xdp.rst.
 *
 *     free --> fill ring --> [kernel] --> rx ring --> held --> free
 *       ^                                              |
 *       '------- done ring <-- [kernel] <-- tx ring <--'  sent
 *
 * All frames are in one memory, a place each. A frame that is sent on leaves
 * from the place it came to; what is in memory of the caller's is copied to a
 * free one. A place that is sent before a release stays readable until then,
 * even if the kernel was faster: it is free when both have it no more.
 *
 * Nothing says what was left to do by a sender on this machine: checksum.h
 * finds out. */
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

enum { NOWHERE = UINT32_MAX };
enum { LOOKS = 16, FAST_LOOKS = 4 }; /* from one at the machine to the next */

/* ---- places ---- */

static uint64_t
address_of(const struct xdp_rings *x, uint32_t place)
{
	return (uint64_t)place << x->shift;
}

/* A driver that ran out of places waits to be told. */
static void
wake(const struct xdp_queue *q)
{
	if (q->socket != NULL && xsk_ring_prod__needs_wakeup(&q->fill))
		(void)recvfrom(xsk_socket__fd(q->socket), NULL, 0, MSG_DONTWAIT,
		    NULL, NULL);
}

void
xdp_fill(struct xdp_rings *x, struct xdp_queue *q)
{
	unsigned n = q->owed < x->frees ? q->owed : x->frees;
	uint32_t at;

	if (n == 0 || xsk_ring_prod__reserve(&q->fill, n, &at) == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&q->fill, at + i) =
		    address_of(x, x->free[--x->frees]);
	xsk_ring_prod__submit(&q->fill, n);
	q->owed -= n;
	wake(q);
}

static void
take_back(struct xdp_rings *x, uint64_t address)
{
	uint32_t place = (uint32_t)(address >> x->shift);

	if (x->state[place] == XDP_SENT)
		x->state[place] = XDP_HELD;
	else
		x->free[x->frees++] = place;
}

/* What has left. */
static void
reap(struct xdp_rings *x)
{
	struct xsk_ring_cons *done = &x->queue[0].done;
	uint32_t at;
	unsigned n = xsk_ring_cons__peek(done, XDP_OUT, &at);

	for (unsigned i = 0; i < n; i++)
		take_back(x, *xsk_ring_cons__comp_addr(done, at + i));
	if (n > 0)
		xsk_ring_cons__release(done, n);
}

static void
xdp_release(struct link *l)
{
	struct xdp_rings *x = l->inside;

	reap(x);
	for (unsigned i = 0; i < x->helds; i++) {
		uint32_t place = x->held[i];

		if (x->state[place] == XDP_HELD)
			x->free[x->frees++] = place;
		x->state[place] = XDP_NOT_SEEN;
	}
	x->helds = 0;
	for (unsigned i = 0; i < x->queues; i++)
		xdp_fill(x, &x->queue[i]);
}

/* ---- in ---- */

static unsigned
take(struct xdp_rings *x, struct xdp_queue *q, struct link_frame *list,
    unsigned most)
{
	uint32_t at;
	unsigned n = xsk_ring_cons__peek(&q->in, most, &at);

	for (unsigned i = 0; i < n; i++) {
		const struct xdp_desc *d =
		    xsk_ring_cons__rx_desc(&q->in, at + i);
		uint32_t place = (uint32_t)(d->addr >> x->shift);

		list[i] = (struct link_frame){ .bytes = x->memory + d->addr,
			.length = d->len };
		__builtin_prefetch(list[i].bytes);
		x->state[place] = XDP_HELD;
		x->held[x->helds++] = place;
	}
	if (n > 0)
		xsk_ring_cons__release(&q->in, n);
	q->owed += n;
	return n;
}

/* The interface has changed: does that concern the caller? */
static int
trouble(struct link *l)
{
	struct xdp_rings *x = l->inside;
	bool was = l->up, heard = false;
	char text[4096];

	/* what was too much to be told counts, too */
	while (recv(x->news, text, sizeof(text), MSG_DONTWAIT) >= 0 ||
	    errno == ENOBUFS)
		heard = true;
	if (!heard)
		return 0;
	x->changed = true;
	interface_look(l, x->wants.fd);
	if (interface_may_send(l, x->wants.fd) == 0)
		return 0;
	return was || errno == ENODEV ? -1 : 0;
}

static int
xdp_receive(struct link *l, struct link_frame *list, unsigned most)
{
	struct xdp_rings *x = l->inside;
	unsigned n = 0;

	/* one that is always full must not keep the others waiting */
	for (unsigned i = 0; i < x->queues && n < most; i++) {
		n += take(x, &x->queue[x->next], list + n, most - n);
		if (++x->next == x->queues)
			x->next = 0;
	}
	if (n == 0)
		return trouble(l);
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

	for (unsigned i = 0; i < x->queues; i++) {
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
		if (sendto(xsk_socket__fd(x->out), NULL, 0, MSG_DONTWAIT, NULL,
			0) < 0 &&
		    (errno == ENETDOWN || errno == ENXIO)) {
			l->up = false;
			return;
		}
		if (!x->copies)
			return;
		left = waiting(x);
		if (left == before) {
			/* it may wait for places that have left */
			reap(x);
			return;
		}
	}
}

/* A driver without room says nothing when there is some. */
static void
kick(struct link *l)
{
	const struct xdp_rings *x = l->inside;

	push(l);
	l->waits = x->copies && l->up && waiting(x) > 0;
}

/* What fits into a place, should the MTU have grown since they were made. */
static unsigned
longest(const struct xdp_rings *x)
{
	return (1U << x->shift) - XDP_FRONT;
}

/* Whether the frame is one that may go; else it is counted. */
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

static uint32_t
place_for_copy(struct link *l, struct xdp_rings *x)
{
	if (x->frees == 0)
		reap(x);
	if (x->frees == 0)
		kick(l);
	return x->frees > 0 ? x->free[--x->frees] : (uint32_t)NOWHERE;
}

/* Where the frame is to be sent from, or false: there is no room. */
static bool
settle(struct link *l, struct xdp_rings *x, const struct link_frame *f,
    struct xdp_desc *d)
{
	uintptr_t offset = (uintptr_t)f->bytes - (uintptr_t)x->memory;
	struct link_frame copy = *f;
	uint32_t place;

	d->len = f->length;
	d->options = 0;
	if (offset < x->size) {
		place = (uint32_t)(offset >> x->shift);
		if (x->state[place] == XDP_HELD &&
		    !(f->offload.flags & LINK_CHECKSUM)) {
			x->state[place] = XDP_SENT;
			d->addr = offset;
			return true;
		}
	}
	place = place_for_copy(l, x);
	if (place == NOWHERE)
		return false;
	d->addr = address_of(x, place);
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

	if (!l->up && interface_may_send(l, x->wants.fd) != 0)
		return -1;
	reap(x);
	for (i = 0; i < n; i++) {
		struct xdp_desc d;

		if (!may_go(l, &list[i]))
			continue;
		if (xsk_prod_nb_free(&x->ring, 1) == 0 ||
		    !settle(l, x, &list[i], &d) ||
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

/* A queue without places hears nothing, so nothing would give it any; and a
 * driver may have begun to wait just after it got some. */
static void
feed(struct xdp_rings *x)
{
	reap(x);
	for (unsigned i = 0; i < x->queues; i++) {
		xdp_fill(x, &x->queue[i]);
		wake(&x->queue[i]);
	}
}

static void
xdp_look(struct link *l)
{
	struct xdp_rings *x = l->inside;
	struct xdp_statistics s;
	uint64_t missed = 0;

	for (unsigned i = 0; i < x->queues; i++) {
		socklen_t len = sizeof(s);

		if (getsockopt(xsk_socket__fd(x->queue[i].socket), SOL_XDP,
			XDP_STATISTICS, &s, &len) == 0)
			missed += s.rx_dropped + s.rx_ring_full;
	}
	l->count.missed = missed;
	interface_look(l, x->wants.fd);
	if (l->mtu + FRAME_HEAD > longest(x) && !x->outgrown)
		log_warn("the MTU has grown, frames of more than %u bytes are "
			 "lost until a restart interface=%s",
		    longest(x), l->name);
	x->outgrown = l->mtu + FRAME_HEAD > longest(x);
	if (++x->looks % LOOKS == 0)
		xdp_look_at_host(l);
	if (x->looks % FAST_LOOKS == 0)
		xdp_look_at_fast(l);
	kick(l);
	feed(x);
}

static int
xdp_set_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_rings *x = l->inside;

	return interface_set_filter(l, &x->wants, f, xdp_set_addresses, e);
}

const struct link_ops link_xdp = { .name = "xdp",
	.takes = true,
	.open = xdp_open,
	.set_filter = xdp_set_filter,
	.receive = xdp_receive,
	.send = xdp_send,
	.release = xdp_release,
	.more = xdp_more,
	.look = xdp_look,
	.close = xdp_close };
