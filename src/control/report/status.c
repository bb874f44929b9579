/* status.c: the status page. Everything that is not ours is escaped. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/clock.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/report/status.h"
#include "pool/balance.h"

static void
status_add(struct buffer *out, const char *text)
{
	(void)buffer_append(out, text, strlen(text));
}

static void
status_add_escaped(struct buffer *out, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '<':
			status_add(out, "&lt;");
			break;
		case '&':
			status_add(out, "&amp;");
			break;
		case '"':
			status_add(out, "&quot;");
			break;
		default:
			(void)buffer_append(out, text, 1);
		}
}

static void
add_cell(struct buffer *out, const char *text)
{
	status_add(out, "<td>");
	status_add_escaped(out, text);
	status_add(out, "</td>");
}

static void
status_add_number(struct buffer *out, uint64_t n)
{
	reply_add(out, "<td class=\"n\">%llu</td>", (unsigned long long)n);
}

/* Since when and why the server is in its state, and how it does. */
static void
add_history(struct buffer *out, const struct server *s, uint64_t now)
{
	const struct histogram *h = &s->counters->connect_times;
	char text[REPORT_TEXT_MAX];

	add_cell(out, clock_text(s->history.since_wall, text));
	add_cell(out, s->history.reason);
	reply_add(out, "<td class=\"n\">%s</td>", report_rate(s, now, text));
	status_add_number(out, histogram_percentile(h, 50));
	status_add_number(out, histogram_percentile(h, 99));
}

static void
status_add_server(struct buffer *out, const struct server *s, uint64_t now)
{
	const char *state = server_state_name(server_state(s));
	char at[ADDR_TEXT_MAX] = "";

	if (s->addrs.count > 0)
		addr_format(&s->addrs.addr[s->addr_first], at);
	reply_add(out, "<tr class=\"%s\">", state);
	status_add_number(out, s->number);
	add_cell(out, s->name != NULL ? s->name : "");
	add_cell(out, at);
	add_cell(out, state);
	status_add_number(out, s->connections);
	status_add_number(out, s->set.soft);
	status_add_number(out, s->set.hard);
	status_add_number(out, s->set.weight);
	reply_add(out, "<td class=\"n\">%d</td>", s->set.prio);
	status_add_number(out, s->counters->connects);
	status_add_number(out, s->counters->failures);
	status_add_number(out, s->counters->sent);
	status_add_number(out, s->counters->received);
	add_history(out, s, now);
	status_add(out, "</tr>\n");
}

static void
status_add_servers(const struct service *svc, struct buffer *out)
{
	unsigned i;

	status_add(out,
	    "<table>\n<caption>Servers</caption>\n<thead><tr>"
	    "<th>server</th><th>name</th><th>address</th><th>state</th>"
	    "<th>conn</th><th>max</th><th>hard</th><th>weight</th>"
	    "<th>prio</th><th>connects</th><th>failures</th>"
	    "<th>sent to it</th><th>received</th><th>since</th>"
	    "<th>reason</th><th>rate</th><th>connect p50 us</th>"
	    "<th>connect p99 us</th></tr></thead>\n"
	    "<tbody>\n");
	for (i = 0; i < pool_count(svc->pool); i++)
		if (server_is_known(pool_server(svc->pool, i)))
			status_add_server(out, pool_server(svc->pool, i),
			    report_now(svc->pen));
	status_add(out, "</tbody></table>\n");
}

static void
status_add_counters(const struct service *svc, struct buffer *out)
{
	struct reply r;

	reply_init(&r);
	report_counters(svc, &r, FIELDS_HTML);
	status_add(out, "<table>\n<caption>Counters</caption>\n<tbody>\n");
	(void)buffer_append(out, buffer_bytes(&r.out), buffer_length(&r.out));
	status_add(out, "</tbody></table>\n");
	reply_fini(&r);
}

/* Of one of several. */
static void
status_add_title(const struct service *svc, struct buffer *out)
{
	const char *listen = svc->plan->listen_text;

	reply_add(out, "<h2>service %s</h2>\n<p>", svc->name);
	if (listen != NULL)
		status_add_escaped(out, listen);
	reply_add(out, "%sbalance %s</p>\n", listen != NULL ? ", " : "",
	    svc->plan->config.pool.balance->name);
}

static void
status_add_panic(const struct service *svc, struct buffer *out)
{
	if (pool_panic(svc->pool)->on)
		status_add(out,
		    "<p>panic: too few servers are up, all are tried</p>\n");
}

static void
status_add_services(const struct pen *p, struct buffer *out)
{
	const struct service *svc;

	SERVICE_EACH (p, svc) {
		if (!service_is_reported(svc))
			continue;
		status_add_title(svc, out);
		status_add_panic(svc, out);
		status_add_servers(svc, out);
		status_add_counters(svc, out);
	}
}

static void
status_add_draining(const struct pen *p, struct buffer *out)
{
	if (p->phase != PHASE_DRAINING)
		return;
	status_add(out, "<p>");
	stopping_report(p, out);
	status_add(out, "</p>\n");
}

static const char *
time_text(char text[64])
{
	time_t now = time(NULL);
	struct tm tm;

	*text = '\0';
	if (localtime_r(&now, &tm) != NULL)
		strftime(text, 64, "%Y-%m-%d %H:%M:%S %z", &tm);
	return text;
}

static void
status_add_head(struct buffer *out)
{
	status_add(out,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	    "<title>pen status</title>\n<style>\n"
	    "body { font-family: sans-serif; margin: 1em }\n"
	    "table { border-collapse: collapse; margin-bottom: 1em }\n"
	    "caption { text-align: left; font-weight: bold }\n"
	    "th, td { border: 1px solid #ccc; padding: .2em .5em; "
	    "text-align: left }\n"
	    "td.n { text-align: right }\n"
	    ".down, .suspect, .blacklisted { background: #fdd }\n"
	    ".drain, .maint, .removed { background: #ffd }\n"
	    "</style></head><body>\n<h1>pen");
}

static void
status_add_only(const struct pen *p, struct buffer *out)
{
	char when[64];

	status_add(out, " ");
	status_add_escaped(
	    out, p->plan->listen_text != NULL ? p->plan->listen_text : "");
	reply_add(out, "</h1>\n<p>pen %s, balance %s, %s</p>\n",
	    PACKAGE_VERSION, p->plan->config.pool.balance->name,
	    time_text(when));
	status_add_panic(p->service, out);
	status_add_draining(p, out);
	status_add_servers(p->service, out);
	status_add_counters(p->service, out);
}

void
status_page(const struct pen *p, struct buffer *out)
{
	char when[64];

	status_add_head(out);
	if (!service_has_others(p)) {
		status_add_only(p, out);
	} else {
		reply_add(out, "</h1>\n<p>pen %s, %s</p>\n", PACKAGE_VERSION,
		    time_text(when));
		status_add_draining(p, out);
		status_add_services(p, out);
	}
	status_add(out, "</body></html>\n");
}

int
status_write(const struct pen *p, struct error *e)
{
	const char *path = p->plan->config.web_stats;
	struct buffer page;
	struct error why;
	int rc;

	if (path == NULL)
		return 0;
	buffer_init(&page);
	status_page(p, &page);
	rc = file_replace(path, &page, false, &why);
	buffer_fini(&page);
	return rc == 0
	    ? 0
	    : error_set(e, "web_stats \"%.300s\": %.150s", path, why.text);
}
