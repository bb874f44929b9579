/* neighbor_server.c: servers: probed, believed, given up. */
#include "config.h"

#include <stdlib.h>

#include "dsr/segment/neighbor_private.h"

const char *
neighbor_state_name(enum neighbor_state state)
{
	static const char *const names[] = {
		[NEIGHBOR_INCOMPLETE] = "incomplete",
		[NEIGHBOR_REACHABLE] = "reachable",
		[NEIGHBOR_PROBE] = "probe",
		[NEIGHBOR_FAILED] = "failed",
	};

	return names[state];
}

const struct mac *
neighbor_mac(const struct neighbor *w)
{
	return w->state == NEIGHBOR_REACHABLE || w->state == NEIGHBOR_PROBE
	    ? &w->mac
	    : NULL;
}

/* ---- tables and queues ---- */

static const struct neighbor *
neighbor_of(const struct list *order)
{
	return (const struct neighbor *)(const void *)((const char *)order -
	    offsetof(struct neighbor, entry.order));
}

void
neighbors_each(const struct neighbors *n,
    void (*visit)(void *arg, const struct neighbor *w), void *arg)
{
	const struct list *at;
	unsigned i;

	for (i = 0; i < NEIGHBOR_SERVER_QUEUES; i++)
		for (at = n->queue[i].next; at != &n->queue[i]; at = at->next)
			visit(arg, neighbor_of(at));
}

struct neighbor *
neighbors_find(struct neighbors *n, const struct peer *ip)
{
	return who_has_find(&n->servers, ip);
}

static struct neighbor *
neighbor_first_of(struct neighbors *n, enum neighbor_queue queue)
{
	struct list *link = list_first(&n->queue[queue]);

	return link != NULL ? list_entry(link, struct neighbor, entry.order)
			    : NULL;
}

/* The first one of a queue, if its time has come. */
static struct neighbor *
first_due(struct neighbors *n, enum neighbor_queue queue, uint64_t now)
{
	struct neighbor *w = neighbor_first_of(n, queue);

	return w != NULL && w->due <= now ? w : NULL;
}

static void
move_to(struct neighbors *n, enum neighbor_queue queue, struct neighbor *w,
    uint64_t due)
{
	list_remove(&w->entry.order);
	list_append(&n->queue[queue], &w->entry.order);
	w->due = due;
}

/* ---- requests ---- */

static void
neighbor_request(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	/* No other host receives it then, which could answer first. */
	bool alone = w->state == NEIGHBOR_PROBE && w->tries == 0;
	const struct peer *own =
	    w->entry.ip.family == AF_INET ? &n->options.ip4 : &n->own6;
	struct frame_head head =
	    neighbors_head(n, alone ? &w->mac : &mac_broadcast);
	unsigned char bytes[FRAME_MADE_MAX];

	w->all_asked = !alone;
	w->asked = now;
	w->tries++;
	n->stats.requests++;
	if (w->state == NEIGHBOR_FAILED && !w->returning)
		move_to(n, NEIGHBOR_GONE, w, now + NEIGHBOR_FAILED_MS);
	else
		move_to(n, NEIGHBOR_ASKED, w, now + NEIGHBOR_REPLY_MS);
	neighbors_send(n, bytes,
	    who_has_make_request(
		bytes, sizeof(bytes), &head, own, &w->entry.ip));
}

/* Servers that have failed get what the others leave of the rate. */
static void
ask_due(struct neighbors *n, uint64_t now)
{
	struct neighbor *w;

	while ((w = neighbor_first_of(n, NEIGHBOR_READY)) != NULL &&
	    rate_limit_take(&n->limit, &n->rate, now))
		neighbor_request(n, w, now);
	while ((w = first_due(n, NEIGHBOR_GONE, now)) != NULL &&
	    rate_limit_take(&n->limit, &n->rate, now))
		neighbor_request(n, w, now);
}

/* Probes all that have failed: the segment may be in reach again. */
static void
ask_failed(struct neighbors *n, uint64_t now)
{
	struct neighbor *w;

	while ((w = neighbor_first_of(n, NEIGHBOR_GONE)) != NULL) {
		w->returning = true;
		w->tries = 0;
		move_to(n, NEIGHBOR_READY, w, now);
	}
	ask_due(n, now);
}

void
neighbors_pause(struct neighbors *n)
{
	n->paused = true;
}

void
neighbors_resume(struct neighbors *n, uint64_t now)
{
	struct list *ready = &n->queue[NEIGHBOR_READY], *at;
	struct neighbor *w;

	/* Requests that were sent before count for nothing: all begin again. */
	n->paused = false;
	while ((w = neighbor_first_of(n, NEIGHBOR_ASKED)) != NULL)
		move_to(n, NEIGHBOR_READY, w, now);
	for (at = ready->next; at != ready; at = at->next)
		list_entry(at, struct neighbor, entry.order)->tries = 0;
	ask_failed(n, now);
}

bool
neighbors_have_failed(const struct neighbors *n)
{
	return !n->paused && list_is_empty(&n->queue[NEIGHBOR_READY]) &&
	    list_is_empty(&n->queue[NEIGHBOR_ASKED]) &&
	    list_is_empty(&n->queue[NEIGHBOR_CONFIRMED]) &&
	    !list_is_empty(&n->queue[NEIGHBOR_GONE]);
}

/* ---- learning ---- */

/* The callback is the last thing: it may drop w. */
static void
neighbor_change(struct neighbors *n, struct neighbor *w, bool reachable)
{
	if (n->options.on_change != NULL)
		n->options.on_change(n->options.arg, w, reachable);
}

/* The neighbour has answered: its MAC is used, and its state is REACHABLE. */
static void
set_reachable(
    struct neighbors *n, struct neighbor *w, const struct mac *m, uint64_t now)
{
	bool known = neighbor_mac(w) != NULL;
	bool same = known && mac_equal(&w->mac, m);
	bool were_none = n->reachable == 0;

	n->stats.moves += known && !same;
	n->reachable += !known;
	w->returning = false;
	w->mac = *m;
	w->state = NEIGHBOR_REACHABLE;
	w->tries = 0;
	w->answered = now;
	move_to(n, NEIGHBOR_CONFIRMED, w, now + NEIGHBOR_REFRESH_MS);
	/* The first one that answers: all were out of reach, so that none of
	 * the others has failed on its own. */
	if (were_none)
		ask_failed(n, now);
	if (!same)
		neighbor_change(n, w, true);
}

static void
neighbor_fail(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	bool was_failed = w->state == NEIGHBOR_FAILED;

	n->reachable -= neighbor_mac(w) != NULL;
	w->state = NEIGHBOR_FAILED;
	w->returning = false;
	move_to(n, NEIGHBOR_GONE, w, now + NEIGHBOR_FAILED_MS);
	if (was_failed)
		return;
	n->stats.failures++;
	neighbor_change(n, w, false);
}

static void
probe(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	w->state = NEIGHBOR_PROBE;
	w->tries = 0;
	move_to(n, NEIGHBOR_READY, w, now);
}

void
neighbors_restore(struct neighbors *n, struct neighbor *w,
    const struct mac *mac, uint64_t now)
{
	if (w->state != NEIGHBOR_INCOMPLETE || !mac_is_station(mac) ||
	    mac_equal(mac, &n->options.mac))
		return;
	n->reachable++;
	w->mac = *mac;
	probe(n, w, now);
}

/* Sends a request now, but one a second at most: strangers can cause this. */
void
neighbors_probe(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	if (now - w->asked < NEIGHBOR_REPLY_MS)
		return;
	if (w->state == NEIGHBOR_REACHABLE) {
		probe(n, w, now);
	} else if (w->state == NEIGHBOR_FAILED && !w->returning) {
		/* The queue is in the order of `due`. */
		w->due = now;
		list_remove(&w->entry.order);
		list_prepend(&n->queue[NEIGHBOR_GONE], &w->entry.order);
	}
	ask_due(n, now);
}

/* Whether a request is open that the host with this MAC has received. */
static bool
was_requested(const struct neighbor *w, const struct mac *m)
{
	return w->tries > 0 && (w->all_asked || mac_equal(&w->mac, m));
}

/* An advertisement that must not override does not change a MAC that is known
 * (RFC 4861, 7.2.5). */
static bool
is_reply(const struct neighbor *w, const struct who_has *m)
{
	return m->solicited &&
	    (m->override || neighbor_mac(w) == NULL ||
		mac_equal(&w->mac, &m->mac));
}

void
neighbors_learn(struct neighbors *n, const struct who_has *m, uint64_t now)
{
	bool to_us = mac_equal(&m->to, &n->options.mac), reply;
	struct neighbor *w;

	if (m->sender.family == 0 || mac_equal(&m->mac, &n->options.mac) ||
	    (w = neighbors_find(n, &m->sender)) == NULL)
		return;
	reply = to_us && is_reply(w, m);
	if (neighbor_mac(w) == NULL) {
		if (reply || (to_us && m->request))
			set_reachable(n, w, &m->mac, now);
		else
			neighbors_probe(n, w, now);
	} else if (reply && was_requested(w, &m->mac)) {
		set_reachable(n, w, &m->mac, now);
	} else if (!mac_equal(&m->mac, &w->mac)) {
		/* The server may have moved, or a host tries to get its frames:
		 * it is probed at the MAC that it had. */
		n->stats.claims++;
		neighbors_probe(n, w, now);
	}
}

/* ---- time ---- */

void
neighbors_tick_servers(struct neighbors *n, uint64_t now)
{
	struct neighbor *w;

	while ((w = first_due(n, NEIGHBOR_ASKED, now)) != NULL)
		if (w->tries >= NEIGHBOR_TRIES)
			neighbor_fail(n, w, now);
		else
			move_to(n, NEIGHBOR_READY, w, now);
	while ((w = first_due(n, NEIGHBOR_CONFIRMED, now)) != NULL)
		probe(n, w, now);
	ask_due(n, now);
}

/* ---- life ---- */

struct neighbor *
neighbors_add(struct neighbors *n, const struct peer *ip, uint64_t now)
{
	struct neighbor *w = neighbors_find(n, ip);

	if (w != NULL) {
		w->uses++;
		return w;
	}
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->uses = 1;
	list_init(&w->entry.order);
	who_has_add(&n->servers, &w->entry, ip);
	move_to(n, NEIGHBOR_READY, w, now);
	ask_due(n, now);
	return w;
}

void
neighbors_drop(struct neighbors *n, struct neighbor *w)
{
	if (--w->uses > 0)
		return;
	n->reachable -= neighbor_mac(w) != NULL;
	list_remove(&w->entry.order);
	hash_table_remove(&n->servers, &w->entry.link);
	free(w);
}
