/* tunnels.c: see tunnels.h.
 *
 *     frame --> pieces, when it was merged --> fits? --> outer header --> link
 *                                               |                    '--> route
 *                                               |--> may be cut: piece by piece
 *                                               '--> else its sender is told
 *
 * What may be cut is cut before it gets into the tunnel (RFC 2003, 5.1 leaves
 * the choice): the server puts it together once, where it belongs to, and names
 * it as its client did; cut outer packets of all clients would share one space
 * of 65,536 names. IPv6 must get 1280 bytes through, even if they have to be
 * cut outside (RFC 2473, 7.1; RFC 4213, 3.2.1). */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "dsr/forward/route.h"
#include "dsr/forward/tunnels.h"
#include "dsr/link/offload.h"
#include "dsr/segment/token_bucket.h"

enum {
	PIECE = 65536 + FRAME_HEAD_MAX, /* a packet, as a frame */
	ARENA = 8 * PIECE,
	ERRORS = 64, /* of the kernel's, looked at in a row */
	/* A second: answers about what is too big, and such news that are
	 * looked at, each of which may be any server's. */
	NEWS_RATE = 1000,
	NEWS_BURST = 100
};

struct tunnels {
	struct nexthops *hops;
	struct wire *wire;
	struct route *route;	   /* NULL: not needed so far */
	struct token_bucket told;  /* those who send what is too big */
	struct token_bucket heard; /* what is said to be too big for the path */
	uint64_t ids;		   /* names of outer packets that were made */
	struct hash_key secret;
	unsigned char piece[PIECE]; /* of a merged frame */
	unsigned char cut[PIECE];   /* of that, or of a whole one */
	unsigned char arena[ARENA]; /* what waits to be sent */
	size_t used;
};

/* The way of one packet. */
struct way {
	struct tunnel tunnel; /* its ends */
	struct frame_head head;
	bool route;
	unsigned mtu; /* of outer packets */
	size_t came;  /* bytes of the frame it came in, perhaps with others */
	bool waits;   /* the bytes of the inner packet stay until the flush */
};

/* ---- memory, and what waits in it ---- */

/* The bytes of queued frames are in the arena, which is reused from its start
 * once they have left. */
void
tunnels_flush(struct tunnels *t)
{
	if (t->route != NULL)
		route_flush(t->route, &t->wire->stats.dropped[DIRECTOR_SEND]);
	wire_flush(t->wire);
	t->used = 0;
}

static unsigned char *
take(struct tunnels *t, size_t room)
{
	unsigned char *at;

	if (ARENA - t->used < room)
		tunnels_flush(t);
	at = t->arena + t->used;
	t->used += room;
	return at;
}

/* A frame of ours, of which nothing is left to be done. */
static void
put_frame(struct tunnels *t, unsigned char *bytes, size_t length)
{
	struct link_frame l = { .length = (unsigned)length };

	wire_put(t->wire, &l, bytes);
	if (t->wire->out_n >= WIRE_BATCH)
		tunnels_flush(t);
}

/* ---- one packet that fits ---- */

static size_t
room_for(const struct frame *f)
{
	return FRAME_HEAD_MAX + frame_tunnel_adds(AF_INET6) + f->packet;
}

static void
put_on_route(struct tunnels *t, const struct frame *f, const struct way *w)
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

	if (!w->waits) {
		p.bytes = take(t, f->packet);
		memcpy((void *)(uintptr_t)p.bytes, inner, f->packet);
	}
	route_send(t->route, &p, &t->wire->stats.dropped[DIRECTOR_SEND]);
	t->wire->stats.tunnelled++;
}

static void
put_on_link(struct tunnels *t, const struct frame *f, struct way *w)
{
	size_t room = room_for(f);
	unsigned char *out = take(t, room);
	size_t n;

	w->tunnel.id = (uint16_t)t->ids++;
	n = frame_make_tunnel(out, room, &w->head, f, &w->tunnel);
	if (n == 0) {
		wire_drop(t->wire, DIRECTOR_BAD, f->length);
		return;
	}
	put_frame(t, out, n);
	t->wire->stats.tunnelled++;
}

static void
put(struct tunnels *t, const struct frame *f, struct way *w)
{
	if (w->route)
		put_on_route(t, f, w);
	else
		put_on_link(t, f, w);
}

/* ---- one that does not ---- */

static void
cut_inner(struct tunnels *t, const struct frame *f, struct way *w)
{
	unsigned mtu =
	    w->mtu - (unsigned)frame_tunnel_adds(w->tunnel.to.family);
	unsigned char *cut = t->cut;
	size_t done = 0, n;
	struct frame piece;

	w->waits = false;
	while ((n = frame_fragment(cut, PIECE, f, mtu, 0, &done)) > 0) {
		frame_parse(&piece, cut, n);
		put(t, &piece, w);
	}
}

/* Not to be guessed by those who would add pieces of theirs (RFC 7739). */
static uint32_t
next_id(struct tunnels *t)
{
	uint64_t n = t->ids++;

	return (uint32_t)hash_keyed(&t->secret, &n, sizeof(n));
}

/* The kernel cuts by itself. */
static void
cut_outer(struct tunnels *t, const struct frame *f, struct way *w)
{
	size_t n, done = 0, room = FRAME_HEAD_MAX + (size_t)w->mtu;
	unsigned char *out, *cut = t->cut;
	uint32_t id = next_id(t);
	struct frame outer;

	w->tunnel.may_fragment = true;
	if (w->route) {
		put_on_route(t, f, w);
		return;
	}
	w->tunnel.id = (uint16_t)id;
	n = frame_make_tunnel(cut, PIECE, &w->head, f, &w->tunnel);
	frame_parse(&outer, cut, n);
	for (;;) {
		out = take(t, room);
		n = frame_fragment(out, room, &outer, w->mtu, id, &done);
		if (n == 0)
			break;
		put_frame(t, out, n);
	}
	t->wire->stats.tunnelled++;
}

static void
tell_sender(struct tunnels *t, const struct frame *f, size_t came, unsigned mtu)
{
	unsigned char *out;
	size_t n;

	frame_count_add(&t->wire->stats.too_big, 1, came);
	if (!token_bucket_take(&t->told, loop_now(t->hops->loop)))
		return;
	out = take(t, FRAME_MADE_MAX);
	n = frame_make_too_big(out, FRAME_MADE_MAX, f, NULL, mtu);
	if (n > 0)
		put_frame(t, out, n);
}

/* Returns whether it went on its way. */
static bool
pass_on(struct tunnels *t, const struct frame *f, struct way *w)
{
	unsigned mtu =
	    w->mtu - (unsigned)frame_tunnel_adds(w->tunnel.to.family);

	if (f->packet <= mtu)
		put(t, f, w);
	else if (frame_may_fragment(f))
		cut_inner(t, f, w);
	else if (f->family == AF_INET6 && f->packet <= PATH_MTU_LEAST6)
		cut_outer(t, f, w);
	else {
		tell_sender(t, f, w->came, mtu);
		return false;
	}
	return true;
}

/* ---- a frame ---- */

/* False: the next hop is not known. */
static bool
find_way(struct tunnels *t, const struct server *s, struct way *w)
{
	const struct nexthop *h = nexthops_get(t->hops, s);
	uint64_t now = loop_now(t->hops->loop);

	*w = (struct way){ .waits = false };
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

/* All pieces of a merged frame, up to one that is too big, as the others are:
 * its sender is told once. */
static bool
pass_on_pieces(struct tunnels *t, const struct link_frame *l, unsigned pieces,
    struct way *w)
{
	unsigned char *bytes = t->piece;
	struct way each;
	struct frame piece;
	unsigned i;
	size_t n;

	for (i = 0; i < pieces; i++) {
		n = offload_segment(bytes, PIECE, l, i);
		if (n == 0) {
			wire_drop(t->wire, DIRECTOR_BAD, l->length);
			return false;
		}
		frame_parse(&piece, bytes, n);
		each = *w;
		if (!pass_on(t, &piece, &each))
			return false;
	}
	return true;
}

bool
tunnels_pass(struct tunnels *t, const struct frame *f,
    const struct link_frame *l, const struct server *s)
{
	struct link_frame whole = *l;
	unsigned pieces = offload_segments(l);
	struct way w;
	bool passed;

	if (!find_way(t, s, &w))
		return false;
	if (pieces == 0 ||
	    (pieces == 1 && l->offload.type == 0 && !offload_finish(&whole))) {
		wire_drop(t->wire, DIRECTOR_BAD, l->length);
		return true;
	}
	w.came = l->length;
	w.waits = l->offload.type == 0;
	passed = w.waits ? pass_on(t, f, &w) : pass_on_pieces(t, l, pieces, &w);
	if (passed) {
		t->wire->stats.forwarded++;
		t->wire->stats.forwarded_bytes += l->length;
	}
	return true;
}

/* ---- errors ---- */

struct lower {
	const struct tunnel_error *error;
	bool known; /* a server that has tunnels is there */
};

static void
lower(struct nexthops *n, struct server *s, void *arg)
{
	struct lower *news = arg;
	struct nexthop *h = nexthops_known(n, s);
	struct peer ip;
	char text[PEER_TEXT_MAX];

	if (h == NULL || s->addrs.count == 0 || !nexthop_is_tunnelled(n, s) ||
	    h->hop == HOP_ROUTE)
		return;
	ip = nexthop_server_ip(s);
	if (!peer_same_host(&ip, &news->error->to))
		return;
	news->known = true;
	if (path_mtu_lower(&h->path, ip.family, news->error->mtu,
		n->wire->link.mtu, loop_now(n->loop)))
		log_debug("path mtu lowered server=%u address=%s mtu=%u",
		    s->number, peer_format_host(&ip, text), h->path.mtu);
}

bool
tunnels_on_error(struct tunnels *t, const struct frame *f)
{
	struct tunnel_error e;
	struct lower news = { .error = &e };

	if (!frame_read_tunnel_error(f, &e) ||
	    !token_bucket_take(&t->heard, loop_now(t->hops->loop)))
		return false;
	nexthops_each_server(t->hops, lower, &news);
	return news.known;
}

/* A packet that found no way beyond this machine: the next hop is gone. Others
 * who say so may be anybody. */
static bool
is_own_word(const struct route_error *e)
{
	struct route_path w;

	if (e->error != EHOSTUNREACH && e->error != ENETUNREACH)
		return false;
	return e->by.family == 0 ||
	    (route_ask(&e->to, &w) == 0 && peer_same_host(&w.from, &e->by));
}

struct noted {
	const struct route_error *error;
	bool gone;
};

static void
note_error(struct nexthops *n, struct server *s, void *arg)
{
	const struct noted *e = arg;
	struct nexthop *h = nexthops_known(n, s);
	uint64_t now = loop_now(n->loop);
	struct peer ip;

	if (h == NULL || s->addrs.count == 0 || h->hop != HOP_ROUTE)
		return;
	ip = nexthop_server_ip(s);
	if (!peer_same_host(&ip, &e->error->to))
		return;
	h->ask_s = 0;
	if (!e->gone || s->blacklisted_until > now)
		return;
	pool_failed(n->pool, s, strerror(e->error->error), now);
}

void
tunnels_tick(struct tunnels *t)
{
	struct route_error e;
	struct noted n = { .error = &e };
	unsigned i;

	if (t->route == NULL)
		return;
	for (i = 0; i < ERRORS && route_next_error(t->route, &e); i++) {
		n.gone = is_own_word(&e);
		nexthops_each_server(t->hops, note_error, &n);
	}
}

/* ---- life ---- */

static struct tunnels *
new_tunnels(struct nexthops *hops)
{
	struct tunnels *t = calloc(1, sizeof(*t));
	uint64_t now = loop_now(hops->loop);

	if (t == NULL)
		return NULL;
	t->hops = hops;
	t->wire = hops->wire;
	hash_key_init(&t->secret);
	token_bucket_init(&t->told, NEWS_RATE, NEWS_BURST, now);
	token_bucket_init(&t->heard, NEWS_RATE, NEWS_BURST, now);
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
	    "%.200s; tunnels by the kernel's route need raw sockets from the "
	    "start on; or set dsr_gateway",
	    why.text);
}

void
tunnels_free(struct tunnels *t)
{
	if (t != NULL)
		route_close(t->route);
	free(t);
}
