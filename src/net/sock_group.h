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

/* Opens the sockets 1 to count - 1 of a group, of which socket[0] is there:
 * with SOCK_GROUP_FIRST among the options of sock_listen(). Where the first one
 * was inherited, others may have been, too. Where the kernel cannot deal
 * clients out, as to a Unix socket, all are the same one, and the first process
 * that accepts has the client. Returns 0, or -1 with a full message; then none
 * of them is open, and the first one still is. */
int sock_group_open(const struct addr *at, const struct sock_listen_options *o,
    int *socket, unsigned count, struct error *e);

/* Whether more sockets may be opened beside it, and have clients of their
 * own. */
bool sock_group_has(int socket);
/* Clients of a group of `count` come to sockets by their addresses: an IPv4
 * address, or the first 64 bits of an IPv6 one; `socket` is any of them.
 * Returns 0, or -1 with errno where the kernel cannot. */
int sock_group_by_address(int socket, unsigned count);

/* To which one this client comes then. */
unsigned sock_group_of(const struct peer *who, unsigned count);

#endif
