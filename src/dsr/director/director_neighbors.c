/* director_neighbors.c: where servers are on the segment, and what the segment is told
 * of the VIPs. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "dsr/director/director_private.h"

/* ---- servers and their neighbours ---- */

static struct target *
grow(struct director *d, uint32_t at)
{
	struct target *grown =
	    array_grow(d->targets, &d->targets_n, sizeof(*grown), at);

	if (grown == NULL)
		return NULL;
	d->targets = grown;
	return &grown[at];
}

/* Whether the neighbour is the one it must be; sets who that is. */
static bool
is_right(const struct director *d, const struct target *t, enum hop hop,
    const struct server *s, struct peer *ip)
{
	/* its address has a generation */
	if (hop == HOP_SERVER)
		return t->neighbor != NULL;
	if (!director_hop_ip(d, hop, s, ip))
		return t->neighbor == NULL;
	return t->neighbor != NULL && peer_same_host(&t->neighbor->ip, ip);
}

/* The neighbour of a server's hop is asked for if it is new or has moved. One that
 * came back to the same address is known still. */
struct target *
director_target(struct director *d, const struct server *s)
{
	struct target *t = grow(d, s->slot);
	struct neighbor *old;
	struct peer ip;
	enum hop hop;

	if (t == NULL)
		return NULL;
	/* it was removed, and the flows it has left are no connections */
	if (s->addrs.count == 0)
		return t->generation == s->generation ? t : NULL;
	hop = director_choose_hop(d, t, s);
	if (t->generation == s->generation && t->hop == hop &&
	    is_right(d, t, hop, s, &ip))
		return t;
	if (hop == HOP_NONE && t->hop != hop)
		log_warn("no way to server server=%u name=%s error=\"a tunnel "
			 "needs a route, or dsr_ip\"",
		    s->number, s->name);
	if ((t->generation != s->generation || t->hop != hop) &&
	    hop != HOP_ROUTE)
		t->path = (struct path_mtu){ .mtu = 0 };
	old = t->neighbor;
	t->neighbor = NULL;
	if (director_hop_ip(d, hop, s, &ip))
		t->neighbor =
		    neighbors_add(&d->neighbors, &ip, loop_now(d->loop));
	if (old != NULL)
		neighbors_drop(&d->neighbors, old);
	t->hop = hop;
	t->ip = director_server_ip(s);
	t->generation = s->generation;
	return t;
}

struct target *
director_known_target(const struct director *d, const struct server *s)
{
	uint32_t at = s->slot;

	return at < d->targets_n ? &d->targets[at] : NULL;
}

/* The one we have for it, which may be of an address it had before; or NULL. */
static struct neighbor *
known_neighbor(const struct director *d, const struct server *s)
{
	const struct target *t = director_known_target(d, s);

	return t != NULL ? t->neighbor : NULL;
}

bool
director_server_mac(
    const struct director *d, const struct server *s, struct mac *mac)
{
	const struct target *t = director_known_target(d, s);
	const struct mac *known;

	if (t == NULL || t->generation != s->generation)
		return false;
	known = t->neighbor != NULL ? neighbor_mac(t->neighbor)
	    : t->hop == HOP_GIVEN   ? &d->forward.gateway_mac
				    : NULL;
	if (known != NULL)
		*mac = *known;
	return known != NULL;
}

bool
director_server_is_gone(struct director *d, const struct server *s)
{
	const struct target *t = director_target(d, s);

	return t != NULL &&
	    (t->neighbor != NULL ? t->neighbor->state == NEIGHBOR_FAILED
				 : t->hop == HOP_NONE);
}

bool
director_server_stays_gone(const struct director *d, const struct server *s)
{
	const struct target *t = director_known_target(d, s);

	if (t == NULL || t->generation != s->generation)
		return false;
	return t->neighbor != NULL ? t->neighbor->state == NEIGHBOR_FAILED &&
		!neighbor_is_returning(t->neighbor)
				   : t->hop == HOP_NONE;
}

bool
director_server_is_new(const struct director *d, const struct server *s)
{
	const struct target *t = director_known_target(d, s);

	return t == NULL || t->generation != s->generation ||
	    (t->neighbor != NULL && t->neighbor->state == NEIGHBOR_NEW);
}

void
director_doubt_server(struct director *d, const struct server *s)
{
	struct neighbor *w = known_neighbor(d, s);

	if (w != NULL)
		neighbors_doubt(&d->neighbors, w, loop_now(d->loop));
}

void
director_each_server(struct director *d,
    void (*visit)(struct director *d, struct server *s, void *arg), void *arg)
{
	struct server *s;
	unsigned slot;

	for (slot = 0; slot < pool_slots(d->pool); slot++) {
		s = pool_slot(d->pool, slot);
		if (s->present)
			visit(d, s, arg);
	}
}

static void
ask_for(struct director *d, struct server *s, void *arg)
{
	(void)arg;
	(void)director_target(d, s);
}

void
director_ask_all(struct director *d)
{
	director_each_server(d, ask_for, NULL);
}

/* Servers that were removed are asked as long as they have flows. */
static void
let_go(struct director *d)
{
	struct target *t;
	struct server *s;
	unsigned i;

	for (i = 0; i < d->targets_n; i++) {
		s = pool_slot(d->pool, i);
		t = &d->targets[i];
		if (t->neighbor == NULL || (s != NULL && s->present) ||
		    dsr_flows_of(&d->flows, i) > 0)
			continue;
		neighbors_drop(&d->neighbors, t->neighbor);
		t->neighbor = NULL;
	}
}

/* ---- what the segment says ---- */

struct news {
	const struct neighbor *who;
	bool reachable;
};

static void
pass_on(struct director *d, struct server *s, void *arg)
{
	const struct news *n = arg;
	uint64_t now = loop_now(d->loop);

	if (known_neighbor(d, s) != n->who)
		return;
	if (n->reachable) {
		pool_connected(d->pool, s, now);
		return;
	}
	log_warn("server failed server=%u name=%s error=\"no answer to ARP or "
		 "NDP\"",
	    s->number, s->name);
	pool_failed(d->pool, s, now);
}

static void
on_change(void *arg, struct neighbor *w, bool reachable)
{
	struct director *d = arg;
	struct news n = { w, reachable };

	d->news = d->news || reachable;
	director_each_server(d, pass_on, &n);
}

/* A VIP that is shared, or somebody else's for the time being, is not defended; an own
 * address is nobody else's. */
static bool
on_conflict(void *arg, const struct peer *vip, const struct mac *who)
{
	const struct director *d = arg;
	char ip[PEER_TEXT_MAX], mac[MAC_TEXT_MAX];

	log_warn("address conflict address=%s mac=%s",
	    peer_format_host(vip, ip), mac_format(who, mac));
	return d->options.announce || director_is_own(d, vip);
}

void
director_note_link(struct director *d, const char *why)
{
	if (d->link.up != d->no_carrier)
		return;
	d->no_carrier = !d->link.up;
	if (d->no_carrier) {
		log_error(
		    "link lost interface=%s error=\"%s\"", d->link.name, why);
		neighbors_pause(&d->neighbors);
		return;
	}
	log_info("link is back interface=%s", d->link.name);
	d->carrier_ms = loop_now(d->loop);
	neighbors_resume(&d->neighbors, d->carrier_ms);
}

/* ---- the tag of the segment ---- */

enum { VLAN_ID = 0xfff, OTHERS = 3 };

/* Whoever can send frames with another tag must not take the servers away, to which
 * questions would go with it. What servers answer to is right. */
static bool
is_segments(struct director *d, uint16_t vlan)
{
	if (neighbors_reachable(&d->neighbors) > 0)
		return false;
	if (vlan != d->other_tag)
		d->others = 0;
	d->other_tag = vlan;
	return ++d->others >= (d->vlan_heard ? OTHERS : 1);
}

void
director_note_vlan(struct director *d, const struct frame *f)
{
	uint16_t vlan = f->vlan & VLAN_ID;
	uint64_t now = loop_now(d->loop);

	if (vlan == d->vlan) {
		d->vlan_heard = true;
		d->others = 0;
		return;
	}
	if (!is_segments(d, vlan))
		return;
	log_info("segment has tag vlan=%u", vlan);
	d->vlan = vlan;
	d->vlan_heard = true;
	d->others = 0;
	neighbors_set_vlan(&d->neighbors, vlan);
	/* what went out with another tag says nothing about them */
	neighbors_resume(&d->neighbors, now);
	director_forget_checks(d);
	if (d->options.announce)
		neighbors_announce(&d->neighbors, now);
}

/* Whether it asks for a VIP. */
static bool
asks_for_us(const struct director *d, const struct frame *f)
{
	struct peer target = { .family = AF_INET6 };
	struct ndp ndp;

	if (f->kind == FRAME_ARP)
		return director_has_address(d, &f->to);
	if (!frame_read_ndp(f, &ndp))
		return false;
	memcpy(target.ip, ndp.target, sizeof(target.ip));
	return director_has_address(d, &target);
}

void
director_on_neighbor(struct director *d, const struct frame *f)
{
	if (asks_for_us(d, f))
		director_note_vlan(d, f);
	director_tarpit_on_neighbor(d, f);
	if (!neighbors_on_frame(&d->neighbors, f, loop_now(d->loop)))
		director_lose(d, DIRECTOR_OTHER, f->length);
}

void
director_tick_neighbors(struct director *d, uint64_t now)
{
	director_ask_all(d);
	let_go(d);
	neighbors_tick(&d->neighbors, now);
}

/* ---- VIPs ---- */

static int
add_vip(struct director *d, const struct peer *vip)
{
	if (d->options.announce)
		return neighbors_add_vip(&d->neighbors, vip, loop_now(d->loop));
	return neighbors_take_vip(&d->neighbors, vip);
}

void
director_set_vips(struct director *d, const struct peer *old, unsigned olds)
{
	unsigned i;

	for (i = 0; i < d->count; i++)
		if (add_vip(d, &d->places[i]) < 0)
			log_error("out of memory");
	for (i = 0; i < olds; i++)
		if (!director_has_address(d, &old[i]))
			neighbors_remove_vip(&d->neighbors, &old[i]);
}

/* ---- life ---- */

int
director_open_neighbors(struct director *d, struct error *e)
{
	struct neighbors_options o = { .mac = d->link.mac,
		.send = director_send_own,
		.on_change = on_change,
		.on_conflict = on_conflict,
		.ip4 = d->own[0],
		.ip6 = d->own[1],
		.arg = d };

	if (neighbors_init(&d->neighbors, &o, loop_now(d->loop)) < 0)
		return error_set(e, "out of memory");
	director_ask_all(d);
	return 0;
}

void
director_close_neighbors(struct director *d)
{
	neighbors_fini(&d->neighbors);
	free(d->targets);
}
