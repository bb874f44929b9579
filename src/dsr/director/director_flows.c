/* director_flows.c: which server a flow gets, and what servers count of it. */
#include "config.h"

#include <netinet/in.h>
#include <string.h>

#include "dsr/director/director_private.h"

bool
director_may_go_on(const struct director *d, const struct server *s)
{
	if (s == NULL || s->admin == SERVER_DISABLED)
		return false;
	return pool_may_stay(d->pool, s, loop_now(d->loop)) ||
	    !director_server_stays_gone(d, s);
}

/* What an unhealthy server need not go on with: a connection that is not there yet,
 * or a datagram, which another server knows as little about as this one. */
static bool
has_nothing_yet(const struct frame *f)
{
	return f->protocol != IPPROTO_TCP ||
	    (f->tcp_flags & (FRAME_SYN | FRAME_ACK | FRAME_RST)) == FRAME_SYN;
}

/* Flows that have said goodbye are remembered for their last frames; they are no
 * load, and the server does not have them in its count. */
static bool
is_over(const struct dsr_flow *w)
{
	return w->state == DSR_FIN || w->state == DSR_CLOSE;
}

static struct peer
client_of(const struct dsr_flow *w)
{
	struct peer who = { .family = w->key.family,
		.port = w->key.client_port };

	memcpy(who.ip, w->key.client, sizeof(who.ip));
	return who;
}

/* The server has one less, if it still had it. */
static void
on_flow_end(void *arg, struct dsr_flow *w)
{
	struct director *d = arg;
	struct server *s = pool_slot(d->pool, w->server);
	struct attempts none = { .count = 0 };
	struct peer who = client_of(w);

	director_leave_fast(d, w);
	if (s == NULL)
		return;
	if (is_over(w))
		pool_moved(d->pool, s, &who, &none, w->bytes, 0);
	else
		pool_closed(d->pool, s, &who, &none, w->bytes, 0);
}

/* A frame of a flow, which it may end, or begin again. */
static void
go_on(struct director *d, struct dsr_flow *w, struct server *s,
    uint8_t tcp_flags, unsigned bytes)
{
	uint64_t now = loop_now(d->loop);
	bool was_over = is_over(w), waits = w->state == DSR_SYN;
	struct attempts none = { .count = 0 };
	struct peer who;

	dsr_flows_on_frame(&d->flows, w, tcp_flags, bytes, now);
	/* A client that asks again has had no answer. */
	if (waits && w->state == DSR_SYN)
		director_doubt_server(d, s);
	if (is_over(w) == was_over)
		return;
	who = client_of(w);
	if (was_over)
		pool_opened(d->pool, s, &who, &none, now);
	else
		pool_closed(d->pool, s, &who, &none, 0, 0);
}

/* ---- choosing ---- */

/* Chooses servers until one has an address that is known; those without have
 * failed, or are being asked for theirs. No client has tried them: they do not
 * count for `tries`. */
static struct server *
choose(struct director *d, const struct peer *who, struct attempts *attempts)
{
	uint64_t now = loop_now(d->loop);
	struct server *s;

	*attempts = (struct attempts){ .count = 0 };
	while ((s = pool_choose(d->pool, who, attempts, now)) != NULL &&
	    director_server_is_gone(d, s)) {
		attempts->given = 0;
		if (s->blacklisted_until == 0)
			pool_failed(d->pool, s, now);
	}
	return s;
}

/* The server of a flow that begins, or of one, `old`, whose server is no more. That
 * one is not forgotten as long as nobody else can be chosen. */
static struct server *
begin(
    struct director *d, struct arrival *a, struct dsr_flow *old, unsigned bytes)
{
	uint64_t now = loop_now(d->loop);
	const struct frame *f = &a->frame;
	struct attempts attempts;
	struct server *s = choose(d, &f->from, &attempts);
	const struct dsr_flow *w;

	if (s == NULL)
		return NULL;
	if (old != NULL)
		dsr_flows_remove(&d->flows, old);
	w = dsr_flows_add(&d->flows, &a->key, a->hash, s->slot,
	    f->tcp_flags, bytes, now);
	if (w != NULL && !is_over(w))
		pool_opened(d->pool, s, &f->from, &attempts, now);
	return s;
}

/* The server that the flow of a frame has, or gets. */
struct server *
director_server_for(
    struct director *d, struct arrival *a, const struct link_frame *l)
{
	struct dsr_flow *w = dsr_flows_find(&d->flows, &a->key, a->hash);
	struct server *s;

	if (w == NULL)
		return begin(d, a, NULL, l->length);
	s = pool_slot(d->pool, w->server);
	if (!director_may_go_on(d, s) ||
	    dsr_flow_begins_again(w, a->frame.tcp_flags) ||
	    (s->health.down && has_nothing_yet(&a->frame)))
		return begin(d, a, w, l->length);
	go_on(d, w, s, a->frame.tcp_flags, l->length);
	director_on_fast(d, w, &a->frame, l);
	return s;
}

bool
director_keeps(struct director *d, const struct arrival *a)
{
	const struct dsr_flow *w;

	if (a->frame.protocol != IPPROTO_TCP ||
	    (a->frame.tcp_flags & FRAME_SYN) != 0)
		return false;
	w = dsr_flows_find(&d->flows, &a->key, a->hash);
	return w != NULL &&
	    director_may_go_on(d, pool_slot(d->pool, w->server));
}

struct server *
director_choose(struct director *d, const struct peer *who)
{
	struct attempts attempts;

	return choose(d, who, &attempts);
}

bool
director_has_flows(const struct director *d, const struct server *s)
{
	return dsr_flows_of(&d->flows, s->slot) > 0;
}

void
director_open_flows(struct director *d)
{
	d->flows.on_end = on_flow_end;
	d->flows.last_frame = director_last_frame;
	d->flows.arg = d;
}
