/* dgram_send.c: sends datagrams in as few system calls as possible. Several of
 * one size for one address go as one message (UDP_SEGMENT, udp(7)): the kernel
 * goes through its stack once. A message that the kernel refuses so, because a
 * segment is larger than the path MTU, goes datagram by datagram. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "base/shortcuts.h"
#include "net/dgram_private.h"

/* What is worth joining: datagrams that fit into an Ethernet frame, as many as
 * all kernels with UDP_SEGMENT take, and no more bytes than a datagram can
 * have. */
enum { SEGMENT_MAX = 1452, SEGMENTS_MAX = 64, JOINED_MAX = 65000 };

/* ---- control data of a message ---- */

static void
dgram_add_control(struct msghdr *m, union dgram_control *c, int level, int type,
    const void *what, size_t n)
{
	struct cmsghdr *h;

	if (m->msg_control == NULL)
		memset(c, 0, sizeof(*c));
	m->msg_control = c;
	h = (struct cmsghdr *)(void *)(c->bytes + m->msg_controllen);
	h->cmsg_level = level;
	h->cmsg_type = type;
	h->cmsg_len = CMSG_LEN(n);
	memcpy(CMSG_DATA(h), what, n);
	m->msg_controllen += CMSG_SPACE(n);
}

/* Adds the control message that sets the source address. */
static void
add_local(struct msghdr *m, union dgram_control *c, const struct dgram_local *l)
{
#ifdef IP_PKTINFO
	if (l->family == AF_INET) {
		struct in_pktinfo info = { .ipi_ifindex = 0 };

		memcpy(&info.ipi_spec_dst, l->ip + 12, 4);
		dgram_add_control(
		    m, c, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	}
#endif
#ifdef IPV6_RECVPKTINFO
	if (l->family == AF_INET6) {
		struct in6_pktinfo info = { .ipi6_ifindex = l->interface };

		/* the system has an address for what came to a group */
		if (l->ip[0] != 0xff)
			memcpy(&info.ipi6_addr, l->ip, 16);
		dgram_add_control(
		    m, c, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
#endif
}

/* The size of the datagrams that the kernel is to make. */
static void
add_segment(struct msghdr *m, union dgram_control *c, unsigned segment)
{
#ifdef UDP_SEGMENT
	uint16_t each = (uint16_t)segment;

	if (segment > 0)
		dgram_add_control(
		    m, c, IPPROTO_UDP, UDP_SEGMENT, &each, sizeof(each));
#else
	(void)m;
	(void)c;
	(void)segment;
#endif
}

/* Whether sockets of that family have UDP_SEGMENT. A Unix socket ignores it and
 * sends everything as one datagram. */
static bool
can_segment(int family)
{
#ifdef UDP_SEGMENT
	return SHORTCUT_SEGMENTS && family != AF_UNIX;
#else
	(void)family;
	return false;
#endif
}

/* Whether an error means that segmenting failed, not sending. */
static bool
is_about_segments(int error)
{
	return error == EINVAL || error == EMSGSIZE || error == EIO ||
	    error == EOPNOTSUPP;
}

/* ---- to the connected peer ---- */

static int
dgram_send_message(int fd, const struct msghdr *m)
{
	ssize_t sent;

	do
		sent = sendmsg(fd, m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

static int
send_headed(
    int fd, const void *header, size_t head, const void *bytes, size_t n)
{
	struct iovec v[2] = { { (void *)(uintptr_t)header, head },
		{ (void *)(uintptr_t)bytes, n } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	return dgram_send_message(fd, &m);
}

int
dgram_send(int fd, const void *header, size_t head, const void *bytes, size_t n)
{
	ssize_t sent;

	if (head > 0)
		return send_headed(fd, header, head, bytes, n);
	do
		sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

int
dgram_send_segments(
    int fd, int family, const char *bytes, size_t n, unsigned segment)
{
	struct iovec v = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	union dgram_control c;
	size_t piece;

	if (can_segment(family)) {
		add_segment(&m, &c, segment);
		if (dgram_send_message(fd, &m) == 0)
			return 0;
		if (!is_about_segments(errno))
			return -1;
	}
	for (; n > 0; bytes += piece, n -= piece) {
		piece = n < segment ? n : segment;
		if (dgram_send(fd, NULL, 0, bytes, piece) < 0)
			return -1;
	}
	return 0;
}

/* ---- to one address ---- */

static int
send_named(int fd, const void *bytes, size_t n, const struct addr *to,
    const struct dgram_local *from)
{
	struct iovec v = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_name = (void *)(uintptr_t)&to->u,
		.msg_namelen = to->len,
		.msg_iov = &v,
		.msg_iovlen = 1 };
	union dgram_control c;

	add_local(&m, &c, from);
	return dgram_send_message(fd, &m);
}

int
dgram_send_to(int fd, const void *bytes, size_t n, const struct addr *to,
    const struct dgram_local *from)
{
	ssize_t sent;

	if (from->family != 0)
		return send_named(fd, bytes, n, to, from);
	do
		sent = sendto(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT,
		    &to->u.sa, to->len);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

/* ---- a batch to one address ---- */

struct outgoing {
	int fd;
	struct dgram_batch *batch;
	struct sockaddr_storage to;
	socklen_t to_len;
	const struct dgram_local *from;
	unsigned count; /* messages */
	struct dgram_message m[DGRAM_BATCH];
	struct iovec v[DGRAM_BATCH];
	union dgram_control c[DGRAM_BATCH];
	unsigned segment[DGRAM_BATCH];	 /* of a message; 0: one datagram */
	unsigned first[DGRAM_BATCH + 1]; /* of a message, in the batch */
};

/* How many datagrams from `i` on can go as one message: all of one size, the
 * last may be shorter. */
static unsigned
joinable(const struct outgoing *o, unsigned i)
{
	const struct dgram *d = &o->batch->at[i];
	size_t size = d->n, all = d->n;
	unsigned n = 1;

	if (!can_segment(o->to.ss_family) || d->segment > 0 || size == 0 ||
	    size > SEGMENT_MAX)
		return 1;
	while (i + n < o->batch->count && n < SEGMENTS_MAX) {
		const struct dgram *next = &o->batch->at[i + n];

		if (next->segment > 0 || next->n == 0 || next->n > size ||
		    all + next->n > JOINED_MAX)
			break;
		all += next->n;
		n++;
		if (next->n < size)
			break;
	}
	return n;
}

/* Makes the messages that the batch is sent in: datagrams of one size may be
 * joined in one message. */
static void
outgoing_prepare(struct outgoing *o)
{
	const struct dgram *d;
	struct msghdr *m;
	unsigned i, k, n;

	o->count = 0;
	for (i = 0; i < o->batch->count; i += n) {
		n = joinable(o, i);
		k = o->count++;
		m = &o->m[k].msg_hdr;
		d = &o->batch->at[i];
		memset(m, 0, sizeof(*m));
		m->msg_name = &o->to;
		m->msg_namelen = o->to_len;
		m->msg_iov = &o->v[i];
		m->msg_iovlen = n;
		o->segment[k] = n > 1 ? (unsigned)d->n : d->segment;
		o->first[k] = i;
		add_local(m, &o->c[k], o->from);
		add_segment(m, &o->c[k], o->segment[k]);
	}
	for (i = 0; i < o->batch->count; i++) {
		o->v[i] =
		    (struct iovec){ o->batch->at[i].bytes, o->batch->at[i].n };
		o->batch->at[i].unsent = true;
	}
	o->first[o->count] = o->batch->count;
}

/* Sends the datagrams of an entry one by one; a copy of the message's head is
 * `m`. */
static int
send_pieces(const struct outgoing *o, struct msghdr *m, const struct dgram *d,
    unsigned each)
{
	struct iovec *v = m->msg_iov;
	size_t at;

	for (at = 0; at < d->n; at += v->iov_len) {
		v->iov_base = d->bytes + at;
		v->iov_len = d->n - at;
		if (v->iov_len > each)
			v->iov_len = each;
		if (dgram_send_message(o->fd, m) < 0)
			return -1;
	}
	return 0;
}

/* The same for all entries of a message. */
static int
send_singly(struct outgoing *o, unsigned k)
{
	struct iovec v;
	struct msghdr m = o->m[k].msg_hdr;
	union dgram_control c;
	unsigned i;

	m.msg_control = NULL;
	m.msg_controllen = 0;
	m.msg_iov = &v;
	m.msg_iovlen = 1;
	add_local(&m, &c, o->from);
	for (i = o->first[k]; i < o->first[k + 1]; i++) {
		struct dgram *d = &o->batch->at[i];

		d->unsent = send_pieces(o, &m, d, o->segment[k]) < 0;
		if (d->unsent && errno != EMSGSIZE)
			return -1;
	}
	return 0;
}

static int
dgram_send_some(int fd, struct dgram_message *m, unsigned n)
{
#ifdef HAVE_SENDMMSG
	int sent;

	do
		sent = sendmmsg(fd, (struct mmsghdr *)(void *)m, n,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent;
#else
	(void)n;
	return dgram_send_message(fd, &m[0].msg_hdr) < 0 ? -1 : 1;
#endif
}

/* Whether a message holds several datagrams and the socket cannot segment. */
static bool
goes_singly(const struct outgoing *o, unsigned k)
{
	return o->segment[k] > 0 && !can_segment(o->to.ss_family);
}

/* Sends from message `k` on. Returns how many are done with, or -1 with
 * errno. */
static int
send_from(struct outgoing *o, unsigned k)
{
	unsigned n = 0, i;
	int sent;

	if (goes_singly(o, k))
		return send_singly(o, k) < 0 ? -1 : 1;
	while (k + n < o->count && !goes_singly(o, k + n))
		n++;
	sent = dgram_send_some(o->fd, o->m + k, n);
	if (sent > 0)
		for (i = o->first[k]; i < o->first[k + (unsigned)sent]; i++)
			o->batch->at[i].unsent = false;
	if (sent < 0 && o->segment[k] > 0 && is_about_segments(errno))
		return send_singly(o, k) < 0 ? -1 : 1;
	return sent < 0 && errno == EMSGSIZE ? 1 : sent;
}

static int
send_several(int fd, struct dgram_batch *b, const struct addr *to,
    const struct dgram_local *from)
{
	struct outgoing o;
	unsigned k = 0, i, sent = 0;
	int n;

	o.fd = fd;
	o.batch = b;
	memcpy(&o.to, &to->u, to->len);
	o.to_len = to->len;
	o.from = from;
	outgoing_prepare(&o);
	while (k < o.count) {
		n = send_from(&o, k);
		if (n <= 0)
			break;
		k += (unsigned)n;
	}
	for (i = 0; i < b->count; i++)
		sent += !b->at[i].unsent;
	return sent > 0 ? (int)sent : -1;
}

int
dgram_send_batch(int fd, struct dgram_batch *b, const struct addr *to,
    const struct dgram_local *from)
{
	struct dgram *d = &b->at[0];

	if (b->count != 1 || d->segment > 0)
		return send_several(fd, b, to, from);
	d->unsent = dgram_send_to(fd, d->bytes, d->n, to, from) < 0;
	return d->unsent ? -1 : 1;
}
