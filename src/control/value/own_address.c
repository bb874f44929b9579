/* own_address.c: see own_address.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "control/value/own_address.h"
#include "net/sock_try.h"

/* The address that packets to it have: those to a wildcard address go to
 * loopback, those to an IPv4-mapped one are IPv4. */
static struct addr
reached_address(const struct addr *a)
{
	struct addr to = *a;
	struct peer host;

	if (a->u.sa.sa_family == AF_UNIX)
		return to;
	peer_from_addr(&host, a);
	addr_from_peer(&to, &host);
	if (addr_is_any(&to))
		(void)addr_parse_ip(&to,
		    to.u.sa.sa_family == AF_INET ? "127.0.0.1" : "::1",
		    addr_port(&to));
	return to;
}

/* Whether two paths have the same name in the same directory: the socket itself
 * is not there before the start. */
static bool
is_same_path(const char *a, const char *b)
{
	const char *ends[] = { strrchr(a, '/'), strrchr(b, '/') };
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	struct stat st[2];
	int i;

	if (ends[0] == NULL || ends[1] == NULL ||
	    strcmp(ends[0], ends[1]) != 0)
		return false;
	for (i = 0; i < 2; i++) {
		snprintf(dir, sizeof(dir), "%.*s/",
		    (int)(ends[i] - (i == 0 ? a : b)), i == 0 ? a : b);
		if (stat(dir, &st[i]) < 0)
			return false;
	}
	return st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino;
}

static bool
listens_at_port(const struct listen_list *list, uint16_t port)
{
	unsigned i;

	for (i = 0; i < list->count; i++)
		if (addr_port(&list->entry[i].at) == port)
			return true;
	return false;
}

/* A wildcard listener receives what is sent to a group that any program of this
 * host has joined, as it has 224.0.0.1: pen's own datagrams, too. */
bool
own_address_is(const struct frontend_address *l,
    const struct listen_list *clients, const struct addr *server)
{
	struct addr at = l->at, to = reached_address(server);

	if (at.u.sa.sa_family == AF_UNIX || to.u.sa.sa_family == AF_UNIX)
		return addr_equal(&at, &to) ||
		    (at.u.sa.sa_family == to.u.sa.sa_family &&
			is_same_path(at.u.un.sun_path, to.u.un.sun_path));
	if (addr_port(&to) != addr_port(&at) &&
	    (addr_port(&to) != 0 || !listens_at_port(clients, addr_port(&at))))
		return false;
	if (!addr_is_any(&at)) {
		at = reached_address(&at);
		addr_set_port(&at, addr_port(&to));
		return addr_equal(&at, &to);
	}
	return (at.u.sa.sa_family == to.u.sa.sa_family ||
		   (at.u.sa.sa_family == AF_INET6 && !l->v6_only)) &&
	    (sock_is_local(&to) || addr_is_multicast(&to));
}
