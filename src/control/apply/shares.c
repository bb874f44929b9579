/* shares.c: see shares.h. */
#include "config.h"

#include "control/apply/direct.h"
#include "control/apply/services.h"
#include "control/apply/shares.h"
#include "control/life/descriptors.h"
#include "proxy/core/frontend_core.h"

static bool
takes_connections(const struct plan *service)
{
	return plan_service_takes_connections(service) &&
	    !direct_is_wanted(service);
}

static bool
has_share(const struct plan *first, const struct plan *service)
{
	return takes_connections(service) &&
	    (service != first || first->listen.count > 0 ||
		plan_service_leading_to(first, plan_service_name(first)) !=
		    NULL);
}

unsigned
shares_count(const struct plan *first)
{
	const struct plan *service;
	unsigned i, n = 0;

	for (i = 0; (service = plan_service_at(first, i)) != NULL; i++)
		n += has_share(first, service);
	return n;
}

void
shares_find(struct shares *s, const struct plan *first, size_t descriptors)
{
	size_t all = first->service_count +
	    (first->service_count == 0 || first->listen.count > 0);
	const struct plan *service;
	unsigned i;

	*s = (struct shares){ .each = descriptors / all };
	for (i = 0; (service = plan_service_at(first, i)) != NULL; i++)
		if (has_share(first, service)) {
			s->count++;
			s->needed += descriptors_needed(service);
		}
	s->together = s->count >= all
	    ? descriptors
	    : descriptors / all * (s->count > 0 ? s->count : 1);
}

size_t
shares_limit(const struct shares *s, const struct plan *service)
{
	size_t own = descriptors_needed(service);
	size_t others = s->needed > own ? s->needed - own : 0;

	if (s->together == 0 || !takes_connections(service))
		return s->each;
	return s->together > others ? s->together - others : 1;
}

/* The most connections that one service could have: what it sets, within its
 * share of descriptors, but at least the usual number. */
static uint64_t
sessions_of(const struct shares *s, const struct plan *first)
{
	const struct plan *service;
	struct descriptors d;
	uint64_t most = 0, wanted, i;

	for (i = 0; (service = plan_service_at(first, (unsigned)i)) != NULL;
	     i++) {
		if (!has_share(first, service))
			continue;
		d = descriptors_share(
		    shares_limit(s, service), first->process, service, 0);
		wanted = service->config->conn_max;
		if (wanted > d.sessions)
			wanted = d.sessions;
		if (wanted < d.usual)
			wanted = d.usual;
		if (wanted > most)
			most = wanted;
	}
	return most;
}

uint64_t
shares_room(const struct shares *s, const struct plan *first)
{
	uint64_t max = first->process->conn_max_all, sessions;

	if (s->count < 2 || s->together == 0)
		return max;
	sessions = sessions_of(s, first);
	return max > 0 && max < sessions ? max : sessions;
}

/* The leader of workers serves no client. */
static uint64_t
limit_of(const struct pen *p)
{
	struct shares s;
	uint64_t max;

	if (p->role.workers != NULL)
		return 0;
	shares_find(&s, p->plan, p->descriptors * p->role.size);
	max = shares_room(&s, p->plan);
	return p->role.member > 0 ? (max + p->role.size - 1) / p->role.size
				  : max;
}

/* Makes the service's frontend one of those that share conn_max_all. A service
 * that leaves still has sessions, but no share. */
static void
join_shared_limit(struct service *svc)
{
	struct pen *p = svc->pen;

	if (takes_connections(svc->plan))
		shared_limit_join(&p->shared_limit,
		    frontend_core_of(svc->frontend),
		    !svc->leaves && has_share(p->plan, svc->plan));
}

void
shares_settle(struct pen *p)
{
	struct service *svc;
	uint64_t max = limit_of(p);

	if (p->phase < PHASE_STARTING ||
	    (max == 0 && p->shared_limit.max == 0))
		return;
	shared_limit_set(
	    &p->shared_limit, max, max > 0 ? shares_count(p->plan) : 0);
	SERVICE_EACH (p, svc)
		if (max > 0)
			join_shared_limit(svc);
	SERVICE_EACH (p, svc)
		frontend_check_limits(frontend_core_of(svc->frontend));
}
