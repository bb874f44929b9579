/* apply_frontend.c: the frontend of a plan, and where clients come in. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/direct.h"
#include "control/apply/services.h"
#include "control/life/http_watch.h"
#include "control/plan/origin.h"
#include "net/listener.h"
#include "net/sock.h"

/* ---- its settings ---- */

int
apply_frontend_check(struct apply *a, struct error *e)
{
	struct frontend_options *o = &a->wanted->config.frontend;
	int port = spec_default_port(&a->wanted->listen);

	o->first_port = port > 0 ? (uint16_t)port : 0;
	if ((o->rate_down == 0 && o->rate_up == 0) || sock_can_pace())
		return 0;
	return error_set(e, "%s: this system cannot limit the rate of a socket",
	    origin_name(a->wanted, o->rate_down > 0 ? "rate_down" : "rate_up"));
}

/* It is one of several, or has the sockets of all of them. */
static void
join_team(
    struct frontend *f, const struct team *t, const struct plan *process)
{
	if (t->member > 0)
		frontend_become(f, t->member - 1, t->size);
	else if (t->size > 1)
		frontend_share(f, t->size, process->config.process.workers_by);
}

int
apply_frontend_prepare(struct apply *a, struct error *e)
{
	struct service *svc = a->service;

	if (!a->first)
		return 0;
	svc->frontend = frontend_new(
	    svc->pen->loop, svc->pool, &a->wanted->config.frontend, e);
	if (svc->frontend == NULL)
		return -1;
	frontend_set_service(svc->frontend,
	    service_is_first(svc) ? NULL : svc->name, svc->label);
	frontend_use_sockets(svc->frontend, &svc->pen->sockets);
	join_team(svc->frontend, &svc->pen->team, a->draft);
	if (predecessor_is_there(&svc->pen->predecessor))
		frontend_take_over(svc->frontend);
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
	frontend_set_options(a->service->frontend, &a->wanted->config.frontend);
}

/* ---- listeners ---- */

/* Connections, datagrams, or both at the same addresses. */
static int
listen_at(struct service *svc, const struct plan *plan, struct error *e)
{
	const struct frontend_options *o = &plan->config.frontend;
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

/* What a service has that others of the draft may want. */
struct lending {
	struct service *from;
	const struct plan *draft;
	bool file_is_ours;
};

static void
lend_socket(void *arg, int own)
{
	struct lending *d = arg;
	struct error e;
	int fd = dup(own);

	if (fd >= 0 &&
	    inherited_add(
		&d->from->pen->sockets.inherited, fd, d->file_is_ours, &e) < 0)
		close(fd);
}

static bool
listens_there(const struct plan *service, const struct listener *l)
{
	unsigned i;

	if (l->datagram ? !service->config.frontend.udp.on
			: !plan_service_takes_connections(service))
		return false;
	for (i = 0; i < service->listen.count; i++)
		if (addr_equal(&service->listen.entry[i].at, &l->at))
			return true;
	return false;
}

/* Its file is removed unless another service takes it, and keeps its mode. */
static bool
is_wanted_by_another(const struct lending *d, const struct listener *l)
{
	const struct plan *mine = d->from->plan, *other;
	unsigned i;

	for (i = 0; (other = plan_service_at(d->draft, i)) != NULL; i++)
		if (strcmp(plan_service_name(other), d->from->name) != 0 &&
		    other->config.frontend.unix_mode ==
			mine->config.frontend.unix_mode &&
		    listens_there(other, l))
			return true;
	return false;
}

static void
lend_listener(void *arg, struct listener *l)
{
	struct lending *d = arg;

	d->file_is_ours = sock_file_is_there(&l->file, &l->at);
	if (l->at.u.sa.sa_family != AF_UNIX || is_wanted_by_another(d, l))
		lend_socket(arg, l->fd);
}

/* Of a leader's, those of each worker in turn. */
static void
lend_all(struct service *svc, const struct plan *draft)
{
	struct lending d = { .from = svc, .draft = draft };
	const struct team *t = &svc->pen->team;
	unsigned i;

	if (t->size == 1 || t->member > 0) {
		frontend_each_listener(svc->frontend, lend_listener, &d);
		return;
	}
	for (i = 0; i < t->size; i++)
		frontend_each_member(svc->frontend, i, true, lend_socket, &d);
}

void
apply_listen_lend(struct pen *p, const struct plan *draft)
{
	const struct plan *wanted = NULL;
	struct service *svc;
	unsigned i = 0;

	if (p->phase != PHASE_SERVING || !service_has_others(p))
		return;
	SERVICE_EACH (p, svc) {
		wanted = svc->leaves
		    ? NULL
		    : plan_service_near(draft, i++, svc->name);
		if (wanted != NULL &&
		    listen_list_equal(&wanted->listen, &svc->plan->listen))
			continue;
		lend_all(svc, draft);
		lend_all(svc, draft); /* to have it back if all fails */
	}
}

/* A director that was opened just now serves its addresses already. */
static bool
listens_already(const struct apply *a)
{
	return a->first
	    ? a->service->director != NULL
	    : listen_list_equal(&a->now->listen, &a->wanted->listen);
}

/* Not all move: one may hold another one's port by a wildcard, or a file may
 * have another mode. */
static bool
is_in_the_way(const struct addr *a, const struct addr *b)
{
	return addr_equal(a, b) ||
	    (addr_port(a) > 0 && addr_port(a) == addr_port(b) &&
		(addr_is_any(a) || addr_is_any(b)));
}

static const struct addr *
held_by(const struct service *other, const struct plan *by)
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

static void
blame_another(const struct apply *a, struct error *e)
{
	const struct error before = *e;
	const struct addr *at = NULL;
	char text[ADDR_TEXT_MAX];
	struct service *other;

	SERVICE_EACH (a->pen, other) {
		if (other != a->service)
			at = held_by(other, a->wanted);
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
	if (listens_already(a) || listen_at(a->service, a->wanted, e) == 0)
		return 0;
	if (a->pen->phase == PHASE_SERVING)
		blame_another(a, e);
	origin_add(a->wanted, "listen", e);
	return -1;
}

void
apply_listen_cancel(struct apply *a)
{
	struct error e;

	/* of a start the frontend, or the director, goes as a whole */
	if (a->first || listens_already(a))
		return;
	if (listen_at(a->service, a->now, &e) < 0)
		log_error("listeners not restored error=\"%s\"", e.text);
	apply_listen_commit(a);
}

void
apply_listen_commit(struct apply *a)
{
	if (!listens_already(a))
		frontend_relistened(a->service->frontend);
}

/* ---- errors of servers ---- */

void
apply_http_watch_commit(struct apply *a)
{
	http_watch_follow(a->service, a->wanted);
}
