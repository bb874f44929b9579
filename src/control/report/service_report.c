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

/* In one word. */
static const char *
state_of(const struct service *svc, struct counts n)
{
	if (svc->leaves)
		return "leaving";
	return n.all == 0		    ? "empty"
	    : n.up == n.all		    ? "up"
	    : !pool_has_eligible(svc->pool) ? "down"
					    : "degraded";
}

static void
emit_service(struct reply *r, const struct service *svc)
{
	const struct frontend_stats *st = frontend_stats(svc->frontend);
	struct counts n = count_servers(svc->pool);
	const char *listen = svc->plan->listen_text;
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "service", svc->name);
	fields_text(&f, "state", state_of(svc, n));
	fields_text(&f, "listen", listen != NULL ? listen : "");
	fields_number(&f, "up", n.up);
	fields_number(&f, "servers", n.all);
	fields_number(&f, "sessions", st->sessions);
	fields_number(&f, "flows", st->flows.now);
	fields_number(&f, "accepted", st->accepted);
	fields_end(&f);
}

bool
service_is_ready(const struct service *svc)
{
	const struct pool *p = svc->pool;
	unsigned i;

	for (i = 0; i < pool_count(p); i++)
		if (server_is_healthy(pool_server(p, i)))
			return true;
	return server_is_healthy(pool_slot(p, SLOT_EMERGENCY));
}

/* ---- those that are told of ---- */

static bool
listens(const struct service *svc)
{
	return svc->plan->listen.count > 0;
}

static bool
is_shown(const struct service *svc)
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

/* ---- all services ---- */

static bool
more_services(struct reply *r, struct service *svc)
{
	const struct service *at = service_at(svc->pen, r->at);

	for (; at != NULL && buffer_length(&r->out) < REPLY_PIECE;
	     at = at->next, r->at++)
		if (is_shown(at))
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
