/* proxy_header.h: the PROXY protocol, version 2 (proxy-protocol.txt of HAProxy,
 * section 2.2): who a client is, told to its server. Pure. */
#ifndef PEN_PROXY_PROXY_HEADER_H
#define PEN_PROXY_PROXY_HEADER_H

#include <stddef.h>

#include "base/addr.h"

enum { PROXY_HEADER_MAX = 16 + 36 };

/* Writes the header of a datagram from `client` to `local`, of which the port
 * counts too. Clients on Unix sockets have no address: LOCAL. Returns how many
 * bytes it has. */
size_t proxy_header_datagram(char header[PROXY_HEADER_MAX],
    const struct peer *client, const struct peer *local);

#endif
