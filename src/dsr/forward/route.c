/* route.c: a raw socket for each kind of packet: outer and inner family, and
 * whether the outer one may be fragmented: those are options of a socket. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/errqueue.h>
#endif
#ifdef SO_ATTACH_FILTER
#include <linux/filter.h>
#endif

#include "dsr/forward/route.h"

enum {
	BATCH = 64,
	HOPS = 64,
	QUEUE = 8 << 20,
	KINDS = 8 /* outer IPv6 4, inner IPv6 2, may be fragmented 1 */
};

/* Laid out as the struct mmsghdr of systems that have one. */
struct message {
	struct msghdr head;
	unsigned length;
};

union control {
	size_t align; /* the first of struct cmsghdr, which no array may have */
	char bytes[CMSG_SPACE(sizeof(int))];
};

struct kind {
	int fd; /* -1: not there */
	unsigned count;
	struct message message[BATCH];
	struct iovec part[BATCH];
	struct addr to[BATCH];
	union control class[BATCH];
};

struct route {
	struct kind kind[KINDS];
	unsigned next_error; /* the socket that is read next */
};

/* ---- routes ---- */

/* connect() of a datagram socket finds the route and sends nothing. */
static int
route_find_by_socket(int fd, const struct addr *to, struct route_path *w)
{
	struct addr own = { .len = sizeof(own.u) };
	int mtu = 0;
	socklen_t n = sizeof(mtu);

	if (connect(fd, &to->u.sa, to->len) != 0 ||
	    getsockname(fd, &own.u.sa, &own.len) != 0)
		return -1;
	peer_from_addr(&w->from, &own);
	w->from.port = 0;
#ifdef IP_MTU
	if (to->u.sa.sa_family == AF_INET)
		getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &n);
#endif
#ifdef IPV6_MTU
	if (to->u.sa.sa_family == AF_INET6)
		getsockopt(fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &n);
#endif
	w->mtu = mtu > 0 ? (unsigned)mtu : 1500;
	return 0;
}

int
route_find(const struct peer *to, struct route_path *w)
{
	struct addr a;
	int fd, rc, error;

	addr_from_peer(&a, to);
	addr_set_port(&a, 9); /* discard; BSDs refuse 0 */
	fd = socket(a.u.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	rc = route_find_by_socket(fd, &a, w);
	error = errno;
	close(fd);
	errno = error;
	return rc;
}

/* ---- sockets ---- */

static int
route_set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static int
set_fragmentation(int fd, bool v6, bool may_fragment)
{
#ifdef IP_MTU_DISCOVER
	if (!v6 &&
	    route_set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER,
		may_fragment ? IP_PMTUDISC_DONT : IP_PMTUDISC_DO) != 0)
		return -1;
#endif
#ifdef IPV6_MTU_DISCOVER
	if (v6 &&
	    route_set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
		may_fragment ? IPV6_PMTUDISC_DONT : IPV6_PMTUDISC_DO) != 0)
		return -1;
#endif
	(void)fd;
	(void)v6;
	(void)may_fragment;
	return 0;
}

static int
set_options(int fd, bool v6, bool may_fragment)
{
	/* A raw socket gets a copy of all packets of its protocol: of tunnels
	 * that end at this machine, which are none of ours. */
#ifdef SO_ATTACH_FILTER
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = &none };

	(void)setsockopt(
	    fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
#else
	(void)route_set_option(fd, SOL_SOCKET, SO_RCVBUF, 1);
#endif
	/* The second one is not limited by net.core.wmem_max, with the
	 * right. */
	(void)route_set_option(fd, SOL_SOCKET, SO_SNDBUF, QUEUE);
#ifdef SO_SNDBUFFORCE
	(void)route_set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, QUEUE);
#endif
#ifdef IP_RECVERR
	if (!v6)
		(void)route_set_option(fd, IPPROTO_IP, IP_RECVERR, 1);
#endif
#ifdef IPV6_RECVERR
	if (v6)
		(void)route_set_option(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
#endif
	if ((v6 ? route_set_option(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, HOPS)
		: route_set_option(fd, IPPROTO_IP, IP_TTL, HOPS)) != 0)
		return -1;
	return set_fragmentation(fd, v6, may_fragment);
}

static int
open_kind(struct kind *k, unsigned i)
{
	bool v6 = (i & 4) != 0;

	k->fd = socket(v6 ? AF_INET6 : AF_INET,
	    SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    i & 2 ? IPPROTO_IPV6 : IPPROTO_IPIP);
	if (k->fd < 0)
		return errno == EAFNOSUPPORT ? 0 : -1;
	return set_options(k->fd, v6, i & 1);
}

struct route *
route_open(struct error *e)
{
	struct route *r = calloc(1, sizeof(*r));
	unsigned i;

	if (r == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	for (i = 0; i < KINDS; i++)
		r->kind[i].fd = -1;
	for (i = 0; i < KINDS; i++)
		if (open_kind(&r->kind[i], i) != 0) {
			error_set(e,
			    "cannot open sockets for tunnels: %s",
			    strerror(errno));
			route_close(r);
			return NULL;
		}
	return r;
}

void
route_close(struct route *r)
{
	unsigned i;

	for (i = 0; r != NULL && i < KINDS; i++)
		if (r->kind[i].fd >= 0)
			close(r->kind[i].fd);
	free(r);
}

/* ---- packets ---- */

static int
route_send_some(int fd, struct message *m, unsigned n)
{
#ifdef HAVE_SENDMMSG
	return sendmmsg(
	    fd, (struct mmsghdr *)(void *)m, n, MSG_NOSIGNAL | MSG_DONTWAIT);
#else
	(void)n;
	return sendmsg(fd, &m->head, MSG_DONTWAIT) < 0 ? -1 : 1;
#endif
}

static void
route_lose(struct frame_count *lost, const struct kind *k, unsigned i)
{
	frame_count_add(lost, 1, k->part[i].iov_len);
}

/* The first call after an ICMP error about an earlier packet returns that error
 * and sends nothing, so that each packet is tried twice. */
static void
flush_kind(struct kind *k, struct frame_count *lost)
{
	unsigned done = 0;
	bool again = false;
	int n;

	while (done < k->count) {
		n = route_send_some(k->fd, k->message + done, k->count - done);
		if (n > 0) {
			done += (unsigned)n;
			again = false;
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			break;
		} else if (again) {
			route_lose(lost, k, done++);
			again = false;
		} else {
			again = true;
		}
	}
	while (done < k->count)
		route_lose(lost, k, done++);
	k->count = 0;
}

void
route_flush(struct route *r, struct frame_count *lost)
{
	unsigned i;

	for (i = 0; i < KINDS; i++)
		flush_kind(&r->kind[i], lost);
}

void
route_send(
    struct route *r, const struct route_packet *p, struct frame_count *lost)
{
	bool v6 = p->to->family == AF_INET6;
	struct kind *k = &r->kind[(v6 ? 4U : 0) |
	    (p->family == AF_INET6 ? 2U : 0) | p->may_fragment];
	int class = p->class;
	struct cmsghdr *c;
	struct msghdr *m;
	unsigned i;

	if (k->fd < 0) {
		frame_count_add(lost, 1, p->length);
		return;
	}
	if (k->count == BATCH)
		flush_kind(k, lost);
	i = k->count++;
	m = &k->message[i].head;
	memset(m, 0, sizeof(*m));
	addr_from_peer(&k->to[i], p->to);
	addr_set_port(&k->to[i], 0);
	m->msg_name = &k->to[i].u;
	m->msg_namelen = k->to[i].len;
	k->part[i].iov_base = (void *)(uintptr_t)p->bytes;
	k->part[i].iov_len = p->length;
	m->msg_iov = &k->part[i];
	m->msg_iovlen = 1;
	memset(&k->class[i], 0, sizeof(k->class[i]));
	c = (struct cmsghdr *)&k->class[i];
	c->cmsg_level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
	c->cmsg_type = v6 ? IPV6_TCLASS : IP_TOS;
	c->cmsg_len = CMSG_LEN(sizeof(class));
	memcpy(CMSG_DATA(c), &class, sizeof(class));
	m->msg_control = &k->class[i];
	m->msg_controllen = sizeof(k->class[i]);
}

/* ---- errors ---- */

#ifdef __linux__
/* Reads the destination of the packet that failed, the error and its sender. */
static void
read_error(
    const struct msghdr *m, const struct addr *about, struct route_error *e)
{
	struct sock_extended_err what; /* the sender is after it */
	struct cmsghdr *h;
	struct addr by;

	memset(e, 0, sizeof(*e));
	peer_from_addr(&e->to, about);
	e->to.port = 0;
	for (h = CMSG_FIRSTHDR(m); h != NULL;
	     h = CMSG_NXTHDR((struct msghdr *)(uintptr_t)m, h)) {
		if ((h->cmsg_level != IPPROTO_IP ||
			h->cmsg_type != IP_RECVERR) &&
		    (h->cmsg_level != IPPROTO_IPV6 ||
			h->cmsg_type != IPV6_RECVERR))
			continue;
		memcpy(&what, CMSG_DATA(h), sizeof(what));
		e->error = (int)what.ee_errno;
		by.len = about->len;
		if (what.ee_origin == SO_EE_ORIGIN_LOCAL ||
		    h->cmsg_len < CMSG_LEN(sizeof(what) + by.len))
			continue;
		memcpy(&by.u, CMSG_DATA(h) + sizeof(what), by.len);
		peer_from_addr(&e->by, &by);
		e->by.port = 0;
	}
}

/* Takes the next ICMP error out of the socket's error queue. Returns false if
 * there is none. */
static bool
read_next_error(int fd, struct route_error *e)
{
	union {
		struct cmsghdr align;
		char bytes[512];
	} control;
	struct addr about = { .len = 0 };
	struct msghdr m = { .msg_name = &about.u,
		.msg_namelen = sizeof(about.u),
		.msg_control = &control,
		.msg_controllen = sizeof(control) };

	if (fd < 0 || recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return false;
	about.len = m.msg_namelen;
	read_error(&m, &about, e);
	return true;
}
#else
static bool
read_next_error(int fd, struct route_error *e)
{
	(void)fd;
	(void)e;
	return false;
}
#endif

bool
route_next_error(struct route *r, struct route_error *e)
{
	unsigned i;

	for (i = 0; i < KINDS; i++) {
		if (read_next_error(r->kind[r->next_error].fd, e))
			return true;
		r->next_error = (r->next_error + 1) % KINDS;
	}
	return false;
}
