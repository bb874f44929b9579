/* web_plain.c: the page without scripts: the head and the styles of the live
 * one, and what /status.json has of servers and counters, as tables. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/report/service_report.h"
#include "control/web/web.h"
#include "control/web/web_private.h"
#include "dsr/director/director.h"
#include "pool/balance.h"

static void
add_about(const struct service *svc, struct buffer *out)
{
	const char *listen = svc->plan->listen_text;

	reply_add(out, "<p class=\"dim\">");
	if (listen != NULL) {
		reply_add(out, "listening on ");
		fields_add_escaped(out, listen);
		reply_add(out, " &middot; ");
	}
	reply_add(out, "%s</p>\n", svc->plan->config->pool.balance->name);
	if (svc->director != NULL && director_role(svc->director).standby)
		reply_add(out,
		    "<p class=\"verdict standby\">standby: another director "
		    "has the listening addresses</p>\n");
	if (pool_panic(svc->pool)->on)
		reply_add(out,
		    "<p class=\"verdict down\">panic: too few servers are up, "
		    "all are tried</p>\n");
}

static void
add_table(struct buffer *out, const char *caption, struct reply *r)
{
	reply_add(out,
	    "<section class=\"card services\"><div class=\"wide\"><table>\n"
	    "<caption>%s</caption>\n",
	    caption);
	(void)buffer_append(out, buffer_bytes(&r->out), buffer_length(&r->out));
	reply_add(out, "</table></div></section>\n");
	buffer_cut(&r->out, 0);
}

static void
add_service(const struct service *svc, struct buffer *out)
{
	struct reply r;

	if (service_has_others(svc->pen))
		reply_add(out, "<h2>service %s</h2>\n", svc->name);
	add_about(svc, out);
	reply_init(&r);
	report_servers_table(svc, &r);
	add_table(out, "Servers", &r);
	report_counters(svc, &r, FIELDS_HTML);
	add_table(out, "Counters", &r);
	reply_fini(&r);
}

/* The colours of the page. */
static const char *
web_plain_class(const struct service *svc)
{
	const char *state = service_state_name(svc);

	return strcmp(state, "down") == 0 ? " class=\"down\""
	    : strcmp(state, "up") == 0 || strcmp(state, "standby") == 0
	    ? ""
	    : " class=\"warn\"";
}

static void
add_service_row(
    const struct service *svc, struct reply *r, enum fields_style style)
{
	struct fields f;

	reply_add(&r->out, "<tr%s>",
	    style == FIELDS_CELLS ? web_plain_class(svc) : "");
	fields_begin(&f, r, style);
	service_columns(&f, svc);
	fields_end(&f);
	reply_add(&r->out, "</tr>\n");
}

/* Adds a table of services, if there are several. Their servers and counters
 * are below. */
static void
add_services(const struct pen *p, struct buffer *out)
{
	const struct service *svc;
	unsigned rows = 0;
	struct reply r;

	if (!service_has_others(p))
		return;
	reply_init(&r);
	SERVICE_EACH (p, svc) {
		if (!service_is_shown(svc))
			continue;
		if (rows++ == 0) {
			reply_add(&r.out, "<thead>");
			add_service_row(svc, &r, FIELDS_HEADS);
			reply_add(&r.out, "</thead>\n<tbody>\n");
		}
		add_service_row(svc, &r, FIELDS_CELLS);
	}
	reply_add(&r.out, rows > 0 ? "</tbody>" : "");
	add_table(out, "Services", &r);
	reply_fini(&r);
}

static void
add_draining(const struct pen *p, struct buffer *out)
{
	if (p->phase != PHASE_DRAINING)
		return;
	reply_add(out, "<p class=\"verdict warn\">");
	stopping_report(p, out);
	reply_add(out, "</p>\n");
}

static void
add_time(struct buffer *out)
{
	time_t now = time(NULL);
	char text[64] = "";
	struct tm tm;

	if (localtime_r(&now, &tm) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
	reply_add(out,
	    "<div class=\"page\">\n<header><h1>pen</h1><span class=\"dim\">"
	    "version %s, %s</span></header>\n<main>\n",
	    PACKAGE_VERSION, text);
}

void
web_plain_page(const struct pen *p, struct buffer *out)
{
	const struct service *svc;

	web_page_head(out);
	add_time(out);
	add_draining(p, out);
	add_services(p, out);
	SERVICE_EACH (p, svc)
		if (service_is_reported(svc))
			add_service(svc, out);
	reply_add(out, "</main></div></body></html>\n");
}

int
web_plain_write(const struct pen *p, struct error *e)
{
	const char *path = p->plan->process->web_stats;
	struct buffer page;
	struct error why;
	int rc;

	if (path == NULL)
		return 0;
	buffer_init(&page);
	web_plain_page(p, &page);
	rc = file_replace(path, &page, false, &why);
	buffer_fini(&page);
	return rc == 0
	    ? 0
	    : error_set(e, "web_stats \"%.300s\": %.150s", path, why.text);
}
