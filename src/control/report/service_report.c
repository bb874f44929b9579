/* service_report.c: see service_report.h. */
#include "config.h"

#include <stdio.h>

#include "control/answer/fields.h"
#include "control/life/http_watch.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/report/service_report.h"
#include "dsr/director/director.h"
#include "pool/pool.h"
#include "proxy/frontend/frontend.h"

/* ---- a service ---- */

struct counts {
	unsigned up, all, excused; /* .. that may be down, and are */
	enum server_state state; /* of the first */
	bool alike;		 /* all have that one */
	uint64_t rate;		 /* connects to all, in ten seconds */
};

/* Counts the regular servers of a service by state, and adds up the rates of
 * connects. */
static struct counts
count_servers(const struct service *svc)
{
	struct counts n = { .alike = true };
	const struct pool *pool = svc->pool;
	const struct server *s;
	unsigned i;

	for (i = 0; i < pool_slots(pool); i++) {
		s = pool_slot(pool, i);
		if (s == NULL || !s->present)
			continue;
		n.rate +=
		    rate_tenths(&s->counters->rate, loop_now(svc->pen->loop));
		if (s->role != SERVER_REGULAR)
			continue;
		if (n.all++ == 0)
			n.state = server_state(s);
		n.alike &= server_state(s) == n.state;
		n.up += server_state(s) == SERVER_UP;
		n.excused += server_state_is_down(server_state(s)) &&
		    s->set.may_be_down;
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

static bool
stands_by(const struct service *svc)
{
	return svc->director != NULL && director_role(svc->director).standby;
}

struct service_dsr {
	uint64_t flows, role_s;
};

static struct service_dsr
count_dsr(const struct service *svc)
{
	struct director_status s;

	if (svc->director == NULL)
		return (struct service_dsr){ 0 };
	director_status(svc->director, &s);
	return (struct service_dsr){ s.flows->count, s.role_s };
}

/* The state of a service, in one word. */
static const char *
state_of(const struct service *svc, struct counts n)
{
	if (svc->leaves)
		return "leaving";
	if (n.all == 0 && (leads_on(svc) || plan_service_answers(svc->plan)))
		return service_is_ready(svc) ? "up" : "down";
	if (n.all > 0 && n.alike &&
	    (n.state == SERVER_DRAIN || n.state == SERVER_MAINT))
		return server_state_name(n.state);
	return n.all == 0 ? "empty"
	    : n.up > 0 && n.up + n.excused == n.all
	    ? (stands_by(svc) ? "standby" : "up")
	    : !pool_has_eligible(svc->pool) ? "down"
					    : "degraded";
}

/* The servers that answer with errors: "0 web1 37%, 2 web3 100% and 3 more". */
static void
report_http_errors(struct fields *f, const struct service *svc)
{
	enum { LISTED = 4 };
	char text[LISTED * 80 + 32] = "";
	unsigned i, percent, n = 0;
	size_t used = 0;

	if (!svc->plan->config->frontend.http.on)
		return;
	for (i = 0; i < pool_count(svc->pool); i++) {
		const struct server *s = pool_server(svc->pool, i);

		percent = http_watch_errors(svc, s);
		if (percent > 0 && n++ < LISTED)
			used += (size_t)snprintf(text + used,
			    sizeof(text) - used, "%s%u %.60s %u%%",
			    n > 1 ? ", " : "", s->number, s->name, percent);
	}
	if (n > LISTED)
		snprintf(text + used, sizeof(text) - used, " and %u more",
		    n - LISTED);
	fields_phrase(f, "http_errors", text);
}

/* Reports what every service has. */
static void
report_common(
    struct fields *f, const struct service *svc, struct service_dsr dsr)
{
	const struct frontend_stats *st = frontend_stats(svc->frontend);
	struct counts n = count_servers(svc);
	const char *listen = svc->plan->listen_text;
	char rate[REPORT_TEXT_MAX];

	fields_text(f, "service", svc->name);
	fields_text(f, "state", state_of(svc, n));
	fields_text(f, "listen", listen);
	fields_number(f, "up", n.up);
	fields_number(f, "servers", n.all);
	fields_number(f, "sessions", st->sessions);
	fields_number(f, "flows", st->flows.now + dsr.flows);
	fields_number(f, "accepted", st->accepted);
	fields_decimal(f, "rate", report_tenths(n.rate, rate));
}

void
service_fields(struct fields *f, const struct service *svc)
{
	struct service_dsr dsr = count_dsr(svc);

	report_common(f, svc, dsr);
	report_http_errors(f, svc);
	report_dns(f, svc);
	if (svc->director == NULL)
		return;
	report_dsr(f, svc->director);
	fields_number(f, "role_s", dsr.role_s);
}

/* Responses of its servers, or blanks without `http`. */
static void
report_http_classes(struct fields *f, const struct service *svc)
{
	static const char *const keys[HTTP_CLASSES] = { "http_1xx", "http_2xx",
		"http_3xx", "http_4xx", "http_5xx" };
	const struct frontend_stats *st = frontend_stats(svc->frontend);
	unsigned i;

	for (i = 0; i < HTTP_CLASSES; i++)
		if (svc->plan->config->frontend.http.on)
			fields_number(f, keys[i], st->http_classes[i]);
		else
			fields_text(f, keys[i], NULL);
}

void
service_columns(struct fields *f, const struct service *svc)
{
	report_common(f, svc, count_dsr(svc));
	report_http_classes(f, svc);
	if (svc->plan->config->frontend.http.on)
		report_http_errors(f, svc);
	else
		fields_text(f, "http_errors", NULL);
}

const char *
service_state_name(const struct service *svc)
{
	return state_of(svc, count_servers(svc));
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

/* Whether the service has clients to serve. One that does not listen need not
 * be ready, unless it is the only one. */
bool
service_has_clients(const struct service *svc)
{
	return service_is_reported(svc) &&
	    (svc->plan->listen.count > 0 || !service_has_others(svc->pen));
}

const struct service *
service_not_ready(const struct pen *p)
{
	const struct service *svc;

	SERVICE_EACH (p, svc)
		if (service_has_clients(svc) && !service_is_ready(svc))
			return svc;
	return NULL;
}

bool
service_any_is_ready(const struct pen *p)
{
	const struct service *svc;

	SERVICE_EACH (p, svc)
		if (service_has_clients(svc) && service_is_ready(svc))
			return true;
	return false;
}

/* ---- those that are reported ---- */

bool
service_is_shown(const struct service *svc)
{
	return svc->leaves || service_is_reported(svc);
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
