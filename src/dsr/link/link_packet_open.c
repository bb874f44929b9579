/* link_packet_open.c: opens packet sockets: the ring for received frames, the
 * memory of long ones, the socket that sends plain frames, the filter. */
#include "config.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "dsr/link/link_filter.h"
#include "dsr/link/link_packet.h"

enum {
	/* The IP header then begins at a multiple of 16 after the offload, and
	 * there is room in front of the frame to insert a tag. */
	RESERVE = 6,
	FRONT = 128, /* more than all that is in front of a frame in a slot */
	TAG = 4,
	RING = 16 << 20,      /* of memory that is never swapped */
	RING_LEAST = 1 << 20, /* when the kernel does not give that much */
	QUEUE = 8 << 20	      /* long frames, and frames on their way out */
};

void
packet_close(struct link *l)
{
	struct packet_ring *p = l->inside;

	if (p != NULL) {
		interface_restore(l, &p->changes);
		if (p->ring != NULL)
			munmap(p->ring, (size_t)p->book->blocks * PACKET_BLOCK);
		if (p->book != NULL)
			munmap(p->book, sizeof(*p->book));
		free(p->large);
		if (p->out >= 0)
			close(p->out);
		if (p->book_fd >= 0)
			close(p->book_fd);
		free(p);
		l->changes = NULL;
	}
	/* this also undoes what the socket changed at the interface */
	if (l->fd >= 0)
		close(l->fd);
	l->inside = NULL;
	l->fd = -1;
}

static int
map_ring(struct link *l, struct packet_ring *p)
{
	void *map = mmap(NULL, (size_t)p->book->blocks * PACKET_BLOCK,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, l->fd, 0);

	if (map == MAP_FAILED)
		return -1;
	p->ring = map;
	p->in_block = PACKET_BLOCK / p->book->slot;
	p->slots = p->book->blocks * p->in_block;
	return 0;
}

/* Takes as much memory as there is. */
static int
open_ring(struct link *l, struct packet_ring *p)
{
	size_t size = RING;
	struct tpacket_req r = { .tp_block_size = PACKET_BLOCK };
	struct packet_book *b = p->book;

	b->slot = (FRONT + l->mtu + ETH_HLEN + TAG + TPACKET_ALIGNMENT - 1) /
	    TPACKET_ALIGNMENT * TPACKET_ALIGNMENT;
	if (b->slot > PACKET_BLOCK)
		b->slot = PACKET_BLOCK;
	for (;; size /= 2) {
		r.tp_block_nr = (unsigned)(size / PACKET_BLOCK);
		r.tp_frame_size = b->slot;
		r.tp_frame_nr = r.tp_block_nr * (PACKET_BLOCK / b->slot);
		if (setsockopt(
			l->fd, SOL_PACKET, PACKET_RX_RING, &r, sizeof(r)) == 0)
			break;
		if (errno != ENOMEM || size <= RING_LEAST)
			return -1;
	}
	b->blocks = r.tp_block_nr;
	return map_ring(l, p);
}

static int
open_options(struct link *l)
{
	static const struct {
		int level, name, value;
		bool must;
	} row[] = {
		{ SOL_PACKET, PACKET_VERSION, TPACKET_V2, true },
		{ SOL_PACKET, PACKET_VNET_HDR, 1, true },
		{ SOL_PACKET, PACKET_RESERVE, RESERVE, true },
		{ SOL_PACKET, PACKET_COPY_THRESH, 1, true },
#ifdef PACKET_IGNORE_OUTGOING
		{ SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, false },
#endif
		{ SOL_SOCKET, SO_RCVBUF, QUEUE, false },
		{ SOL_SOCKET, SO_SNDBUF, QUEUE, false },
		{ SOL_SOCKET, SO_RCVBUFFORCE, QUEUE, false },
		{ SOL_SOCKET, SO_SNDBUFFORCE, QUEUE, false },
	};

	int room = 0;
	socklen_t len = sizeof(room);

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (setsockopt(l->fd, row[i].level, row[i].name, &row[i].value,
			sizeof(int)) != 0 &&
		    row[i].must)
			return -1;
	}
	getsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &room, &len);
	if (room < QUEUE)
		log_info("small buffer for merged frames, limited by "
			 "net.core.rmem_max interface=%s bytes=%d",
		    l->name, room);
	return 0;
}

/* The socket that sends plain frames. The kernel wakes waiters of a socket,
 * even if only to read, when a frame of it has left: this one has none. It
 * receives nothing, because it has no protocol. */
static int
packet_open_out(const struct link *l, struct packet_ring *p)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
		.sll_ifindex = l->ifindex };
	int room = QUEUE;

	p->out = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->out < 0)
		return -1;
	setsockopt(p->out, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	setsockopt(p->out, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return bind(p->out, (struct sockaddr *)&at, sizeof(at));
}

static int
packet_open_memory(struct link *l, struct error *e)
{
	struct packet_ring *p = calloc(1, sizeof(*p));

	if (p == NULL ||
	    (p->large = malloc((size_t)PACKET_LARGE * PACKET_LARGE_COUNT)) ==
		NULL) {
		free(p);
		return error_set(e, "interface %s: out of memory", l->name);
	}
	l->inside = p;
	p->out = p->book_fd = -1;
	p->changes.fd = l->fd;
	l->changes = &p->changes;
	for (unsigned i = 0; i < PACKET_BATCH; i++)
		p->part[i][0].iov_len = sizeof(struct link_offload);
	return 0;
}

static int
open_new_ring(struct link *l, struct packet_ring *p, struct error *e)
{
	p->book = interface_memory(&p->book_fd, sizeof(*p->book));
	if (p->book != NULL) {
		p->book->version = PACKET_BOOK;
		if (open_options(l) == 0 && open_ring(l, p) == 0 &&
		    packet_open_out(l, p) == 0)
			return 0;
	}
	return error_set(e, "interface %s: cannot make a ring for frames: %s",
	    l->name, strerror(errno));
}

/* A book that is not right must not lead beyond memory. */
static bool
is_book_right(const struct packet_book *b)
{
	unsigned in_block = b->slot > 0 ? PACKET_BLOCK / b->slot : 0;

	return b->version == PACKET_BOOK && in_block > 0 &&
	    b->blocks <= RING / PACKET_BLOCK &&
	    b->unreleased <= b->blocks * in_block &&
	    b->head.block < b->blocks && b->head.index < in_block &&
	    b->tail.block < b->blocks && b->tail.index < in_block;
}

/* Takes the sockets, and the book: all but their memory is as it was. */
static int
packet_import(struct link *l, struct link_past *past, struct error *e)
{
	struct packet_ring *p;

	l->fd = past->count >= LINK_KIND_FDS ? past->fd[0] : -1;
	l->paused = true;
	if (l->fd < 0)
		return error_set(
		    e, "interface %s: a socket is missing", l->name);
	past->fd[0] = -1;
	if (interface_identify(l, l->fd, e) != 0 ||
	    packet_open_memory(l, e) != 0)
		return -1;
	p = l->inside;
	p->out = past->fd[1];
	p->book_fd = past->fd[2];
	past->fd[1] = past->fd[2] = -1;
	p->book = interface_memory(&p->book_fd, sizeof(*p->book));
	if (p->book == NULL || !is_book_right(p->book))
		return error_set(e,
		    "interface %s: the ring is that of another version",
		    l->name);
	return map_ring(l, p) == 0
	    ? 0
	    : error_set(e, "interface %s: cannot map the ring: %s", l->name,
		  strerror(errno));
}

static int
packet_open_new(struct link *l, const struct link_filter *f, struct error *e)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL) };

	/* of no protocol: nothing comes before the filter is there */
	l->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return error_set(e,
		    "interface %s: cannot open a packet socket: %s",
		    l->name, strerror(errno));
	if (interface_identify(l, l->fd, e) != 0 ||
	    packet_open_memory(l, e) != 0 ||
	    open_new_ring(l, l->inside, e) != 0 ||
	    packet_set_filter(l, f, e) != 0)
		goto failed;
	at.sll_ifindex = l->ifindex;
	if (bind(l->fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
		error_set(e, "interface %s: %s", l->name, strerror(errno));
		goto failed;
	}
	/* LRO of a card loses what is needed to segment frames again, so the
	 * kernel, too, switches it off where it forwards. GRO keeps all. */
	interface_switch_off(
	    l, l->changes, ETH_FLAG_LRO, "large receive offload");
	return 0;
failed:
	packet_close(l);
	return -1;
}

int
packet_open(struct link *l, const struct link_filter *f, struct error *e)
{
	if (f->past == NULL)
		return packet_open_new(l, f, e);
	if (packet_import(l, f->past, e) == 0)
		return 0;
	packet_close(l);
	return -1;
}

/* ---- the filter ---- */

_Static_assert(sizeof(struct link_insn) == sizeof(struct sock_filter) &&
	offsetof(struct link_insn, yes) == offsetof(struct sock_filter, jt) &&
	offsetof(struct link_insn, k) == offsetof(struct sock_filter, k),
    "a program is what SO_ATTACH_FILTER takes");

static int
attach_program(struct link *l, const struct link_program *program)
{
	struct sock_fprog s = { .len = (unsigned short)program->count,
		.filter = (void *)(uintptr_t)program->at };

	return setsockopt(l->fd, SOL_SOCKET, SO_ATTACH_FILTER, &s, sizeof(s));
}

static int
attach(struct link *l, const struct link_filter *f, struct error *e)
{
	struct link_program program;
	bool all = link_filter_write(&program, f, &l->mac);
	int got = attach_program(l, &program);

	/* net.core.optmem_max bounds what a socket may have */
	if (got != 0 && errno == ENOMEM && all) {
		all = false;
		link_filter_write_any(&program, f, &l->mac);
		got = attach_program(l, &program);
	}
	if (got == 0 && !all)
		log_warn("too many addresses for the kernel's filter, pen "
			 "reads all IP frames interface=%s addresses=%u "
			 "nets=%u",
		    l->name, f->count, f->nets);
	if (got != 0)
		error_set(e,
		    "interface %s: cannot set the packet filter: %s",
		    l->name, strerror(errno));
	return got;
}

int
packet_set_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	struct packet_ring *p = l->inside;

	return interface_set_filter(l, &p->changes, f, attach, e);
}
