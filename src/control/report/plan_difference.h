/* plan_difference.h: how much one plan has otherwise than another, in numbers:
 * what a reload has changed. Addresses that names were resolved to do not
 * count. */
#ifndef PEN_CONTROL_PLAN_DIFFERENCE_H
#define PEN_CONTROL_PLAN_DIFFERENCE_H

#include "control/plan/plan.h"

struct plan_difference {
	/* Of all services, with listening addresses; all access lists are one
	 * more, and so are the routes of a service. */
	unsigned settings;
	unsigned servers_added, servers_removed, servers_changed;
	unsigned services_added, services_removed; /* besides "default" */
};

/* The numbers of differences. If only one plan has a service, its servers count
 * as added or removed, and its settings do not count. Costs little for services
 * that both plans share. */
struct plan_difference plan_difference(
    const struct plan *before, const struct plan *after);
/* Logs it, as a reload for that reason. */
void plan_difference_log(const struct plan *before, const struct plan *after,
    const char *reason);

#endif
