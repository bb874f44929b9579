/* kernel_dgram.c: sockets of datagrams: a queue each, which drops what does not
 * fit. */
#include "config.h"

#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "model/kernel_private.h"

uint32_t
datagram_mask(const struct descriptor *d)
{
	return (d->n > 0 || d->refused ? EPOLLIN : 0u) | EPOLLOUT |
	    (d->refused ? EPOLLERR : 0u);
}

unsigned
kernel_queued(int fd)
{
	return descriptor_of(fd)->n;
}

void
kernel_refuse(int fd)
{
	descriptor_of(fd)->refused = true;
	descriptor_tell(fd);
}

bool
kernel_datagram(const struct sockaddr_in *from, uint16_t port, int fd,
    const void *bytes, size_t n)
{
	struct descriptor *d =
	    fd >= 0 ? descriptor_of(fd) : descriptor_find(DATAGRAM, port, &fd);
	struct datagram *g;

	MUST(n <= DATAGRAM_ROOM);
	if (d == NULL || d->n == DATAGRAMS)
		return false;
	if (d->queue == NULL)
		d->queue = calloc(DATAGRAMS, sizeof(*d->queue));
	MUST(d->queue != NULL);
	g = &d->queue[(d->at + d->n++) % DATAGRAMS];
	g->from = *from;
	g->n = n;
	memcpy(g->bytes, bytes, n);
	descriptor_tell(fd);
	return true;
}

static int
take_refusal(struct descriptor *d)
{
	if (!d->refused)
		return 0;
	d->refused = false;
	return ECONNREFUSED;
}

ssize_t
datagram_receive(int fd, struct msghdr *m)
{
	struct descriptor *d = descriptor_of(fd);
	const struct datagram *g;
	int error = take_refusal(d);

	MUST(d->kind == DATAGRAM);
	if (error != 0)
		return failed(error);
	if (d->n == 0)
		return failed(EAGAIN);
	g = d->queue + d->at;
	MUST(m->msg_iov[0].iov_len >= g->n);
	memcpy(m->msg_iov[0].iov_base, g->bytes, g->n);
	if (m->msg_name != NULL)
		memcpy(m->msg_name, &g->from, sizeof(g->from));
	m->msg_namelen = sizeof(g->from);
	m->msg_controllen = 0;
	m->msg_flags = 0;
	d->at = (d->at + 1) % DATAGRAMS;
	d->n--;
	return (ssize_t)g->n;
}

/* Bytes of each datagram that the kernel is to make of a message. */
static size_t
segment_of(const struct msghdr *m, size_t all)
{
	struct cmsghdr *c;
	uint16_t each;

	if (m->msg_controllen == 0)
		return all;
	for (c = CMSG_FIRSTHDR(m); c != NULL;
	     c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)m, c))
		if (c->cmsg_level == IPPROTO_UDP &&
		    c->cmsg_type == UDP_SEGMENT) {
			memcpy(&each, CMSG_DATA(c), sizeof(each));
			return each;
		}
	return all;
}

ssize_t
datagram_send(int fd, const struct msghdr *m)
{
	static char bytes[1 << 17];
	struct descriptor *d = descriptor_of(fd);
	const struct sockaddr_in *to =
	    m->msg_name != NULL ? m->msg_name : &d->peer;
	size_t i, n = 0, each;
	int error = take_refusal(d);

	MUST(d->kind == DATAGRAM);
	if (error == 0 && kernel.trouble != NULL)
		error = kernel.trouble("send");
	if (error != 0)
		return failed(error);
	for (i = 0; i < m->msg_iovlen; i++) {
		MUST(n + m->msg_iov[i].iov_len <= sizeof(bytes));
		memcpy(
		    bytes + n, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		n += m->msg_iov[i].iov_len;
	}
	each = segment_of(m, n);
	for (i = 0; i < n || i == 0; i += each)
		kernel.on_datagram(
		    fd, &d->local, to, bytes + i, n - i < each ? n - i : each);
	return (ssize_t)n;
}
