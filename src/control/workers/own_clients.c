/* own_clients.c: what a worker keeps of the clients of older processes: its
 * leader has it of all, and the worker is a copy of its leader. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "control/life/context.h"
#include "control/workers/worker_private.h"
#include "net/sock_group.h"

/* How long the client table keeps clients of other workers: some that this
 * worker got by the old number of workers may still wait in a backlog. Then
 * those are removed, in portions. */
enum { BACKLOG_MS = 2000, SWEEP_MS = 1, PORTION = 1000 };

static bool
is_own(const struct pen *p, const struct peer *who)
{
	return sock_group_of(who, p->role.size, p->plan->process->workers_by) ==
	    p->role.member - 1;
}

static void
take_flow(struct pen *p, const struct worker_flow *f)
{
	struct peer who;

	peer_from_addr(&who, &f->past.client);
	if (is_own(p, &who))
		(void)frontend_import_flow(
		    f->service->frontend, &f->past, f->server);
	else if (f->past.has_socket)
		close(f->past.fd);
}

static void
take_flows(struct pen *p)
{
	struct buffer *all = &p->role.flows;
	struct worker_flow f;
	size_t i, n = buffer_length(all) / sizeof(f);

	for (i = 0; i < n; i++) {
		memcpy(&f, buffer_bytes(all) + i * sizeof(f), sizeof(f));
		take_flow(p, &f);
	}
	buffer_fini(all);
}

/* Returns whether there may be more. */
static bool
sweep_some(struct worker *w, struct sticky *s)
{
	const struct sticky_client *c;
	struct peer who;
	unsigned i;

	for (i = 0; i < PORTION && s != NULL && w->swept < sticky_count(s);
	     i++) {
		c = sticky_at(s, w->swept);
		who = (struct peer){ .family = c->family, .scope = c->scope };
		memcpy(who.ip, c->ip, sizeof(who.ip));
		/* another one gets the number of one that is forgotten */
		if (is_own(w->pen, &who) || !sticky_remove(s, &who))
			w->swept++;
	}
	return i == PORTION;
}

static bool
service_exists(const struct pen *p, const struct service *wanted)
{
	const struct service *svc;

	SERVICE_EACH (p, svc)
		if (svc == wanted)
			return true;
	return false;
}

static void
on_sweep(struct timer *t)
{
	struct worker *w = container_of(t, struct worker, sweep);

	if (!service_exists(w->pen, w->sweeps)) /* begins again */
		w->sweeps = w->pen->service;
	else if (!sweep_some(w, pool_sticky(w->sweeps->pool))) {
		w->sweeps = w->sweeps->next;
		w->swept = 0;
	}
	if (w->sweeps != NULL)
		(void)timer_start(w->pen->loop, t, SWEEP_MS);
}

void
worker_take_clients(struct worker *w)
{
	struct pen *p = w->pen;

	take_flows(p);
	timer_init(&w->sweep, on_sweep);
	w->sweeps = p->service;
	if (p->plan->process->workers_by == SOCK_GROUP_BY_ADDRESS)
		(void)timer_start(p->loop, &w->sweep, BACKLOG_MS);
}
