/* states_sync.c: what one of these processes finds out about a server gets to
 * all of them: the leader finds it out by checks, workers by their clients. A
 * worker informs its leader, which sends it to all; the leader's state is
 * right. */
#include "config.h"

#include <string.h>

#include "control/apply/services.h"
#include "control/workers/worker_private.h"
#include "control/workers/workers_private.h"

/* For so long a worker keeps a suspect server suspect: its leader's checks will
 * clear it, or take it down. */
enum { SUSPECT_MS = 3600 * 1000 };

static void
fill_record(
    const struct service *svc, const struct server *s, struct state_record *r)
{
	memset(r, 0, sizeof(*r));
	memcpy(r->service, svc->name, sizeof(r->service));
	r->slot = s->slot;
	r->generation = s->generation;
	pool_describe(s, &r->server, loop_now(svc->pen->loop));
}

int
states_sync_write(
    const struct service *svc, const struct server *s, struct buffer *out)
{
	struct state_record r;

	fill_record(svc, s, &r);
	return buffer_append(out, &r, sizeof(r));
}

/* A worker knows by its clients that a server fails, or answers again. That a
 * time is over all know by themselves. */
static bool
is_news(const struct server *s)
{
	enum server_state state = server_state(s);

	return state == SERVER_SUSPECT || state == SERVER_BLACKLISTED ||
	    strcmp(server_reason(s), "answered") == 0;
}

/* Sends the state of a server. If the channel has no room, it is marked, and
 * its state at that later time is sent. */
static void
send_state_record(struct worker *w, const struct service *svc, struct server *s)
{
	struct state_record r;

	s->untold = worker_is_full(w);
	w->untold |= s->untold;
	if (s->untold)
		return;
	fill_record(svc, s, &r);
	worker_send(w->pen, MESSAGE_STATE, &r, sizeof(r));
}

void
states_sync_send(struct service *svc, struct server *s)
{
	struct pen *p = svc->pen;
	struct state_record r;

	if (p->role.worker == NULL) {
		fill_record(svc, s, &r);
		workers_post(p->role.workers, MESSAGE_STATE, &r, sizeof(r));
		workers_announce(p->role.workers);
	} else if (is_news(s)) {
		send_state_record(p->role.worker, svc, s);
	}
}

/* Sends the states that wait for room: of each server only the newest one. */
void
states_sync_send_rest(struct worker *w)
{
	struct service *svc;
	struct server *s;
	unsigned i;

	w->untold = false;
	SERVICE_EACH (w->pen, svc)
		for (i = 0; i < pool_slots(svc->pool); i++) {
			s = pool_slot(svc->pool, i);
			if (s->untold)
				send_state_record(w, svc, s);
		}
}

/* Takes over what another process has found out about a server. In a worker a
 * suspect server stays so until the leader's checks decide, and sessions with a
 * server that is down are cut. */
static void
follow_state(
    struct service *svc, struct server *s, struct server_elsewhere *known)
{
	struct pen *p = svc->pen;

	if (p->role.member > 0 && known->checked && !known->by_operator &&
	    known->blacklisted_ms > 0)
		known->blacklisted_ms = SUSPECT_MS;
	pool_follow(svc->pool, s, known, loop_now(p->loop));
	if (p->role.member > 0 && pool_cuts_sessions(svc->pool, s))
		frontend_cut_sessions(svc->frontend);
}

/* Takes over what a worker reports of a server: that clients failed there, or
 * were answered. */
static void
learn_of_worker(
    struct service *svc, struct server *s, const struct server_elsewhere *told)
{
	struct server_elsewhere known;

	pool_describe(s, &known, loop_now(svc->pen->loop));
	if (known.by_operator)
		return;
	known.blacklisted_ms = told->blacklisted_ms;
	known.refusals = told->refusals;
	known.history = told->history;
	known.reasons = told->reasons;
	if (told->blacklisted_ms > 0)
		known.health.good = 0;
	pool_follow(svc->pool, s, &known, loop_now(svc->pen->loop));
}

void
states_sync_receive(struct pen *p, const char *bytes, size_t n)
{
	struct state_record r;
	struct service *svc;
	struct server *s;

	for (; n >= sizeof(r); n -= sizeof(r), bytes += sizeof(r)) {
		memcpy(&r, bytes, sizeof(r));
		svc = service_find(p, r.service);
		s = svc != NULL ? pool_slot(svc->pool, r.slot) : NULL;
		if (s == NULL || !s->present || s->generation != r.generation)
			continue; /* it is of a server that is gone */
		if (p->role.member == 0) {
			learn_of_worker(svc, s, &r.server);
			continue;
		}
		p->role.muted = true;
		follow_state(svc, s, &r.server);
		p->role.muted = false;
	}
}
