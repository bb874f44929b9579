/* director.c: a frame comes in, a server is chosen, the frame goes out. */
#include "config.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dsr/director/director_private.h"
#include "dsr/link/busy_poll.h"
#include "dsr/open/link_open.h"

/* What time does: how often, and flows that end at once. */
enum { TICK_MS = 250, SOON_MS = 1, EXPIRE = 1000, FRAGMENTS = 4096 };

/* ---- kinds of frames ---- */

static void
director_drop_frame(
    struct director *d, enum director_drop why, const struct link_frame *l)
{
	wire_drop(&d->forward.wire, why, l->length);
}

static struct dsr_fragment_key
fragment_key(const struct frame *f)
{
	struct dsr_fragment_key key;

	dsr_fragment_key_make(
	    &key, &f->from, &f->to, f->protocol, f->fragment_id);
	return key;
}

/* Fragments that came before the first one, which is in the queue. The link
 * needs the bytes until a flush. */
static void
forward_early(struct director *d, const struct dsr_fragment_key *key,
    const struct server *s)
{
	struct link_frame l;
	struct frame f;

	forward_flush(&d->forward);
	while (early_take(&d->early, key, loop_now(d->loop), &l)) {
		frame_parse(&f, l.bytes, l.length);
		forward_frame(&d->forward, &f, &l, s);
		forward_flush(&d->forward);
		free(l.bytes);
	}
}

/* The other fragments of the packet, which have no ports, go to its server,
 * too. */
static void
forward_whole(struct director *d, struct frame *f, const struct link_frame *l,
    const struct server *s)
{
	struct dsr_fragment_key key;

	if (s == NULL || !f->first_fragment) {
		forward_frame(&d->forward, f, l, s);
		return;
	}
	key = fragment_key(f);
	dsr_fragments_add(
	    &d->dispatch.fragments, &key, s->slot, loop_now(d->loop));
	forward_frame(&d->forward, f, l, s);
	if (d->early.count > 0)
		forward_early(d, &key, s);
}

static void
on_flow_frame(struct director *d, struct arrival *a, const struct link_frame *l)
{
	struct frame *f = &a->frame;
	struct server *s;

	/* for an address or a port that is not served */
	if (!vips_serve(&d->vips, f) && !dispatch_keeps(&d->dispatch, a)) {
		if (!checks_on_frame(&d->checks, f, l) &&
		    !tarpit_net_on_flow(
			&d->tarpit, f, (l->offload.flags & LINK_CHECKSUM) != 0))
			director_drop_frame(d, DIRECTOR_OTHER, l);
		return;
	}
	/* A server without the VIP that forwards packets sends it back. */
	if (checks_is_own_request(&d->checks, f)) {
		director_drop_frame(d, DIRECTOR_OTHER, l);
		return;
	}
	director_note_vlan(d, f);
	s = dispatch_server(&d->dispatch, a, l);
	forward_whole(d, f, l, s);
}

static void
on_fragment(struct director *d, struct frame *f, const struct link_frame *l)
{
	struct dsr_fragment_key key = fragment_key(f);
	uint64_t now = loop_now(d->loop);
	uint32_t number;

	if (dsr_fragments_find(&d->dispatch.fragments, &key, now, &number))
		forward_frame(&d->forward, f, l, pool_slot(d->pool, number));
	else if (!vips_have_address(&d->vips, &f->to))
		director_drop_frame(d, DIRECTOR_OTHER, l);
	else if (dispatch_is_by_address(&d->dispatch))
		forward_frame(
		    &d->forward, f, l, dispatch_choose(&d->dispatch, &f->from));
	else if (!early_add(&d->early, &key, l, now,
		     &d->forward.wire.stats.dropped[DIRECTOR_FRAGMENT]))
		director_drop_frame(d, DIRECTOR_FRAGMENT, l);
}

/* An ICMP error about a flow goes to its server, which may lower its path MTU.
 * Without a memory of flows the hash chooses the same server again. */
static void
on_error_frame(
    struct director *d, struct arrival *a, const struct link_frame *l)
{
	const struct dsr_flow *w =
	    dsr_flows_find(&d->dispatch.flows, &a->key, a->hash);

	if (w == NULL && !vips_serve(&d->vips, &a->frame))
		director_drop_frame(d, DIRECTOR_OTHER, l);
	else
		forward_frame(&d->forward, &a->frame, l,
		    w != NULL ? pool_slot(d->pool, w->server)
			      : dispatch_choose(&d->dispatch, &a->frame.from));
}

static void
on_icmp(struct director *d, struct frame *f, const struct link_frame *l)
{
	struct server *s;

	/* A ping of a VIP is any server's to answer. */
	if (vips_have_address(&d->vips, &f->to)) {
		s = dispatch_choose(&d->dispatch, &f->from);
		forward_whole(d, f, l, s);
	} else if (d->forward.tunnels == NULL ||
	    !tunnels_on_error(d->forward.tunnels, f)) {
		director_drop_frame(d, DIRECTOR_OTHER, l);
	}
}

/* ARP, or NDP that may be other than a solicitation or advertisement. */
static void
on_neighbor(
    struct director *d, const struct frame *f, const struct link_frame *l)
{
	struct who_has m;

	if (!who_has_read(f, &m)) {
		director_drop_frame(d, DIRECTOR_OTHER, l);
		return;
	}
	/* The tag comes first: neighbours ignore messages with another one. */
	director_learn_vlan(d, f, &m);
	director_note_claim(d, &m);
	tarpit_net_on_message(&d->tarpit, &m);
	neighbors_on_message(&d->forward.hops.neighbors, &m, loop_now(d->loop));
}

/* A broadcast with an IP address of one machine: hosts must not take it (RFC
 * 1122, 3.3.6), and several directors may receive it. ARP and NDP do use
 * broadcasts. */
static bool
is_stray_broadcast(const struct frame *f)
{
	return (f->bytes[0] & 1) && f->kind != FRAME_ARP &&
	    f->kind != FRAME_NDP;
}

/* A switch or router may send a query there. */
static void
on_stray(struct director *d, const struct frame *f, const struct link_frame *l)
{
	struct mld_query q;

	if (frame_read_mld_query(f, &q))
		groups_on_query(
		    &d->forward.hops.groups, &q, f->vlan, loop_now(d->loop));
	else
		director_drop_frame(d, DIRECTOR_OTHER, l);
}

/* The frame is for the director that has the VIPs now. */
static bool
is_of_another(const struct director *d, const struct frame *f)
{
	return d->vips.standby && f->kind != FRAME_ARP &&
	    f->kind != FRAME_NDP && vips_have_address(&d->vips, &f->to);
}

static void
director_on_frame(
    struct director *d, struct arrival *a, const struct link_frame *l)
{
	if (a->frame.kind != FRAME_BAD && is_stray_broadcast(&a->frame)) {
		on_stray(d, &a->frame, l);
		return;
	}
	if (a->frame.kind != FRAME_BAD && is_of_another(d, &a->frame)) {
		director_drop_frame(d, DIRECTOR_OTHER, l);
		return;
	}
	switch (a->frame.kind) {
	case FRAME_FLOW:
		on_flow_frame(d, a, l);
		break;
	case FRAME_FRAGMENT:
		on_fragment(d, &a->frame, l);
		break;
	case FRAME_ERROR:
		on_error_frame(d, a, l);
		break;
	case FRAME_ICMP:
		on_icmp(d, &a->frame, l);
		break;
	case FRAME_ARP:
	case FRAME_NDP:
		on_neighbor(d, &a->frame, l);
		break;
	case FRAME_BAD:
		director_drop_frame(d, DIRECTOR_BAD, l);
		break;
	case FRAME_OTHER:
		director_drop_frame(d, DIRECTOR_OTHER, l);
		break;
	}
}

/* ---- batches ---- */

static bool
has_flow(const struct frame *f)
{
	return f->kind == FRAME_FLOW || f->kind == FRAME_ERROR;
}

/* Handles a batch. All frames are parsed and their flows prefetched before the
 * first is handled, so that cache misses overlap. */
static void
on_batch(struct director *d, const struct link_frame *list, unsigned n)
{
	struct arrival a[WIRE_BATCH];
	unsigned i;

	for (i = 0; i < n; i++) {
		frame_parse(&a[i].frame, list[i].bytes, list[i].length);
		d->forward.wire.stats.received_bytes += list[i].length;
		if (!has_flow(&a[i].frame))
			continue;
		dsr_key_make(&a[i].key, &a[i].frame.from, &a[i].frame.to,
		    a[i].frame.protocol);
		a[i].hash = dsr_flows_hash(&d->dispatch.flows, &a[i].key);
		dsr_flows_expect(&d->dispatch.flows, a[i].hash);
	}
	d->forward.wire.stats.received += n;
	for (i = 0; i < n; i++)
		if (has_flow(&a[i].frame))
			dsr_flows_expect_flow(&d->dispatch.flows, a[i].hash);
	for (i = 0; i < n; i++)
		director_on_frame(d, &a[i], &list[i]);
	forward_flush(&d->forward);
	/* A reply in this batch made a MAC known: pending frames can go. */
	if (d->forward.hops.resolved) {
		fast_path_refresh(&d->dispatch.fast);
		forward_release(&d->forward);
	}
}

/* Opening it again would need rights that were given up. The process that
 * starts this one has them, and notices its end. */
static void
director_end(struct director *d)
{
	if (d->ended)
		return;
	log_error("interface removed, pen exits interface=%s",
	    d->forward.wire.link.name);
	d->ended = true;
	watch_stop(d->loop, &d->watch);
	loop_stop(d->loop);
}

/* Whether to poll for frames once more, n of which came in the last poll,
 * before anything else; may sleep for 50 us. */
static bool
director_polls_on(const struct director *d, struct busy_poll *p, int n)
{
	switch (busy_poll_after(p, n, WIRE_BATCH, d->pauses)) {
	case BUSY_POLL_ENOUGH:
		return false;
	case BUSY_POLL_AGAIN:
		return true;
	case BUSY_POLL_PAUSE:
		busy_poll_pause();
		break;
	case BUSY_POLL_IF_ANY:
		break;
	}
	return link_has_more(&d->forward.wire.link);
}

static void
director_on_ready(struct watch *w, unsigned ready)
{
	struct director *d = container_of(w, struct director, watch);
	struct link_frame list[WIRE_BATCH];
	struct busy_poll poll = { 0 };
	int n, error = 0;

	(void)ready;
	do {
		n = link_receive(&d->forward.wire.link, list, WIRE_BATCH);
		if (n < 0)
			error = errno;
		nexthops_note_link(&d->forward.hops,
		    error != 0 ? strerror(error) : "no carrier");
		if (n > 0)
			on_batch(d, list, (unsigned)n);
		link_release(&d->forward.wire.link);
	} while (director_polls_on(d, &poll, n));
	if (error == ENODEV)
		director_end(d);
}

/* The interface has got another MAC: the filter passes frames to it, and the
 * segment learns it. */
static void
follow_mac(struct director *d)
{
	struct link *l = &d->forward.wire.link;
	struct neighbors *n = &d->forward.hops.neighbors;
	struct link_filter filter =
	    tarpit_net_filter(&d->tarpit, d->vips.list, d->vips.count);
	char now[MAC_TEXT_MAX], prev[MAC_TEXT_MAX];
	struct error e;

	if (mac_equal(&l->mac, &n->options.mac))
		return;
	log_warn("hardware address changed interface=%s mac=%s prev=%s",
	    l->name, mac_format(&l->mac, now),
	    mac_format(&n->options.mac, prev));
	n->options.mac = d->tarpit.tarpit.options.mac = l->mac;
	if (link_set_filter(l, &filter, &e) < 0)
		log_error("%s", e.text);
	nexthops_announce(&d->forward.hops);
}

static void
director_on_tick(struct timer *t)
{
	struct director *d = container_of(t, struct director, tick);
	uint64_t now = loop_now(d->loop);
	bool more;

	link_refresh(&d->forward.wire.link);
	if (d->forward.wire.link.gone) {
		director_end(d);
		return;
	}
	follow_mac(d);
	vip_locks_drain(&d->vips.locks);
	nexthops_note_link(&d->forward.hops, "no carrier");
	director_try_vlan(d);
	nexthops_tick(&d->forward.hops, now);
	fast_path_refresh(&d->dispatch.fast);
	director_note_traffic(d, now);
	if (d->forward.tunnels != NULL)
		tunnels_tick(d->forward.tunnels);
	forward_tick(&d->forward, now);
	early_expire(
	    &d->early, now, &d->forward.wire.stats.dropped[DIRECTOR_FRAGMENT]);
	checks_tick(&d->checks);
	/* A portion at a time, so that frames need not wait. */
	more = dsr_flows_expire(&d->dispatch.flows, now, EXPIRE) == EXPIRE;
	more |=
	    dsr_flows_stop_counting(&d->dispatch.flows, now, EXPIRE) == EXPIRE;
	(void)timer_start(d->loop, t, more ? SOON_MS : TICK_MS);
}

/* ---- life ---- */

void
director_join(struct director *d, struct loop *l, struct pool *p)
{
	struct forward *fw = &d->forward;

	d->loop = fw->loop = fw->hops.loop = l;
	d->pool = fw->pool = fw->hops.pool = p;
	fw->hops.wire = &fw->wire;
	fw->hops.vips = &d->vips;
	fw->hops.flows = &d->dispatch.flows;
	fw->hops.groups.neighbors = &fw->hops.neighbors;
	d->dispatch.loop = d->dispatch.fast.loop = l;
	d->dispatch.pool = d->dispatch.fast.pool = p;
	d->dispatch.hops = &fw->hops;
	d->dispatch.fast.link = &fw->wire.link;
	d->dispatch.fast.hops = &fw->hops;
	d->dispatch.fast.vips = &d->vips;
	d->checks.loop = l;
	d->checks.pool = p;
	d->checks.forward = fw;
	d->checks.vips = &d->vips;
	d->tarpit.hops = &fw->hops;
	d->tarpit.vips = &d->vips;
}

static int
director_open_all(
    struct director *d, const struct director_options *o, struct error *e)
{
	struct forward *fw = &d->forward;
	struct link_filter filter =
	    tarpit_net_filter(&d->tarpit, d->vips.list, d->vips.count);
	struct link *l = &fw->wire.link;

	filter.fast = o->fast;
	filter.fast_flows = fast_path_most(o);
	filter.past = o->past;
	if (dsr_flows_init(&d->dispatch.flows, (uint32_t)o->flows) < 0 ||
	    dsr_fragments_init(&d->dispatch.fragments, FRAGMENTS) < 0 ||
	    checks_open(&d->checks) < 0)
		return error_set(e, "out of memory");
	dispatch_open(&d->dispatch);
	if (link_open(l, o->link, o->interface, &filter, e) < 0)
		return -1;
	d->open = true;
	fast_path_open(&d->dispatch.fast);
	if (tunnels_prepare(&fw->tunnels, &fw->hops, &o->forward, e) < 0)
		return -1;
	fw->hops.forward = o->forward;
	fw->hops.announce = o->announce;
	return nexthops_open(&fw->hops, e);
}

struct director *
director_new(struct loop *l, struct pool *p, const struct director_options *o,
    const struct peer *list, unsigned count, struct error *e)
{
	struct director *d = calloc(1, sizeof(*d));

	if (d == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	director_join(d, l, p);
	d->user = o->user;
	d->ifindex = if_nametoindex(o->interface);
	watch_init(&d->watch);
	timer_init(&d->tick, director_on_tick);
	vips_init(&d->vips, o->ip, o->udp_only);
	director_set_role(d, o->standby, loop_now(l));
	traffic_start(&d->traffic, loop_now(l));
	if (o->past != NULL &&
	    vip_locks_import(&d->vips.locks, o->past->fd, o->past->count) < 0)
		error_set(e, "out of memory");
	else if (director_set_vips(d, list, count, e) == 0 &&
	    director_open_all(d, o, e) == 0)
		return d;
	director_free(d);
	return NULL;
}

/* Requests that were sent before were dropped, or their replies went to the
 * other process. */
static int
director_take(struct director *d, struct error *e)
{
	struct link_filter filter =
	    tarpit_net_filter(&d->tarpit, d->vips.list, d->vips.count);

	if (link_take(&d->forward.wire.link, &filter, e) < 0)
		return -1;
	vip_locks_own(&d->vips.locks);
	if (!d->forward.hops.no_carrier)
		nexthops_resume(&d->forward.hops);
	fast_path_take(&d->dispatch.fast);
	return checks_go_on(&d->checks, e);
}

int
director_start(struct director *d, struct error *e)
{
	if (d->forward.wire.link.paused && director_take(d, e) < 0)
		return -1;
	/* Not before: another director may have the VIPs until this one can
	 * serve them. */
	nexthops_set_vips(&d->forward.hops, NULL, 0);
	d->pauses = busy_poll_can_pause();
	if (timer_start(d->loop, &d->tick, TICK_MS) < 0 ||
	    watch_start(d->loop, &d->watch, d->forward.wire.link.fd,
		READY_READ | WATCH_LEVEL, director_on_ready) < 0)
		return error_set(e, "cannot watch the interface");
	return 0;
}

void
director_free(struct director *d)
{
	if (d == NULL)
		return;
	timer_fini(&d->tick);
	if (d->open) {
		watch_stop(d->loop, &d->watch);
		nexthops_close(&d->forward.hops);
		tarpit_net_fini(&d->tarpit);
		link_close(&d->forward.wire.link);
	}
	forward_fini(&d->forward);
	early_fini(&d->early);
	checks_close(&d->checks);
	dispatch_fini(&d->dispatch);
	vips_fini(&d->vips);
	free(d);
}
