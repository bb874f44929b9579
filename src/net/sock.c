/* sock.c: socket calls, options and platform differences; owns no
 * descriptor. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LINUX_SOCKIOS_H
#include <linux/sockios.h>
#endif

#include "base/shortcuts.h"
#include "net/sock_nonlocal.h"
#include "net/sock_private.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#ifndef MSG_MORE
#define MSG_MORE 0
#endif

void
sock_set_int(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

#ifdef SOCK_NEEDS_FLAGS
int
sock_set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return 0;
}
#endif

void
sock_close_quietly(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
}

int
sock_new(int family, int type)
{
#ifdef SOCK_NONBLOCK
	return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#else
	int fd = socket(family, type, 0);

	if (fd >= 0 && sock_set_flags(fd) < 0) {
		sock_close_quietly(fd);
		return -1;
	}
	return fd;
#endif
}

/* ---- options ---- */

void
sock_set_nodelay(int fd)
{
	sock_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

void
sock_ack_at_once(int fd)
{
#ifdef TCP_QUICKACK
	sock_set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
#else
	(void)fd;
#endif
}

static void
set_unless_zero(int fd, int name, unsigned value)
{
	if (value > 0)
		sock_set_int(fd, IPPROTO_TCP, name, (int)value);
}

void
sock_set_keepalive(int fd, const struct sock_keepalive *k)
{
	sock_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, k->on);
#ifdef TCP_KEEPIDLE
	set_unless_zero(fd, TCP_KEEPIDLE, k->idle_s);
#endif
#ifdef TCP_KEEPINTVL
	set_unless_zero(fd, TCP_KEEPINTVL, k->interval_s);
#endif
#ifdef TCP_KEEPCNT
	set_unless_zero(fd, TCP_KEEPCNT, k->count);
#endif
#ifdef TCP_USER_TIMEOUT
	sock_set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)k->user_ms);
#endif
}

bool
sock_keepalive_equal(
    const struct sock_keepalive *a, const struct sock_keepalive *b)
{
	return a->on == b->on && a->idle_s == b->idle_s &&
	    a->interval_s == b->interval_s && a->count == b->count &&
	    a->user_ms == b->user_ms;
}

/* Accepted sockets inherit all of it: no call per connection. */
void
sock_tune_listener(int fd, const struct sock_listen_options *o)
{
	struct sock_keepalive k = o->keepalive;

	k.on = true;
	sock_set_keepalive(fd, &k);
	sock_set_int(fd, IPPROTO_TCP, TCP_NODELAY, o->nodelay);
	sock_tune(fd, &o->tuning);
}

/* ---- connecting ---- */

static bool
is_under_way(int error, int family)
{
	return error == EINPROGRESS || error == EINTR ||
	    (error == EAGAIN && family != AF_UNIX);
}

/* Whether this host has no route to an address, as to ::1 with IPv6 disabled.
 * connect() reports that as EADDRNOTAVAIL, as it does a lack of ports. A
 * datagram socket takes no port of those, so its connect() distinguishes the
 * two. */
static bool
has_no_way(const struct addr *to)
{
	int fd = sock_connect_datagram(to);
	bool none = fd < 0 && errno == EADDRNOTAVAIL;

	if (fd >= 0)
		close(fd);
	return none;
}

static int
sock_connect_from(const struct addr *source, const struct addr *to,
    const struct sock_connect_options *o)
{
	int family = to->u.sa.sa_family;
	int fd = sock_new(family, SOCK_STREAM);

	if (fd < 0)
		return -1;
	if (o->tuning != NULL && family != AF_UNIX)
		sock_tune(fd, o->tuning);
#ifdef IP_BIND_ADDRESS_NO_PORT
	/* The port is chosen by connect(), for the other end: there are 28,000
	 * ports for each server, not for all of them. */
	if (source != NULL)
		sock_set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
#endif
	if (o->client != NULL)
		(void)sock_set_transparent(fd, family);
	if (source != NULL && bind(fd, &source->u.sa, source->len) < 0) {
		sock_close_quietly(fd);
		return -1;
	}
#ifdef TCP_QUICKACK
	/* Linux sends the ACK that ends the handshake by itself, unless it
	 * expects data to go with it. */
	if (o->bytes_follow && family != AF_UNIX)
		sock_set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
#endif
	sock_take_urgent(fd);
	if (connect(fd, &to->u.sa, to->len) < 0 &&
	    !is_under_way(errno, family)) {
		sock_close_quietly(fd);
		return -1;
	}
	if (sock_is_to_itself(fd, to, o->near_ports)) {
		/* The port is the server's: TIME_WAIT would keep it from it. */
		sock_close_reset(fd);
		errno = ECONNREFUSED;
		return -1;
	}
	return fd;
}

/* Connects from the next source address; while that has no port left, from the
 * one after it. */
static int
connect_from_ours(const struct addr *to, const struct sock_connect_options *o)
{
	int family = to->u.sa.sa_family, fd;
	struct addr from;
	unsigned left = sources_of(o->sources, family);

	do
		fd = sock_connect_from(
		    sources_next(o->sources, family, o->turn, &from), to, o);
	while (fd < 0 && errno == EADDRNOTAVAIL && left-- > 1);
	return fd;
}

int
sock_connect(const struct addr *to, const struct sock_connect_options *o)
{
	struct addr copy, from;
	int fd;

	to = addr_with_port(to, o->port, &copy);
	if (o->client != NULL) {
		/* The port is another one: the client's own, which is the end
		 * of another connection, may not be free towards the server
		 * when that has ended here. */
		addr_from_peer(&from, o->client);
		addr_set_port(&from, 0);
		fd = sock_connect_from(&from, to, o);
	} else {
		fd = connect_from_ours(to, o);
	}
	if (fd < 0 && errno == EADDRNOTAVAIL)
		errno = has_no_way(to) ? ENETUNREACH : EADDRNOTAVAIL;
	return fd;
}

int
sock_datagram(int family)
{
	return sock_new(family, SOCK_DGRAM);
}

int
sock_connect_datagram(const struct addr *to)
{
	int fd = sock_datagram(to->u.sa.sa_family);

	if (fd >= 0 && sock_connect_to(fd, to) < 0) {
		sock_close_quietly(fd);
		return -1;
	}
	if (fd >= 0)
		sock_set_fragments(fd, to->u.sa.sa_family, true);
	return fd;
}

uint64_t
sock_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

int
sock_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return errno;
	return error;
}

bool
sock_error_is_ours(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	    error == ENOBUFS || error == ENOSPC || error == EADDRNOTAVAIL;
}

bool
sock_error_is_refusal(int error)
{
	return error == ECONNREFUSED || error == ECONNRESET || error == ENOENT;
}

bool
sock_has_ended(int fd)
{
	char byte;
#ifdef POLLRDHUP
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	if (poll(&p, 1, 0) > 0)
		return true;
#endif
	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool
sock_has_input(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
	    (errno != EAGAIN && errno != EWOULDBLOCK);
}

int
sock_next_byte(int fd)
{
	unsigned char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return byte;
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
	    ? SOCK_NONE_YET
	    : SOCK_NEVER;
}

void
sock_take_urgent(int fd)
{
	sock_set_int(fd, SOL_SOCKET, SO_OOBINLINE, 1);
}

/* ---- moving and closing ---- */

void
sock_close_reset(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

#ifdef SIOCOUTQ
/* A TCP connection that was reset: Linux still counts what it did not send. */
static bool
sock_is_gone(int fd)
{
	struct tcp_info info;
	socklen_t n = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 &&
	    info.tcpi_state == TCP_CLOSE;
}
#endif

size_t
sock_unsent(int fd)
{
#ifdef SIOCOUTQ
	int n = 0;

	if (ioctl(fd, SIOCOUTQ, &n) == 0 && n > 0 && !sock_is_gone(fd))
		return (size_t)n;
#elif defined(TIOCOUTQ)
	int n = 0;

	if (ioctl(fd, TIOCOUTQ, &n) == 0 && n > 0)
		return (size_t)n;
#else
	(void)fd;
#endif
	return 0;
}

size_t
sock_unread(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

static int
send_flags(bool more)
{
	return MSG_NOSIGNAL | (SHORTCUT_MORE && more ? MSG_MORE : 0);
}

ssize_t
sock_send(int fd, const void *bytes, size_t n, bool more)
{
	return send(fd, bytes, n, send_flags(more));
}

ssize_t
sock_send_two(int fd, const void *first, size_t first_n, const void *second,
    size_t second_n, bool more)
{
	struct iovec v[2] = { { (void *)(uintptr_t)first, first_n },
		{ (void *)(uintptr_t)second, second_n } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = second_n > 0 ? 2 : 1 };

	return sendmsg(fd, &m, send_flags(more));
}

/* ---- limits and pipes ---- */

size_t
sock_raise_fd_limit(size_t most)
{
	struct rlimit r;
	rlim_t soft;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 256;
	soft = r.rlim_cur;
	r.rlim_cur = r.rlim_max < most ? r.rlim_max : (rlim_t)most;
	if (r.rlim_cur != soft && setrlimit(RLIMIT_NOFILE, &r) < 0)
		r.rlim_cur = soft;
	return r.rlim_cur == RLIM_INFINITY ? 1u << 20 : (size_t)r.rlim_cur;
}

size_t
sock_fd_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 256;
	return r.rlim_max == RLIM_INFINITY ? 1u << 20 : (size_t)r.rlim_max;
}

int
sock_pipe(int fd[2], size_t size)
{
#ifdef HAVE_PIPE2
	if (pipe2(fd, O_NONBLOCK | O_CLOEXEC) < 0)
		return -1;
#else
	if (pipe(fd) < 0)
		return -1;
	if (sock_set_flags(fd[0]) < 0 || sock_set_flags(fd[1]) < 0) {
		sock_close_quietly(fd[0]);
		sock_close_quietly(fd[1]);
		return -1;
	}
#endif
#ifdef F_SETPIPE_SZ
	if (fcntl(fd[1], F_SETPIPE_SZ, (int)size) < 0 &&
	    fcntl(fd[1], F_GETPIPE_SZ) < SOCK_PIPE_MIN) {
		close(fd[0]);
		close(fd[1]);
		errno = EPERM;
		return -1;
	}
#else
	(void)size;
#endif
	return 0;
}

int
sock_pipe_of_program(int fd[2])
{
	int end;

#ifdef HAVE_PIPE2
	if (pipe2(fd, O_CLOEXEC) < 0)
		return -1;
#else
	if (pipe(fd) < 0)
		return -1;
#endif
	for (end = 0; end < 2; end++)
		if (fcntl(fd[end], F_SETFD, FD_CLOEXEC) < 0 ||
		    (end == 0 && fcntl(fd[end], F_SETFL, O_NONBLOCK) < 0)) {
			sock_close_quietly(fd[0]);
			sock_close_quietly(fd[1]);
			return -1;
		}
	return 0;
}

int
sock_copy_to(int fd, int to)
{
	return dup2(fd, to) < 0 || fcntl(to, F_SETFD, FD_CLOEXEC) < 0 ? -1 : 0;
}

ssize_t
sock_splice(int from, int to, size_t n)
{
#ifdef HAVE_SPLICE
	return splice(
	    from, NULL, to, NULL, n, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
#else
	(void)from;
	(void)to;
	(void)n;
	errno = ENOSYS;
	return -1;
#endif
}
