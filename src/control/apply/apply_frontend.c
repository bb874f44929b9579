/* apply_frontend.c: the frontend of a plan, and where clients come in. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/direct.h"
#include "control/apply/services.h"
#include "control/life/http_watch.h"
#include "control/plan/origin.h"
#include "net/listener.h"
#include "net/sock.h"

/* ---- its settings ---- */

/* DNS comes by TCP and by UDP; a file is a socket of one type. */
static int
check_paths(const struct plan *p, struct error *e)
{
	char text[ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; p->config->frontend.dns.on && i < p->listen.count; i++)
		if (p->listen.entry[i].at.u.sa.sa_family == AF_UNIX)
			return error_set(e,
			    "%s: \"%s\": with dns a Unix socket is not "
			    "possible",
			    origin_name(p, "listen"),
			    addr_format(&p->listen.entry[i].at, text));
	return 0;
}

int
apply_frontend_check(struct apply *a, struct error *e)
{
	const struct frontend_options *o = &a->wanted->config->frontend;

	if (check_paths(a->wanted, e) < 0)
		return -1;
	if ((o->rate_down == 0 && o->rate_up == 0) || sock_can_pace())
		return 0;
	return error_set(e, "%s: this system cannot limit the rate of a socket",
	    origin_name(a->wanted, o->rate_down > 0 ? "rate_down" : "rate_up"));
}

/* In a worker, makes the frontend one of several; in the leader, one that has
 * the sockets of all of them. */
static void
share_sockets(struct frontend *f, const struct process_role *t,
    const struct process_plan *process)
{
	if (t->member > 0)
		frontend_become(f, t->member - 1, t->size);
	else if (t->size > 1)
		frontend_share(f, t->size, process->workers_by);
}

int
apply_frontend_prepare(struct apply *a, struct error *e)
{
	struct service *svc = a->service;

	if (!a->first)
		return 0;
	svc->frontend = frontend_new(
	    svc->pen->loop, svc->pool, &a->wanted->config->frontend, e);
	if (svc->frontend == NULL)
		return -1;
	frontend_set_service(svc->frontend,
	    service_is_first(svc) ? NULL : svc->name, svc->label);
	frontend_use_sockets(svc->frontend, &svc->pen->sockets);
	share_sockets(svc->frontend, &svc->pen->role, a->draft->process);
	if (predecessor_is_there(&svc->pen->predecessor))
		frontend_follow_group(svc->frontend);
	return 0;
}

void
apply_frontend_cancel(struct apply *a)
{
	if (!a->first)
		return;
	frontend_free(a->service->frontend);
	a->service->frontend = NULL;
}

void
apply_frontend_commit(struct apply *a)
{
	frontend_set_options(
	    a->service->frontend, &a->wanted->config->frontend);
}

void
apply_frontend_commit_servers(struct apply *a)
{
	frontend_servers_changed(a->service->frontend);
}

/* ---- listeners ---- */

/* Connections, datagrams, or both at the same addresses. */
static int
listen_at(struct service *svc, const struct plan *plan, struct error *e)
{
	const struct frontend_options *o = &plan->config->frontend;
	struct frontend_address *all;
	unsigned i, n = 0;
	int rc;

	if (svc->director != NULL)
		return direct_listen(svc, &plan->listen, e);
	all = calloc(2 * plan->listen.count + 1, sizeof(*all));
	if (all == NULL)
		return error_set(e, "out of memory");
	for (i = 0; i < plan->listen.count; i++) {
		all[n] = plan->listen.entry[i];
		all[n++].datagram = o->udp.on;
		if (!o->dns.on)
			continue;
		all[n] = plan->listen.entry[i];
		all[n++].datagram = false;
	}
	rc = frontend_relisten(svc->frontend, all, n, e);
	free(all);
	return rc;
}

/* `arg` has the plan that the service will have; NULL: it leaves. */
static void
mark_listener(void *arg, struct listener *l)
{
	const struct plan *wanted = *(const struct plan **)arg;
	bool here = wanted != NULL &&
	    (l->datagram ? wanted->config->frontend.udp.on
			 : plan_service_takes_connections(wanted));
	unsigned i;

	l->goes = true;
	for (i = 0; here && i < wanted->listen.count; i++)
		if (addr_equal(&wanted->listen.entry[i].at, &l->at))
			l->goes = false;
}

void
apply_listen_mark(struct pen *p, const struct plan *draft)
{
	const struct plan *wanted;
	struct service *svc;
	unsigned i = 0;

	if (p->phase != PHASE_SERVING)
		return;
	SERVICE_EACH (p, svc) {
		wanted = svc->leaves
		    ? NULL
		    : plan_service_near(draft, i++, svc->name);
		frontend_each_listener(svc->frontend, mark_listener, &wanted);
	}
}

/* Whether a director was opened just now: it serves its addresses already. */
static bool
has_new_director(const struct apply *a)
{
	return a->first && a->service->director != NULL;
}

/* Whether a socket at `b` prevents one at `a`. An equal address is not the only
 * case: one of them may have the port at all addresses. */
static bool
is_in_the_way(const struct addr *a, const struct addr *b)
{
	return addr_equal(a, b) ||
	    (addr_port(a) > 0 && addr_port(a) == addr_port(b) &&
		(addr_is_any(a) || addr_is_any(b)));
}

/* The address of `other` that prevents one of the plan `by`; NULL: none
 * does. */
static const struct addr *
conflict_with(const struct service *other, const struct plan *by)
{
	const struct listen_list *held = &other->plan->listen,
				 *wanted = &by->listen;
	unsigned i, k;

	if (plan_service_takes_connections(other->plan) !=
	    plan_service_takes_connections(by))
		return NULL;
	for (i = 0; i < held->count; i++)
		for (k = 0; k < wanted->count; k++)
			if (is_in_the_way(
				&held->entry[i].at, &wanted->entry[k].at))
				return &held->entry[i].at;
	return NULL;
}

/* If another service has the address that could not be opened, adds to the
 * message which one, and the way out. */
static void
name_conflict(const struct apply *a, struct error *e)
{
	const struct error before = *e;
	const struct addr *at = NULL;
	char text[ADDR_TEXT_MAX];
	struct service *other;

	SERVICE_EACH (a->pen, other) {
		if (other != a->service)
			at = conflict_with(other, a->wanted);
		if (at == NULL)
			continue;
		error_set(e,
		    "%.300s; the service %s listens on %s: remove it there "
		    "first, by a reload of its own",
		    before.text, other->name, addr_format(at, text));
		return;
	}
}

int
apply_listen_prepare(struct apply *a, struct error *e)
{
	if (has_new_director(a) || listen_at(a->service, a->wanted, e) == 0)
		return 0;
	if (a->pen->phase == PHASE_SERVING)
		name_conflict(a, e);
	origin_add(a->wanted, "listen", e);
	return -1;
}

void
apply_listen_cancel(struct apply *a)
{
	struct error e;

	/* of a start the frontend, or the director, goes as a whole */
	if (a->first)
		return;
	if (listen_at(a->service, a->now, &e) < 0)
		log_error("listeners not restored error=\"%s\"", e.text);
	apply_listen_commit(a);
}

void
apply_listen_commit(struct apply *a)
{
	if (!has_new_director(a))
		frontend_relistened(a->service->frontend);
}

/* ---- errors of servers ---- */

void
apply_http_watch_commit(struct apply *a)
{
	http_watch_follow(a->service, a->wanted);
}
