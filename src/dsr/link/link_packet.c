/* link_packet.c: links on Linux: packet(7), the kernel's
 * Documentation/networking/packet_mmap.rst.
 *
 *     ring:  | header  offload  frame | header ...     slots of one size,
 *              ^ tail: not released     ^ head: next    in blocks of pages
 *
 * Version 2 of the ring: version 3 costs less for each frame when there are
 * very many, but wakes us only when a block is full or its timer, of a
 * millisecond or a tick of the kernel, has run out; every packet of every
 * connection would wait for that. Frames are sent from where they are by
 * sendmmsg(): a ring for sending was never faster, as frames would have to be
 * copied into it. The queueing discipline is not bypassed: what bursts must
 * find a queue.
 *
 * Frames too long for a slot (GRO) come through the socket's ordinary queue
 * into memory of their own. */
#include "config.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "dsr/link/link_kinds.h"
#include "dsr/link/link_packet.h"

enum { TAG = 4 };

_Static_assert(sizeof(struct link_offload) == sizeof(struct virtio_net_hdr) &&
	offsetof(struct link_offload, type) ==
	    offsetof(struct virtio_net_hdr, gso_type) &&
	offsetof(struct link_offload, header) ==
	    offsetof(struct virtio_net_hdr, hdr_len) &&
	offsetof(struct link_offload, segment_size) ==
	    offsetof(struct virtio_net_hdr, gso_size) &&
	offsetof(struct link_offload, sum_start) ==
	    offsetof(struct virtio_net_hdr, csum_start) &&
	LINK_CHECKSUM == VIRTIO_NET_HDR_F_NEEDS_CSUM,
    "the offload is what PACKET_VNET_HDR speaks");

static unsigned char *
slot_at(const struct packet_ring *p, const struct packet_position *at)
{
	return p->ring + (size_t)at->block * PACKET_BLOCK +
	    (size_t)at->index * p->book->slot;
}

static void
slot_next(const struct packet_ring *p, struct packet_position *at)
{
	unsigned index = at->index + 1, block = at->block + 1;

	/* another process may read it: it is right at any time */
	if (index == p->in_block)
		at->block = block < p->book->blocks ? block : 0;
	at->index = index < p->in_block ? index : 0;
}

/* The kernel has passed the tag outside the frame. */
static void
tag_insert(struct link_frame *f, uint16_t type, uint16_t tag)
{
	unsigned char *to = f->bytes - TAG;

	memmove(to, f->bytes, (size_t)2 * ETH_ALEN);
	to[12] = (unsigned char)(type >> 8);
	to[13] = (unsigned char)type;
	to[14] = (unsigned char)(tag >> 8);
	to[15] = (unsigned char)tag;
	f->bytes = to;
	f->length += TAG;
	if (f->offload.flags & LINK_CHECKSUM)
		f->offload.sum_start += TAG;
	if (f->offload.header != 0)
		f->offload.header += TAG;
}

/* The first call after an error of the socket reports it, once; the frame that
 * it was to receive still waits. */
static ssize_t
receive_large(struct link *l, struct packet_ring *p, struct msghdr *m)
{
	ssize_t n = recvmsg(l->fd, m, MSG_DONTWAIT);

	if (n >= 0 || errno == EAGAIN)
		return n;
	p->error = errno;
	return recvmsg(l->fd, m, MSG_DONTWAIT);
}

/* The next long frame: they come in the order of their slots in the ring. */
static bool
take_large(struct link *l, struct packet_ring *p, struct link_frame *f)
{
	unsigned char *to = p->large + (size_t)p->large_used * PACKET_LARGE;
	struct iovec part[2] = { { &f->offload, sizeof(f->offload) },
		{ to + PACKET_LARGE_FRONT,
		    PACKET_LARGE - PACKET_LARGE_FRONT } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = 2 };
	ssize_t n = receive_large(l, p, &m);

	if (n <= (ssize_t)sizeof(f->offload) || (m.msg_flags & MSG_TRUNC))
		return false;
	p->large_used++;
	f->bytes = to + PACKET_LARGE_FRONT;
	f->length = (unsigned)n - sizeof(f->offload);
	return true;
}

/* Whether what is in the slot is for us. */
static bool
packet_take(struct link *l, struct packet_ring *p, unsigned char *slot,
    unsigned status, struct link_frame *f)
{
	const struct tpacket2_hdr *h = (const void *)slot;
	const struct sockaddr_ll *from =
	    (const void *)(slot + TPACKET_ALIGN(sizeof(*h)));

	if (status & TP_STATUS_COPY) {
		if (!take_large(l, p, f)) {
			l->count.cut++;
			return false;
		}
	} else if (h->tp_snaplen < h->tp_len) {
		l->count.cut++;
		return false;
	} else {
		f->bytes = slot + h->tp_mac;
		f->length = h->tp_snaplen;
		memcpy(&f->offload, f->bytes - sizeof(f->offload),
		    sizeof(f->offload));
	}
	/* kernels before 4.20 do not filter it out */
	if (from->sll_pkttype == PACKET_OUTGOING)
		return false;
	if (status & TP_STATUS_VLAN_VALID)
		tag_insert(f,
		    status & TP_STATUS_VLAN_TPID_VALID ? h->tp_vlan_tpid
						       : ETH_P_8021Q,
		    h->tp_vlan_tci);
	if (f->offload.type != 0)
		l->count.merged++;
	return true;
}

/* Reports why the kernel wakes us without a frame. */
static int
packet_report_change(struct link *l)
{
	struct packet_ring *p = l->inside;
	int error = p->error;
	socklen_t len = sizeof(error);
	char name[IF_NAMESIZE];

	p->error = 0;
	if (error == 0)
		getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error == 0)
		return 0;
	l->up = false;
	errno = if_indextoname((unsigned)l->ifindex, name) != NULL ? ENETDOWN
								   : ENODEV;
	return -1;
}

static void
packet_release(struct link *l)
{
	struct packet_ring *p = l->inside;

	for (; p->book->unreleased > 0; p->book->unreleased--) {
		struct tpacket2_hdr *h = (void *)slot_at(p, &p->book->tail);

		__atomic_store_n(
		    &h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		slot_next(p, &p->book->tail);
	}
	p->large_used = 0;
}

static int
packet_receive(struct link *l, struct link_frame *list, unsigned most)
{
	struct packet_ring *p = l->inside;
	unsigned n = 0, unreleased = p->book->unreleased;

	while (n < most && p->book->unreleased < p->slots) {
		unsigned char *slot = slot_at(p, &p->book->head);
		const struct tpacket2_hdr *h = (const void *)slot;
		unsigned status =
		    __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);

		if (!(status & TP_STATUS_USER))
			break;
		if ((status & TP_STATUS_COPY) &&
		    p->large_used == PACKET_LARGE_COUNT)
			break;
		if (packet_take(l, p, slot, status, &list[n]))
			n++;
		slot_next(p, &p->book->head);
		p->book->unreleased++;
	}
	if (n == 0) {
		/* the caller has nothing to release */
		if (unreleased == 0)
			packet_release(l);
		return packet_report_change(l);
	}
	l->count.received += n;
	l->up = true;
	return (int)n;
}

/* Whether the kernel has put another frame into the ring: the slots that are
 * not released yet still hold older frames, and their status must not be read
 * again. */
static bool
packet_more(const struct link *l)
{
	const struct packet_ring *p = l->inside;
	const struct tpacket2_hdr *h = (const void *)slot_at(p, &p->book->head);

	return p->book->unreleased < p->slots &&
	    (__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) &
		TP_STATUS_USER) != 0;
}

/* A frame that the kernel did not take: returns true if it is done with. */
static bool
send_refused(struct link *l, int error)
{
	switch (error) {
	case EMSGSIZE:
		l->count.too_long++;
		return true;
	case EINTR:
	case EAGAIN:
	case ENETDOWN:
	case ENXIO:
	case ENODEV:
		return false;
	default:
		l->count.refused++;
		return true;
	}
}

/* Whether one packet, with its checksums done. */
static bool
packet_is_plain(const struct link_frame *f)
{
	return f->offload.flags == 0 && f->offload.type == 0;
}

/* The first frames of the list, up to PACKET_BATCH, that one socket can send;
 * returns how many. sendmmsg() does not write to them. */
static unsigned
packet_prepare(struct packet_ring *p, const struct link_frame *list, unsigned n,
    bool plain)
{
	unsigned i;

	if (n > PACKET_BATCH)
		n = PACKET_BATCH;
	for (i = 0; i < n && packet_is_plain(&list[i]) == plain; i++) {
		struct iovec *part = p->part[i];
		struct msghdr *m = &p->message[i].msg_hdr;

		m->msg_iov = plain ? &part[1] : part;
		m->msg_iovlen = plain ? 1 : 2;
		part[0].iov_base = (void *)(uintptr_t)&list[i].offload;
		part[1].iov_base = list[i].bytes;
		part[1].iov_len = list[i].length;
	}
	return i;
}

/* Sends the frames in front that need the same socket, `*some` of them. Returns
 * how many were taken, or -1. */
static int
packet_send_some(
    struct link *l, const struct link_frame *list, unsigned n, unsigned *some)
{
	struct packet_ring *p = l->inside;
	bool plain = packet_is_plain(list);
	unsigned done = 0;
	int fd = plain ? p->out : l->fd;

	n = *some = packet_prepare(p, list, n, plain);
	while (done < n) {
		int got =
		    sendmmsg(fd, p->message + done, n - done, MSG_DONTWAIT);

		if (got > 0) {
			l->count.sent += (unsigned)got;
			done += (unsigned)got;
		} else if (send_refused(l, errno)) {
			done++;
		} else if (errno != EINTR) {
			break;
		}
	}
	if (done > 0 || errno == EAGAIN)
		return (int)done;
	l->up = false;
	return -1;
}

static int
packet_send(struct link *l, const struct link_frame *list, unsigned n)
{
	unsigned done = 0, some;

	while (done < n) {
		int got = packet_send_some(l, list + done, n - done, &some);

		if (got < 0 && done == 0)
			return -1;
		if (got > 0)
			done += (unsigned)got;
		if (got < (int)some)
			break;
	}
	return (int)done;
}

/* The ring first: the order of packet_import(). */
static void
packet_fds(const struct link *l, int *list)
{
	const struct packet_ring *p = l->inside;

	p->book->features = p->changes.features;
	list[0] = l->fd;
	list[1] = p->out;
	list[2] = p->book_fd;
}

/* Continues after the frames that the other process had received: those that it
 * has not released, it has forwarded. */
static void
packet_resume(struct link *l)
{
	struct packet_ring *p = l->inside;

	/* besides what this one has switched off when it opened */
	p->changes.features |= p->book->features;
	packet_release(l);
}

static void
packet_refresh(struct link *l)
{
	struct tpacket_stats s;
	socklen_t len = sizeof(s);

	/* reading them sets them to zero */
	if (getsockopt(l->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0)
		l->count.missed += s.tp_drops;
	interface_refresh(l, l->fd);
}

const struct link_ops link_packet = { .name = "packet",
	.open = packet_open,
	.set_filter = packet_set_filter,
	.receive = packet_receive,
	.send = packet_send,
	.release = packet_release,
	.more = packet_more,
	.refresh = packet_refresh,
	.close = packet_close,
	.fds = packet_fds,
	.take = packet_resume };
