/* sock_nonlocal.c: options for bind(). */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock_nonlocal.h"
#include "net/sock_private.h"

#if HAVE_DECL_IP_TRANSPARENT && HAVE_DECL_IPV6_TRANSPARENT
#define TRANSPARENT4 IPPROTO_IP, IP_TRANSPARENT
#define TRANSPARENT6 IPPROTO_IPV6, IPV6_TRANSPARENT
#elif HAVE_DECL_IP_BINDANY && HAVE_DECL_IPV6_BINDANY
#define TRANSPARENT4 IPPROTO_IP, IP_BINDANY
#define TRANSPARENT6 IPPROTO_IPV6, IPV6_BINDANY
#elif HAVE_DECL_SO_BINDANY
#define TRANSPARENT4 SOL_SOCKET, SO_BINDANY
#define TRANSPARENT6 SOL_SOCKET, SO_BINDANY
#endif

int
sock_set_transparent(int fd, int family)
{
#ifdef TRANSPARENT4
	int on = 1;

	return family == AF_INET6
	    ? setsockopt(fd, TRANSPARENT6, &on, sizeof(on))
	    : setsockopt(fd, TRANSPARENT4, &on, sizeof(on));
#else
	(void)fd;
	(void)family;
	errno = ENOPROTOOPT;
	return -1;
#endif
}

int
sock_try_transparent(void)
{
	int fd = sock_new(AF_INET, SOCK_STREAM), rc;

	if (fd < 0)
		return -1;
	rc = sock_set_transparent(fd, AF_INET);
	sock_close_quietly(fd);
	return rc;
}

/* Linux needs the same option for IPv6 sockets. */
void
sock_set_freebind(int fd, int family)
{
#if HAVE_DECL_IP_FREEBIND
	(void)family;
	sock_set_int(fd, IPPROTO_IP, IP_FREEBIND, 1);
#else
	(void)sock_set_transparent(fd, family);
#endif
}

/* ---- the client's address ---- */

/* No answer comes back to these through this host; those of one link would go
 * there, and nowhere else (RFC 4291, 2.5.6). A PROXY header may have any. */
static bool
is_of_no_host(const struct addr *a)
{
	return addr_is_group(a) ||
	    (a->u.sa.sa_family == AF_INET
		    ? ntohl(a->u.in.sin_addr.s_addr) >> 24 == 0
		    : addr_is_any(a) ||
			IN6_IS_ADDR_LINKLOCAL(&a->u.in6.sin6_addr));
}

bool
sock_may_pose(const struct peer *client, const struct addr *to)
{
	struct peer server;
	struct addr from;

	if (client->family == AF_UNIX || client->family == 0)
		return false;
	peer_from_addr(&server, to);
	if (server.family != client->family ||
	    server.family != to->u.sa.sa_family)
		return false;
	addr_from_peer(&from, client);
	if (is_of_no_host(&from))
		return false;
	if (addr_is_loopback(&from) || addr_is_loopback(to))
		return addr_is_loopback(&from) && addr_is_loopback(to);
	return !peer_same_host(client, &server);
}

/* The system refuses an address and port that another socket is bound to unless
 * both sockets allow it, and that counts for the moment of bind() alone. A
 * listener at any address has its port of the client's address, too, but gets
 * nothing of what comes to a connected socket. */
static int
bind_beside(int fd, const struct addr *from, int listener)
{
	int rc, error;

	sock_set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	sock_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	rc = bind(fd, &from->u.sa, from->len);
	error = errno;
	sock_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 0);
	sock_set_int(listener, SOL_SOCKET, SO_REUSEADDR, 0);
	errno = error;
	return rc;
}

static int
bind_as(int fd, const struct peer *client, int listener)
{
	struct addr from;

	addr_from_peer(&from, client);
	if (sock_set_transparent(fd, from.u.sa.sa_family) < 0)
		return -1;
	if (bind(fd, &from.u.sa, from.len) == 0 ||
	    (errno == EADDRINUSE && listener >= 0 &&
		bind_beside(fd, &from, listener) == 0))
		return 0;
	if (errno != EADDRINUSE && errno != EACCES)
		return -1;
	addr_set_port(&from, 0);
	return bind(fd, &from.u.sa, from.len);
}

int
sock_connect_datagram_as(
    const struct addr *to, const struct peer *client, int listener)
{
	int fd = sock_datagram(to->u.sa.sa_family);

	if (fd >= 0 &&
	    (bind_as(fd, client, listener) < 0 ||
		sock_connect_to(fd, to) < 0)) {
		sock_close_quietly(fd);
		return -1;
	}
	return fd;
}
