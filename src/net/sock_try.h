/* sock_try.h: whether an address could be bound, without disturbing a program
 * that uses it: for checks beside a running pen. */
#ifndef PEN_NET_SOCK_TRY_H
#define PEN_NET_SOCK_TRY_H

#include <stdbool.h>

#include "base/addr.h"
#include "base/error.h"

/* Whether sock_listen() could get the address if no socket had it, and with
 * `freebind` also if this host does not have it yet. Returns 0, or -1 with a
 * full message that names it. */
int sock_try_listen(
    const struct addr *at, bool datagram, bool freebind, struct error *e);
/* The error of bind(2) for a listener at the address, in words. */
const char *sock_bind_error(const struct addr *at, int error);
/* Whether no socket can listen at `other` while there is a listener at `a`, as
 * that is the wildcard address of the port. */
bool sock_takes(const struct addr *a, bool v6_only, const struct addr *other);
/* Whether packets to the address come to this host, as its routes are. Sends
 * none. */
bool sock_is_local(const struct addr *a);
/* Whether another program has the port for IPv4, and none for IPv6: a listener
 * for both would fail, one for IPv6 only would not. */
bool sock_v4_is_taken(uint16_t port, bool datagram);
/* Whether connections may come from the address, given a free port. Returns 0,
 * or -1 with errno. */
int sock_try_source(const struct addr *a);

#endif
