/* service_report.c: see service_report.h. */
#include "config.h"

#include "control/answer/fields.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/report/service_report.h"
#include "pool/pool.h"
#include "proxy/frontend/frontend.h"

/* ---- a service ---- */

struct counts {
	unsigned up, all;
};

static struct counts
count_servers(const struct pool *pool)
{
	struct counts n = { 0 };
	const struct server *s;
	unsigned i;

	for (i = 0; i < pool_slots(pool); i++) {
		s = pool_slot(pool, i);
		if (s == NULL || !s->present || s->role != SERVER_REGULAR)
			continue;
		n.all++;
		n.up += server_state(s) == SERVER_UP;
	}
	return n;
}

/* A service after `*i` that a route of this one leads to; NULL: there is none
 * any more. */
static const struct service *
next_led_to(const struct service *svc, unsigned *i)
{
	const struct route_plan *r;

	while ((r = route_plans_at(svc->plan->routes, (*i)++)) != NULL)
		if (r->to_service)
			return service_find(svc->pen, r->to);
	return NULL;
}

static bool
leads_on(const struct service *svc)
{
	unsigned i = 0;

	return next_led_to(svc, &i) != NULL;
}

/* In one word. */
static const char *
state_of(const struct service *svc, struct counts n)
{
	if (svc->leaves)
		return "leaving";
	if (n.all == 0 && (leads_on(svc) || plan_service_answers(svc->plan)))
		return service_is_ready(svc) ? "up" : "down";
	return n.all == 0		    ? "empty"
	    : n.up == n.all		    ? "up"
	    : !pool_has_eligible(svc->pool) ? "down"
					    : "degraded";
}

void
service_fields(struct fields *f, const struct service *svc)
{
	const struct frontend_stats *st = frontend_stats(svc->frontend);
	struct counts n = count_servers(svc->pool);
	const char *listen = svc->plan->listen_text;

	fields_text(f, "service", svc->name);
	fields_text(f, "state", state_of(svc, n));
	fields_text(f, "listen", listen);
	fields_number(f, "up", n.up);
	fields_number(f, "servers", n.all);
	fields_number(f, "sessions", st->sessions);
	fields_number(f, "flows", st->flows.now);
	fields_number(f, "accepted", st->accepted);
}

static void
emit_service(struct reply *r, const struct service *svc)
{
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	service_fields(&f, svc);
	fields_end(&f);
}

bool
service_is_ready(const struct service *svc)
{
	const struct pool *p = svc->pool;
	const struct service *other, *last = NULL;
	unsigned i;

	if (plan_service_answers(svc->plan))
		return true;
	for (i = 0; i < pool_count(p); i++)
		if (server_is_healthy(pool_server(p, i)))
			return true;
	/* many names in a row may lead to the same */
	for (i = 0; (other = next_led_to(svc, &i)) != NULL; last = other)
		if (other != last && service_is_ready(other))
			return true;
	return server_is_healthy(pool_slot(p, SLOT_EMERGENCY));
}

/* ---- those that are reported ---- */

static bool
listens(const struct service *svc)
{
	return svc->plan->listen.count > 0;
}

bool
service_is_shown(const struct service *svc)
{
	return listens(svc) || svc->leaves || !service_is_first(svc) ||
	    !service_has_others(svc->pen);
}

bool
service_is_reported(const struct service *svc)
{
	const struct service *other = svc->next;

	if (svc->leaves)
		return false;
	if (!service_is_first(svc) || listens(svc))
		return true;
	while (other != NULL && other->leaves)
		other = other->next;
	return other == NULL;
}

int
service_must_be_named(const struct call *c, struct error *e)
{
	return service_is_reported(c->service)
	    ? 0
	    : error_set(e,
		  "the service default has no listening address: add a name, "
		  "\"service NAME %s\" (\"services\" lists them)",
		  c->row->name);
}

/* ---- all services ---- */

static bool
more_services(struct reply *r, struct service *svc)
{
	const struct service *at = service_at(svc->pen, r->at);

	for (; at != NULL && buffer_length(&r->out) < REPLY_PIECE;
	     at = at->next, r->at++)
		if (service_is_shown(at))
			emit_service(r, at);
	if (at != NULL)
		return true;
	fields_list_end(r);
	return false;
}

void
report_services(struct reply *r)
{
	fields_list_begin(r);
	r->at = 0;
	r->more = more_services;
}
