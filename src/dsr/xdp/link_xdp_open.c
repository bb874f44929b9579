/* link_xdp_open.c: opens a link by AF_XDP: memory for frames, a socket for each
 * receive queue of the interface, one to send, one that reports changes of the
 * interface, and the program. */
#include "config.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "base/log.h"
#include "dsr/frame/frame.h"
#include "dsr/xdp/link_xdp.h"

enum {
	HUGE_PAGE = 2 << 20,
	SPARE = XDP_DONE, /* chunks beyond those of the queues */
	QUEUE = 8 << 20,
	BUDGET = 512,	 /* frames that one call sends */
	BUSY_TRIES = 20, /* to get a queue that is still in use, */
	BUSY_MS = 50	 /* with this time between two */
};
/* Linux 6.17 */
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9
#endif

static int
failed(const struct link *l, const char *what, int error, struct error *e)
{
	return error_set(
	    e, "interface %s: %s: %s", l->name, what, strerror(error));
}

/* ---- the interface ---- */

static int
check_interface(struct link *l, struct xdp_rings *x, struct error *e)
{
	if (l->mtu + FRAME_HEAD_MAX > XDP_LARGE - XDP_FRONT)
		return error_set(e,
		    "interface %s: an MTU of %u is too large for XDP", l->name,
		    l->mtu);
	x->book->tags_apart = interface_is_veth(l->name, x->changes.fd);
	x->book->queues = xdp_count_queues(l);
	if (x->book->queues > XDP_QUEUES)
		return error_set(e,
		    "interface %s has %u receive queues, XDP takes %d; "
		    "ethtool -L changes that",
		    l->name, x->book->queues, XDP_QUEUES);
	return xdp_check_host(l, e);
}

static int
open_netlink(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct sockaddr_nl at = { .nl_family = AF_NETLINK,
		.nl_groups =
		    RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };

	x->netlink = socket(
	    AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (x->netlink < 0 ||
	    bind(x->netlink, (struct sockaddr *)&at, sizeof(at)) != 0)
		return failed(l, "cannot open a netlink socket", errno, e);
	return 0;
}

/* ---- memory ---- */

unsigned
xdp_burst(const struct xdp_rings *x)
{
	unsigned n = XDP_BURST;

	while (n > XDP_LEAST && n * x->book->queues > XDP_BURST)
		n /= 2;
	return n;
}

/* In large pages, if the kernel has them to give. */
static bool
get_memory(struct xdp_rings *x)
{
	x->size = (size_t)x->book->chunks << x->book->shift;
	x->memory = interface_memory(&x->memory_fd, x->size);
	if (x->memory == NULL)
		return false;
	madvise(x->memory, x->size, MADV_HUGEPAGE);
	memset(x->memory, 0, x->size);
	return true;
}

int
xdp_open_lists(struct xdp_rings *x)
{
	unsigned i;

	x->queue = calloc(x->book->queues, sizeof(*x->queue));
	x->received = calloc(x->book->chunks, sizeof(*x->received));
	x->state = calloc(x->book->chunks, sizeof(*x->state));
	if (x->queue == NULL || x->received == NULL || x->state == NULL)
		return -1;
	for (i = 0; i < x->book->queues; i++)
		x->queue[i].fd = -1;
	return 0;
}

static int
xdp_open_memory(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct xdp_book *b = x->book;

	b->shift = l->mtu + FRAME_HEAD_MAX <= XDP_SMALL - XDP_FRONT ? 11 : 12;
	b->chunks = b->queues * xdp_burst(x) + SPARE;
	if (xdp_open_lists(x) < 0 || !get_memory(x))
		return error_set(e, "interface %s: out of memory", l->name);
	while (b->free_n < b->chunks) {
		b->free[b->free_n] = b->chunks - b->free_n - 1;
		b->free_n++;
	}
	return 0;
}

/* ---- sockets ---- */

static int
open_umem(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct xsk_umem_config c = { .fill_size = xdp_burst(x),
		.comp_size = XDP_DONE,
		.frame_size = 1U << x->book->shift };
	int got = xsk_umem__create(&x->umem, x->memory,
	    (uint64_t)x->book->chunks << x->book->shift, &x->queue[0].fill,
	    &x->queue[0].done, &c);

	if (got == 0)
		return 0;
	if (got == -EPERM)
		return failed(l, "cannot open an AF_XDP socket", EPERM, e);
	if (got == -ENOBUFS)
		return error_set(e,
		    "interface %s: no memory for XDP: ulimit -l is too small",
		    l->name);
	return failed(l, "no memory for XDP", -got, e);
}

/* When another program ends, the kernel frees its queue a moment later, with
 * its socket: a director that is started again waits for that.
 * `in` or `out` may be NULL. Returns 0 or -errno. */
static int
create_socket(const struct link *l, unsigned i, struct xsk_socket **s,
    struct xsk_ring_cons *in, struct xsk_ring_prod *out,
    const struct xsk_socket_config *c)
{
	static const struct timespec pause = { .tv_nsec = BUSY_MS * 1000000 };
	struct xdp_rings *x = l->inside;
	struct xdp_queue *q = &x->queue[i];
	unsigned tries = 0;
	int got;

	for (;;) {
		got = xsk_socket__create_shared(
		    s, l->name, i, x->umem, in, out, &q->fill, &q->done, c);
		if (got != -EBUSY || ++tries == BUSY_TRIES)
			return got;
		nanosleep(&pause, NULL);
	}
}

int
xdp_watch(const struct link *l, const struct xdp_queue *q)
{
	struct epoll_event want = { .events = EPOLLIN };

	return epoll_ctl(l->fd, EPOLL_CTL_ADD, q->fd, &want);
}

static int
open_queue(struct link *l, struct xdp_rings *x, unsigned i, struct error *e)
{
	struct xdp_queue *q = &x->queue[i];
	struct xsk_socket_config c = { .rx_size = xdp_burst(x),
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP };
	int got = create_socket(l, i, &q->socket, &q->in, NULL, &c);

	if (got != 0)
		return failed(l, "cannot open an AF_XDP socket", -got, e);
	q->fd = xsk_socket__fd(q->socket);
	fcntl(q->fd, F_SETFD, FD_CLOEXEC);
	x->book->due[i] = xdp_burst(x);
	xdp_fill(x, q);
	if (xdp_watch(l, q) != 0)
		return failed(l, "cannot open an AF_XDP socket", errno, e);
	return xdp_connect(l, i, q, e);
}

void
xdp_set_out(struct link *l)
{
	struct xdp_rings *x = l->inside;
	struct xdp_options o = { 0 };
	socklen_t len = sizeof(o);
	int room = QUEUE, budget = BUDGET, fd = x->out_fd;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	setsockopt(fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget));
	x->copies = getsockopt(fd, SOL_XDP, XDP_OPTIONS, &o, &len) != 0 ||
	    !(o.flags & XDP_OPTIONS_ZEROCOPY);
}

static int
xdp_open_out(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct xsk_socket_config c = { .tx_size = XDP_OUT,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP };
	int got = create_socket(l, 0, &x->out, NULL, &x->ring, &c);

	if (got != 0)
		return failed(l,
		    "cannot open an AF_XDP socket to send",
		    -got, e);
	x->out_fd = xsk_socket__fd(x->out);
	fcntl(x->out_fd, F_SETFD, FD_CLOEXEC);
	xdp_set_out(l);
	if (!x->copies)
		snprintf(x->book->mode, sizeof(x->book->mode),
		    "native, without copies");
	return 0;
}

static int
open_sockets(struct link *l, struct xdp_rings *x, struct error *e)
{
	if (open_umem(l, x, e) != 0)
		return -1;
	for (unsigned i = 0; i < x->book->queues; i++)
		if (open_queue(l, x, i, e) != 0)
			return -1;
	return xdp_open_out(l, x, e);
}

/* ---- all of it ---- */

static int
quiet(enum libbpf_print_level level, const char *format, va_list list)
{
	(void)level;
	(void)format;
	(void)list;
	return 0;
}

static int
quiet_xdp(enum libxdp_print_level level, const char *format, va_list list)
{
	(void)level;
	(void)format;
	(void)list;
	return 0;
}

/* What a process that takes over opens, too. */
static int
open_inside(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct epoll_event want = { .events = EPOLLIN };

	l->fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->fd < 0 || open_netlink(l, x, e) != 0 ||
	    epoll_ctl(l->fd, EPOLL_CTL_ADD, x->netlink, &want) != 0)
		return failed(l, "cannot watch its sockets", errno, e);
	libbpf_set_print(quiet);
	libxdp_set_print(quiet_xdp);
	return 0;
}

static int
open_interface(struct link *l, struct xdp_rings *x, struct error *e)
{
	x->changes.fd =
	    socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (x->changes.fd < 0)
		return failed(l, "cannot open a packet socket", errno, e);
	x->book = interface_memory(&x->book_fd, sizeof(*x->book));
	if (x->book == NULL)
		return failed(l, "no memory for XDP", errno, e);
	x->book->version = XDP_BOOK;
	l->mode = x->book->mode;
	return interface_identify(l, x->changes.fd, e) != 0
	    ? -1
	    : check_interface(l, x, e);
}

/* Features for the kernel's stack would change frames. They are switched off
 * after a program is attached: many drivers take none, and cards lose their
 * carrier for seconds when a feature is switched. */
static int
switch_off_features(struct link *l, struct xdp_rings *x, struct error *e)
{
	(void)interface_switch_off(
	    l, &x->changes, ETH_FLAG_LRO, "large receive offload");
	/* a tag that is not in the frame is lost */
	if (x->book->tags_apart ||
	    interface_switch_off(
		l, &x->changes, ETH_FLAG_RXVLAN, "removal of VLAN tags") ||
	    l->asked)
		return 0;
	return error_set(e, "interface %s keeps VLAN tags from XDP", l->name);
}

/* A driver may refuse a UMEM before a program is attached. */
static int
open_outside(struct link *l, struct xdp_rings *x, struct error *e)
{
	if (xdp_open_memory(l, x, e) != 0)
		return -1;
	if (l->trial) /* nothing that other processes or hosts would notice */
		return xdp_check_driver(l, e) != 0 || open_umem(l, x, e) != 0
		    ? -1
		    : 0;
	if (xdp_attach(l, e) != 0)
		return -1;
	return switch_off_features(l, x, e) != 0 ? -1 : open_sockets(l, x, e);
}

static int
open_new(struct link *l, struct xdp_rings *x, const struct link_filter *f,
    struct error *e)
{
	return open_interface(l, x, e) != 0 || xdp_load(l, f, e) != 0 ||
		interface_set_filter(l, &x->changes, f, xdp_set_addresses, e) !=
		    0
	    ? -1
	    : open_outside(l, x, e);
}

int
xdp_open(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_rings *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return error_set(e, "interface %s: out of memory", l->name);
	l->inside = x;
	x->netlink = x->attached = x->changes.fd = -1;
	x->book_fd = x->memory_fd = x->out_fd = -1;
	if (open_inside(l, x, e) == 0 &&
	    (f->past != NULL ? xdp_adopt(l, f, e) : open_new(l, x, f, e)) == 0)
		return 0;
	xdp_close(l);
	return -1;
}

static void
xdp_close_all(const int *fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/* A socket of another process is unmapped here; libxdp does it for its own. */
static void
close_socket(
    struct xsk_socket *s, int fd, const struct xdp_map *map, unsigned n)
{
	if (s != NULL) {
		xsk_socket__delete(s);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (map[i].at != NULL)
			munmap(map[i].at, map[i].size);
	xdp_close_all(&fd, 1);
}

void
xdp_close(struct link *l)
{
	struct xdp_rings *x = l->inside;
	const int fds[] = { x->attached, x->netlink, l->fd, x->memory_fd,
		x->book_fd };

	xdp_close_all(fds, sizeof(fds) / sizeof(fds[0]));
	xdp_close_fast(x);
	xdp_program_close(&x->program);
	close_socket(x->out, x->out_fd, &x->out_map, 1);
	for (unsigned i = 0; x->queue != NULL && i < x->book->queues; i++)
		close_socket(
		    x->queue[i].socket, x->queue[i].fd, x->queue[i].map, 3);
	if (x->umem != NULL)
		xsk_umem__delete(x->umem);
	interface_restore(l, &x->changes);
	xdp_close_all(&x->changes.fd, 1);
	if (x->memory != NULL)
		munmap(x->memory, x->size);
	if (x->book != NULL)
		munmap(x->book, sizeof(*x->book));
	free(x->queue);
	free(x->received);
	free(x->state);
	free(x->key);
	free(x);
	l->inside = NULL;
	l->mode = NULL;
	l->fd = -1;
}
