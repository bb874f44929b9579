/* nexthop.c: see nexthop.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "dsr/forward/nexthop.h"
#include "dsr/forward/route.h"

/* ---- which hop ---- */

/* The kernel's routes are requested again after so many seconds, not all at
 * once. */
enum { ASK_S = 10, SPREAD_S = 5 };
/* Between two log lines about a server that sends frames back. */
enum { LOOP_S = 60 };

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

/* The hop without a gateway: the kernel's route, with the MTU of that, or what
 * there is if the kernel has none. Queries the kernel if its last answer is too
 * old. */
static enum hop
choose_by_route(const struct nexthops *n, struct nexthop *h,
    const struct server *s, const struct peer *ip, bool own_there)
{
	uint32_t now = (uint32_t)(loop_now(n->loop) / 1000);
	struct route_path w;

	if (h->generation == s->generation && now < h->ask_s &&
	    (h->hop == HOP_ROUTE || h->hop == HOP_SEGMENT ||
		h->hop == HOP_NONE))
		return h->hop;
	h->ask_s = now + ASK_S + s->slot % SPREAD_S;
	if (route_find(ip, &w) < 0)
		return own_there ? HOP_SEGMENT : HOP_NONE;
	h->path.mtu = w.mtu;
	return HOP_ROUTE;
}

/* Which hop the server should have; may ask the kernel for its route. */
static enum hop
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
	return choose_by_route(n, h, s, &ip, own_there);
}

/* Sets the address of the neighbour of that hop. False: it has none. */
static bool
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

/* ---- servers and their neighbours ---- */

static struct nexthop *
nexthops_grow(struct nexthops *n, uint32_t at)
{
	struct nexthop *grown =
	    array_grow(n->list, &n->count, sizeof(*grown), at);

	if (grown == NULL)
		return NULL;
	n->list = grown;
	return &grown[at];
}

/* Whether the neighbour is the right one for that hop; sets *ip to its address
 * if that had to be found. */
static bool
nexthop_is_right(const struct nexthops *n, const struct nexthop *h,
    enum hop hop, const struct server *s, struct peer *ip)
{
	/* The generation of the server's addresses was compared already. */
	if (hop == HOP_SERVER)
		return h->neighbor != NULL;
	if (!nexthop_ip(n, hop, s, ip))
		return h->neighbor == NULL;
	return h->neighbor != NULL &&
	    who_has_same_ip(&h->neighbor->entry.ip, ip);
}

/* Called for each frame in a tunnel: nothing is done while all is as before. */
struct nexthop *
nexthops_get(struct nexthops *n, const struct server *s)
{
	struct nexthop *h = nexthops_grow(n, s->slot);
	struct neighbor *old;
	struct peer ip;
	enum hop hop;

	if (h == NULL)
		return NULL;
	/* A server that was removed has no address. Its flows keep their next
	 * hop. */
	if (s->addrs.count == 0)
		return h->generation == s->generation ? h : NULL;
	hop = nexthop_choose(n, h, s);
	if (h->generation == s->generation && h->hop == hop &&
	    nexthop_is_right(n, h, hop, s, &ip))
		return h;
	if (hop == HOP_NONE && h->hop != hop)
		log_warn(
		    "no route to server server=%u name=%s error=\"a tunnel "
		    "needs a route, or dsr_ip\"",
		    s->number, s->name);
	/* What routers reported was about another address, or another path. */
	if ((h->generation != s->generation || h->hop != hop) &&
	    hop != HOP_ROUTE)
		h->path = (struct path_mtu){ .mtu = 0 };
	/* The old one is dropped last: if both are the same neighbour, it keeps
	 * its MAC. */
	old = h->neighbor;
	h->neighbor = NULL;
	if (nexthop_ip(n, hop, s, &ip))
		h->neighbor =
		    neighbors_add(&n->neighbors, &ip, loop_now(n->loop));
	if (old != NULL)
		neighbors_drop(&n->neighbors, old);
	h->hop = hop;
	h->ip = nexthop_server_ip(s);
	h->generation = s->generation;
	return h;
}

struct nexthop *
nexthops_known(const struct nexthops *n, const struct server *s)
{
	uint32_t at = s->slot;

	return at < n->count ? &n->list[at] : NULL;
}

/* The one we have for it, which may be of an address it had before; or NULL. */
static struct neighbor *
known_neighbor(const struct nexthops *n, const struct server *s)
{
	const struct nexthop *h = nexthops_known(n, s);

	return h != NULL ? h->neighbor : NULL;
}

bool
nexthops_mac(const struct nexthops *n, const struct server *s, struct mac *mac)
{
	const struct nexthop *h = nexthops_known(n, s);
	const struct mac *known;

	if (h == NULL || h->generation != s->generation)
		return false;
	known = h->neighbor != NULL ? neighbor_mac(h->neighbor)
	    : h->hop == HOP_GIVEN   ? &n->forward.gateway_mac
				    : NULL;
	if (known != NULL)
		*mac = *known;
	return known != NULL;
}

bool
nexthops_is_gone(struct nexthops *n, const struct server *s)
{
	const struct nexthop *h = nexthops_get(n, s);

	return h != NULL &&
	    (h->neighbor != NULL ? h->neighbor->state == NEIGHBOR_FAILED
				 : h->hop == HOP_NONE);
}

bool
nexthops_stays_gone(const struct nexthops *n, const struct server *s)
{
	const struct nexthop *h = nexthops_known(n, s);

	if (h == NULL || h->generation != s->generation)
		return false;
	return h->neighbor != NULL
	    ? h->neighbor->state == NEIGHBOR_FAILED && !h->neighbor->returning
	    : h->hop == HOP_NONE;
}

bool
nexthops_is_new(const struct nexthops *n, const struct server *s)
{
	const struct nexthop *h = nexthops_known(n, s);

	return h == NULL || h->generation != s->generation ||
	    (h->neighbor != NULL && h->neighbor->state == NEIGHBOR_INCOMPLETE);
}

void
nexthops_restore(
    struct nexthops *n, const struct server *s, const struct mac *mac)
{
	struct neighbor *w = known_neighbor(n, s);

	if (w != NULL)
		neighbors_restore(&n->neighbors, w, mac, loop_now(n->loop));
}

void
nexthops_probe(struct nexthops *n, const struct server *s)
{
	struct neighbor *w = known_neighbor(n, s);

	if (w != NULL)
		neighbors_probe(&n->neighbors, w, loop_now(n->loop));
}

void
nexthops_note_loop(struct nexthops *n, const struct server *s)
{
	uint32_t now = (uint32_t)(loop_now(n->loop) / 1000);
	struct nexthop *h = nexthops_known(n, s);

	if (h == NULL || (h->loop_s != 0 && now - h->loop_s < LOOP_S))
		return;
	h->loop_s = now;
	log_warn("server sends frames back server=%u name=%s hint=\"it "
		 "forwards packets, and the listening address is not on its "
		 "loopback interface\"",
	    s->number, s->name);
}

struct server *
nexthops_next_server(const struct nexthops *n, unsigned *slot)
{
	struct server *s;

	while (*slot < pool_slots(n->pool)) {
		s = pool_slot(n->pool, (*slot)++);
		if (s->present)
			return s;
	}
	return NULL;
}

void
nexthops_refresh(struct nexthops *n)
{
	struct server *s;
	unsigned slot = 0;

	while ((s = nexthops_next_server(n, &slot)) != NULL)
		(void)nexthops_get(n, s);
}

/* ---- what happens on the segment ---- */

static void
on_change(void *arg, struct neighbor *w, bool reachable)
{
	struct nexthops *n = arg;
	uint64_t now = loop_now(n->loop);
	struct server *s;
	unsigned slot = 0;

	n->resolved = n->resolved || reachable;
	while ((s = nexthops_next_server(n, &slot)) != NULL) {
		if (known_neighbor(n, s) != w)
			continue;
		if (reachable)
			pool_connected(n->pool, s, now);
		else
			pool_failed(n->pool, s, "no answer to ARP or NDP", now);
	}
}

/* Another director chooses other servers for flows that are moved to it, unless
 * both follow the same hash, or it gets reports. */
static void
warn_of_flows(struct nexthops *n)
{
	if (n->warned || n->reports || n->flows->max == 0 ||
	    pool_goes_by_address(n->pool))
		return;
	n->warned = true;
	log_warn("another director may not know the flows of this one "
		 "hint=\"hash (-h), dsr_flows 0, or peer\"");
}

/* Another host has claimed a VIP. Returns whether it is to be defended: not
 * without dsr_announce, as other directors may have it then, too; but always an
 * own address. */
static bool
on_conflict(void *arg, const struct peer *vip, const struct mac *who)
{
	struct nexthops *n = arg;
	char ip[PEER_TEXT_MAX], mac[MAC_TEXT_MAX];

	log_warn("address conflict address=%s mac=%s",
	    peer_format_host(vip, ip), mac_format(who, mac));
	warn_of_flows(n);
	return n->announce || vips_is_own(n->vips, vip);
}

void
nexthops_resume(struct nexthops *n)
{
	uint64_t now = loop_now(n->loop);

	groups_renew(&n->groups, now);
	neighbors_resume(&n->neighbors, now);
}

void
nexthops_announce(struct nexthops *n)
{
	uint64_t now = loop_now(n->loop);

	groups_renew(&n->groups, now);
	if (n->announce)
		neighbors_announce(&n->neighbors, now);
}

void
nexthops_note_link(struct nexthops *n, const char *why)
{
	if (n->wire->link.up != n->no_carrier)
		return;
	n->no_carrier = !n->wire->link.up;
	if (n->no_carrier) {
		log_error("link lost interface=%s error=\"%s\"",
		    n->wire->link.name, why);
		neighbors_pause(&n->neighbors);
		return;
	}
	log_info("link is back interface=%s", n->wire->link.name);
	n->carrier_ms = loop_now(n->loop);
	nexthops_resume(n);
}

void
nexthops_tick(struct nexthops *n, uint64_t now)
{
	struct nexthop *h;
	struct server *s;
	unsigned i;

	nexthops_refresh(n);
	/* the neighbours of servers that were removed and have no flows left
	 * are dropped */
	for (i = 0; i < n->count; i++) {
		s = pool_slot(n->pool, i);
		h = &n->list[i];
		if (h->neighbor == NULL || (s != NULL && s->present) ||
		    dsr_flows_of(n->flows, i) > 0)
			continue;
		neighbors_drop(&n->neighbors, h->neighbor);
		h->neighbor = NULL;
	}
	neighbors_tick(&n->neighbors, now);
	if (!n->no_carrier)
		groups_tick(&n->groups, now);
}

/* ---- VIPs ---- */

/* A standby keeps that of its own address. */
static void
set_groups(struct nexthops *n)
{
	unsigned count = n->vips->standby ? 0 : n->vips->count;
	struct peer *list = calloc((size_t)count + 1, sizeof(*list));

	if (list != NULL) {
		memcpy(list, n->vips->list, count * sizeof(*list));
		list[count] = n->neighbors.own6;
	}
	if (list == NULL ||
	    groups_set(&n->groups, list, count + 1, loop_now(n->loop)) < 0)
		log_error("out of memory");
	free(list);
}

void
nexthops_set_vips(struct nexthops *n, const struct peer *old, unsigned olds)
{
	const struct peer *vip = n->vips->list;
	unsigned i;

	for (i = 0; i < n->vips->count; i++, vip++)
		if (n->vips->standby)
			neighbors_remove_vip(&n->neighbors, vip);
		else if ((n->announce
				 ? neighbors_add_vip(
				       &n->neighbors, vip, loop_now(n->loop))
				 : neighbors_take_vip(&n->neighbors, vip)) < 0)
			log_error("out of memory");
	for (i = 0; i < olds; i++)
		if (!vips_have_address(n->vips, &old[i]))
			neighbors_remove_vip(&n->neighbors, &old[i]);
	set_groups(n);
}

/* ---- life ---- */

static void
nexthops_on_send(void *arg, const unsigned char *bytes, size_t length)
{
	struct nexthops *n = arg;

	wire_send_own(n->wire, bytes, length);
}

int
nexthops_open(struct nexthops *n, struct error *e)
{
	struct neighbors_options o = { .mac = n->wire->link.mac,
		.send = nexthops_on_send,
		.on_change = on_change,
		.on_conflict = on_conflict,
		.ip4 = n->vips->own[0],
		.ip6 = n->vips->own[1],
		.arg = n };

	if (neighbors_init(&n->neighbors, &o, loop_now(n->loop)) < 0)
		return error_set(e, "out of memory");
	nexthops_refresh(n);
	return 0;
}

void
nexthops_close(struct nexthops *n)
{
	groups_fini(&n->groups);
	neighbors_fini(&n->neighbors);
	free(n->list);
}
