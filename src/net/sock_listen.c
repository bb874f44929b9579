/* sock_listen.c: listening sockets, and the addresses of sockets. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "net/sock_nonlocal.h"
#include "net/sock_private.h"
#include "net/sock_try.h"
#include "net/socket_set.h"

/* ---- listening ---- */

void
sock_allow_group(int fd)
{
#if defined(SO_REUSEPORT) && defined(SO_ATTACH_REUSEPORT_CBPF)
	sock_set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
#else
	(void)fd;
#endif
}

/* Marks the file before the socket listens: from then on another process may
 * find this one dead and put its own file there. */
static int
bind_and_listen(int fd, const struct addr *at,
    const struct sock_listen_options *o, struct sock_file *file)
{
	bool is_unix = at->u.sa.sa_family == AF_UNIX;
	struct sock_file unwanted;

	if (file == NULL)
		file = &unwanted;
	/* For datagrams it would let two programs share the port. */
	if (!o->datagram)
		sock_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (at->u.sa.sa_family == AF_INET6)
		sock_set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, o->v6_only);
	if (o->freebind && !is_unix)
		sock_set_freebind(fd, at->u.sa.sa_family);
	if (!is_unix && !o->datagram) {
		sock_take_urgent(fd); /* inherited, too */
		sock_tune_listener(fd, o);
	}
	if (o->group == SOCK_GROUP_NEXT)
		sock_allow_group(fd);
	if (sock_file_bind(fd, at, o->unix_mode) < 0)
		return -1;
	if (o->group == SOCK_GROUP_FIRST && !is_unix)
		sock_allow_group(fd);
	sock_file_mark(file, at);
	if (o->datagram || listen(fd, o->backlog) == 0)
		return 0;
	sock_file_remove(file, at);
	return -1;
}

static int
sock_open_listener(const struct addr *at, const struct sock_listen_options *o,
    struct sock_file *file, struct error *e)
{
	char text[ADDR_TEXT_MAX];
	int fd, error;

	addr_format(at, text);
	if (sock_file_clear(at, text, e) < 0)
		return -1;
	fd = sock_new(
	    at->u.sa.sa_family, o->datagram ? SOCK_DGRAM : SOCK_STREAM);
	if (fd < 0)
		return error_set(e, "\"%s\": %s", text, strerror(errno));
	if (bind_and_listen(fd, at, o, file) < 0) {
		error = errno;
		error_set(e, "\"%s\": %s", text, sock_bind_error(at, error));
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* Takes an inherited socket of the address, and gives it the options of a new
 * one; -1: there is none. listen(2) with another length leaves the clients in
 * its backlog alone. The file of a Unix socket is shared with its owner until
 * the start or reload has succeeded. */
static int
take_one_that_is_there(const struct addr *at,
    const struct sock_listen_options *o, struct sock_file *file)
{
	bool file_is_ours = false;
	int fd = socket_set_take(at, o, 0, &file_is_ours);

	if (fd < 0)
		return -1;
	if (at->u.sa.sa_family != AF_UNIX && !o->datagram) {
		sock_take_urgent(fd);
		sock_tune_listener(fd, o);
	}
	if (!o->datagram)
		(void)listen(fd, o->backlog);
	if (file_is_ours && file != NULL) {
		sock_file_mark(file, at);
		file->shared = true;
		file->mode = o->unix_mode;
	}
	return fd;
}

int
sock_listen(const struct addr *at, const struct sock_listen_options *o,
    struct sock_file *file, struct error *e)
{
	int fd = take_one_that_is_there(at, o, file), lock;

	if (fd >= 0)
		return fd;
	lock = sock_file_lock(at);
	fd = sock_open_listener(at, o, file, e);
	if (lock >= 0)
		sock_close_quietly(lock);
	return fd;
}

int
sock_local_addr(int fd, struct addr *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->u);
	return getsockname(fd, &a->u.sa, &a->len);
}

/* getpeername() has no address before the connect completes, nor after the end
 * of the connection; Linux does, for a room that is no larger than it. */
static int
peer_addr_any_time(int fd, struct addr *a)
{
#ifdef SO_PEERNAME
	a->len = sizeof(struct sockaddr_in6);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &a->u.sa, &a->len) == 0)
		return 0;
	a->len = sizeof(struct sockaddr_in);
	return getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &a->u.sa, &a->len);
#else
	(void)fd;
	(void)a;
	return -1;
#endif
}

int
sock_peer_addr(int fd, struct addr *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->u);
	return getpeername(fd, &a->u.sa, &a->len) == 0
	    ? 0
	    : peer_addr_any_time(fd, a);
}

/* Systems choose no port below 1024. */
bool
sock_is_to_itself(int fd, const struct addr *to, uint16_t near_ports)
{
	unsigned first = near_ports > 0 ? near_ports : IPPORT_RESERVED;
	struct addr near, far;

	return addr_port(to) >= first &&
	    sock_local_addr(fd, &near) == 0 &&
	    addr_port(&near) == addr_port(to) &&
	    sock_peer_addr(fd, &far) == 0 && addr_equal(&near, &far);
}

int
sock_connect_to(int fd, const struct addr *to)
{
	if (connect(fd, &to->u.sa, to->len) < 0)
		return -1;
	if (!sock_is_to_itself(fd, to, 0))
		return 0;
	errno = ECONNREFUSED;
	return -1;
}

static int
accept_one(int fd, struct addr *a)
{
	a->len = sizeof(a->u);
#ifdef HAVE_ACCEPT4
	return accept4(fd, &a->u.sa, &a->len, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
	int new = accept(fd, &a->u.sa, &a->len);

	if (new >= 0 && sock_set_flags(new) < 0) {
		sock_close_quietly(new);
		return -1;
	}
	return new;
#endif
}

int
sock_accept(int listen_fd, struct peer *who)
{
	struct addr a;
	int fd;

	do
		fd = accept_one(listen_fd, &a);
	while (fd < 0 &&
	    (errno == EINTR || errno == ECONNABORTED || errno == EPROTO ||
		errno == EPERM));
	if (fd < 0)
		return -1;
	if (a.len < sizeof(a.u.sa.sa_family)) /* an unnamed Unix client */
		a.u.sa.sa_family = AF_UNIX;
	peer_from_addr(who, &a);
	return fd;
}

int
sock_peer_owner(int fd, struct peer_owner *owner)
{
#ifdef SO_PEERCRED
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -1;
	*owner = (struct peer_owner){ .pid = (uint32_t)who.pid,
		.uid = who.uid,
		.gid = who.gid };
	return 0;
#elif defined(HAVE_GETPEEREID)
	uid_t uid;
	gid_t gid;

	if (getpeereid(fd, &uid, &gid) < 0)
		return -1;
	*owner = (struct peer_owner){ .uid = uid, .gid = gid };
	return 0;
#else
	(void)fd;
	(void)owner;
	errno = ENOSYS;
	return -1;
#endif
}
