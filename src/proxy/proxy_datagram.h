/* proxy_datagram.h: datagrams of proxies (accept_proxy), each of which begins
 * with a PROXY header that says whose it is. */
#ifndef PEN_PROXY_PROXY_DATAGRAM_H
#define PEN_PROXY_PROXY_DATAGRAM_H

#include "net/dgram.h"
#include "proxy/frontend_core.h"

static inline bool
proxy_datagrams(const struct frontend_core *f)
{
	return f->options.accept_proxy >= 0;
}

/* Takes the header off a single datagram and sets *who: the sender itself, if
 * the header names nobody. Returns false, having counted the datagram, when it
 * is to be dropped. */
bool proxy_datagram_accept(
    struct frontend_core *f, struct dgram *d, struct peer *who);

#endif
