/* web.c: which page answers which path. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/apply/services.h"
#include "control/apply/tls_config.h"
#include "control/report/metrics.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/report/service_report.h"
#include "control/value/spec.h"
#include "control/report/status.h"
#include "control/report/trend.h"
#include "control/web/web.h"
#include "control/web/web_page.h"
#include "net/http_server.h"
#include "pool/balance.h"

static const char html[] = "text/html; charset=utf-8",
		  plain[] = "text/plain; charset=utf-8",
		  json[] = "application/json";

struct web {
	struct pen *pen;
	struct http_server *server;
	struct trend *trend;
};

/* Memory for where a long answer is, zeroed. NULL: the client was told that
 * there is none. */
static void *
new_walk(struct http_exchange *x, size_t size)
{
	void *walk = calloc(1, size);

	if (walk == NULL)
		http_reply(x, 500, plain, "", 0);
	return walk;
}

/* ---- /status.json ---- */

struct status_walk {
	struct pen *pen;
	const struct trend *trend;
	struct reply reply;
	enum { BEGINS, SERVICES, SERVERS } part;
};

static void
emit_pen(const struct pen *p, struct reply *r)
{
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "version", PACKAGE_VERSION);
	fields_text(&f, "balance", p->plan->config.pool.balance->name);
	fields_text(&f, "listen", p->plan->listen_text);
	fields_flag(&f, "draining", p->phase == PHASE_DRAINING);
	fields_number(&f, "uptime_s", (report_now(p) - p->started_ms) / 1000);
	fields_number(&f, "now_ms", report_now(p));
	fields_end(&f);
}

static void
emit_limits(const struct pen *p, struct buffer *out)
{
	const struct frontend_stats *st = frontend_stats(p->service->frontend);
	const struct frontend_options *o = &p->plan->config.frontend;

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
emit_minute(const struct trend *t, struct reply *r)
{
	struct trend_minute m;
	struct fields f;

	trend_last_minute(t, &m);
	fields_begin(&f, r, FIELDS_LINE);
	fields_number(&f, "ended", m.ended);
	fields_number(&f, "failed", m.failed);
	fields_text(&f, "failed_most",
	    m.failed > 0 ? reason_name(m.failed_most) : NULL);
	fields_number(&f, "refused", m.refused);
	fields_text(&f, "refused_most",
	    m.refused > 0 ? reason_name(m.refused_most) : NULL);
	fields_number(&f, "lines_lost", m.lines_lost);
	fields_number(&f, "first_byte_us", m.first_byte_us);
	fields_end(&f);
}

/* The one that ends first. */
static void
web_emit_certificate(const struct trend *t, struct reply *r)
{
	struct fields f;

	if (t->certificate[0] == '\0') {
		reply_add(&r->out, "null");
		return;
	}
	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "name", t->certificate);
	fields_integer(&f, "days", tls_config_days_left(t->certificate_ends));
	fields_end(&f);
}

static void
web_take(struct status_walk *w, struct buffer *out)
{
	(void)buffer_append(
	    out, buffer_bytes(&w->reply.out), buffer_length(&w->reply.out));
	buffer_cut(&w->reply.out, 0);
}

static void
begin_status(struct status_walk *w, struct buffer *out)
{
	reply_add(out, "{\"pen\":");
	emit_pen(w->pen, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"counters\":");
	report_counters(w->pen->service, &w->reply, FIELDS_LINES);
	web_take(w, out);
	reply_add(out, ",\"minute\":");
	emit_minute(w->trend, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"certificate\":");
	web_emit_certificate(w->trend, &w->reply);
	web_take(w, out);
	reply_add(out, ",\"limits\":");
	emit_limits(w->pen, out);
	reply_add(out, ",\"changes\":");
	recent_report(&w->pen->recent, report_now(w->pen), &w->reply);
	web_take(w, out);
}

/* The lists, each of which comes in pieces. */
static void
begin_services(struct status_walk *w, struct buffer *out)
{
	reply_add(out, ",\"services\":");
	report_services(&w->reply);
	w->part = SERVICES;
}

static void
begin_servers(struct status_walk *w, struct buffer *out)
{
	reply_add(out, ",\"servers\":");
	report_servers_long(&w->reply);
	w->part = SERVERS;
}

static bool
more_status(void *arg, struct buffer *out)
{
	struct status_walk *w = arg;
	bool more;

	if (w->part == BEGINS) {
		begin_status(w, out);
		if (service_has_others(w->pen))
			begin_services(w, out);
		else
			begin_servers(w, out);
	}
	more = w->reply.more(&w->reply, w->pen->service);
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

static void
get_status(struct web *w, struct http_exchange *x)
{
	static const char none[] = "built without Jansson: no JSON\n";
	struct status_walk *walk;

	if (!fields_have_json()) {
		http_reply(x, 501, plain, none, sizeof(none) - 1);
		return;
	}
	walk = new_walk(x, sizeof(*walk));
	if (walk == NULL)
		return;
	walk->pen = w->pen;
	walk->trend = w->trend;
	reply_init(&walk->reply);
	walk->reply.json = true;
	http_stream(x, json, more_status, done_status, walk);
}

/* ---- /trend.json ---- */

struct trend_walk {
	const struct trend *trend;
	unsigned at;
};

static bool
more_trend(void *arg, struct buffer *out)
{
	struct trend_walk *w = arg;

	return trend_more(w->trend, &w->at, out);
}

static void
get_trend(struct web *w, struct http_exchange *x)
{
	struct trend_walk *walk = new_walk(x, sizeof(*walk));

	if (walk == NULL)
		return;
	walk->trend = w->trend;
	http_stream(x, json, more_trend, free, walk);
}

/* ---- /metrics ---- */

static bool
more_metrics(void *arg, struct buffer *out)
{
	return metrics_more(arg, out);
}

static void
get_metrics(struct web *w, struct http_exchange *x)
{
	unsigned open;
	struct metrics_walk *walk = new_walk(x, sizeof(*walk));

	if (walk == NULL)
		return;
	walk->pen = w->pen;
	open = http_accepts(x, metrics_media_open);
	walk->open = open > 0 && open >= http_accepts(x, "text/plain");
	http_stream(x, walk->open ? metrics_type_open : metrics_type_text,
	    more_metrics, free, walk);
}

/* ---- the others ---- */

/* Without JSON the page that -w writes, which does not change by itself. */
static void
get_page(struct web *w, struct http_exchange *x)
{
	struct buffer page;

	if (fields_have_json()) {
		http_reply(x, 200, html, web_page, sizeof(web_page));
		return;
	}
	buffer_init(&page);
	status_page(w->pen, &page);
	http_reply(x, 200, html, buffer_bytes(&page), buffer_length(&page));
	buffer_fini(&page);
}

static void
web_say(struct http_exchange *x, unsigned status, const char *line)
{
	http_reply(x, status, plain, line, strlen(line));
}

static void
get_health(struct web *w, struct http_exchange *x)
{
	(void)w;
	web_say(x, 200, "ok\n");
}

/* One that does not listen has nothing to be ready for, unless it is the only
 * one. */
static const struct service *
service_that_is_not_ready(const struct pen *p)
{
	const struct service *svc;

	SERVICE_EACH (p, svc)
		if (service_is_reported(svc) && !service_is_ready(svc) &&
		    (svc->plan->listen.count > 0 || !service_has_others(p)))
			return svc;
	return NULL;
}

static void
web_say_not_ready(struct http_exchange *x, const struct service *svc)
{
	char line[SERVICE_NAME_MAX + 32] = "no server is up\n";

	if (service_has_others(svc->pen))
		snprintf(
		    line, sizeof(line), "no server of %s is up\n", svc->name);
	web_say(x, 503, line);
}

/* Asked for one service it answers for that, else for all. */
static void
get_ready(struct web *w, struct http_exchange *x)
{
	char name[SERVICE_NAME_MAX + 2]; /* a longer one is none */
	bool of_one = http_parameter(x, "service", name, sizeof(name));
	const struct service *svc = of_one ? service_find(w->pen, name) : NULL;

	if (of_one && svc == NULL) {
		web_say(x, 404, "no such service\n");
		return;
	}
	if (!of_one)
		svc = service_that_is_not_ready(w->pen);
	if (w->pen->phase != PHASE_SERVING)
		web_say(x, 503, "stopping\n");
	else if (svc != NULL && !service_is_ready(svc))
		web_say_not_ready(x, svc);
	else
		web_say(x, 200, "ok\n");
}

static const struct page {
	const char *path;
	void (*get)(struct web *w, struct http_exchange *x);
} pages[] = {
	{ "/", get_page },
	{ "/metrics", get_metrics },
	{ "/status.json", get_status },
	{ "/trend.json", get_trend },
	{ "/healthz", get_health },
	{ "/readyz", get_ready },
};

static void
on_get(void *arg, struct http_exchange *x, const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(path, pages[i].path) == 0) {
			pages[i].get(arg, x);
			return;
		}
	web_say(x, 404, "no such page\n");
}

/* ---- life ---- */

/* An empty list permits nobody here: it was named. */
static bool
permits(void *arg, const struct peer *who)
{
	const struct web *w = arg;
	int number = w->pen->plan->config.web_acl.number;
	const struct acl *l;

	if (number < 0 || who->family == AF_UNIX)
		return true;
	l = pool_acl(w->pen->service->pool, (unsigned)number);
	return l->count > 0 && acl_permits(l, who);
}

struct web *
web_open(struct pen *p, const struct addr *at, unsigned mode, struct error *e)
{
	struct web *w = calloc(1, sizeof(*w));
	struct http_pages h = { permits, on_get, w, &p->replies };

	if (w == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	w->pen = p;
	w->trend = trend_new(p);
	if (w->trend == NULL)
		error_set(e, "out of memory");
	else
		w->server = http_server_open(
		    p->loop, at, mode, &p->inherited, &h, e);
	if (w->server != NULL)
		return w;
	web_close(w);
	return NULL;
}

void
web_close(struct web *w)
{
	if (w == NULL)
		return;
	http_server_close(w->server);
	trend_free(w->trend);
	free(w);
}

void
web_leave(struct web *w)
{
	if (w != NULL)
		http_server_leave(w->server);
}

void
web_each_listener(
    struct web *w, void (*fn)(void *arg, struct listener *l), void *arg)
{
	if (w != NULL)
		fn(arg, http_server_listener(w->server));
}
