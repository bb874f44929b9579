/* proxy_datagram.h: PROXY headers of datagrams: of those that proxies send
 * (accept_proxy), each of which has the client address, and of those that
 * servers get (udp_proxy). */
#ifndef PEN_PROXY_PROXY_DATAGRAM_H
#define PEN_PROXY_PROXY_DATAGRAM_H

#include "net/dgram.h"
#include "net/listener.h"
#include "proxy/core/frontend_core.h"
#include "proxy/wire/proxy_header.h"

static inline bool
proxy_datagrams(const struct frontend_core *f)
{
	return f->options.accept_proxy >= 0;
}

/* Takes the header off a single datagram and sets *who: the sender itself, if
 * the header has no address. Returns false, having counted the datagram, when
 * it is to be dropped. */
bool proxy_datagram_accept(
    struct frontend_core *f, struct dgram *d, struct peer *who);

/* Writes the header with the client of a datagram, which was sent to `local` of
 * the listener. Returns how many bytes it has. */
size_t proxy_datagram_header(char header[PROXY_HEADER_DATAGRAM],
    const struct peer *who, const struct listener *l,
    const struct dgram_local *local);

#endif
