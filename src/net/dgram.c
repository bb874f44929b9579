/* dgram.c: sockets for datagrams, and what comes in; owns no descriptor. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/shortcuts.h"
#include "net/dgram_private.h"
#include "net/sock.h"

/* Bytes of the receive buffer of a socket; of those of many, of what is left of
 * which each gets a part; how many are worth it. */
enum {
	QUEUE = 8 * 1024 * 1024,
	QUEUES = 1024 * 1024 * 1024,
	PARTS = 64,
	LEAST = 256 * 1024
};

/* Where the system puts what it receives. To fill these in once, and not for
 * each call, saves 16 to 35 instructions of 1,530 for a datagram and its
 * answer. */
struct dgram_headers {
	struct dgram_message message[DGRAM_BATCH];
	struct iovec memory[DGRAM_BATCH];
	union dgram_control control[DGRAM_BATCH];
};

struct dgram_batch *
dgram_batch_new(char *memory)
{
	struct dgram_batch *b = calloc(1, sizeof(*b) + sizeof(*b->headers));
	struct dgram_headers *h;
	unsigned i;

	if (b == NULL)
		return NULL;
	h = b->headers = (struct dgram_headers *)(void *)(b + 1);
	for (i = 0; i < DGRAM_BATCH; i++) {
		b->at[i].bytes = memory + (size_t)i * (DGRAM_MAX + 1);
		h->memory[i] = (struct iovec){ b->at[i].bytes, DGRAM_MAX };
		h->message[i].msg_hdr =
		    (struct msghdr){ .msg_name = &b->at[i].from.u,
			    .msg_iov = &h->memory[i],
			    .msg_iovlen = 1,
			    .msg_control = &h->control[i] };
	}
	return b;
}

struct dgram_batch *
dgram_batch_copy(const struct dgram_batch *b)
{
	struct dgram_batch *copy;
	size_t bytes = 0;
	unsigned i;
	char *at;

	for (i = 0; i < b->count; i++)
		bytes += b->at[i].n;
	copy = malloc(sizeof(*copy) + bytes);
	if (copy == NULL)
		return NULL;
	memcpy(copy, b, sizeof(*copy));
	copy->headers = NULL;
	at = (char *)(copy + 1);
	for (i = 0; i < b->count; at += copy->at[i].n, i++) {
		copy->at[i].bytes = at;
		if (copy->at[i].n > 0)
			memcpy(at, b->at[i].bytes, copy->at[i].n);
	}
	return copy;
}

/* ---- sockets ---- */

/* A socket that is bound to one address answers from it anyway: to get it, and
 * to tell the kernel again, costs time with each datagram. */
static bool
has_many_addresses(int fd)
{
	struct addr at = { .len = sizeof(at.u) };

	return getsockname(fd, &at.u.sa, &at.len) < 0 || addr_is_any(&at);
}

/* Beyond the usual limit, where we may. */
static void
set_queue(int fd, int room, bool *plain)
{
#ifdef SO_RCVBUFFORCE
	if (!*plain &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ==
		0)
		return;
	*plain = true;
#else
	(void)plain;
#endif
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}

size_t
dgram_queue(int fd, struct dgram_queues *q)
{
	size_t room = (QUEUES - q->given) / PARTS;

	if (room > QUEUE)
		room = QUEUE;
	if (room < LEAST)
		return 0;
	set_queue(fd, (int)room, &q->plain);
	q->given += room;
	return room;
}

void
dgram_prepare(int fd, int family)
{
	int on = has_many_addresses(fd);
	bool plain = false;

	set_queue(fd, QUEUE, &plain);
#ifdef IPV6_RECVPKTINFO
	if (family == AF_INET6)
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
#endif
#ifdef IP_PKTINFO /* also of IPv4 datagrams at an IPv6 socket */
	if (family != AF_UNIX)
		(void)setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
#endif
	(void)on;
}

void
dgram_coalesce(int fd, bool may)
{
#ifdef UDP_GRO
	int on = SHORTCUT_SEGMENTS && may;

	(void)setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
#else
	(void)fd, (void)may;
#endif
}

/* A socket at a port of its own that is not the server's is not connected to
 * itself: a call is spared. */
static int
dgram_connect_to(int fd, const struct addr *to, const struct addr *source)
{
	unsigned port = source != NULL ? addr_port(source) : 0;

	return port > 0 && port != addr_port(to)
	    ? connect(fd, &to->u.sa, to->len)
	    : sock_connect_to(fd, to);
}

int
dgram_connect(const struct addr *to, const struct addr *source)
{
	struct addr own = { .len = sizeof(own.u.sa.sa_family) };
	int fd = sock_datagram(to->u.sa.sa_family), saved;
	bool is_bound;

	if (fd < 0)
		return -1;
	own.u.sa.sa_family = AF_UNIX; /* no path: autobind, unix(7) */
	if (to->u.sa.sa_family == AF_UNIX)
		source = &own;
	is_bound = source == NULL ||
	    source->u.sa.sa_family != to->u.sa.sa_family ||
	    bind(fd, &source->u.sa, source->len) == 0;
	if (is_bound && dgram_connect_to(fd, to, source) == 0)
		return fd;
	saved = errno;
	/* no lack of ports, which bind() would have found */
	if (saved == EADDRNOTAVAIL && is_bound)
		saved = ENETUNREACH;
	close(fd);
	errno = saved;
	return -1;
}

bool
dgram_error_blames(int error)
{
	return !sock_error_is_ours(error) && error != EAGAIN &&
	    error != EWOULDBLOCK && error != EMSGSIZE && error != EPERM &&
	    error != EADDRINUSE;
}

/* ---- receiving ---- */

/* Reads what the kernel has added to a datagram: the address and interface it
 * came to, and the size of the segments of datagrams that the kernel has
 * joined. */
static void
dgram_note_control(struct dgram *d, struct msghdr *m)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct dgram_local *local = &d->local;
	struct cmsghdr *c;

	memset(local, 0, sizeof(*local));
	d->segment = 0;
	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
#ifdef IP_PKTINFO
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			/* not known of datagrams from before this option was
			 * set; their destination is, and is ours unless it is a
			 * group's */
			if (info.ipi_spec_dst.s_addr == 0 &&
			    ntohl(info.ipi_addr.s_addr) < 0xe0000000u)
				info.ipi_spec_dst = info.ipi_addr;
			local->family = AF_INET;
			local->interface = (unsigned)info.ipi_ifindex;
			memcpy(local->ip, mapped, sizeof(mapped));
			memcpy(local->ip + 12, &info.ipi_spec_dst, 4);
		}
#endif
#ifdef IPV6_RECVPKTINFO
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			local->family = AF_INET6;
			local->interface = info.ipi6_ifindex;
			memcpy(local->ip, &info.ipi6_addr, 16);
		}
#endif
#ifdef UDP_GRO
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			int each;

			memcpy(&each, CMSG_DATA(c), sizeof(each));
			if (each > 0 && (size_t)each < d->n)
				d->segment = (unsigned)each;
		}
#endif
	}
}

#ifdef HAVE_RECVMMSG
static int
receive_some(int fd, struct dgram_message *m, unsigned n)
{
	return recvmmsg(fd, (struct mmsghdr *)(void *)m, n, MSG_DONTWAIT, NULL);
}
#else
/* An error after some datagrams is dropped: the next call reports it again. */
static int
receive_some(int fd, struct dgram_message *m, unsigned n)
{
	unsigned i;
	ssize_t got;

	for (i = 0; i < n; i++) {
		got = recvmsg(fd, &m[i].msg_hdr, MSG_DONTWAIT);
		if (got < 0)
			break;
		m[i].msg_len = (unsigned)got;
	}
	return i > 0 ? (int)i : -1;
}
#endif

int
dgram_receive_most(int fd, struct dgram_batch *b, int most)
{
	struct dgram_message *m = b->headers->message;
	int i, n;

	for (i = 0; i < most; i++) {
		m[i].msg_hdr.msg_namelen = sizeof(b->at[i].from.u);
		m[i].msg_hdr.msg_controllen = sizeof(b->headers->control[i]);
	}
	do
		n = receive_some(fd, m, (unsigned)most);
	while (n < 0 && errno == EINTR);
	for (i = 0; i < n; i++) {
		struct dgram *d = &b->at[i];

		d->bytes = b->headers->memory[i].iov_base;
		d->n = m[i].msg_len;
		d->truncated = (m[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
		d->from.len = m[i].msg_hdr.msg_namelen;
		if (d->from.len < sizeof(d->from.u.sa.sa_family))
			d->from.u.sa.sa_family = AF_UNIX;
		dgram_note_control(d, &m[i].msg_hdr);
	}
	b->count = n > 0 ? (unsigned)n : 0;
	return n;
}

int
dgram_receive(int fd, struct dgram_batch *b)
{
	return dgram_receive_most(fd, b, DGRAM_BATCH);
}

/* Receives one datagram, for less than a batch costs. */
static int
receive_one(int fd, struct dgram_batch *b)
{
	struct dgram *d = &b->at[0];
	ssize_t n;

	d->bytes = b->headers->memory[0].iov_base;
	do
		n = recv(fd, d->bytes, DGRAM_MAX + 1, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	b->count = n >= 0;
	if (n < 0)
		return -1;
	d->truncated = n > DGRAM_MAX;
	d->n = d->truncated ? DGRAM_MAX : (size_t)n;
	d->segment = 0;
	return 1;
}

int
dgram_receive_answers(int fd, struct dgram_batch *b, uint8_t *alone)
{
	int n;

	if (SHORTCUT_SINGLE_ANSWER && *alone < DGRAM_BATCH) {
		++*alone;
		return receive_one(fd, b);
	}
	n = dgram_receive(fd, b);
	if (n == 1)
		*alone = 0;
	return n;
}

unsigned
dgram_drop_truncated(struct dgram_batch *b)
{
	unsigned i, whole = 0, all = b->count;

	if (all == 1 && !b->at[0].truncated)
		return 0;
	for (i = 0; i < all; i++) {
		if (b->at[i].truncated)
			continue;
		if (i != whole)
			b->at[whole] = b->at[i];
		whole++;
	}
	b->count = whole;
	return all - whole;
}
