/* passed.c: see passed.h. The kernel leaves out descriptors for which the
 * process has no numbers left (MSG_CTRUNC). */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "net/passed.h"
#include "net/sock.h"

enum { MOST = 253 }; /* of a message, on Linux; elsewhere it may be more */

void
passed_add(struct passed *p, int fd)
{
	int *list = array_grow(p->fd, &p->room, sizeof(*list), p->count);

	if (list == NULL) {
		p->incomplete = true;
		close(fd);
		return;
	}
	p->fd = list;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	list[p->count++] = fd;
}

static void
take_all(struct passed *p, struct msghdr *m)
{
	struct cmsghdr *c;
	size_t i, n;
	int fd;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(fd);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			passed_add(p, fd);
		}
	}
	if (m->msg_flags & MSG_CTRUNC)
		p->incomplete = true;
}

ssize_t
passed_receive(struct passed *p, int fd, struct iovec *parts, unsigned count)
{
	union {
		char bytes[CMSG_SPACE(MOST * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m;
	ssize_t n;

	do {
		memset(&m, 0, sizeof(m));
		m.msg_iov = parts;
		m.msg_iovlen = count;
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		n = recvmsg(fd, &m, 0);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		take_all(p, &m);
	return n;
}

int
passed_take_socket(struct passed *p, uint64_t inode)
{
	uint32_t i;
	int fd;

	for (i = 0; i < p->count; i++) {
		fd = p->fd[i];
		if (fd < 0 || sock_inode(fd) != inode)
			continue;
		p->fd[i] = -1;
		return fd;
	}
	return -1;
}

ssize_t
passed_send(const struct passed *p, int fd, const void *bytes, size_t n)
{
	union {
		char bytes[CMSG_SPACE(PASSED_MOST * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec v = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = n };
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(p->count * sizeof(int)) };
	struct cmsghdr *h;
	ssize_t sent;

	memset(&control, 0, sizeof(control));
	h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(p->count * sizeof(int));
	memcpy(CMSG_DATA(h), p->fd, p->count * sizeof(int));
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent;
}

void
passed_drop(struct passed *p)
{
	uint32_t i;

	for (i = 0; i < p->count; i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
	free(p->fd);
	*p = (struct passed){ .fd = NULL };
}
