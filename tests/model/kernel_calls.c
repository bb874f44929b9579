/* kernel_calls.c: the calls of libpen.a that the linker gives to this kernel,
 * and to the system's where the descriptor is one of the system's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "model/kernel_private.h"
#include "support/pattern.h"

/* __real_X is the system's X, and __wrap_X is called instead of it. */
#define WRAP(type, name, params)   \
	type __real_##name params; \
	type __wrap_##name params; \
	type __wrap_##name params
#define SYSTEM(fd, name, args)                     \
	do {                                       \
		if (!is_fake(fd))                  \
			return __real_##name args; \
	} while (0)

static struct conn *
conn_of(int fd)
{
	struct descriptor *d = descriptor_of(fd);

	MUST(d->kind == CONN);
	return d->conn;
}

/* ---- time and chance ---- */

WRAP(int, clock_gettime, (clockid_t id, struct timespec *t))
{
	if (kernel.on_sleep == NULL)
		return __real_clock_gettime(id, t);
	t->tv_sec = (time_t)(kernel.now_us / 1000000);
	t->tv_nsec = (long)(kernel.now_us % 1000000 * 1000);
	return 0;
}

WRAP(int, getentropy, (void *bytes, size_t n))
{
	pattern_fill(1, 0, bytes, n);
	return 0;
}

/* ---- epoll, timerfd ---- */

WRAP(int, epoll_ctl, (int set, int op, int fd, struct epoll_event *event))
{
	SYSTEM(fd, epoll_ctl, (set, op, fd, event));
	return kernel_watch(op, fd, event);
}

WRAP(int, epoll_wait, (int set, struct epoll_event *events, int most, int ms))
{
	(void)set;
	return kernel_wait(events, most, ms);
}

WRAP(int, timerfd_create, (int clock, int flags))
{
	(void)clock, (void)flags;
	return descriptor_new(ALARM, "timerfd_create");
}

WRAP(int, timerfd_settime,
    (int fd, int flags, const struct itimerspec *in, struct itimerspec *old))
{
	(void)flags, (void)old;
	kernel_set_alarm(fd, in);
	return 0;
}

/* ---- sockets ---- */

WRAP(int, socket, (int family, int type, int proto))
{
	bool stream = (type & 0xf) == SOCK_STREAM;
	int fd;

	(void)proto;
	MUST(family == AF_INET);
	fd = descriptor_new(stream ? CONN : DATAGRAM, "socket");
	if (fd < 0)
		return -1;
	descriptor_of(fd)->local.sin_family = AF_INET;
	if (stream) {
		descriptor_of(fd)->conn = conn_of_program();
		descriptor_of(fd)->conn->fd = fd;
	}
	return fd;
}

WRAP(int, bind, (int fd, const struct sockaddr *at, socklen_t n))
{
	struct descriptor *d = descriptor_of(fd);
	struct sockaddr_in want;
	int other;

	memcpy(&want, at, n < sizeof(want) ? n : sizeof(want));
	if (want.sin_port != 0 &&
	    descriptor_find(d->kind == CONN ? LISTENER : DATAGRAM,
		ntohs(want.sin_port), &other) != NULL)
		return failed(EADDRINUSE);
	d->local = want;
	return 0;
}

WRAP(int, listen, (int fd, int backlog))
{
	struct descriptor *d = descriptor_of(fd);

	(void)backlog;
	if (d->kind == CONN) {
		d->conn->fd = -1;
		kernel_forget(d->conn);
		d->conn = NULL;
	}
	d->kind = LISTENER;
	return 0;
}

WRAP(int, accept4, (int fd, struct sockaddr *at, socklen_t *n, int flags))
{
	struct descriptor *d = descriptor_of(fd);
	struct conn *c = d->first;
	int new;

	(void)flags;
	MUST(d->kind == LISTENER);
	if (c == NULL)
		return failed(EAGAIN);
	new = descriptor_new(CONN, "accept4");
	if (new < 0)
		return -1;
	d->first = c->next;
	c->next = NULL;
	c->fd = new;
	descriptor_of(new)->conn = c;
	descriptor_of(new)->local = c->local;
	memcpy(at, &c->peer, sizeof(c->peer));
	*n = sizeof(c->peer);
	return new;
}

static int
connect_conn(struct conn *c, const struct sockaddr *to)
{
	int error = kernel.trouble != NULL ? kernel.trouble("connect") : 0;

	memcpy(&c->peer, to, sizeof(c->peer));
	if (error == 0)
		error = kernel.on_connect(c);
	c->connecting = error == EINPROGRESS;
	return error == 0 ? 0 : failed(error);
}

WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t n))
{
	struct descriptor *d = descriptor_of(fd);

	MUST(n == sizeof(d->peer));
	if (d->kind == CONN)
		return connect_conn(d->conn, to);
	memcpy(&d->peer, to, n);
	d->connected = true;
	if (d->local.sin_port == 0)
		d->local.sin_port = htons((uint16_t)(40000 + fd));
	return 0;
}

static void
close_listener(struct descriptor *d)
{
	struct conn *c;

	while ((c = d->first) != NULL) {
		d->first = c->next;
		c->next = NULL;
		c->lingers_not = true;
		conn_close(c);
	}
}

static void
close_pipe(struct way *pipe)
{
	MUST(pipe->end);
	free(pipe->bytes);
	free(pipe);
}

/* The world has never heard of one that did not get to connect. */
WRAP(int, close, (int fd))
{
	struct descriptor *d;

	SYSTEM(fd, close, (fd));
	d = descriptor_of(fd);
	if (d->kind == LISTENER)
		close_listener(d);
	if (d->kind == ALARM)
		kernel.alarm_us = 0;
	if (d->kind == CONN) {
		conn_close(d->conn);
		if (d->conn->outgoing && d->conn->arg == NULL)
			kernel_forget(d->conn);
	}
	if (d->kind == PIPE_OUT)
		d->pipe->end = true;
	else if (d->kind == PIPE_IN) /* which is closed after it */
		close_pipe(d->pipe);
	descriptor_free(fd);
	return 0;
}

WRAP(int, shutdown, (int fd, int how))
{
	MUST(how == SHUT_WR);
	return conn_shutdown(conn_of(fd));
}

/* ---- options ---- */

WRAP(int, setsockopt,
    (int fd, int level, int name, const void *value, socklen_t n))
{
	const struct linger *l = value;
	struct descriptor *d = descriptor_of(fd);

	if (level == SOL_SOCKET && name == SO_LINGER && d->kind == CONN &&
	    n == sizeof(*l))
		d->conn->lingers_not = l->l_onoff && l->l_linger == 0;
	return 0;
}

WRAP(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *n))
{
	struct descriptor *d = descriptor_of(fd);
	int error = 0;

	if (level != SOL_SOCKET || name != SO_ERROR)
		return failed(ENOPROTOOPT);
	MUST(*n == sizeof(error));
	if (d->kind == CONN) {
		error = d->conn->error;
		d->conn->error = 0;
	} else if (d->refused) {
		error = ECONNREFUSED;
		d->refused = false;
	}
	memcpy(value, &error, sizeof(error));
	return 0;
}

WRAP(int, getsockname, (int fd, struct sockaddr *at, socklen_t *n))
{
	memcpy(at, &descriptor_of(fd)->local, sizeof(struct sockaddr_in));
	*n = sizeof(struct sockaddr_in);
	return 0;
}

WRAP(int, ioctl, (int fd, unsigned long what, ...))
{
	va_list ap;
	int *n;

	va_start(ap, what);
	n = va_arg(ap, int *);
	va_end(ap);
	*n = (int)(what == FIONREAD ? conn_of(fd)->in.n : conn_of(fd)->out.n);
	return 0;
}

WRAP(int, fcntl, (int fd, int what, ...))
{
	va_list ap;
	void *arg;

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	SYSTEM(fd, fcntl, (fd, what, arg));
	(void)descriptor_of(fd);
	return 0;
}

WRAP(int, poll, (struct pollfd * fds, nfds_t n, int ms))
{
	struct conn *c;

	SYSTEM(fds->fd, poll, (fds, n, ms));
	MUST(n == 1 && ms == 0);
	c = conn_of(fds->fd);
	fds->revents = c->in.end || c->in.reset ? POLLRDHUP : 0;
	return fds->revents != 0;
}

/* ---- bytes ---- */

WRAP(ssize_t, recv, (int fd, void *bytes, size_t n, int flags))
{
	struct iovec v = { bytes, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	SYSTEM(fd, recv, (fd, bytes, n, flags));
	return descriptor_of(fd)->kind == DATAGRAM
	    ? datagram_receive(fd, &m)
	    : conn_recv(conn_of(fd), bytes, n, (flags & MSG_PEEK) != 0);
}

WRAP(ssize_t, send, (int fd, const void *bytes, size_t n, int flags))
{
	struct iovec v = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	SYSTEM(fd, send, (fd, bytes, n, flags));
	return descriptor_of(fd)->kind == DATAGRAM
	    ? datagram_send(fd, &m)
	    : conn_send(conn_of(fd), bytes, n);
}

WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags))
{
	SYSTEM(fd, sendmsg, (fd, m, flags));
	return datagram_send(fd, m);
}

WRAP(ssize_t, sendto,
    (int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
	socklen_t size))
{
	struct iovec v = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_name = (void *)(uintptr_t)to,
		.msg_namelen = size,
		.msg_iov = &v,
		.msg_iovlen = 1 };

	SYSTEM(fd, sendto, (fd, bytes, n, flags, to, size));
	return datagram_send(fd, &m);
}

WRAP(int, recvmmsg,
    (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *wait))
{
	unsigned i;

	(void)flags, (void)wait;
	for (i = 0; i < n; i++) {
		ssize_t got = datagram_receive(fd, &m[i].msg_hdr);

		if (got < 0)
			break;
		m[i].msg_len = (unsigned)got;
	}
	return i > 0 || n == 0 ? (int)i : -1;
}

WRAP(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags))
{
	unsigned i;

	(void)flags;
	for (i = 0; i < n && datagram_send(fd, &m[i].msg_hdr) >= 0; i++)
		continue;
	return i > 0 || n == 0 ? (int)i : -1;
}

/* ---- pipes ---- */

WRAP(int, pipe2, (int fds[2], int flags))
{
	(void)flags;
	fds[0] = descriptor_new(PIPE_OUT, "pipe2");
	if (fds[0] < 0)
		return -1;
	fds[1] = descriptor_new(PIPE_IN, "pipe2");
	if (fds[1] < 0) {
		descriptor_free(fds[0]);
		return -1;
	}
	descriptor_of(fds[0])->pipe = descriptor_of(fds[1])->pipe =
	    calloc(1, sizeof(struct way));
	way_open(descriptor_of(fds[0])->pipe, 64 * 1024);
	return 0;
}

WRAP(ssize_t, splice,
    (int from, off64_t *at, int to, off64_t *into, size_t n, unsigned flags))
{
	struct descriptor *d = descriptor_of(from);

	(void)at, (void)into, (void)flags;
	if (d->kind == PIPE_OUT)
		return conn_splice_out(conn_of(to), d->pipe, n);
	MUST(descriptor_of(to)->kind == PIPE_IN);
	return conn_splice_in(conn_of(from), descriptor_of(to)->pipe, n);
}
