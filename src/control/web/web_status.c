/* web_status.c: /status.json: what the page shows, and programs read. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/apply/services.h"
#include "control/apply/tls_config.h"
#include "control/life/context.h"
#include "control/report/counters.h"
#include "control/report/report.h"
#include "control/report/service_report.h"
#include "control/report/trend.h"
#include "control/web/web_private.h"
#include "net/http_server.h"
#include "pool/balance.h"

struct status_walk {
	struct pen *pen;
	struct trends *trends;
	const char *host;		    /* the name of this one */
	char service[SERVICE_NAME_MAX + 1]; /* whose servers and counters */
	struct reply reply;
	enum { BEGINS, SERVICES, SERVERS } part;
};

/* ---- a service ---- */

static void
emit_pen(const struct service *svc, const char *host, struct reply *r)
{
	const struct pen *p = svc->pen;
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "version", PACKAGE_VERSION);
	fields_text(&f, "host", host);
	fields_text(&f, "balance", svc->plan->config->pool.balance->name);
	fields_text(&f, "listen", svc->plan->listen_text);
	fields_flag(&f, "draining", p->phase == PHASE_DRAINING);
	fields_number(&f, "uptime_s", (report_now(p) - p->started_ms) / 1000);
	fields_number(&f, "now_ms", report_now(p));
	fields_end(&f);
}

static void
emit_limits(const struct service *svc, struct buffer *out)
{
	const struct frontend_stats *st = frontend_stats(svc->frontend);
	const struct frontend_options *o = &svc->plan->config->frontend;

	reply_add(out, "[{\"name\":\"sessions\",\"now\":%llu,\"max\":%llu},",
	    (unsigned long long)st->sessions,
	    (unsigned long long)o->sessions_max);
	reply_add(out, "{\"name\":\"connecting\",\"now\":%llu,\"max\":%llu},",
	    (unsigned long long)st->connecting,
	    (unsigned long long)o->pending_max);
	reply_add(out, "{\"name\":\"flow ports\",\"now\":%llu,\"max\":%llu}]",
	    (unsigned long long)st->flows.ports,
	    (unsigned long long)st->flows.ports_max);
}

static void
add_minute(struct fields *f, const struct trend_minute *m)
{
	fields_number(f, "ended", m->ended);
	fields_number(f, "failed", m->failed);
	fields_text(f, "failed_most",
	    m->failed > 0 ? reason_name(m->failed_most) : NULL);
	fields_number(f, "refused", m->refused);
	fields_text(f, "refused_most",
	    m->refused > 0 ? reason_name(m->refused_most) : NULL);
	fields_number(f, "lines_lost", m->lines_lost);
	fields_number(f, "first_byte_us", m->first_byte_us);
	fields_number(f, "dns_answered", m->dns);
	fields_number(f, "dns_servfail", m->servfail);
}

static void
emit_minute(const struct trends *ts, const struct service *svc, struct reply *r)
{
	struct trend_minute m;
	struct fields f;

	trend_last_minute(ts, svc, &m);
	fields_begin(&f, r, FIELDS_LINE);
	add_minute(&f, &m);
	fields_end(&f);
}

static bool
has_certificate(const struct trend *t)
{
	return t != NULL && t->certificate[0] != '\0';
}

/* The one that ends first. */
static void
web_emit_certificate(const struct trend *t, struct reply *r)
{
	struct fields f;

	if (!has_certificate(t)) {
		reply_add(&r->out, "null");
		return;
	}
	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "name", t->certificate);
	fields_integer(&f, "days", tls_config_days_left(t->certificate_ends));
	fields_end(&f);
}

/* Times of answers; null without `dns`. */
static void
emit_dns(const struct service *svc, struct reply *r)
{
	struct fields f;

	if (!svc->plan->config->frontend.dns.on) {
		reply_add(&r->out, "null");
		return;
	}
	fields_begin(&f, r, FIELDS_LINE);
	report_dns(&f, svc);
	fields_end(&f);
}

/* Emits what is reported of direct return besides its counters; null without
 * it. */
static void
emit_dsr(const struct service *svc, struct reply *r)
{
	struct director_status s;
	struct fields f;

	if (svc->director == NULL) {
		reply_add(&r->out, "null");
		return;
	}
	fields_begin(&f, r, FIELDS_LINE);
	director_status(svc->director, &s);
	fields_text(&f, "interface", s.interface);
	report_dsr(&f, svc->director);
	fields_end(&f);
}

static void
web_take(struct status_walk *w, struct buffer *out)
{
	(void)buffer_append(
	    out, buffer_bytes(&w->reply.out), buffer_length(&w->reply.out));
	buffer_cut(&w->reply.out, 0);
}

/* Writes the parts of the status before the list of servers: process, counters,
 * the last minute, changes. */
static void
begin_status(
    struct status_walk *w, const struct service *svc, struct buffer *out)
{
	reply_add(out, "{\"pen\":");
	emit_pen(svc, w->host, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"counters\":");
	report_counters(svc, &w->reply, FIELDS_LINES);
	web_take(w, out);
	reply_add(out, ",\"minute\":");
	emit_minute(w->trends, svc, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"certificate\":");
	web_emit_certificate(svc->trend, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"dns\":");
	emit_dns(svc, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"dsr\":");
	emit_dsr(svc, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"limits\":");
	emit_limits(svc, out);
	reply_add(out, ",\"changes\":");
	recent_report(&w->pen->recent, report_now(w->pen),
	    service_has_others(w->pen), &w->reply);
	web_take(w, out);
}

/* ---- all services: what the page shows and adds up ---- */

static void
add_counts(struct fields *f, const struct service *svc)
{
	const struct frontend_options *o = &svc->plan->config->frontend;

	counters_report_summed(f, svc);
	fields_number(f, "sessions_max", o->sessions_max);
	fields_number(f, "connecting_max", o->pending_max);
}

static void
web_emit_service(
    const struct trends *ts, const struct service *svc, struct reply *r)
{
	const struct trend *t = svc->trend;
	bool certificate = has_certificate(t);
	struct trend_minute m;
	struct fields f;

	trend_last_minute(ts, svc, &m);
	fields_begin(&f, r, FIELDS_LINE);
	service_fields(&f, svc);
	add_counts(&f, svc);
	add_minute(&f, &m);
	fields_number(&f, "answers", m.answers);
	fields_text(&f, "certificate", certificate ? t->certificate : NULL);
	fields_integer(&f, "certificate_days",
	    certificate ? tls_config_days_left(t->certificate_ends) : 0);
	fields_end(&f);
}

static bool
web_more_services(struct status_walk *w)
{
	struct reply *r = &w->reply;
	const struct service *svc = service_at(w->pen, r->at);

	for (; svc != NULL && buffer_length(&r->out) < REPLY_PIECE;
	     svc = svc->next, r->at++)
		if (service_is_shown(svc))
			web_emit_service(w->trends, svc, r);
	if (svc != NULL)
		return true;
	fields_list_end(r);
	return false;
}

/* ---- the lists, each of which comes in pieces ---- */

static void
begin_services(struct status_walk *w, struct buffer *out)
{
	reply_add(out, ",\"services\":");
	fields_list_begin(&w->reply);
	w->reply.at = 0;
	w->part = SERVICES;
}

static void
begin_servers(struct status_walk *w, struct buffer *out)
{
	reply_add(out, ",\"servers\":");
	report_servers_long(&w->reply);
	w->part = SERVERS;
}

/* A service that has gone meanwhile has no more servers. */
static bool
web_more_servers(struct status_walk *w)
{
	struct service *svc = service_find(w->pen, w->service);

	if (svc != NULL)
		return w->reply.more(&w->reply, svc);
	fields_list_end(&w->reply);
	return false;
}

static void
begin(struct status_walk *w, struct buffer *out)
{
	struct service *svc = service_find(w->pen, w->service);

	begin_status(w, svc != NULL ? svc : w->pen->service, out);
	if (service_has_others(w->pen))
		begin_services(w, out);
	else
		begin_servers(w, out);
}

static bool
more_status(void *arg, struct buffer *out)
{
	struct status_walk *w = arg;
	bool more;

	if (w->part == BEGINS)
		begin(w, out);
	more = w->part == SERVICES ? web_more_services(w) : web_more_servers(w);
	web_take(w, out);
	if (!more && w->part == SERVICES) {
		begin_servers(w, out);
		return true;
	}
	if (!more)
		reply_add(out, "}\n");
	return more;
}

static void
done_status(void *arg)
{
	struct status_walk *w = arg;

	reply_fini(&w->reply);
	free(w);
}

void
web_get_status(struct web *w, struct http_exchange *x)
{
	static const char none[] = "built without Jansson: no JSON\n";
	const struct service *svc;
	struct status_walk *walk;
	bool named;

	if (!fields_have_json()) {
		http_reply(x, 501, web_plain, none, sizeof(none) - 1);
		return;
	}
	if (!web_find_service(w, x, &svc, &named) ||
	    (walk = web_new_walk(x, sizeof(*walk))) == NULL)
		return;
	trends_follow(w->trends);
	walk->pen = w->pen;
	walk->trends = w->trends;
	walk->host = http_server_host(w->server);
	strcpy(walk->service, svc->name);
	reply_init(&walk->reply);
	walk->reply.json = true;
	http_stream(x, web_json, more_status, done_status, walk);
}
