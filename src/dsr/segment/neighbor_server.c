/* neighbor_server.c: servers: asked, believed, given up. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/segment/neighbor_private.h"

const char *
neighbor_state_name(enum neighbor_state state)
{
	static const char *const names[] = { "new", "fresh", "doubted",
		"failed" };

	return names[state];
}

const struct mac *
neighbor_mac(const struct neighbor *w)
{
	return w->state == NEIGHBOR_REACHABLE || w->state == NEIGHBOR_PROBE
	    ? &w->mac
	    : NULL;
}

bool
neighbor_is_returning(const struct neighbor *w)
{
	return w->returning;
}

/* ---- finding ---- */

static bool
is_key(const struct hash_table_link *l, const void *key)
{
	const struct neighbor *w =
	    (const struct neighbor *)(const void *)((const char *)l -
		offsetof(struct neighbor, link));

	return neighbor_is(key, &w->ip);
}

static const struct neighbor *
neighbor_at(const struct list *order)
{
	return (const struct neighbor *)(const void *)((const char *)order -
	    offsetof(struct neighbor, order));
}

void
neighbors_each(const struct neighbors *n,
    void (*visit)(void *arg, const struct neighbor *w), void *arg)
{
	const struct list *lists[] = { &n->ready, &n->asked, &n->confirmed,
		&n->failed };
	const struct list *l;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (l = lists[i]->next; l != lists[i]; l = l->next)
			visit(arg, neighbor_at(l));
}

struct neighbor *
neighbors_find(struct neighbors *n, const struct peer *ip)
{
	struct neighbor_key key;
	uint64_t hash = neighbor_hash(&n->servers, ip, &key);
	struct hash_table_link *l =
	    hash_table_find(&n->servers, hash, is_key, &key);

	return l != NULL ? list_entry(l, struct neighbor, link) : NULL;
}

static struct neighbor *
first_of(struct list *head)
{
	struct list *link = list_first(head);

	return link != NULL ? list_entry(link, struct neighbor, order) : NULL;
}

static void
move_to(struct list *head, struct neighbor *w, uint64_t due)
{
	list_remove(&w->order);
	list_append(head, &w->order);
	w->due = due;
}

/* ---- asking ---- */

static void
ask_arp(struct neighbors *n, const struct neighbor *w, const struct mac *to)
{
	struct arp a = { .sender_mac = n->options.mac, .request = true };

	if (n->options.ip4.family != 0)
		memcpy(a.sender, n->options.ip4.ip + 12, 4);
	memcpy(a.target, w->ip.ip + 12, 4);
	neighbors_send_arp(n, to, &a);
}

static void
ask_ndp(struct neighbors *n, const struct neighbor *w, const struct mac *to)
{
	struct ndp d = { .has_mac = true, .mac = n->options.mac };

	memcpy(d.from, n->own6.ip, 16);
	memcpy(d.target, w->ip.ip, 16);
	if (mac_equal(to, &mac_broadcast))
		ndp_group(d.to, w->ip.ip);
	else
		memcpy(d.to, w->ip.ip, 16);
	neighbors_send_ndp(n, to, &d);
}

static void
ask(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	bool alone = w->state == NEIGHBOR_PROBE && w->tries == 0;
	const struct mac *to = alone ? &w->mac : &mac_broadcast;

	w->all_asked = !alone;
	w->asked = now;
	w->tries++;
	n->stats.requests++;
	if (w->state == NEIGHBOR_FAILED && !w->returning)
		move_to(&n->failed, w, now + NEIGHBOR_FAILED_MS);
	else
		move_to(&n->asked, w, now + NEIGHBOR_REPLY_MS);
	if (w->ip.family == AF_INET)
		ask_arp(n, w, to);
	else
		ask_ndp(n, w, to);
}

/* Servers that have failed take what the others leave. */
static void
ask_due(struct neighbors *n, uint64_t now)
{
	struct neighbor *w;

	while ((w = first_of(&n->ready)) != NULL &&
	    token_bucket_take(&n->rate, now))
		ask(n, w, now);
	while ((w = first_of(&n->failed)) != NULL && w->due <= now &&
	    token_bucket_take(&n->rate, now))
		ask(n, w, now);
}

/* Those that have failed may be there again. */
static void
ask_failed(struct neighbors *n, uint64_t now)
{
	struct neighbor *w;

	while ((w = first_of(&n->failed)) != NULL) {
		w->returning = true;
		w->tries = 0;
		move_to(&n->ready, w, now);
	}
	ask_due(n, now);
}

unsigned
neighbors_reachable(const struct neighbors *n)
{
	return n->reachable;
}

void
neighbors_pause(struct neighbors *n)
{
	n->paused = true;
}

void
neighbors_resume(struct neighbors *n, uint64_t now)
{
	struct neighbor *w;
	struct list *at;

	n->paused = false;
	while ((w = first_of(&n->asked)) != NULL)
		move_to(&n->ready, w, now);
	for (at = n->ready.next; at != &n->ready; at = at->next)
		list_entry(at, struct neighbor, order)->tries = 0;
	ask_failed(n, now);
}

/* ---- learning ---- */

/* The callback is the last thing: it may drop w. */
static void
change(struct neighbors *n, struct neighbor *w, bool reachable)
{
	if (n->options.on_change != NULL)
		n->options.on_change(n->options.arg, w, reachable);
}

static void
believe(
    struct neighbors *n, struct neighbor *w, const struct mac *m, uint64_t now)
{
	bool known = neighbor_mac(w) != NULL;
	bool same = known && mac_equal(&w->mac, m);
	bool was_alone = n->reachable == 0;

	n->stats.moves += known && !same;
	n->reachable += !known;
	w->returning = false;
	w->mac = *m;
	w->state = NEIGHBOR_REACHABLE;
	w->tries = 0;
	w->answered = now;
	move_to(&n->confirmed, w, now + NEIGHBOR_REFRESH_MS);
	if (was_alone)
		ask_failed(n, now);
	if (!same)
		change(n, w, true);
}

static void
give_up(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	bool was_failed = w->state == NEIGHBOR_FAILED;

	n->reachable -= neighbor_mac(w) != NULL;
	w->state = NEIGHBOR_FAILED;
	w->returning = false;
	move_to(&n->failed, w, now + NEIGHBOR_FAILED_MS);
	if (was_failed)
		return;
	n->stats.failures++;
	change(n, w, false);
}

/* Something speaks for asking now: once a second at most. */
static void
ask_early(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	if (now - w->asked < NEIGHBOR_REPLY_MS)
		return;
	if (w->state == NEIGHBOR_REACHABLE) {
		w->state = NEIGHBOR_PROBE;
		w->tries = 0;
		move_to(&n->ready, w, now);
	} else if (w->state == NEIGHBOR_FAILED && !w->returning) {
		w->due = now;
		list_remove(&w->order);
		list_prepend(&n->failed, &w->order);
	}
	ask_due(n, now);
}

void
neighbors_probe(struct neighbors *n, struct neighbor *w, uint64_t now)
{
	ask_early(n, w, now);
}

/* Whether a request that waits for its answer can have been this one's. */
static bool
was_asked(const struct neighbor *w, const struct mac *m)
{
	return w->tries > 0 && (w->all_asked || mac_equal(&w->mac, m));
}

void
neighbors_learn(struct neighbors *n, const struct announcement *c, uint64_t now)
{
	struct neighbor *w;

	if (c->ip.family == 0 || mac_equal(&c->mac, &n->options.mac) ||
	    (w = neighbors_find(n, &c->ip)) == NULL)
		return;
	if (neighbor_mac(w) == NULL) {
		if (c->to_us)
			believe(n, w, &c->mac, now);
		else
			ask_early(n, w, now);
	} else if (c->to_us && c->answer && was_asked(w, &c->mac)) {
		believe(n, w, &c->mac, now);
	} else if (!mac_equal(&c->mac, &w->mac)) {
		n->stats.claims++;
		ask_early(n, w, now);
	}
}

/* ---- time ---- */

static void
check_answers(struct neighbors *n, uint64_t now)
{
	struct neighbor *w;

	while ((w = first_of(&n->asked)) != NULL && w->due <= now)
		if (w->tries >= NEIGHBOR_TRIES)
			give_up(n, w, now);
		else
			move_to(&n->ready, w, now);
	while ((w = first_of(&n->confirmed)) != NULL && w->due <= now) {
		w->state = NEIGHBOR_PROBE;
		w->tries = 0;
		move_to(&n->ready, w, now);
	}
}

void
neighbors_tick_servers(struct neighbors *n, uint64_t now)
{
	check_answers(n, now);
	ask_due(n, now);
}

/* ---- life ---- */

struct neighbor *
neighbors_add(struct neighbors *n, const struct peer *ip, uint64_t now)
{
	struct neighbor *w = neighbors_find(n, ip);
	struct neighbor_key key;

	if (w != NULL) {
		w->uses++;
		return w;
	}
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->ip = *ip;
	w->ip.port = 0;
	w->uses = 1;
	list_init(&w->order);
	hash_table_add(
	    &n->servers, &w->link, neighbor_hash(&n->servers, ip, &key));
	move_to(&n->ready, w, now);
	ask_due(n, now);
	return w;
}

void
neighbors_drop(struct neighbors *n, struct neighbor *w)
{
	if (--w->uses > 0)
		return;
	n->reachable -= neighbor_mac(w) != NULL;
	list_remove(&w->order);
	hash_table_remove(&n->servers, &w->link);
	free(w);
}
