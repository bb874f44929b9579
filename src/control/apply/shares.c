/* shares.c: see shares.h. */
#include "config.h"

#include "control/apply/direct.h"
#include "control/apply/services.h"
#include "control/apply/shares.h"
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

/* The leader of workers serves no client. */
static uint64_t
limit_of(const struct pen *p)
{
	uint64_t max = p->plan->config.conn_max_all;

	if (p->team.workers != NULL)
		return 0;
	return p->team.member > 0 ? (max + p->team.size - 1) / p->team.size
				  : max;
}

/* One that leaves has sessions, but no share. */
static void
join(struct service *svc)
{
	struct pen *p = svc->pen;

	if (takes_connections(svc->plan))
		room_join(&p->room, frontend_core_of(svc->frontend),
		    !svc->leaves && has_share(p->plan, svc->plan));
}

void
shares_settle(struct pen *p)
{
	struct service *svc;
	uint64_t max = limit_of(p);

	if (p->phase < PHASE_STARTING || (max == 0 && p->room.max == 0))
		return;
	room_set(&p->room, max, max > 0 ? shares_count(p->plan) : 0);
	SERVICE_EACH (p, svc)
		if (max > 0)
			join(svc);
	SERVICE_EACH (p, svc)
		frontend_check_limits(frontend_core_of(svc->frontend));
}
