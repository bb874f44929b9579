/* tunnels.c: see tunnels.h.
 *
 *     frame -- GSO --> segments --> fits? --> outer header --> link
 *                                     |                   '--> route
 *                                     |--> DF clear: fragments, each as above
 *                                     '--> else ICMP to the sender
 *
 * A packet that may be fragmented is, before it gets into the tunnel (RFC 2003,
 * 5.1 leaves the choice): the server reassembles it once, and by the id of its
 * client; fragments of outer packets would share one space of 65,536 ids for
 * all clients. IPv6 must get 1280 bytes through, even if that takes fragments
 * of the outer packet (RFC 2473, 7.1; RFC 4213, 3.2.1). */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/rate_limit.h"
#include "dsr/forward/route.h"
#include "dsr/forward/tunnels.h"
#include "dsr/link/offload.h"

enum {
	PACKET = 65536 + FRAME_HEAD_MAX, /* the longest, as a frame */
	ARENA = 8 * PACKET,
	ERRORS = 64 /* of the kernel's, read in a row */
};

/* ICMP that is sent, and that is believed, as each message may concern any
 * server. */
static const struct rate_limit icmp_limit = { .count = 100, .period_ms = 100 };

struct tunnels {
	struct nexthops *hops;
	struct wire *wire;
	struct route *route; /* NULL: not needed so far */
	struct rate_bucket icmp_out, icmp_in;
	uint64_t ids; /* of outer packets */
	struct hash_key secret;
	unsigned char segment[PACKET];	/* of a GSO frame */
	unsigned char fragment[PACKET]; /* of a segment, or of a whole frame */
	unsigned char arena[ARENA];	/* the bytes of queued frames */
	size_t used;
};

/* How one packet leaves. */
struct egress {
	struct tunnel tunnel; /* its ends */
	struct frame_head head;
	bool route;
	unsigned mtu; /* of outer packets */
	size_t came;  /* bytes of the frame it came in, perhaps with others */
	bool stays;   /* the inner packet's bytes stay until the flush */
};

/* ---- queued frames ---- */

/* Queued frames point into the arena, which is reused from its start once they
 * have left. */
void
tunnels_flush(struct tunnels *t)
{
	if (t->route != NULL)
		route_flush(t->route, &t->wire->stats.dropped[DIRECTOR_SEND]);
	wire_flush(t->wire);
	t->used = 0;
}

static unsigned char *
tunnels_take(struct tunnels *t, size_t room)
{
	unsigned char *at;

	if (ARENA - t->used < room)
		tunnels_flush(t);
	at = t->arena + t->used;
	t->used += room;
	return at;
}

static void
put_frame(struct tunnels *t, unsigned char *bytes, size_t length)
{
	struct link_frame l = { .length = (unsigned)length };

	wire_put(t->wire, &l, bytes);
	if (t->wire->out_n >= WIRE_BATCH)
		tunnels_flush(t);
}

/* ---- one packet that fits ---- */

static void
put_on_route(struct tunnels *t, const struct frame *f, const struct egress *w)
{
	const unsigned char *inner = f->bytes + f->net;
	struct route_packet p = { .to = &w->tunnel.to,
		.bytes = inner,
		.length = f->packet,
		.family = f->family,
		.class = f->family == AF_INET
		    ? inner[1]
		    : (uint8_t)(inner[0] << 4 | inner[1] >> 4),
		.may_fragment =
		    w->tunnel.may_fragment || frame_may_fragment(f) };

	if (!w->stays) {
		p.bytes = tunnels_take(t, f->packet);
		memcpy((void *)(uintptr_t)p.bytes, inner, f->packet);
	}
	route_send(t->route, &p, &t->wire->stats.dropped[DIRECTOR_SEND]);
	t->wire->stats.tunnelled++;
}

static void
tunnels_put(struct tunnels *t, const struct frame *f, struct egress *w)
{
	size_t room = FRAME_HEAD_MAX + frame_tunnel_adds(AF_INET6) + f->packet;
	unsigned char *out;
	size_t n;

	if (w->route) {
		put_on_route(t, f, w);
		return;
	}
	out = tunnels_take(t, room);
	w->tunnel.id = (uint16_t)t->ids++;
	n = frame_make_tunnel(out, room, &w->head, f, &w->tunnel);
	if (n == 0) {
		wire_drop(t->wire, DIRECTOR_BAD, f->length);
		return;
	}
	put_frame(t, out, n);
	t->wire->stats.tunnelled++;
}

/* ---- one that does not ---- */

/* The largest inner packet that fits into a tunnel packet on this path. */
static unsigned
inner_mtu(const struct egress *w)
{
	return w->mtu - (unsigned)frame_tunnel_adds(w->tunnel.to.family);
}

static void
fragment_inner(struct tunnels *t, const struct frame *f, struct egress *w)
{
	unsigned char *out = t->fragment;
	size_t done = 0, n;
	struct frame part;

	/* The next fragment overwrites this one. */
	w->stays = false;
	while (
	    (n = frame_fragment(out, PACKET, f, inner_mtu(w), 0, &done)) > 0) {
		frame_parse(&part, out, n);
		tunnels_put(t, &part, w);
	}
}

/* Sends the packet in fragments of the tunnel packet, which the kernel makes
 * where tunnels leave by its route. */
static void
fragment_outer(struct tunnels *t, const struct frame *f, struct egress *w)
{
	size_t n, done = 0, room = FRAME_HEAD_MAX + (size_t)w->mtu;
	unsigned char *out, *whole = t->fragment;
	uint64_t number = t->ids++;
	/* One that cannot be guessed, so that no other host can add fragments
	 * to the packet (RFC 7739). */
	uint32_t id = (uint32_t)hash_keyed(&t->secret, &number, sizeof(number));
	struct frame outer;

	w->tunnel.may_fragment = true;
	if (w->route) {
		put_on_route(t, f, w);
		return;
	}
	w->tunnel.id = (uint16_t)id;
	n = frame_make_tunnel(whole, PACKET, &w->head, f, &w->tunnel);
	frame_parse(&outer, whole, n);
	for (;;) {
		out = tunnels_take(t, room);
		n = frame_fragment(out, room, &outer, w->mtu, id, &done);
		if (n == 0)
			break;
		put_frame(t, out, n);
	}
	t->wire->stats.tunnelled++;
}

/* Sends ICMP: "fragmentation needed" or "packet too big". */
static void
tunnels_refuse(struct tunnels *t, const struct frame *f, const struct egress *w)
{
	unsigned char *out;
	size_t n;

	frame_count_add(&t->wire->stats.too_big, 1, w->came);
	if (!rate_limit_take(
		&icmp_limit, &t->icmp_out, loop_now(t->hops->loop)))
		return;
	out = tunnels_take(t, FRAME_MADE_MAX);
	n = frame_make_too_big(out, FRAME_MADE_MAX, f, NULL, inner_mtu(w));
	if (n > 0)
		put_frame(t, out, n);
}

/* Returns false when the packet is too big. */
static bool
tunnels_pass_on(struct tunnels *t, const struct frame *f, struct egress *w)
{
	if (f->packet <= inner_mtu(w))
		tunnels_put(t, f, w);
	else if (frame_may_fragment(f))
		fragment_inner(t, f, w);
	else if (f->family == AF_INET6 && f->packet <= PATH_MTU_LEAST6)
		fragment_outer(t, f, w);
	else {
		tunnels_refuse(t, f, w);
		return false;
	}
	return true;
}

/* ---- a frame ---- */

/* False: the next hop is not known. */
static bool
find_egress(struct tunnels *t, const struct server *s, struct egress *w)
{
	const struct nexthop *h = nexthops_get(t->hops, s);
	uint64_t now = loop_now(t->hops->loop);

	*w = (struct egress){ .stays = false };
	if (h == NULL || h->hop == HOP_NONE)
		return false;
	w->tunnel.to = h->ip;
	w->route = h->hop == HOP_ROUTE;
	if (w->route) {
		w->mtu = h->path.mtu;
		return t->route != NULL;
	}
	w->mtu = path_mtu_get(&h->path, t->wire->link.mtu, now);
	w->head.from = t->wire->link.mac;
	w->head.vlan = t->wire->vlan;
	return nexthops_mac(t->hops, s, &w->head.to) &&
	    vips_own_ip(t->hops->vips, w->tunnel.to.family, &w->tunnel.from);
}

/* The segments of a GSO frame, up to the first that is too big: they have one
 * size, so that one ICMP message is enough. */
static bool
pass_on_segments(struct tunnels *t, const struct link_frame *l, unsigned count,
    const struct egress *w)
{
	unsigned char *bytes = t->segment;
	struct egress each;
	struct frame segment;
	unsigned i;
	size_t n;

	for (i = 0; i < count; i++) {
		n = offload_segment(bytes, PACKET, l, i);
		if (n == 0) {
			wire_drop(t->wire, DIRECTOR_BAD, l->length);
			return false;
		}
		frame_parse(&segment, bytes, n);
		each = *w;
		if (!tunnels_pass_on(t, &segment, &each))
			return false;
	}
	return true;
}

bool
tunnels_pass(struct tunnels *t, const struct frame *f,
    const struct link_frame *l, const struct server *s)
{
	struct link_frame whole = *l;
	unsigned segments = offload_segments(l);
	struct egress w;
	bool passed;

	if (!find_egress(t, s, &w))
		return false;
	if (segments == 0 ||
	    (segments == 1 && l->offload.type == 0 &&
		!offload_finish(&whole))) {
		wire_drop(t->wire, DIRECTOR_BAD, l->length);
		return true;
	}
	w.came = l->length;
	w.stays = l->offload.type == 0;
	passed = w.stays ? tunnels_pass_on(t, f, &w)
			 : pass_on_segments(t, l, segments, &w);
	if (passed) {
		t->wire->stats.forwarded++;
		t->wire->stats.forwarded_bytes += l->length;
	}
	return true;
}

/* ---- errors ---- */

/* The next of the servers whose tunnel ends at that address, by the kernel's
 * route or not; NULL: no more. */
static struct server *
tunnels_next_server(
    struct nexthops *n, unsigned *slot, const struct peer *to, bool by_route)
{
	const struct nexthop *h;
	struct server *s;
	struct peer ip;

	while ((s = nexthops_next_server(n, slot)) != NULL) {
		h = nexthops_known(n, s);
		if (h == NULL || s->addrs.count == 0 ||
		    !nexthop_is_tunnelled(n, s) ||
		    (h->hop == HOP_ROUTE) != by_route)
			continue;
		ip = nexthop_server_ip(s);
		if (peer_same_host(&ip, to))
			return s;
	}
	return NULL;
}

bool
tunnels_on_error(struct tunnels *t, const struct frame *f)
{
	struct nexthops *n = t->hops;
	uint64_t now = loop_now(n->loop);
	char text[PEER_TEXT_MAX];
	struct tunnel_error e;
	struct nexthop *h;
	struct server *s;
	unsigned slot = 0;
	bool known = false;

	if (!frame_read_tunnel_error(f, &e) ||
	    !rate_limit_take(&icmp_limit, &t->icmp_in, now))
		return false;
	while ((s = tunnels_next_server(n, &slot, &e.to, false)) != NULL) {
		known = true;
		h = nexthops_known(n, s);
		if (path_mtu_lower(
			&h->path, e.to.family, e.mtu, t->wire->link.mtu, now))
			log_debug("path mtu lowered server=%u address=%s "
				  "mtu=%u",
			    s->number, peer_format_host(&e.to, text),
			    h->path.mtu);
	}
	return known;
}

/* Whether this host itself reports that a packet has no route: then the next
 * hop is unreachable. A report of another host can be forged. */
static bool
is_own_error(const struct route_error *e)
{
	struct route_path w;

	if (e->error != EHOSTUNREACH && e->error != ENETUNREACH)
		return false;
	return e->by.family == 0 ||
	    (route_find(&e->to, &w) == 0 && peer_same_host(&w.from, &e->by));
}

void
tunnels_tick(struct tunnels *t)
{
	struct nexthops *n = t->hops;
	uint64_t now = loop_now(n->loop);
	struct route_error e;
	struct server *s;
	unsigned i, slot;
	bool gone;

	if (t->route == NULL)
		return;
	for (i = 0; i < ERRORS && route_next_error(t->route, &e); i++) {
		gone = is_own_error(&e);
		slot = 0;
		while (
		    (s = tunnels_next_server(n, &slot, &e.to, true)) != NULL) {
			nexthops_known(n, s)->ask_s = 0;
			if (gone && s->blacklisted_until <= now)
				pool_failed(n->pool, s, strerror(e.error), now);
		}
	}
}

/* ---- life ---- */

static struct tunnels *
new_tunnels(struct nexthops *hops)
{
	struct tunnels *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->hops = hops;
	t->wire = hops->wire;
	hash_key_init(&t->secret);
	return t;
}

int
tunnels_prepare(struct tunnels **t, struct nexthops *hops,
    const struct director_forward *f, struct error *e)
{
	struct error why;

	if (!f->tunnels)
		return 0;
	if (*t == NULL && (*t = new_tunnels(hops)) == NULL)
		return error_set(e, "out of memory");
	if (f->has_gateway_mac || f->gateway.family != 0 || (*t)->route != NULL)
		return 0;
	(*t)->route = route_open(&why);
	if ((*t)->route != NULL)
		return 0;
	return error_set(e,
	    "%.200s; pen opens raw sockets for tunnels only at startup: "
	    "restart it with this setting, or set dsr_gateway",
	    why.text);
}

void
tunnels_free(struct tunnels *t)
{
	if (t != NULL)
		route_close(t->route);
	free(t);
}
