/* handover_servers.c: servers are read; see handover_parts.h. */
#include "config.h"

#include <string.h>

#include "base/array.h"
#include "control/handover/handover_parts.h"
#include "control/life/context.h"
#include "dsr/director/director.h"

/* ---- which server is which ---- */

/* A director sends to the ports of its clients: that of a server is what the
 * first listening address happens to have. */
static bool
is_at(
    const struct service *svc, const struct server *s, const struct addr *at)
{
	struct addr here;
	unsigned i;

	for (i = 0; s != NULL && s->present && i < s->addrs.count; i++) {
		here = s->addrs.addr[i];
		if (svc->director != NULL)
			addr_set_port(&here, addr_port(at));
		if (addr_equal(&here, at))
			return true;
	}
	return false;
}

/* A server at that address: the one in the same slot if that is one of several;
 * the one as many slots away as the last one was, as where one was removed;
 * else the first. The servers beside the list are found in their slots only. */
static struct server *
find_server(
    struct handover_state_service *l, unsigned slot, const struct addr *at)
{
	const struct pool *pool = l->service->pool;
	unsigned i;

	if (is_at(l->service, pool_slot(pool, slot), at))
		return pool_slot(pool, slot);
	if (slot < SLOTS_SPECIAL)
		return NULL;
	if (slot + l->shift >= SLOTS_SPECIAL &&
	    is_at(l->service, pool_slot(pool, slot + l->shift), at))
		return pool_slot(pool, slot + l->shift);
	for (i = SLOTS_SPECIAL; i < pool_slots(pool); i++) {
		if (!is_at(l->service, pool_slot(pool, i), at))
			continue;
		l->shift = i - slot;
		return pool_slot(pool, i);
	}
	return NULL;
}

/* ---- a server as bytes ---- */

/* The time from one moment to a later one in ms, at least 1; 0 if there was
 * none. */
static uint64_t
since(uint64_t from, uint64_t now)
{
	return from == 0 ? 0 : now > from ? now - from : 1;
}

static void
put_history(
    struct handover_writer *w, const struct server_elsewhere *e, uint64_t now)
{
	const struct server_history *h = &e->history;

	handover_add_number(w, h->state, 1);
	handover_add_number(w, h->changes, 4);
	handover_add_number(w, since(h->since_ms, now), 8);
	handover_add_number(w, (uint64_t)h->since_wall, 8);
	handover_add_text(w, e->reasons.reason);
}

/* Why it is blacklisted. */
enum { BY_OPERATOR = 1, OBSERVED };

void
handover_servers_put(struct handover_writer *w,
    const struct server_elsewhere *e, uint64_t now)
{
	handover_add_number(w, e->admin, 1);
	handover_add_number(w, e->blacklisted_ms, 8);
	handover_add_number(w,
	    e->by_operator    ? BY_OPERATOR
		: e->observed ? OBSERVED
			      : 0,
	    1);
	handover_add_number(w, e->refusals, 4);
	handover_add_number(w, e->health.down, 1);
	handover_add_number(w, e->health.against, 4);
	handover_add_number(w, e->health.good, 4);
	handover_add_number(w, since(e->health.since, now), 8);
	handover_add_number(w, e->connects, 8);
	handover_add_number(w, e->failures, 8);
	handover_add_number(w, e->sent, 8);
	handover_add_number(w, e->received, 8);
	put_history(w, e, now);
	handover_add_number(w, e->health.unproven, 1);
	handover_add_number(w, e->health.assumed, 1);
	handover_add_number(w, e->mark.peer, 4);
	handover_add_number(w, e->mark.admin, 1);
	handover_add_number(w, e->mark.overruled, 1);
}

void
handover_servers_put_http(
    struct handover_writer *w, const uint64_t http[SERVER_HTTP_CLASSES])
{
	unsigned i;

	for (i = 0; i < SERVER_HTTP_CLASSES; i++)
		handover_add_number(w, http[i], 8);
}

static void
get_http(struct handover_record *r, uint64_t http[SERVER_HTTP_CLASSES])
{
	unsigned i;

	for (i = 0; i < SERVER_HTTP_CLASSES; i++)
		http[i] = r->left > 0 ? handover_get_number(r, 8) : 0;
}

static enum server_admin
get_admin(struct handover_record *r)
{
	uint64_t admin = handover_get_number(r, 1);

	return admin == SERVER_DRAINING || admin == SERVER_DISABLED
	    ? (enum server_admin)admin
	    : SERVER_ENABLED;
}

static void
get_reason(struct handover_record *r, char to[SERVER_REASON_MAX])
{
	char reason[256];
	size_t i;

	handover_get_text(r, reason);
	/* what came is not trusted: it goes to logs and reports */
	for (i = 0; i < SERVER_REASON_MAX - 1 && reason[i] != '\0'; i++)
		to[i] = reason[i] < ' ' || reason[i] > '~' || reason[i] == '"'
		    ? '?'
		    : reason[i];
	to[i] = '\0';
}

static void
get_history(struct handover_record *r, struct server_elsewhere *e, uint64_t now)
{
	struct server_history *h = &e->history;

	memset(h, 0, sizeof(*h));
	memset(&e->reasons, 0, sizeof(e->reasons));
	h->state = (enum server_state)handover_get_number(r, 1);
	h->changes = (unsigned)handover_get_number(r, 4);
	h->since_ms = handover_ago(now, handover_get_number(r, 8));
	h->since_wall = (int64_t)handover_get_number(r, 8);
	get_reason(r, e->reasons.reason);
}

/* Older processes do not send it, either. */
static void
get_mark(struct handover_record *r, struct server_mark *mark)
{
	*mark = (struct server_mark){ .peer = 0 };
	if (r->left == 0)
		return;
	mark->peer = (uint32_t)handover_get_number(r, 4);
	mark->admin = get_admin(r);
	mark->overruled = handover_get_number(r, 1) != 0;
}

static void
get_server(struct handover_record *r, struct server_elsewhere *e, uint64_t now)
{
	uint64_t ms, why;

	e->admin = get_admin(r);
	ms = handover_get_number(r, 8);
	e->blacklisted_ms = ms < INT64_MAX ? ms : 0;
	why = handover_get_number(r, 1);
	e->by_operator = why == BY_OPERATOR;
	e->observed = why == OBSERVED;
	e->refusals = (unsigned)handover_get_number(r, 4) % 64;
	e->health.down = handover_get_number(r, 1) != 0;
	e->health.against = (unsigned)handover_get_number(r, 4);
	e->health.good = (unsigned)handover_get_number(r, 4);
	e->health.since = handover_ago(now, handover_get_number(r, 8));
	e->connects = handover_get_number(r, 8);
	e->failures = handover_get_number(r, 8);
	e->sent = handover_get_number(r, 8);
	e->received = handover_get_number(r, 8);
	get_history(r, e, now);
	/* older processes do not send it */
	e->health.unproven = r->left > 0 && handover_get_number(r, 1) != 0;
	e->health.assumed = r->left > 0 && handover_get_number(r, 1) != 0;
	get_mark(r, &e->mark);
}

static struct handover_state_server *
server_at(struct handover_state_service *l, uint64_t slot)
{
	struct handover_state_server *list;

	if (slot >= server_slot(SERVERS_MAX))
		return NULL;
	list = array_grow(
	    l->servers, &l->servers_room, sizeof(*list), (uint32_t)slot);
	if (list == NULL)
		return NULL;
	l->servers = list;
	return &list[slot];
}

/* ---- of a peer ---- */

/* The position of the first one at that slot, or after it. */
static uint32_t
peer_server_from(const struct handover_state_service *l, uint64_t slot)
{
	uint32_t from = 0, past = l->peer_count;

	while (from < past) {
		uint32_t middle = from + (past - from) / 2;

		if (l->peer[middle].slot < slot)
			from = middle + 1;
		else
			past = middle;
	}
	return from;
}

static struct handover_peer_server *
find_peer_server(const struct handover_state_service *l, uint64_t slot)
{
	uint32_t i = peer_server_from(l, slot);

	return i < l->peer_count && l->peer[i].slot == slot ? &l->peer[i]
							      : NULL;
}

/* Servers of a peer may have the same address. What is beyond that has no
 * clients here. */
static void
note_peer_server(
    struct handover_state_service *l, unsigned slot, struct server *here)
{
	struct handover_peer_server *one = find_peer_server(l, slot), *list;
	uint32_t i;

	if (one != NULL)
		one->here = here;
	if (one != NULL || here == NULL ||
	    l->peer_count >= 2 * pool_slots(l->service->pool))
		return;
	list = array_grow(
	    l->peer, &l->peer_room, sizeof(*list), l->peer_count);
	if (list == NULL)
		return;
	l->peer = list;
	i = peer_server_from(l, slot);
	memmove(&list[i + 1], &list[i], (l->peer_count++ - i) * sizeof(*list));
	list[i] = (struct handover_peer_server){ slot, here };
}

/* ---- reading ---- */

struct server *
handover_servers_get(const struct handover_state_service *l, uint64_t slot)
{
	if (l->of_workers)
		return slot < pool_slots(l->service->pool)
		    ? pool_slot(l->service->pool, (unsigned)slot)
		    : NULL;
	if (l->peer != NULL) {
		const struct handover_peer_server *one =
		    find_peer_server(l, slot);

		return one != NULL ? one->here : NULL;
	}
	return slot < l->servers_room ? l->servers[slot].here : NULL;
}

static void
read_peer_server(struct handover_state_reader *reader, unsigned slot,
    const struct addr *at, enum server_admin admin)
{
	struct handover_state_service *l = reader->now;
	struct server *here = find_server(l, slot, at);

	note_peer_server(l, slot, here);
	if (here != NULL && reader->on_server != NULL)
		reader->on_server(reader->arg, l->service, here, admin);
}

void
handover_servers_read(struct handover_state_reader *reader,
    struct handover_record *r)
{
	struct handover_state_service *l = reader->now;
	uint64_t slot = handover_get_number(r, 4);
	struct server_elsewhere e;
	struct handover_state_server *s;
	struct mac mac = { { 0 } };
	struct addr at;

	handover_get_addr(r, &at);
	get_server(r, &e, loop_now(l->service->pen->loop));
	if (r->left > 0)
		handover_get(r, mac.byte, sizeof(mac.byte));
	if (r->left > 0)
		get_reason(r, e.reasons.fault);
	get_http(r, e.http);
	if (r->bad)
		return;
	if (reader->from_peer) {
		read_peer_server(
		    reader, (unsigned)slot, &at, e.admin);
		return;
	}
	s = server_at(l, slot);
	if (s == NULL || s->here != NULL)
		return;
	s->there = e;
	s->mac = mac;
	s->here = find_server(l, (unsigned)slot, &at);
	s->removed = e.history.state == SERVER_REMOVED;
	l->server_count += s->here != NULL && !s->removed;
}

/* Puts a server's mark, drain or maint, into the plan, so that `write` saves it
 * and a later change of the server keeps it. It is changed in the running plan
 * itself: no draft shares that before clients are served. */
static void
note_mark(struct service *svc, const struct server *s)
{
	struct server_plan *plan;

	if (s->role != SERVER_REGULAR || s->admin == SERVER_ENABLED)
		return;
	plan = plan_edit(svc->plan, s->slot);
	if (plan != NULL)
		plan->admin = (int)s->admin;
}

void
handover_servers_restore(struct handover_state_service *l)
{
	uint64_t now = loop_now(l->service->pen->loop);
	uint32_t i;

	for (i = 0; i < l->servers_room; i++) {
		struct handover_state_server *s = &l->servers[i];

		if (s->here == NULL)
			continue;
		if (!s->removed)
			pool_restore(
			    l->service->pool, s->here, &s->there, now);
		if (l->service->director != NULL)
			director_restore_mac(
			    l->service->director, s->here, &s->mac);
		note_mark(l->service, s->here);
	}
}
