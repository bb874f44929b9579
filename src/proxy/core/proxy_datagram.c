/* proxy_datagram.c: whose a datagram is that came through a proxy. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "proxy/core/proxy_datagram.h"

static bool
proxy_datagram_drop(
    struct frontend_core *f, const struct peer *sender, const char *why)
{
	char text[PEER_TEXT_MAX];

	if (log_level >= LOG_LEVEL_DEBUG)
		log_debug("datagram dropped sender=%s error=\"PROXY header: "
			  "%s\"",
		    peer_format(sender, text), why);
	f->stats->datagrams.unnamed++;
	return false;
}

bool
proxy_datagram_accept(
    struct frontend_core *f, struct dgram *d, struct peer *who)
{
	const struct acl *proxies =
	    pool_acl(f->pool, (unsigned)f->options.accept_proxy);
	struct proxy_header h = { .datagram = true };
	const char *why;
	ssize_t used;

	peer_from_addr(who, &d->from);
	if (d->truncated) {
		f->stats->datagrams.too_long++;
		return false;
	}
	if (!acl_permits(proxies, who))
		return proxy_datagram_drop(f, who, "no proxy has this address");
	used = proxy_header_read(&h, d->bytes, d->n, &why);
	if (used < 0)
		return proxy_datagram_drop(f, who, why);
	d->bytes += used;
	d->n -= (size_t)used;
	if (h.client.family != 0)
		*who = h.client;
	return true;
}

size_t
proxy_datagram_header(char header[PROXY_HEADER_DATAGRAM],
    const struct peer *who, const struct listener *l,
    const struct dgram_local *local)
{
	struct peer to;

	peer_from_addr(&to, &l->at);
	if (local->family != 0)
		memcpy(to.ip, local->ip, sizeof(to.ip));
	return proxy_header_datagram(header, who, &to);
}
