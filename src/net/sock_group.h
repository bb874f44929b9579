/* sock_group.h: several listening sockets at one address, each for a process
 * that serves some of its clients. The kernel deals clients out: by their
 * addresses, so that a client always comes to the same socket, or by each
 * connection's address and port. */
#ifndef PEN_NET_SOCK_GROUP_H
#define PEN_NET_SOCK_GROUP_H

#include "base/addr.h"
#include "net/sock.h"

/* Sockets of a group, at most. */
enum { SOCK_GROUP_MAX = 64 };

/* What decides which one a client comes to. */
enum sock_group_by { SOCK_GROUP_BY_ADDRESS, SOCK_GROUP_BY_CONNECTION };

/* Opens the sockets `from` (1 ..) to count - 1 of a group, whose sockets before
 * `from` are open: with the options of sock_listen(), SOCK_GROUP_FIRST among
 * them. Sockets that were inherited at the address are used first. If one
 * socket was alone until now, it keeps all clients until sock_group_steer().
 * Where the kernel cannot distribute clients, as with a Unix socket, all are
 * the same socket, and the first process that accepts gets the client; where
 * the kernel could, failing to is an error, unless sockets were inherited.
 * Returns 0, or -1 with a full message; then none of them is open. */
int sock_group_open(const struct addr *at, const struct sock_listen_options *o,
    int *socket, unsigned from, unsigned count, struct error *e);
/* Takes the others that were inherited at that address, behind the `count` that
 * are there. Returns how many there are then, SOCK_GROUP_MAX at most. */
unsigned sock_group_take_rest(const struct addr *at,
    const struct sock_listen_options *o, int *socket, unsigned count);

/* Whether more sockets may be opened beside it, and have clients of their
 * own. */
bool sock_group_has(int socket);
/* From now on clients come to the first `count` sockets of the group: by
 * address, an IPv4 one or the first 64 bits of an IPv6 one, or by address and
 * port. `socket` is any of the group. Returns 0, or -1 with errno where the
 * kernel cannot. */
int sock_group_steer(int socket, unsigned count, enum sock_group_by by);

/* The number of the socket that this client's connections get then. */
unsigned sock_group_of(
    const struct peer *who, unsigned count, enum sock_group_by by);

#endif
