/* sock_nonlocal.h: sockets that have an address of another host, as a client's
 * towards a server ("transparent"), or one that this host does not have yet
 * ("freebind"). ip(7): IP_TRANSPARENT, IP_FREEBIND; the BSDs have IP_BINDANY
 * and SO_BINDANY.
 *
 * Answers to the address of another host come back to this one only if routes
 * make them: net/ does not see to that. */
#ifndef PEN_NET_SOCK_NONLOCAL_H
#define PEN_NET_SOCK_NONLOCAL_H

#include <stdbool.h>

#include "base/addr.h"

/* Lets the socket be bound to the address of another host. Returns 0, or -1
 * with errno: EPERM without the right, ENOPROTOOPT where there is no such
 * option. */
int sock_set_transparent(int fd, int family);
/* Whether this process may do that: 0, or -1 with errno. */
int sock_try_transparent(void);

/* Lets the socket be bound to an address that this host does not have (yet), as
 * far as the system can do that. */
void sock_set_freebind(int fd, int family);

/* Whether a socket to `to` can have the client's address: same family; not a
 * loopback address towards another host, which no host sends or takes; nor the
 * server's own address, which its host would not take from outside; nor one
 * that no host has, or of one link (fe80::), which answers do not come back to:
 * it would look as if the server had failed. */
bool sock_may_pose(const struct peer *client, const struct addr *to);

/* A datagram socket to `to` with the client's address and port; with another
 * port where some other socket has that one, or the port is below 1024 and
 * needs a right. `listener` is the socket that the client sends to, whose
 * port may be the same (as with NTP), -1: none. Returns a descriptor, or -1
 * with errno. */
int sock_connect_datagram_as(
    const struct addr *to, const struct peer *client, int listener);

#endif
