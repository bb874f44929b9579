/* director_hop.c: which way packets go to a server: by its own hardware address, or
 * in a tunnel, and to whom next. */
#include "config.h"

#include <string.h>

#include "dsr/director/director_private.h"
#include "dsr/tunnel/route.h"

/* The kernel's routes are asked for again after so many seconds, not all at once. */
enum { ASK_S = 10, SPREAD_S = 5 };

struct peer
director_server_ip(const struct server *s)
{
	struct peer ip;

	peer_from_addr(&ip, &s->addrs.addr[s->addr_first]);
	ip.port = 0;
	return ip;
}

bool
director_own_ip(const struct director *d, unsigned family, struct peer *ip)
{
	const struct peer *own = &d->own[family == AF_INET6];

	if (own->family == 0)
		return false;
	*ip = *own;
	return true;
}

bool
director_is_tunnelled(const struct director *d, const struct server *s)
{
	return s->set.forward == SERVER_FORWARD_TUNNEL ||
	    (s->set.forward == SERVER_FORWARD_AS_SET && d->forward.tunnel);
}

/* Asks when it is time to; a size of 0 is no route. */
static void
ask_for_route(const struct director *d, struct target *t,
    const struct server *s, const struct peer *ip)
{
	uint32_t now = (uint32_t)(loop_now(d->loop) / 1000);
	struct route_way w;

	if (t->generation == s->generation && now < t->ask_s &&
	    (t->hop == HOP_ROUTE || t->hop == HOP_SEGMENT ||
		t->hop == HOP_NONE))
		return;
	t->ask_s = now + ASK_S + s->slot % SPREAD_S;
	t->path.mtu = route_ask(ip, &w) == 0 ? w.mtu : 0;
}

enum hop
director_choose_hop(
    const struct director *d, struct target *t, const struct server *s)
{
	struct peer ip, own;
	bool own_there;

	if (!director_is_tunnelled(d, s))
		return HOP_SERVER;
	ip = director_server_ip(s);
	own_there = director_own_ip(d, ip.family, &own);
	if (d->forward.has_gateway_mac)
		return own_there ? HOP_GIVEN : HOP_NONE;
	if (d->forward.gateway.family != 0)
		return own_there ? HOP_GATEWAY : HOP_NONE;
	ask_for_route(d, t, s, &ip);
	return t->path.mtu > 0 ? HOP_ROUTE : own_there ? HOP_SEGMENT : HOP_NONE;
}

bool
director_hop_ip(const struct director *d, enum hop hop, const struct server *s,
    struct peer *ip)
{
	if (hop == HOP_GIVEN || hop == HOP_ROUTE || hop == HOP_NONE)
		return false;
	*ip = hop == HOP_GATEWAY ? d->forward.gateway : director_server_ip(s);
	ip->port = 0;
	return true;
}

void
director_way(
    const struct director *d, const struct server *s, struct director_way *w)
{
	const struct target *t = director_known_target(d, s);

	memset(w, 0, sizeof(*w));
	w->tunnel = director_is_tunnelled(d, s);
	w->has_mac = director_server_mac(d, s, &w->mac);
	if (t == NULL || !w->tunnel)
		return;
	w->route = t->hop == HOP_ROUTE;
	w->path_mtu = w->route
	    ? t->path.mtu
	    : path_mtu_get(&t->path, d->link.mtu, loop_now(d->loop));
}
