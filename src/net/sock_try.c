/* sock_try.c: binds and closes at once, or checks the directory of a path. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "net/sock_nonlocal.h"
#include "net/sock_try.h"

/* Tries whether this host has the address, by bind(2). EADDRINUSE is no
 * failure: the host has it, and another program uses it, which SO_REUSEADDR
 * would hide. */
static int
try_bind(const struct addr *at, int type, bool freebind)
{
	int fd = socket(at->u.sa.sa_family, type, 0), rc, why;

	if (fd < 0)
		return -1;
	if (freebind)
		sock_set_freebind(fd, at->u.sa.sa_family);
	rc = bind(fd, &at->u.sa, at->len);
	why = errno;
	close(fd);
	errno = why;
	return rc < 0 && why == EADDRINUSE ? 0 : rc;
}

static int
try_path(const struct addr *at, struct error *e)
{
	const char *path = at->u.un.sun_path;
	struct stat st;

	if (path[0] == '\0')
		return 0;
	if (lstat(path, &st) < 0)
		return file_may_make(path, e);
	return S_ISSOCK(st.st_mode)
	    ? 0
	    : error_set(e, "exists and is not a socket");
}

const char *
sock_bind_error(const struct addr *at, int error)
{
	unsigned port =
	    at->u.sa.sa_family != AF_UNIX ? (unsigned)addr_port(at) : 0;

	if (error == EADDRINUSE)
		return "address already in use";
	if (error == EADDRNOTAVAIL)
		return "not an address of this host";
	if (error == EINVAL && at->u.sa.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&at->u.in6.sin6_addr))
		return "a link-local address needs its interface, such as "
		       "fe80::1%eth0";
	if (error != EACCES || port == 0 || port >= IPPORT_RESERVED)
		return strerror(error);
#ifdef __linux__
	return "Permission denied: ports below 1024 need root, or the "
	       "capability CAP_NET_BIND_SERVICE: setcap "
	       "cap_net_bind_service+ep $(command -v pen)";
#else
	return "Permission denied: ports below 1024 need root";
#endif
}

int
sock_try_listen(
    const struct addr *at, bool datagram, bool freebind, struct error *e)
{
	char text[ADDR_TEXT_MAX];
	int rc;

	if (at->u.sa.sa_family == AF_UNIX) {
		rc = try_path(at, e);
	} else {
		rc = try_bind(
		    at, datagram ? SOCK_DGRAM : SOCK_STREAM, freebind);
		if (rc < 0)
			error_set(e, "%s", sock_bind_error(at, errno));
	}
	return rc == 0 ? 0 : error_of(e, "\"%s\"", addr_format(at, text));
}

bool
sock_takes(const struct addr *a, bool v6_only, const struct addr *other)
{
#ifdef __linux__
	int family = other->u.sa.sa_family;

	return family != AF_UNIX && addr_is_any(a) &&
	    addr_port(a) == addr_port(other) &&
	    (family == a->u.sa.sa_family ||
		(a->u.sa.sa_family == AF_INET6 && !v6_only));
#else /* SO_REUSEADDR allows it */
	(void)a;
	(void)v6_only;
	(void)other;
	return false;
#endif
}

/* The source of what a host sends to itself is the address itself; without
 * bind() it is the first of an IPv4 network. To bind alone is a weaker test: a
 * host may permit that for any address, which IPv4 has no route from, but IPv6
 * has. */
bool
sock_is_local(const struct addr *a)
{
	struct addr to = *a, from = *a;
	int fd;
	bool local;

	if (addr_is_loopback(a))
		return true;
	addr_set_port(&from, 0);
	addr_set_port(&to, 9); /* any will do */
	fd = socket(to.u.sa.sa_family, SOCK_DGRAM, 0);
	if (fd < 0)
		return false;
	if (to.u.sa.sa_family == AF_INET && !addr_is_group(a))
		(void)bind(fd, &from.u.sa, from.len);
	from.len = sizeof(from.u);
	local = connect(fd, &to.u.sa, to.len) == 0 &&
	    getsockname(fd, &from.u.sa, &from.len) == 0;
	close(fd);
	addr_set_port(&from, addr_port(&to));
	return local && addr_equal(&from, &to);
}

/* Binds a socket as a listener does: connections that are over do not prevent
 * it. */
static int
bind_as_listener(const struct addr *at, bool datagram)
{
	int family = at->u.sa.sa_family, on = 1, rc, why;
	int fd = socket(family, datagram ? SOCK_DGRAM : SOCK_STREAM, 0);

	if (fd < 0)
		return errno;
	if (!datagram)
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	rc = bind(fd, &at->u.sa, at->len);
	why = errno;
	close(fd);
	return rc < 0 ? why : 0;
}

bool
sock_v4_is_taken(uint16_t port, bool datagram)
{
	struct addr v4, v6;

	return addr_parse_ip(&v4, "0.0.0.0", port) == 0 &&
	    addr_parse_ip(&v6, "::", port) == 0 &&
	    bind_as_listener(&v4, datagram) == EADDRINUSE &&
	    bind_as_listener(&v6, datagram) == 0;
}

int
sock_try_source(const struct addr *a)
{
	struct addr at = *a;

	addr_set_port(&at, 0);
	return try_bind(&at, SOCK_STREAM, false);
}
