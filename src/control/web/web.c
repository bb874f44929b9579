/* web.c: which page answers which path. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/answer/fields.h"
#include "control/apply/services.h"
#include "control/report/metrics.h"
#include "control/life/context.h"
#include "control/report/service_report.h"
#include "control/report/trend.h"
#include "control/web/web.h"
#include "control/web/web_page.h"
#include "control/web/web_private.h"
#include "net/http_server.h"

static const char html[] = "text/html; charset=utf-8";
const char web_plain[] = "text/plain; charset=utf-8",
	   web_json[] = "application/json";

void *
web_new_walk(struct http_exchange *x, size_t size)
{
	void *walk = calloc(1, size);

	if (walk == NULL)
		http_reply(x, 500, web_plain, "", 0);
	return walk;
}

static void
web_answer(struct http_exchange *x, unsigned status, const char *line)
{
	http_reply(x, status, web_plain, line, strlen(line));
}

bool
web_find_service(const struct web *w, struct http_exchange *x,
    const struct service **svc, bool *named)
{
	char name[SERVICE_NAME_MAX + 2]; /* a longer one is none */

	*named = http_parameter(x, "service", name, sizeof(name));
	*svc = *named ? service_find(w->pen, name) : w->pen->service;
	if (*svc == NULL)
		web_answer(x, 404, "no such service\n");
	return *svc != NULL;
}

/* ---- /trend.json ---- */

struct trend_walk {
	struct web *web;
	char service[SERVICE_NAME_MAX + 1]; /* "": the sums of all */
	unsigned at;
};

static bool
more_trend(void *arg, struct buffer *out)
{
	struct trend_walk *w = arg;

	return trends_more(
	    w->web->trends, service_find(w->web->pen, w->service), &w->at, out);
}

static void
get_trend(struct web *w, struct http_exchange *x)
{
	const struct service *svc;
	struct trend_walk *walk;
	bool named;

	if (!web_find_service(w, x, &svc, &named) ||
	    (walk = web_new_walk(x, sizeof(*walk))) == NULL)
		return;
	trends_follow(w->trends);
	walk->web = w;
	if (named || !service_has_others(w->pen))
		strcpy(walk->service, svc->name);
	http_stream(x, web_json, more_trend, free, walk);
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
	struct metrics_walk *walk = web_new_walk(x, sizeof(*walk));

	if (walk == NULL)
		return;
	walk->pen = w->pen;
	open = http_accepts(x, metrics_media_open);
	walk->open = open > 0 && open >= http_accepts(x, "text/plain");
	http_stream(x, walk->open ? metrics_type_open : metrics_type_text,
	    more_metrics, free, walk);
}

/* ---- the others ---- */

void
web_page_head(struct buffer *out)
{
	(void)buffer_append(out, web_page, WEB_PAGE_HEAD);
}

/* The page that -w writes, which does not change by itself. */
static void
get_plain(struct web *w, struct http_exchange *x)
{
	struct buffer page;

	buffer_init(&page);
	web_plain_page(w->pen, &page);
	http_reply(x, 200, html, buffer_bytes(&page), buffer_length(&page));
	buffer_fini(&page);
}

static void
get_page(struct web *w, struct http_exchange *x)
{
	if (fields_have_json())
		http_reply(x, 200, html, web_page, sizeof(web_page));
	else
		get_plain(w, x);
}

static void
get_health(struct web *w, struct http_exchange *x)
{
	(void)w;
	web_answer(x, 200, "ok\n");
}

static void
web_answer_not_ready(struct http_exchange *x, const struct service *svc)
{
	char line[SERVICE_NAME_MAX + 32] = "no server is up\n";

	if (service_has_others(svc->pen))
		snprintf(
		    line, sizeof(line), "no server of %s is up\n", svc->name);
	web_answer(x, 503, line);
}

/* NULL: none is missing. */
static const struct service *
find_not_ready(
    struct web *w, struct http_exchange *x, const struct service *named)
{
	if (named != NULL)
		return service_is_ready(named) ? NULL : named;
	if (!http_has_parameter(x, "all") && service_any_is_ready(w->pen))
		return NULL;
	return service_not_ready(w->pen);
}

/* Answers /readyz: for the service that the query names, with "all" for each
 * service that listens; else one that is ready is enough. */
static void
get_ready(struct web *w, struct http_exchange *x)
{
	const struct service *svc, *other;
	bool named;

	if (!web_find_service(w, x, &svc, &named))
		return;
	other = find_not_ready(w, x, named ? svc : NULL);
	if (w->pen->phase != PHASE_SERVING)
		web_answer(x, 503, "stopping\n");
	else if (other == NULL)
		web_answer(x, 200, "ok\n");
	else if (named || http_has_parameter(x, "all") ||
	    !service_has_others(w->pen))
		web_answer_not_ready(x, other);
	else
		web_answer(x, 503, "no service can serve\n");
}

static const struct page {
	const char *path;
	void (*get)(struct web *w, struct http_exchange *x);
} pages[] = {
	{ "/", get_page },
	{ "/plain", get_plain },
	{ "/metrics", get_metrics },
	{ "/status.json", web_get_status },
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
			pen_count(((struct web *)arg)->pen);
			pages[i].get(arg, x);
			return;
		}
	web_answer(x, 404, "no such page\n");
}

/* ---- life ---- */

/* An empty list permits no client here: it was named. */
static bool
permits(void *arg, const struct peer *who)
{
	const struct web *w = arg;
	int number = w->pen->plan->process->web_acl.number;
	const struct acl *l;

	if (number < 0 || who->family == AF_UNIX)
		return true;
	l = pool_acl(w->pen->service->pool, (unsigned)number);
	return l->count > 0 && acl_permits(l, who);
}

static const char *
hosts(void *arg)
{
	return ((const struct web *)arg)->pen->plan->process->web_host;
}

struct web *
web_open(struct pen *p, const struct addr *at, const struct plan *plan,
    struct error *e)
{
	struct sock_listen_options o = { .unix_mode =
					     (mode_t)plan->process->web_mode,
		.freebind = plan->config->frontend.freebind,
		.sockets = &p->sockets };
	struct web *w = calloc(1, sizeof(*w));
	struct http_pages h = { permits, on_get, hosts, w, &p->replies };

	if (w == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	w->pen = p;
	w->trends = trends_new(p);
	if (w->trends == NULL)
		error_set(e, "out of memory");
	else
		w->server = http_server_open(p->loop, at, &o,
		    p->web != NULL ? p->web->server : NULL, &h, e);
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
	trends_free(w->trends);
	free(w);
}

void
web_close_in_child(struct web *w)
{
	if (w == NULL)
		return;
	http_server_close_in_child(w->server);
	web_close(w);
}

void
web_listen_again(struct web *w)
{
	if (w != NULL)
		http_server_listen_again(w->server);
}
