/* nexthop_choose.c: how packets get to a server: by its own hardware address,
 * or in a tunnel, and by which next hop. */
#include "config.h"

#include <string.h>

#include "dsr/forward/nexthop.h"
#include "dsr/forward/route.h"

/* The kernel's routes are looked up again after this many seconds, not all at
 * once. */
enum { ASK_S = 10, SPREAD_S = 5 };

struct peer
nexthop_server_ip(const struct server *s)
{
	struct peer ip;

	peer_from_addr(&ip, &s->addrs.addr[s->addr_first]);
	ip.port = 0;
	return ip;
}

bool
nexthop_is_tunnelled(const struct nexthops *n, const struct server *s)
{
	return s->set.forward == SERVER_FORWARD_TUNNEL ||
	    (s->set.forward == SERVER_FORWARD_AS_SET && n->forward.tunnel);
}

/* Requests the route from the kernel if its last answer is too old. An MTU of
 * 0: no route. */
static void
ask_for_route(const struct nexthops *n, struct nexthop *h,
    const struct server *s, const struct peer *ip)
{
	uint32_t now = (uint32_t)(loop_now(n->loop) / 1000);
	struct route_path w;

	if (h->generation == s->generation && now < h->ask_s &&
	    (h->hop == HOP_ROUTE || h->hop == HOP_SEGMENT ||
		h->hop == HOP_NONE))
		return;
	h->ask_s = now + ASK_S + s->slot % SPREAD_S;
	h->path.mtu = route_ask(ip, &w) == 0 ? w.mtu : 0;
}

enum hop
nexthop_choose(
    const struct nexthops *n, struct nexthop *h, const struct server *s)
{
	struct peer ip, own;
	bool own_there;

	if (!nexthop_is_tunnelled(n, s))
		return HOP_SERVER;
	ip = nexthop_server_ip(s);
	own_there = vips_own_ip(n->vips, ip.family, &own);
	if (n->forward.has_gateway_mac)
		return own_there ? HOP_GIVEN : HOP_NONE;
	if (n->forward.gateway.family != 0)
		return own_there ? HOP_GATEWAY : HOP_NONE;
	ask_for_route(n, h, s, &ip);
	return h->path.mtu > 0 ? HOP_ROUTE : own_there ? HOP_SEGMENT : HOP_NONE;
}

bool
nexthop_ip(const struct nexthops *n, enum hop hop, const struct server *s,
    struct peer *ip)
{
	if (hop == HOP_GIVEN || hop == HOP_ROUTE || hop == HOP_NONE)
		return false;
	*ip = hop == HOP_GATEWAY ? n->forward.gateway : nexthop_server_ip(s);
	ip->port = 0;
	return true;
}

void
nexthops_path(
    const struct nexthops *n, const struct server *s, struct director_path *w)
{
	const struct nexthop *h = nexthops_known(n, s);

	memset(w, 0, sizeof(*w));
	w->tunnel = nexthop_is_tunnelled(n, s);
	w->has_mac = nexthops_mac(n, s, &w->mac);
	if (h == NULL || !w->tunnel)
		return;
	w->route = h->hop == HOP_ROUTE;
	w->path_mtu = w->route
	    ? h->path.mtu
	    : path_mtu_get(&h->path, n->wire->link.mtu, loop_now(n->loop));
}
