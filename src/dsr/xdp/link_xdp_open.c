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
	DONE = 2 * XDP_OUT, /* with those that have not been read yet */
	SPARE = DONE,	    /* chunks beyond those of the queues */
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
	x->tags_apart = interface_is_veth(l->name, x->changes.fd);
	x->queues = xdp_count_queues(l);
	if (x->queues > XDP_QUEUES)
		return error_set(e,
		    "interface %s has %u receive queues, XDP takes %d; "
		    "ethtool -L changes that",
		    l->name, x->queues, XDP_QUEUES);
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

static unsigned
burst_of_queue(const struct xdp_rings *x)
{
	unsigned n = XDP_BURST;

	while (n > XDP_LEAST && n * x->queues > XDP_BURST)
		n /= 2;
	return n;
}

/* In large pages, if the kernel has them to give. */
static bool
get_memory(struct xdp_rings *x)
{
	unsigned char *all, *start;
	size_t front;

	x->size = (size_t)x->chunks << x->shift;
	x->size = (x->size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	all = mmap(NULL, x->size + HUGE_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return false;
	front = HUGE_PAGE - (uintptr_t)all % HUGE_PAGE;
	start = all + front;
	munmap(all, front);
	if (front < HUGE_PAGE)
		munmap(start + x->size, HUGE_PAGE - front);
	x->memory = start;
	madvise(start, x->size, MADV_HUGEPAGE);
	memset(start, 0, x->size);
	return true;
}

static int
xdp_open_memory(struct link *l, struct xdp_rings *x, struct error *e)
{
	x->shift = l->mtu + FRAME_HEAD_MAX <= XDP_SMALL - XDP_FRONT ? 11 : 12;
	x->chunks = x->queues * burst_of_queue(x) + SPARE;
	x->queue = calloc(x->queues, sizeof(*x->queue));
	x->free = calloc(x->chunks, sizeof(*x->free));
	x->received = calloc(x->chunks, sizeof(*x->received));
	x->state = calloc(x->chunks, sizeof(*x->state));
	if (x->queue == NULL || x->free == NULL || x->received == NULL ||
	    x->state == NULL || !get_memory(x))
		return error_set(e, "interface %s: out of memory", l->name);
	while (x->free_n < x->chunks) {
		x->free[x->free_n] = x->chunks - x->free_n - 1;
		x->free_n++;
	}
	return 0;
}

/* ---- sockets ---- */

static int
open_umem(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct xsk_umem_config c = { .fill_size = burst_of_queue(x),
		.comp_size = DONE,
		.frame_size = 1U << x->shift };
	int got = xsk_umem__create(&x->umem, x->memory,
	    (uint64_t)x->chunks << x->shift, &x->queue[0].fill,
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

static int
open_queue(struct link *l, struct xdp_rings *x, unsigned i, struct error *e)
{
	struct xdp_queue *q = &x->queue[i];
	struct xsk_socket_config c = { .rx_size = burst_of_queue(x),
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP };
	struct epoll_event want = { .events = EPOLLIN };
	int got = create_socket(l, i, &q->socket, &q->in, NULL, &c);

	if (got != 0)
		return failed(l, "cannot open an AF_XDP socket", -got, e);
	fcntl(xsk_socket__fd(q->socket), F_SETFD, FD_CLOEXEC);
	q->due = burst_of_queue(x);
	xdp_fill(x, q);
	if (epoll_ctl(l->fd, EPOLL_CTL_ADD, xsk_socket__fd(q->socket), &want) !=
	    0)
		return failed(l, "cannot open an AF_XDP socket", errno, e);
	return xdp_connect(l, i, q, e);
}

static int
xdp_open_out(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct xsk_socket_config c = { .tx_size = XDP_OUT,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP };
	struct xdp_options o = { 0 };
	socklen_t len = sizeof(o);
	int room = QUEUE, budget = BUDGET, fd;
	int got = create_socket(l, 0, &x->out, NULL, &x->ring, &c);

	if (got != 0)
		return failed(l,
		    "cannot open an AF_XDP socket to send",
		    -got, e);
	fd = xsk_socket__fd(x->out);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	setsockopt(fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget));
	x->copies = getsockopt(fd, SOL_XDP, XDP_OPTIONS, &o, &len) != 0 ||
	    !(o.flags & XDP_OPTIONS_ZEROCOPY);
	if (!x->copies)
		l->mode = "native, without copies";
	return 0;
}

static int
open_sockets(struct link *l, struct xdp_rings *x, struct error *e)
{
	struct epoll_event want = { .events = EPOLLIN };

	if (epoll_ctl(l->fd, EPOLL_CTL_ADD, x->netlink, &want) != 0)
		return failed(l, "cannot watch its sockets", errno, e);
	if (open_umem(l, x, e) != 0)
		return -1;
	for (unsigned i = 0; i < x->queues; i++)
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

static int
open_inside(struct link *l, struct xdp_rings *x, struct error *e)
{
	x->changes.fd =
	    socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (x->changes.fd < 0)
		return failed(l, "cannot open a packet socket", errno, e);
	l->fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->fd < 0)
		return failed(l, "cannot watch its sockets", errno, e);
	if (interface_identify(l, x->changes.fd, e) != 0 ||
	    check_interface(l, x, e) != 0 || open_netlink(l, x, e) != 0)
		return -1;
	libbpf_set_print(quiet);
	libxdp_set_print(quiet_xdp);
	return 0;
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
	if (x->tags_apart ||
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

int
xdp_open(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_rings *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return error_set(e, "interface %s: out of memory", l->name);
	l->inside = x;
	x->netlink = x->attached = x->changes.fd = -1;
	if (open_inside(l, x, e) == 0 && xdp_load(l, f, e) == 0 &&
	    interface_set_filter(l, &x->changes, f, xdp_set_addresses, e) ==
		0 &&
	    open_outside(l, x, e) == 0)
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

void
xdp_close(struct link *l)
{
	struct xdp_rings *x = l->inside;
	const int fds[] = { x->attached, x->netlink, l->fd };

	xdp_close_all(fds, sizeof(fds) / sizeof(fds[0]));
	xdp_close_fast(x);
	xdp_program_close(&x->program);
	if (x->out != NULL)
		xsk_socket__delete(x->out);
	for (unsigned i = 0; x->queue != NULL && i < x->queues; i++)
		if (x->queue[i].socket != NULL)
			xsk_socket__delete(x->queue[i].socket);
	if (x->umem != NULL)
		xsk_umem__delete(x->umem);
	interface_restore(l, &x->changes);
	xdp_close_all(&x->changes.fd, 1);
	if (x->memory != NULL)
		munmap(x->memory, x->size);
	free(x->queue);
	free(x->free);
	free(x->received);
	free(x->state);
	free(x->key);
	free(x);
	l->inside = NULL;
	l->fd = -1;
}
