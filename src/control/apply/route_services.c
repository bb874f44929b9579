/* route_services.c: routes that lead to services: they end at one that exists,
 * and have its frontend once all services are in force. */
#include "config.h"

#include <stdlib.h>

#include "base/array.h"
#include "control/answer/reply.h"
#include "control/apply/apply.h"
#include "control/apply/routes.h"
#include "control/apply/services.h"

/* How many services may pass a client on, one after the other. */
enum { ROUTES_PASSED_MAX = 8 };

/* A service, by its number, whose clients a route may pass to another one. */
struct lead {
	unsigned from, to;
	const struct route_plan *route;
};

struct leads {
	const struct plan *draft;
	struct lead *list;
	unsigned count, room;
};

static int
leads_add(struct leads *l, struct lead one, struct error *e)
{
	struct lead *list =
	    array_grow(l->list, &l->room, sizeof(*list), l->count);

	if (list == NULL)
		return error_set(e, "out of memory");
	l->list = list;
	list[l->count++] = one;
	return 0;
}

static int
blame_route(const struct leads *l, const struct lead *one, const char *phrase,
    struct error *e)
{
	struct buffer text;

	buffer_init(&text);
	route_plan_print(one->route, &text);
	error_set(e, "%.*s: %s", (int)buffer_length(&text),
	    buffer_length(&text) > 0 ? buffer_bytes(&text) : "", phrase);
	buffer_fini(&text);
	return plan_service_blame(plan_service_at(l->draft, one->from), e);
}

/* Collects the routes that lead to services. An error is a service that does
 * not exist, or cannot take connections. */
static int
leads_collect(struct leads *l, struct error *e)
{
	const struct plan *one;
	unsigned i, k;

	for (i = 0; (one = plan_service_at(l->draft, i)) != NULL; i++)
		for (k = 0; k < route_plans_count(one->routes); k++) {
			struct lead lead = { .from = i,
				.route = route_plans_at(one->routes, k) };

			if (!lead.route->to_service)
				continue;
			lead.to = plan_service_number(l->draft, lead.route->to);
			if (plan_service_at(l->draft, lead.to) == NULL)
				return blame_route(
				    l, &lead, "there is no such service", e);
			if (!routes_are_for(plan_service_at(l->draft, lead.to)))
				return blame_route(l, &lead,
				    "that service has udp, dsr_if or dummy", e);
			if (leads_add(l, lead, e) < 0)
				return -1;
		}
	return 0;
}

/* Finds for each service how many routes may have led a client there, one after
 * the other. In a circle that never ends. */
static int
leads_measure(const struct leads *l, unsigned *passed, struct error *e)
{
	bool changed = true;
	unsigned i;

	while (changed) {
		changed = false;
		for (i = 0; i < l->count; i++) {
			const struct lead *one = &l->list[i];

			if (passed[one->to] > passed[one->from])
				continue;
			passed[one->to] = passed[one->from] + 1;
			changed = true;
			if (passed[one->to] > ROUTES_PASSED_MAX)
				return blame_route(l, one,
				    "routes lead in a circle, or through too "
				    "many services",
				    e);
		}
	}
	return 0;
}

/* ---- services that leave ---- */

static bool
leads_to(const struct routes *r, const struct frontend_core *to)
{
	unsigned i;

	if (r == NULL || !r->lead)
		return false;
	for (i = 0; i < r->count; i++)
		if (r->list[i].leads_to == to)
			return true;
	return false;
}

/* The others lead to those that are there: their routes changed with the
 * plan. */
bool
service_is_led_to(const struct service *svc)
{
	const struct frontend_core *to = frontend_core_of(svc->frontend);
	const struct service *one;

	SERVICE_EACH (svc->pen, one)
		if (one->leaves && one != svc &&
		    leads_to(frontend_routes(one->frontend), to))
			return true;
	return false;
}

/* ---- parts of the participant ---- */

int
apply_routes_check(struct apply_all *a, struct error *e)
{
	struct leads l = { .draft = a->draft };
	unsigned *passed = NULL;
	int rc;

	rc = leads_collect(&l, e);
	if (rc == 0 && l.count > 0) {
		passed = calloc(a->draft->service_count + 1, sizeof(*passed));
		rc = passed != NULL ? leads_measure(&l, passed, e)
				    : error_set(e, "out of memory");
	}
	free(passed);
	free(l.list);
	return rc;
}

void
apply_routes_connect(struct apply *a)
{
	struct frontend *f = a->service->frontend;
	struct routes *r =
	    f != NULL && a->changed & ROUTES_ON ? frontend_routes(f) : NULL;
	const struct route_plan *from;
	unsigned i;

	for (i = 0; r != NULL && i < r->count; i++) {
		from = route_plans_at(a->wanted->routes, i);
		if (!from->to_service)
			continue;
		r->list[i].leads_to =
		    frontend_core_of(service_find(a->pen, from->to)->frontend);
		r->lead = true;
	}
}
