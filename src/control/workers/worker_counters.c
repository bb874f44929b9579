/* worker_counters.c: see worker_counters.h. */
#include "config.h"

#include <string.h>

#include "control/workers/workers_private.h"
#include "proxy/core/frontend_core.h"
#include "proxy/wire/route.h"

/* ---- records ---- */

/* Of a service, a server or a route; the others are NULL. */
struct record {
	uint32_t *place; /* 0: none yet */
	void *now;	 /* where it counts in this process */
	size_t bytes;
	struct frontend_core *frontend;
	struct server *server;
	struct route *route;
};

/* Calls `fn` for each record of a service; without `all`, for those that have
 * no place yet. */
static void
each_record(struct service *svc, bool all,
    void (*fn)(void *arg, const struct record *r), void *arg)
{
	struct frontend_core *f;
	struct routes *routes;
	unsigned i;

	if (svc->frontend == NULL)
		return;
	f = frontend_core_of(svc->frontend);
	routes = f->routes;
	if (all || svc->place == 0)
		fn(arg,
		    &(struct record){ &svc->place, f->stats, sizeof(*f->stats),
			.frontend = f });
	for (i = all ? 0 : svc->places; i < pool_slots(svc->pool); i++) {
		struct server *s = pool_slot(svc->pool, i);

		fn(arg,
		    &(struct record){ &s->place, s->counters,
			sizeof(*s->counters), .server = s });
	}
	if (routes == NULL || (!all && routes->have_places))
		return;
	for (i = 0; i < routes->count; i++) {
		struct route *r = &routes->list[i];

		fn(arg,
		    &(struct record){ &r->place, r->clients,
			sizeof(*r->clients), .route = r });
	}
}

/* Of each part of each set that has it. */
#define PART_EACH(p, r, w, i)                                               \
	for ((w) = (p)->role.workers; (w) != NULL; (w) = (w)->past)         \
		for ((i) = 0;                                               \
		     *(r)->place > 0 && *(r)->place < (w)->counters.used && \
		     (i) < (w)->counters.count;                             \
		     (i)++)

struct join {
	struct shared_memory *memory;
	bool begins;
};

static void
join_record(void *arg, const struct record *r)
{
	const struct join *j = arg;
	struct shared_memory *m = j->memory;
	bool worker = m->own + 1 < m->count, new = *r->place == 0;
	void *at;

	if (new)
		*r->place = shared_memory_take(m, r->bytes);
	at = shared_memory_at(m, m->own, *r->place);
	if (*r->place == 0 || (!worker && !new) || at == r->now)
		return;
	if (worker && j->begins)
		memset(at, 0, r->bytes);
	else
		memcpy(at, r->now, r->bytes);
	if (!worker)
		return;
	if (r->frontend != NULL)
		frontend_core_count_in(r->frontend, at);
	else if (r->server != NULL)
		pool_count_in(r->server, at);
	else
		r->route->clients = at;
}

void
worker_counters_join(struct pen *p, struct shared_memory *m, bool begins)
{
	struct join j = { m, begins };
	struct service *svc;
	struct routes *r;

	SERVICE_EACH (p, svc) {
		if (svc->frontend == NULL)
			continue;
		each_record(svc, begins, join_record, &j);
		svc->places = pool_slots(svc->pool);
		r = frontend_routes(svc->frontend);
		if (r != NULL)
			r->have_places = true;
	}
}

/* ---- sums ---- */

/* Peaks are of the set that gets new clients. */
static void
add_up_stats(struct pen *p, const struct record *r)
{
	struct frontend_stats sum = { .sessions = 0 }, st;
	const struct workers *w;
	unsigned i;

	PART_EACH (p, r, w, i) {
		memcpy(&st, shared_memory_at(&w->counters, i, *r->place),
		    sizeof(st));
		frontend_stats_raise_peaks(&st, &st);
		if (w->leaves || i == w->counters.own)
			frontend_stats_drop_peaks(&st);
		frontend_stats_add(&sum, &st);
	}
	frontend_stats_raise_peaks(&sum, r->now);
	memcpy(r->now, &sum, sizeof(sum));
}

/* Adds up the parts of a server. Counters of parts with another generation are
 * of other addresses, and are left out, except for the open connections. */
static void
add_up_server(struct pen *p, const struct record *r)
{
	struct server_counters sum = { .generation = r->server->generation };
	const struct workers *w;
	unsigned i;

	PART_EACH (p, r, w, i)
		server_counters_add(
		    &sum, shared_memory_at(&w->counters, i, *r->place));
	pool_take_counters(r->server, &sum);
}

static void
add_up_record(void *arg, const struct record *r)
{
	const struct workers *w;
	uint64_t *now = r->now;
	unsigned i;

	if (r->frontend != NULL)
		add_up_stats(arg, r);
	else if (r->server != NULL)
		add_up_server(arg, r);
	if (r->route == NULL)
		return;
	*now = 0;
	PART_EACH ((struct pen *)arg, r, w, i)
		*now +=
		    *(uint64_t *)shared_memory_at(&w->counters, i, *r->place);
}

void
worker_counters_sum(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		each_record(svc, true, add_up_record, p);
}

void
worker_counters_sum_server(struct pen *p, struct server *s)
{
	add_up_server(p,
	    &(struct record){
		&s->place, s->counters, sizeof(*s->counters), .server = s });
}

/* ---- the leader's part ---- */

/* The leader's part of the record; of a server that has other addresses now, it
 * begins at zero. */
static void *
kept_of(const struct shared_memory *m, const struct record *r)
{
	void *kept = shared_memory_at(m, m->own, *r->place);
	struct server_counters *c = kept;

	if (r->server != NULL && c->generation != r->server->generation)
		*c = (struct server_counters){ .generation =
						   r->server->generation };
	return kept;
}

struct move {
	const struct shared_memory *to, *from;
	unsigned part;
};

static void
move_record(void *arg, const struct record *r)
{
	const struct move *m = arg;
	void *from = shared_memory_at(m->from, m->part, *r->place);
	struct server_counters *c = from;

	if (*r->place == 0 || *r->place >= m->from->used)
		return;
	if (r->frontend != NULL) {
		frontend_stats_drop_gauges(from);
		frontend_stats_add(kept_of(m->to, r), from);
	} else if (r->server != NULL) {
		c->connections = 0;
		server_counters_add(kept_of(m->to, r), c);
	} else {
		*(uint64_t *)kept_of(m->to, r) += *(uint64_t *)from;
	}
	memset(from, 0, r->bytes);
}

void
worker_counters_move(struct pen *p, const struct shared_memory *to,
    const struct shared_memory *from, unsigned part)
{
	struct move m = { to, from, part };
	struct service *svc;

	SERVICE_EACH (p, svc)
		each_record(svc, true, move_record, &m);
}

/* Takes the sums off the leader's part, so that they begin at zero again, and
 * empties peaks and recent times in the parts of workers. The counters of
 * routes are not cleared. */
static void
clear_record(void *arg, const struct record *r)
{
	struct pen *p = arg;
	const struct shared_memory *m = &p->role.workers->counters;
	struct frontend_stats st;
	const struct workers *w;
	unsigned i;

	if (*r->place == 0 || r->route != NULL)
		return;
	if (r->frontend != NULL) {
		st = *r->frontend->stats;
		frontend_stats_drop_gauges(&st);
		frontend_stats_subtract(kept_of(m, r), &st);
		PART_EACH (p, r, w, i)
			frontend_stats_drop_peaks(
			    shared_memory_at(&w->counters, i, *r->place));
		return;
	}
	server_counters_subtract(kept_of(m, r), r->server->counters);
	PART_EACH (p, r, w, i)
		server_counters_drop_times(
		    shared_memory_at(&w->counters, i, *r->place));
}

void
worker_counters_clear(struct service *svc)
{
	worker_counters_sum(svc->pen);
	each_record(svc, true, clear_record, svc->pen);
}

uint64_t *
worker_counters_lines_lost(const struct pen *p, const struct shared_memory *m)
{
	struct frontend_stats *st =
	    shared_memory_at(m, m->own, p->service->place);

	return &st->lines_lost.own;
}
