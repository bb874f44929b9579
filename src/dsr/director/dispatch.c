/* dispatch.c: see dispatch.h. */
#include "config.h"

#include <netinet/in.h>
#include <string.h>

#include "dsr/director/dispatch.h"

/* Whether another server can take over from one that is down: a connection that
 * begins, or a datagram, which any server may answer. */
static bool
has_nothing_yet(const struct frame *f)
{
	return f->protocol != IPPROTO_TCP ||
	    (f->tcp_flags & (FRAME_SYN | FRAME_ACK | FRAME_RST)) == FRAME_SYN;
}

/* Whether a flow has ended; it is remembered for its last frames. */
static bool
is_over(const struct dsr_flow *w)
{
	return w->state == DSR_FIN || w->state == DSR_CLOSE;
}

static struct peer
dispatch_client_of(const struct dsr_flow *w)
{
	struct peer who = { .family = w->key.family,
		.port = w->key.client_port };

	memcpy(who.ip, w->key.client, sizeof(who.ip));
	return who;
}

/* The server has one connection less, if the flow still counted. */
static void
on_flow_end(void *arg, struct dsr_flow *w)
{
	struct dispatch *d = arg;
	struct server *s = pool_slot(d->pool, w->server);
	struct attempts none = { .count = 0 };
	struct peer who = dispatch_client_of(w);

	fast_path_remove(&d->fast, w);
	if (s == NULL || w->learned)
		return;
	if (w->counts == DSR_COUNTS_AS_LOAD)
		pool_faded(s);
	if (w->counts == DSR_COUNTS)
		pool_closed(d->pool, s, &who, &none, w->bytes, 0);
	else
		pool_moved(d->pool, s, &who, &none, w->bytes, 0);
}

/* A flow counts in another way than before, as a connection of its server, as
 * load only, or not at all: the pool follows. */
static void
on_flow_count(void *arg, struct dsr_flow *w, enum dsr_counts was)
{
	struct dispatch *d = arg;
	struct server *s = pool_slot(d->pool, w->server);
	struct attempts none = { .count = 0 };
	struct peer who = dispatch_client_of(w);
	uint64_t now = loop_now(d->loop);

	if (s == NULL)
		return;
	if (was == DSR_COUNTS_AS_LOAD)
		pool_faded(s);
	else if (was == DSR_COUNTS)
		pool_idled(d->pool, s, &who, &none);
	if (w->counts == DSR_COUNTS_NOT)
		return;
	if (w->counts == DSR_COUNTS_AS_LOAD)
		pool_served(d->pool, s, &who, &none, now);
	else if (w->learned)
		pool_opened(d->pool, s, &who, &none, now);
	else
		pool_resumed(d->pool, s, &who, &none, now);
}

/* Counts a frame for its flow, whose state it may change. */
static void
dispatch_go_on(struct dispatch *d, struct dsr_flow *w, struct server *s,
    uint8_t tcp_flags, unsigned bytes)
{
	bool waits = w->state == DSR_SYN;

	dsr_flows_on_frame(&d->flows, w, tcp_flags, bytes, loop_now(d->loop));
	w->learned = 0;
	/* A client that repeats its SYN has had no answer. */
	if (waits && w->state == DSR_SYN)
		nexthops_probe(d->hops, s);
}

/* ---- choosing ---- */

/* Chooses until a server's next hop is not gone. No client has tried those that
 * are: they do not count for the setting `tries`. */
static struct server *
dispatch_choose_reachable(
    struct dispatch *d, const struct peer *who, struct attempts *attempts)
{
	uint64_t now = loop_now(d->loop);
	struct server *s;

	*attempts = (struct attempts){ .count = 0 };
	while ((s = pool_choose(d->pool, who, attempts, now)) != NULL &&
	    nexthops_is_gone(d->hops, s)) {
		attempts->given = 0;
		if (s->blacklisted_until == 0)
			pool_failed(d->pool, s, "no hardware address", now);
	}
	return s;
}

/* Whether the frame begins a connection or a flow of datagrams. Others belong
 * to one that is older than this director, or whose server is gone. Without a
 * memory of flows that cannot be known of datagrams. */
static bool
is_new(
    const struct dispatch *d, const struct frame *f, const struct dsr_flow *old)
{
	if (f->protocol == IPPROTO_TCP)
		return has_nothing_yet(f);
	return old == NULL && d->flows.max > 0;
}

/* The server of a new flow, or of one, `old`, that cannot keep its server.
 * `old` stays in the table as long as no other server can be chosen. */
static struct server *
dispatch_begin(
    struct dispatch *d, struct arrival *a, struct dsr_flow *old, unsigned bytes)
{
	uint64_t now = loop_now(d->loop);
	const struct frame *f = &a->frame;
	struct attempts attempts;
	const struct dsr_flow *w;
	struct server *s;

	if (d->draining && is_new(d, f, old))
		return NULL;
	s = dispatch_choose_reachable(d, &f->from, &attempts);
	if (s == NULL)
		return NULL;
	if (old != NULL)
		dsr_flows_remove(&d->flows, old);
	w = dsr_flows_add(
	    &d->flows, &a->key, a->hash, s->slot, f->tcp_flags, bytes, now);
	if (w == NULL || is_over(w))
		return s;
	if (w->counts == DSR_COUNTS)
		pool_opened(d->pool, s, &f->from, &attempts, now);
	else
		pool_served(d->pool, s, &f->from, &attempts, now);
	return s;
}

/* The server that the flow of a frame has, or gets. */
struct server *
dispatch_server(
    struct dispatch *d, struct arrival *a, const struct link_frame *l)
{
	struct dsr_flow *w = dsr_flows_find(&d->flows, &a->key, a->hash);
	struct server *s;

	if (w == NULL)
		return dispatch_begin(d, a, NULL, l->length);
	s = pool_slot(d->pool, w->server);
	if (!nexthops_may_go_on(d->hops, s) ||
	    dsr_flow_begins_again(w, a->frame.tcp_flags) ||
	    (pool_keeps_out(s) &&
		(has_nothing_yet(&a->frame) ||
		    pool_cuts_sessions(d->pool, s))))
		return dispatch_begin(d, a, w, l->length);
	dispatch_go_on(d, w, s, a->frame.tcp_flags, l->length);
	fast_path_on_frame(&d->fast, w, &a->frame, l);
	return s;
}

bool
dispatch_keeps(struct dispatch *d, const struct arrival *a)
{
	const struct dsr_flow *w;

	if (a->frame.protocol != IPPROTO_TCP ||
	    (a->frame.tcp_flags & FRAME_SYN) != 0)
		return false;
	w = dsr_flows_find(&d->flows, &a->key, a->hash);
	return w != NULL &&
	    nexthops_may_go_on(d->hops, pool_slot(d->pool, w->server));
}

struct server *
dispatch_choose(struct dispatch *d, const struct peer *client)
{
	struct attempts attempts;

	return dispatch_choose_reachable(d, client, &attempts);
}

bool
dispatch_is_by_address(const struct dispatch *d)
{
	return d->flows.max == 0 && !pool_options(d->pool)->hash_port;
}

static uint32_t
last_frame(void *arg, const struct dsr_flow *w)
{
	const struct dispatch *d = arg;

	return fast_path_last_frame(&d->fast, w);
}

/* Adds a flow that another director reports. It does not count yet: a few
 * frames here make it a normal flow, and until then it is evicted before
 * those. */
bool
dispatch_learn(struct dispatch *d, const struct dsr_report *r)
{
	uint64_t hash = dsr_flows_hash(&d->flows, &r->key);
	uint64_t now = loop_now(d->loop);
	struct dsr_flow *w = dsr_flows_find(&d->flows, &r->key, hash);

	if (w != NULL && !w->learned && !d->hops->vips->standby)
		return false;
	if (w != NULL && w->server == r->server) {
		dsr_flows_touch(&d->flows, w, now);
		return true;
	}
	if (w != NULL)
		dsr_flows_remove(&d->flows, w);
	w = dsr_flows_add(
	    &d->flows, &r->key, hash, r->server, FRAME_ACK, 0, now);
	if (w == NULL)
		return false;
	w->learned = 1;
	w->counts = DSR_COUNTS_NOT;
	return true;
}

bool
dispatch_restore(
    struct dispatch *d, const struct director_flow *f, const struct server *s)
{
	struct fast_path *fp = &d->fast;
	struct dsr_past past = f->past;
	struct attempts none = { .count = 0 };
	struct link_offloaded c;
	struct dsr_flow *w = NULL;
	uint64_t hash = dsr_flows_hash(&d->flows, &f->key);
	uint64_t now = loop_now(d->loop);
	struct peer who;

	past.offloaded = past.offloaded && fp->ops != NULL;
	if (s != NULL && dsr_flows_find(&d->flows, &f->key, hash) == NULL)
		w = dsr_flows_restore(
		    &d->flows, &f->key, hash, s->slot, &past, now);
	if (w == NULL) {
		if (past.offloaded)
			(void)fp->ops->remove(fp->link, &f->key, &c);
		return false;
	}
	fp->flows += w->offloaded;
	who = dispatch_client_of(w);
	if (w->counts == DSR_COUNTS)
		pool_opened(
		    d->pool, pool_slot(d->pool, s->slot), &who, &none, now);
	return true;
}

/* A TCP client that goes on has had an answer, unless its frames are forged:
 * peers get to know it. */
static void
on_flow_assured(void *arg, const struct dsr_flow *w)
{
	const struct dispatch *d = arg;
	struct attempts none = { .count = 0 };
	struct peer who = dispatch_client_of(w);

	if (w->key.protocol == IPPROTO_TCP)
		pool_proven(d->pool, &who, &none);
	if (d->on_flow != NULL)
		d->on_flow(d->on_flow_arg, w->number);
}

void
dispatch_open(struct dispatch *d)
{
	d->flows.on_assured = on_flow_assured;
	d->flows.on_end = on_flow_end;
	d->flows.on_count = on_flow_count;
	d->flows.last_frame = last_frame;
	d->flows.arg = d;
}

void
dispatch_fini(struct dispatch *d)
{
	fast_path_fini(&d->fast);
	dsr_flows_fini(&d->flows);
	dsr_fragments_fini(&d->fragments);
}
