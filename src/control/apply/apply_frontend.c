/* apply_frontend.c: the frontend of a plan, and where clients come in. */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/direct.h"
#include "control/apply/services.h"
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
		frontend_share(f, t->size,
		    process->config.process.workers_by ==
			SOCK_GROUP_BY_ADDRESS);
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
	frontend_inherit(svc->frontend, &svc->pen->inherited);
	join_team(svc->frontend, &svc->pen->team, a->draft);
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

static void
lend_socket(void *arg, int own)
{
	struct pen *p = arg;
	struct error e;
	int fd = dup(own);

	if (fd >= 0 && inherited_add(&p->inherited, fd, false, &e) < 0)
		close(fd);
}

static void
lend_listener(void *arg, struct listener *l)
{
	if (l->at.u.sa.sa_family != AF_UNIX)
		lend_socket(arg, l->fd);
}

/* Of a leader's, those of each worker in turn. */
static void
lend_all(struct service *svc)
{
	struct pen *p = svc->pen;
	unsigned i;

	if (p->team.size == 1 || p->team.member > 0) {
		frontend_each_listener(svc->frontend, lend_listener, p);
		return;
	}
	for (i = 0; i < p->team.size; i++)
		frontend_each_member(svc->frontend, i, true, lend_socket, p);
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
		if (wanted == NULL ||
		    !listen_list_equal(&wanted->listen, &svc->plan->listen))
			lend_all(svc);
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

int
apply_listen_prepare(struct apply *a, struct error *e)
{
	if (listens_already(a) || listen_at(a->service, a->wanted, e) == 0)
		return 0;
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
