/* director_tunnel.c: packets of frames in tunnels to servers.
 *
 *     frame --> pieces, when it was merged --> fits? --> outer header --> link
 *                                               |                    '--> route
 *                                               |--> may be cut: piece by piece
 *                                               '--> else its sender is told
 *
 * What may be cut is cut before it gets into the tunnel (RFC 2003, 5.1 leaves the
 * choice): the server puts it together once, where it belongs to, and names it as its
 * client did; cut outer packets of all clients would share one space of 65,536
 * names. IPv6 must get 1280 bytes through, even if they have to be cut outside
 * (RFC 2473, 7.1; RFC 4213, 3.2.1). */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "dsr/director/director_private.h"
#include "dsr/link/offload.h"
#include "dsr/segment/rate.h"
#include "dsr/tunnel/route.h"

enum {
	IP6_LEAST = 1280,
	PIECE = 65536 + FRAME_HEAD_MAX, /* a packet, as a frame */
	ARENA = 8 * PIECE,
	ERRORS = 64, /* of the kernel's, looked at in a row */
	/* A second: answers about what is too big, and such news that are
	 * looked at, each of which may be any server's. */
	NEWS_RATE = 1000,
	NEWS_BURST = 100
};

struct tunnels {
	struct route *route; /* NULL: not needed so far */
	struct rate told;    /* those who send what is too big */
	struct rate heard;   /* what is said to be too big for the path */
	uint64_t ids;	     /* names of outer packets that were made */
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

void
director_flush_tunnels(struct director *d)
{
	struct tunnels *t = d->tunnels;

	if (t->route != NULL)
		route_flush(t->route, &d->stats.dropped[DIRECTOR_SEND]);
	t->used = 0;
}

static unsigned char *
take(struct director *d, size_t room)
{
	struct tunnels *t = d->tunnels;
	unsigned char *at;

	if (ARENA - t->used < room)
		director_flush(d);
	at = t->arena + t->used;
	t->used += room;
	return at;
}

/* A frame of ours, of which nothing is left to be done. */
static void
put_frame(struct director *d, unsigned char *bytes, size_t length)
{
	d->out[d->out_n++] =
	    (struct link_frame){ .bytes = bytes, .length = (unsigned)length };
	if (d->out_n >= DIRECTOR_BATCH)
		director_flush(d);
}

/* ---- one packet that fits ---- */

static size_t
room_for(const struct frame *f)
{
	return FRAME_HEAD_MAX + frame_tunnel_adds(AF_INET6) + f->packet;
}

static void
put_on_route(struct director *d, const struct frame *f, const struct way *w)
{
	const unsigned char *inner = f->bytes + f->net;
	struct route_packet p = { .to = &w->tunnel.to,
		.bytes = inner,
		.length = f->packet,
		.family = f->family,
		.class = f->family == AF_INET
		    ? inner[1]
		    : (uint8_t)(inner[0] << 4 | inner[1] >> 4),
		.may_be_cut = w->tunnel.may_be_cut || frame_may_be_cut(f) };

	if (!w->waits) {
		p.bytes = take(d, f->packet);
		memcpy((void *)(uintptr_t)p.bytes, inner, f->packet);
	}
	route_send(d->tunnels->route, &p, &d->stats.dropped[DIRECTOR_SEND]);
	d->stats.tunnelled++;
}

static void
put_on_link(struct director *d, const struct frame *f, struct way *w)
{
	size_t room = room_for(f);
	unsigned char *out = take(d, room);
	size_t n;

	w->tunnel.id = (uint16_t)d->tunnels->ids++;
	n = frame_make_tunnel(out, room, &w->head, f, &w->tunnel);
	if (n == 0) {
		director_lose(d, DIRECTOR_BAD, f->length);
		return;
	}
	put_frame(d, out, n);
	d->stats.tunnelled++;
}

static void
put(struct director *d, const struct frame *f, struct way *w)
{
	if (w->route)
		put_on_route(d, f, w);
	else
		put_on_link(d, f, w);
}

/* ---- one that does not ---- */

static void
cut_inner(struct director *d, const struct frame *f, struct way *w)
{
	unsigned mtu =
	    w->mtu - (unsigned)frame_tunnel_adds(w->tunnel.to.family);
	unsigned char *cut = d->tunnels->cut;
	size_t done = 0, n;
	struct frame piece;

	w->waits = false;
	while ((n = frame_cut(cut, PIECE, f, mtu, 0, &done)) > 0) {
		frame_parse(&piece, cut, n);
		put(d, &piece, w);
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
cut_outer(struct director *d, const struct frame *f, struct way *w)
{
	size_t n, done = 0, room = FRAME_HEAD_MAX + (size_t)w->mtu;
	unsigned char *out, *cut = d->tunnels->cut;
	uint32_t id = next_id(d->tunnels);
	struct frame outer;

	w->tunnel.may_be_cut = true;
	if (w->route) {
		put_on_route(d, f, w);
		return;
	}
	w->tunnel.id = (uint16_t)id;
	n = frame_make_tunnel(cut, PIECE, &w->head, f, &w->tunnel);
	frame_parse(&outer, cut, n);
	for (;;) {
		out = take(d, room);
		n = frame_cut(out, room, &outer, w->mtu, id, &done);
		if (n == 0)
			break;
		put_frame(d, out, n);
	}
	d->stats.tunnelled++;
}

static void
tell_sender(
    struct director *d, const struct frame *f, size_t came, unsigned mtu)
{
	unsigned char *out;
	size_t n;

	tally_add(&d->stats.too_big, 1, came);
	if (!rate_pay(&d->tunnels->told, loop_now(d->loop)))
		return;
	out = take(d, FRAME_MADE_MAX);
	n = frame_make_too_big(out, FRAME_MADE_MAX, f, NULL, mtu);
	if (n > 0)
		put_frame(d, out, n);
}

/* Returns whether it went on its way. */
static bool
pass_on(struct director *d, const struct frame *f, struct way *w)
{
	unsigned mtu =
	    w->mtu - (unsigned)frame_tunnel_adds(w->tunnel.to.family);

	if (f->packet <= mtu)
		put(d, f, w);
	else if (frame_may_be_cut(f))
		cut_inner(d, f, w);
	else if (f->family == AF_INET6 && f->packet <= IP6_LEAST)
		cut_outer(d, f, w);
	else {
		tell_sender(d, f, w->came, mtu);
		return false;
	}
	return true;
}

/* ---- a frame ---- */

/* False: the next hop is not known. */
static bool
find_way(struct director *d, const struct server *s, struct way *w)
{
	const struct target *t = director_target(d, s);
	uint64_t now = loop_now(d->loop);

	*w = (struct way){ .waits = false };
	if (t == NULL || t->hop == HOP_NONE)
		return false;
	w->tunnel.to = t->ip;
	w->route = t->hop == HOP_ROUTE;
	if (w->route) {
		w->mtu = t->path.mtu;
		return d->tunnels->route != NULL;
	}
	w->mtu = path_mtu_get(&t->path, d->link.mtu, now);
	w->head.from = d->link.mac;
	w->head.vlan = d->vlan;
	return director_server_mac(d, s, &w->head.to) &&
	    director_own_ip(d, w->tunnel.to.family, &w->tunnel.from);
}

/* All pieces of a merged frame, up to one that is too big, as the others are: its
 * sender is told once. */
static bool
pass_on_pieces(struct director *d, const struct link_frame *l, unsigned pieces,
    struct way *w)
{
	unsigned char *bytes = d->tunnels->piece;
	struct way each;
	struct frame piece;
	unsigned i;
	size_t n;

	for (i = 0; i < pieces; i++) {
		n = offload_piece(bytes, PIECE, l, i);
		if (n == 0) {
			director_lose(d, DIRECTOR_BAD, l->length);
			return false;
		}
		frame_parse(&piece, bytes, n);
		each = *w;
		if (!pass_on(d, &piece, &each))
			return false;
	}
	return true;
}

bool
director_tunnel(struct director *d, const struct frame *f,
    const struct link_frame *l, const struct server *s)
{
	struct link_frame whole = *l;
	unsigned pieces = offload_pieces(l);
	struct way w;
	bool passed;

	if (!find_way(d, s, &w))
		return false;
	if (pieces == 0 ||
	    (pieces == 1 && l->offload.type == 0 && !offload_finish(&whole))) {
		director_lose(d, DIRECTOR_BAD, l->length);
		return true;
	}
	w.came = l->length;
	w.waits = l->offload.type == 0;
	passed = w.waits ? pass_on(d, f, &w) : pass_on_pieces(d, l, pieces, &w);
	if (passed) {
		d->stats.forwarded++;
		d->stats.forwarded_bytes += l->length;
	}
	return true;
}

/* ---- errors ---- */

struct lower {
	const struct tunnel_error *error;
	bool known; /* a server that has tunnels is there */
};

static void
lower(struct director *d, struct server *s, void *arg)
{
	struct lower *news = arg;
	struct target *t = director_known_target(d, s);
	struct peer ip;
	char text[PEER_TEXT_MAX];

	if (t == NULL || s->addrs.count == 0 || !director_is_tunnelled(d, s) ||
	    t->hop == HOP_ROUTE)
		return;
	ip = director_server_ip(s);
	if (!peer_same_host(&ip, &news->error->to))
		return;
	news->known = true;
	if (path_mtu_lower(&t->path, ip.family, news->error->mtu, d->link.mtu,
		loop_now(d->loop)))
		log_debug("path mtu lowered server=%u address=%s mtu=%u",
		    s->number, peer_format_host(&ip, text), t->path.mtu);
}

bool
director_on_tunnel_error(struct director *d, const struct frame *f)
{
	struct tunnel_error e;
	struct lower news = { .error = &e };

	if (d->tunnels == NULL || !frame_read_tunnel_error(f, &e) ||
	    !rate_pay(&d->tunnels->heard, loop_now(d->loop)))
		return false;
	director_each_server(d, lower, &news);
	return news.known;
}

/* A packet that found no way beyond this machine: the next hop is gone. Others who
 * say so may be anybody. */
static bool
is_own_word(const struct route_error *e)
{
	struct route_way w;

	if (e->error != EHOSTUNREACH && e->error != ENETUNREACH)
		return false;
	return e->by.family == 0 ||
	    (route_ask(&e->to, &w) == 0 && peer_same_host(&w.from, &e->by));
}

struct heard {
	const struct route_error *error;
	bool gone;
};

static void
hear(struct director *d, struct server *s, void *arg)
{
	const struct heard *h = arg;
	struct target *t = director_known_target(d, s);
	uint64_t now = loop_now(d->loop);
	struct peer ip;

	if (t == NULL || s->addrs.count == 0 || t->hop != HOP_ROUTE)
		return;
	ip = director_server_ip(s);
	if (!peer_same_host(&ip, &h->error->to))
		return;
	t->ask_s = 0;
	if (!h->gone || s->blacklisted_until > now)
		return;
	log_warn("server failed server=%u name=%s error=\"%s\"", s->number,
	    s->name, strerror(h->error->error));
	pool_failed(d->pool, s, now);
}

void
director_tick_tunnels(struct director *d, uint64_t now)
{
	struct route_error e;
	struct heard h = { .error = &e };
	unsigned i;

	(void)now;
	if (d->tunnels == NULL || d->tunnels->route == NULL)
		return;
	for (i = 0; i < ERRORS && route_next_error(d->tunnels->route, &e);
	     i++) {
		h.gone = is_own_word(&e);
		director_each_server(d, hear, &h);
	}
}

/* ---- life ---- */

static struct tunnels *
new_tunnels(uint64_t now)
{
	struct tunnels *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	hash_key_init(&t->secret);
	rate_init(&t->told, NEWS_RATE, NEWS_BURST, now);
	rate_init(&t->heard, NEWS_RATE, NEWS_BURST, now);
	return t;
}

int
director_prepare_forward(
    struct director *d, const struct director_forward *f, struct error *e)
{
	struct error why;

	if (!f->tunnels)
		return 0;
	if (d->tunnels == NULL &&
	    (d->tunnels = new_tunnels(loop_now(d->loop))) == NULL)
		return error_set(e, "out of memory");
	if (f->has_gateway_mac || f->gateway.family != 0 ||
	    d->tunnels->route != NULL)
		return 0;
	d->tunnels->route = route_open(&why);
	if (d->tunnels->route != NULL)
		return 0;
	return error_set(e,
	    "%.200s; tunnels by the kernel's route want raw sockets from the "
	    "start on, else there is dsr_gateway",
	    why.text);
}

void
director_set_forward(struct director *d, const struct director_forward *f)
{
	d->forward = *f;
	director_ask_all(d);
	director_set_gates(d);
}

void
director_close_tunnels(struct director *d)
{
	if (d->tunnels != NULL)
		route_close(d->tunnels->route);
	free(d->tunnels);
}
