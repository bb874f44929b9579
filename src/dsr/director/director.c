/* director.c: a frame comes in, a server is chosen, the frame goes out. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dsr/director/director_private.h"

/* What time does: how often, and flows that end at once. */
enum { TICK_MS = 250, SOON_MS = 1, EXPIRE = 1000, FRAGMENTS = 4096 };

/* ---- out ---- */

void
director_flush(struct director *d)
{
	int sent;
	unsigned i;

	if (d->tunnels != NULL)
		director_flush_tunnels(d);
	if (d->out_n == 0)
		return;
	sent = link_send(&d->link, d->out, d->out_n);
	if (sent < 0)
		sent = 0;
	for (i = (unsigned)sent; i < d->out_n; i++)
		director_lose(d, DIRECTOR_SEND, d->out[i].length);
	d->out_n = 0;
}

bool
director_pass(struct director *d, struct frame *f, const struct link_frame *l,
    const struct server *s)
{
	struct mac to;

	if (d->tunnels != NULL && director_is_tunnelled(d, s))
		return director_tunnel(d, f, l, s);
	if (!director_server_mac(d, s, &to))
		return false;
	frame_set_macs(f, &to, &d->link.mac);
	d->out[d->out_n] = *l;
	d->out[d->out_n++].bytes = f->bytes;
	d->stats.forwarded++;
	d->stats.forwarded_bytes += l->length;
	return true;
}

bool
director_send(struct director *d, const struct server *s, unsigned char *bytes,
    size_t length)
{
	struct link_frame l = { .bytes = bytes, .length = (unsigned)length };
	struct frame f;

	frame_parse(&f, bytes, length);
	if (!director_pass(d, &f, &l, s))
		return false;
	director_flush(d);
	return true;
}

void
director_send_own(void *arg, const unsigned char *bytes, size_t length)
{
	struct director *d = arg;
	struct link_frame l = { .bytes = (unsigned char *)(uintptr_t)bytes,
		.length = (unsigned)length };

	if (link_send(&d->link, &l, 1) == 1)
		d->stats.answered++;
	else
		director_lose(d, DIRECTOR_SEND, length);
}

/* ---- kinds of frames ---- */

static void
send_to(struct director *d, struct frame *f, const struct link_frame *l,
    const struct server *s)
{
	if (s == NULL)
		director_lose(d, DIRECTOR_NO_SERVER, l->length);
	else if (!director_pass(d, f, l, s))
		director_hold(d, f, l, s);
}

/* A server that has not the address but passes packets on sends a probe's question
 * back: another server must not answer it. */
static bool
is_question_of_ours(const struct director *d, const struct frame *f)
{
	return d->check.on && director_is_own(d, &f->from);
}

static void
on_flow_frame(struct director *d, struct arrival *a, const struct link_frame *l)
{
	struct frame *f = &a->frame;
	struct dsr_fragment_key key;
	struct server *s;

	if (!director_serves(d, f) && !director_keeps(d, a)) {
		if (!director_on_probe(d, f, l) &&
		    !director_tarpit_on_flow(
			d, f, (l->offload.flags & LINK_CHECKSUM) != 0))
			director_lose(d, DIRECTOR_OTHER, l->length);
		return;
	}
	if (is_question_of_ours(d, f)) {
		director_lose(d, DIRECTOR_OTHER, l->length);
		return;
	}
	director_note_vlan(d, f);
	s = director_server_for(d, a, l);
	if (s != NULL && f->first_fragment) {
		dsr_fragment_key_make(
		    &key, &f->from, &f->to, f->protocol, f->fragment_id);
		dsr_flows_first_fragment(
		    &d->flows, &key, s->slot, loop_now(d->loop));
	}
	send_to(d, f, l, s);
}

static void
on_fragment(struct director *d, struct frame *f, const struct link_frame *l)
{
	struct dsr_fragment_key key;
	uint32_t number;

	dsr_fragment_key_make(
	    &key, &f->from, &f->to, f->protocol, f->fragment_id);
	if (dsr_flows_fragment(&d->flows, &key, &number, loop_now(d->loop)))
		send_to(d, f, l, pool_slot(d->pool, number));
	else
		director_lose(d, DIRECTOR_FRAGMENT, l->length);
}

/* News about a flow go to its server; without a memory of flows the choice is the
 * same again. */
static void
on_error_frame(
    struct director *d, struct arrival *a, const struct link_frame *l)
{
	const struct dsr_flow *w = dsr_flows_find(&d->flows, &a->key, a->hash);

	if (w == NULL && !director_serves(d, &a->frame))
		director_lose(d, DIRECTOR_OTHER, l->length);
	else
		send_to(d, &a->frame, l,
		    w != NULL ? pool_slot(d->pool, w->server)
			      : director_choose(d, &a->frame.from));
}

static void
on_icmp(struct director *d, struct frame *f, const struct link_frame *l)
{
	if (director_has_address(d, &f->to))
		send_to(d, f, l, director_choose(d, &f->from));
	else if (!director_on_tunnel_error(d, f))
		director_lose(d, DIRECTOR_OTHER, l->length);
}

/* Sent to all, or to a group, while an address of IP is one machine's: not for
 * hosts to take (RFC 1122, 3.3.6), least of all where several directors hear it.
 * Neighbours do ask that way. */
static bool
is_out_of_place(const struct frame *f)
{
	return (f->bytes[0] & 1) && f->kind != FRAME_ARP &&
	    f->kind != FRAME_NDP;
}

static void
on_frame(struct director *d, struct arrival *a, const struct link_frame *l)
{
	if (a->frame.kind != FRAME_BAD && is_out_of_place(&a->frame)) {
		director_lose(d, DIRECTOR_OTHER, l->length);
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
		director_on_neighbor(d, &a->frame);
		break;
	case FRAME_BAD:
		director_lose(d, DIRECTOR_BAD, l->length);
		break;
	case FRAME_OTHER:
		director_lose(d, DIRECTOR_OTHER, l->length);
		break;
	}
}

/* ---- batches ---- */

static bool
has_flow(const struct frame *f)
{
	return f->kind == FRAME_FLOW || f->kind == FRAME_ERROR;
}

/* All are parsed and their flows fetched before the first is looked at, so that
 * waits for memory overlap. */
static void
on_batch(struct director *d, const struct link_frame *list, unsigned n)
{
	struct arrival a[DIRECTOR_BATCH];
	unsigned i;

	for (i = 0; i < n; i++) {
		frame_parse(&a[i].frame, list[i].bytes, list[i].length);
		d->stats.received_bytes += list[i].length;
		if (!has_flow(&a[i].frame))
			continue;
		dsr_key_make(&a[i].key, &a[i].frame.from, &a[i].frame.to,
		    a[i].frame.protocol);
		a[i].hash = dsr_flows_hash(&d->flows, &a[i].key);
		dsr_flows_expect(&d->flows, a[i].hash);
	}
	d->stats.received += n;
	for (i = 0; i < n; i++)
		if (has_flow(&a[i].frame))
			dsr_flows_expect_flow(&d->flows, a[i].hash);
	for (i = 0; i < n; i++)
		on_frame(d, &a[i], &list[i]);
	director_flush(d);
	if (d->news) {
		director_set_gates(d);
		director_release(d);
	}
}

/* Opening it again would need rights that are gone: whoever starts this process has
 * them, and hears of it by its end. */
static void
end(struct director *d)
{
	if (d->ended)
		return;
	log_error(
	    "interface is gone, so this is the end interface=%s", d->link.name);
	d->ended = true;
	watch_stop(d->loop, &d->watch);
	loop_stop(d->loop);
}

static void
on_ready(struct watch *w, unsigned ready)
{
	struct director *d = container_of(w, struct director, watch);
	struct link_frame list[DIRECTOR_BATCH];
	struct pace pace = { 0 };
	int n, error = 0;

	(void)ready;
	do {
		n = link_receive(&d->link, list, DIRECTOR_BATCH);
		if (n < 0)
			error = errno;
		director_note_link(
		    d, error != 0 ? strerror(error) : "no carrier");
		if (n > 0)
			on_batch(d, list, (unsigned)n);
		link_release(&d->link);
	} while (director_goes_on(d, &pace, n));
	/* once: a tick that is put off each time would never come */
	if (d->link.waits && !d->soon)
		d->soon = timer_start(d->loop, &d->tick, SOON_MS) == 0;
	if (error == ENODEV)
		end(d);
}

static void
on_tick(struct timer *t)
{
	struct director *d = container_of(t, struct director, tick);
	uint64_t now = loop_now(d->loop);
	bool more;

	link_look(&d->link);
	if (d->link.gone) {
		end(d);
		return;
	}
	place_locks_drain(&d->locks);
	director_note_link(d, "no carrier");
	director_tick_neighbors(d, now);
	director_set_gates(d);
	director_tick_tunnels(d, now);
	director_tick_held(d, now);
	director_tick_probes(d);
	more = dsr_flows_expire(&d->flows, now, EXPIRE) == EXPIRE;
	d->soon = more || d->link.waits;
	(void)timer_start(d->loop, t, d->soon ? SOON_MS : TICK_MS);
}

/* ---- life ---- */

static int
open_all(struct director *d, const struct director_options *o, struct error *e)
{
	struct link_filter filter = director_filter(d, d->places, d->count);

	if (o->fast)
		filter.fast_flows = director_fast_most(o);
	if (dsr_flows_init(&d->flows, (uint32_t)o->flows, FRAGMENTS) < 0)
		return error_set(e, "out of memory");
	director_open_flows(d);
	if (director_open_probes(d) < 0)
		return error_set(e, "out of memory");
	if (link_open(&d->link, o->link, o->interface, &filter, e) < 0)
		return -1;
	d->open = true;
	director_open_fast(d);
	if (director_prepare_forward(d, &o->forward, e) < 0)
		return -1;
	d->forward = o->forward;
	return director_open_neighbors(d, e);
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
	d->loop = l;
	d->pool = p;
	d->options = *o;
	watch_init(&d->watch);
	timer_init(&d->tick, on_tick);
	director_set_own(d);
	if (director_set_places(d, list, count, e) == 0 &&
	    open_all(d, o, e) == 0)
		return d;
	director_free(d);
	return NULL;
}

int
director_start(struct director *d)
{
	director_set_vips(d, NULL, 0);
	director_open_pace(d);
	if (timer_start(d->loop, &d->tick, TICK_MS) < 0)
		return -1;
	return watch_start(
	    d->loop, &d->watch, d->link.fd, READY_READ | WATCH_LEVEL, on_ready);
}

void
director_free(struct director *d)
{
	if (d == NULL)
		return;
	timer_fini(&d->tick);
	director_close_fast(d);
	if (d->open) {
		watch_stop(d->loop, &d->watch);
		director_close_neighbors(d);
		director_tarpit_close(d);
		link_close(&d->link);
	}
	director_close_tunnels(d);
	held_fini(&d->held);
	director_close_probes(d);
	dsr_flows_fini(&d->flows);
	place_locks_free(&d->locks);
	free(d->places);
	free(d);
}

/* ---- what control asks ---- */

bool
director_has_ended(const struct director *d)
{
	return d->ended;
}

const struct director_stats *
director_stats(const struct director *d)
{
	return &d->stats;
}

const struct dsr_flows *
director_flows(const struct director *d)
{
	return &d->flows;
}

const char *
director_link(const struct director *d)
{
	return d->link.ops->name;
}

void
director_link_counters(const struct director *d, struct link_counters *c)
{
	const struct link_counters *now = &d->link.count,
				   *old = &d->link_cleared;

	*c = (struct link_counters){
		.received = now->received - old->received,
		.sent = now->sent - old->sent,
		.merged = now->merged - old->merged,
		.missed = now->missed - old->missed,
		.cut = now->cut - old->cut,
		.refused = now->refused - old->refused,
		.too_long = now->too_long - old->too_long,
	};
}

void
director_clear_counters(struct director *d)
{
	d->stats = (struct director_stats){ .received = 0 };
	d->tarpit.stats = (struct tarpit_stats){ .arp = 0 };
	d->neighbors.stats = (struct neighbors_stats){ .questions = 0 };
	d->flows.stats = (struct dsr_flows_stats){ .peak = d->flows.count };
	d->link_cleared = d->link.count;
	if (d->link.fast != NULL)
		d->fast_cleared = d->link.fast->totals(&d->link);
}

const struct neighbors *
director_neighbors(const struct director *d)
{
	return &d->neighbors;
}

const char *
director_link_mode(const struct director *d)
{
	return d->link.mode;
}

struct mac
director_mac(const struct director *d)
{
	return d->link.mac;
}
