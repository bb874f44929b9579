/* server_fields.c: the rows, and what is reported that is not a number. Metrics
 * name a server by its number; pen_server_info has its name and address. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "control/life/http_watch.h"
#include "control/life/context.h"
#include "control/plan/server_setting.h"
#include "control/report/report.h"
#include "control/report/server_fields.h"
#include "proxy/check/checker.h"

/* ---- reports ---- */

/* NULL while it has none. */
static const struct addr *
address_of(const struct server *s)
{
	return s->addrs.count > 0 ? &s->addrs.addr[s->addr_first] : NULL;
}

static const char *
host_of(const struct server *s, char text[ADDR_TEXT_MAX])
{
	strcpy(text, "0.0.0.0");
	if (address_of(s) != NULL)
		addr_format_host(address_of(s), text);
	return text;
}

/* A function for a row: by which of fields.h, and the value. */
#define REPORT(name, fields_kind, ...)                          \
	static void report_##name(const struct server_view *v)  \
	{                                                       \
		const struct server *s = v->server;             \
                                                                \
		fields_kind(v->f, v->row->key, __VA_ARGS__);    \
	}
#define TEXT(size) ((char[size]){ "" })

REPORT(name, fields_word, s->name)
REPORT(state, fields_text, server_state_name(server_state(s)))
REPORT(since, fields_text,
    clock_text(s->history.since_wall, TEXT(CLOCK_TEXT_MAX)))
REPORT(age, fields_number, (v->now - s->history.since_ms) / 1000)
REPORT(reason, fields_phrase, server_reason(s))
REPORT(share, fields_number, server_share(s) * 100 / SERVER_SHARES)
REPORT(role, fields_text, server_role_name(s->role))
REPORT(host, fields_word, host_of(s, TEXT(ADDR_TEXT_MAX)))
REPORT(port, fields_number, address_of(s) ? addr_port(address_of(s)) : 0)
REPORT(prio, fields_integer, s->set.prio)
REPORT(rate, fields_decimal,
    report_tenths(
	rate_tenths(&s->counters->rate, v->now), TEXT(REPORT_TEXT_MAX)))

/* Without a connect that was timed there is nothing to report. */
static void
report_connect(const struct server_view *v)
{
	const struct histogram *h = &v->server->counters->connect_times;

	if (h->total > 0)
		fields_number(v->f, v->row->key,
		    histogram_percentile(h, v->row->percent));
	else
		fields_text(v->f, v->row->key, NULL);
}

/* The access list as the operator wrote it. */
static void
report_settings(const struct server_view *v)
{
	static const struct acl_ref none = ACL_REF_NONE;
	const struct server_plan *plan =
	    plan_slot(v->service->plan, v->server->slot);

	server_setting_report(
	    v->f, &v->server->set, plan != NULL ? &plan->acl : &none);
}

static uint64_t
server_fields_number(const struct server_view *v)
{
	const void *counters = v->server->counters, *server = v->server;

	return number_at(v->row->source == FIELD_COUNTERS ? counters : server,
	    v->row->offset, v->row->size);
}

static bool
talks_http(const struct server_view *v)
{
	return v->service->plan->config->frontend.http.on;
}

/* Without `http` there are none, in reports as in metrics. */
static void
report_http(const struct server_view *v)
{
	if (talks_http(v))
		fields_number(v->f, v->row->key, server_fields_number(v));
}

static void
report_http_errors(const struct server_view *v)
{
	if (talks_http(v))
		fields_number(v->f, v->row->key,
		    http_watch_errors(v->service, v->server));
}

/* ---- lines of metrics ---- */

static void
server_fields_add(
    const struct server_view *v, const char *labels, uint64_t value)
{
	metric_number(v->to, &v->row->metric, labels, value);
}

static void
lines_up(const struct server_view *v)
{
	server_fields_add(v, NULL, server_is_healthy(v->server));
}

static void
lines_fault(const struct server_view *v)
{
	const struct server *s = v->server;

	server_fields_add(
	    v, NULL, server_is_faulty(server_state(s), &s->set));
}

static void
lines_info(const struct server_view *v)
{
	const struct server *s = v->server;
	char name[184] = "", address[184], at[ADDR_TEXT_MAX], labels[400];

	if (s->name != NULL)
		metric_escape(name, sizeof(name), s->name);
	addr_format(&s->addrs.addr[s->addr_first], at);
	snprintf(labels, sizeof(labels), "name=\"%s\",address=\"%s\"", name,
	    metric_escape(address, sizeof(address), at));
	server_fields_add(v, labels, 1);
}

/* A set of states, of which one is 1. */
static void
lines_state(const struct server_view *v)
{
	int is = (int)server_state(v->server), i;
	char labels[64];

	for (i = SERVER_REMOVED; i < SERVER_STATES; i++) {
		snprintf(labels, sizeof(labels), "state=\"%s\"",
		    server_state_name((enum server_state)i));
		server_fields_add(v, labels, i == is);
	}
}

/* The time that the server was down, with the present time if it is down
 * now. */
static void
lines_down(const struct server_view *v)
{
	const struct server_history *h = &v->server->history;
	uint64_t lasts =
	    server_state_is_down(h->state) ? v->now - h->since_ms : 0;

	metric_seconds(
	    v->to, &v->row->metric, NULL, (h->down_ms + lasts) * 1000);
}

static void
lines_ends(const struct server_view *v)
{
	static const char *const ends[SERVER_ENDS] = { "end=\"good\"",
		"end=\"client\"", "end=\"failed\"" };
	int i;

	for (i = 0; i < SERVER_ENDS; i++)
		server_fields_add(v, ends[i], v->server->counters->ended[i]);
}

static void
lines_http(const struct server_view *v)
{
	char labels[16];
	unsigned i;

	if (!talks_http(v))
		return;
	for (i = 0; i < SERVER_HTTP_CLASSES; i++) {
		snprintf(labels, sizeof(labels), "class=\"%uxx\"", i + 1);
		server_fields_add(v, labels, v->server->counters->http[i]);
	}
}

/* Without a value there are no lines: many servers have none. */
static void
lines_duration(const struct server_view *v)
{
	const char *from = (const void *)v->server->counters;
	const struct duration *d = (const void *)(from + v->row->offset);
	unsigned i;

	for (i = 0; i < DURATION_BUCKETS && d->bucket[i] == 0; i++)
		;
	if (i < DURATION_BUCKETS)
		metric_duration(v->to, &v->row->metric, NULL, d);
}

/* The last check; nothing where there is none yet. */
static bool
checked(const struct server_view *v, bool *good, uint64_t *us)
{
	const struct service *svc = v->service;
	const struct probe_report *probe = svc->director != NULL
	    ? director_probed(svc->director, v->server)
	    : NULL;
	struct checker_report r;

	if (probe != NULL) {
		*good = probe->result == PROBE_OK;
		*us = probe->rtt;
		return probe->result != PROBE_NONE;
	}
	if (svc->checker == NULL ||
	    !checker_report(svc->checker, v->server->slot, &r))
		return false;
	*good = r.result == CHECK_GOOD;
	*us = r.took_us;
	return r.result != CHECK_NONE;
}

static void
lines_check(const struct server_view *v)
{
	uint64_t us;
	bool good;

	if (checked(v, &good, &us))
		server_fields_add(v, NULL, good);
}

static void
lines_check_time(const struct server_view *v)
{
	uint64_t us;
	bool good;

	if (checked(v, &good, &us) && good)
		metric_seconds(v->to, &v->row->metric, NULL, us);
}

/* ---- rows ---- */

#define MEMBER(from, type, member)                        \
	.source = from, .offset = offsetof(type, member), \
	.size = sizeof(((const type *)NULL)->member)
#define SERVER(m) MEMBER(FIELD_SERVER, struct server, m)
#define COUNTED(m) MEMBER(FIELD_COUNTERS, struct server_counters, m)
#define FAMILY(n, kind, of, text) \
	.nth = n, .metric = { .name = of, .type = METRIC_##kind, .help = text }

/* In the order of "servers long"; other metrics after it. */
static const struct server_field rows[] = {
	{ "server", SHOWN_ALWAYS, SERVER(number), .lines = lines_info,
	    FAMILY(1, GAUGE, "pen_server_info",
		"Name and address of a server.") },
	{ "name", SHOWN_TABLE, .report = report_name },
	{ "state", SHOWN_TABLE, .report = report_state, .lines = lines_state,
	    FAMILY(3, GAUGE, "pen_server_state",
		"1: the server is in this state.") },
	{ "since", SHOWN_TABLE, SERVER(history.since_wall),
	    .report = report_since,
	    FAMILY(5, GAUGE, "pen_server_state_since_seconds",
		"Time of the last state change, Unix time.") },
	{ "age_s", SHOWN_TABLE, .report = report_age },
	{ "reason", SHOWN_TABLE, .report = report_reason },
	{ "changes", SHOWN_TABLE, SERVER(history.changes),
	    FAMILY(4, COUNTER, "pen_server_state_changes", "State changes.") },
	{ "share", SHOWN_TABLE, .report = report_share },
	{ "role", SHOWN_TABLE, .report = report_role },
	{ "addr", SHOWN_ALWAYS, .report = report_host },
	{ "port", SHOWN_ALWAYS, .report = report_port },
	{ "conn", SHOWN_ALWAYS, SERVER(connections),
	    FAMILY(12, GAUGE, "pen_server_connections", "Open connections.") },
	{ "max", SHOWN_ALWAYS, SERVER(set.soft),
	    FAMILY(10, GAUGE, "pen_server_connections_max",
		"Soft limit of connections; 0: no limit.") },
	{ "hard", SHOWN_ALWAYS, SERVER(set.hard),
	    FAMILY(11, GAUGE, "pen_server_connections_hard",
		"Hard limit of connections; 0: no limit.") },
	{ "weight", SHOWN_ALWAYS, SERVER(set.weight),
	    FAMILY(9, GAUGE, "pen_server_weight", "Weight.") },
	{ "prio", SHOWN_ALWAYS, .report = report_prio },
	{ "sx", SHOWN_ALWAYS, COUNTED(sent),
	    FAMILY(16, COUNTER, "pen_server_sent_bytes",
		"Bytes sent to the server.") },
	{ "rx", SHOWN_ALWAYS, COUNTED(received),
	    FAMILY(17, COUNTER, "pen_server_received_bytes",
		"Bytes received from the server.") },
	{ "connects", SHOWN_TABLE, COUNTED(connects),
	    FAMILY(13, COUNTER, "pen_server_connects",
		"Clients assigned to the server.") },
	{ "failures", SHOWN_TABLE, COUNTED(failures),
	    FAMILY(14, COUNTER, "pen_server_failures",
		"Failed connection attempts.") },
	{ "rate", SHOWN_TABLE, .report = report_rate },
	{ "connect_p50_us", SHOWN_TABLE, .report = report_connect,
	    .percent = 50 },
	{ "connect_p99_us", SHOWN_TABLE, .report = report_connect,
	    .percent = 99 },
	{ "http_1xx", SHOWN_TABLE, COUNTED(http[0]), .report = report_http },
	{ "http_2xx", SHOWN_TABLE, COUNTED(http[1]), .report = report_http },
	{ "http_3xx", SHOWN_TABLE, COUNTED(http[2]), .report = report_http },
	{ "http_4xx", SHOWN_TABLE, COUNTED(http[3]), .report = report_http },
	{ "http_5xx", SHOWN_TABLE, COUNTED(http[4]), .report = report_http },
	{ "http_errors", SHOWN_TABLE, .report = report_http_errors },
	{ "check_kind", SHOWN_LONG, .report = report_check },  /* and others */
	{ "settings", SHOWN_JSON, .report = report_settings }, /* by name */

	{ .lines = lines_up,
	    FAMILY(2, GAUGE, "pen_server_up",
		"1: the server may get new clients.") },
	{ .lines = lines_fault,
	    FAMILY(20, GAUGE, "pen_server_fault",
		"1: the server is down, suspect or blacklisted, and is not one "
		"that may be down.") },
	{ .lines = lines_down,
	    FAMILY(6, COUNTER, "pen_server_down_seconds",
		"Time spent down, suspect or blacklisted.") },
	{ .lines = lines_check,
	    FAMILY(7, GAUGE, "pen_server_check_good",
		"1: the last health check succeeded.") },
	{ .lines = lines_check_time,
	    FAMILY(8, GAUGE, "pen_server_check_duration_seconds",
		"Duration of the last health check.") },
	{ .lines = lines_ends,
	    FAMILY(15, COUNTER, "pen_server_sessions_closed",
		"Sessions that ended: good, ended by the client, or "
		"failed.") },
	{ .lines = lines_http,
	    FAMILY(21, COUNTER, "pen_server_http_responses",
		"HTTP responses, by status class.") },
	{ COUNTED(connect_durations), .lines = lines_duration,
	    FAMILY(18, HISTOGRAM, "pen_server_connect_duration_seconds",
		"Connect times.") },
	{ COUNTED(first_bytes), .lines = lines_duration,
	    FAMILY(19, HISTOGRAM, "pen_server_first_byte_duration_seconds",
		"From the start of a session to the first byte of the "
		"response.") },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void
report_row(const struct server_view *v)
{
	if (v->row->report != NULL)
		v->row->report(v);
	else
		fields_number(v->f, v->row->key, server_fields_number(v));
}

void
server_fields_report(struct server_view v, struct fields *f,
    enum server_shown least, enum server_shown most)
{
	v.f = f;
	for (v.row = rows; v.row < rows + ROWS; v.row++)
		if (v.row->shown >= least && v.row->shown <= most)
			report_row(&v);
}

const struct server_field *
server_field_at(unsigned number)
{
	return number < ROWS ? &rows[number] : NULL;
}

const struct server_field *
server_fields_metric(unsigned number)
{
	unsigned i = 0;

	while (i < ROWS && rows[i].nth != number + 1)
		i++;
	return server_field_at(i);
}

/* `server="0"`, after the service. */
static void
add_label(struct lines *to, const struct server *s)
{
	size_t n = strlen(to->labels), room = sizeof(to->labels) - n;
	const char *comma = n > 0 ? "," : "";

	if (s->role == SERVER_REGULAR)
		snprintf(to->labels + n, room, "%sserver=\"%u\"", comma,
		    s->number);
	else
		snprintf(to->labels + n, room, "%sserver=\"%s\"", comma,
		    server_role_name(s->role));
}

void
server_fields_lines(struct server_view v, struct lines to)
{
	v.to = &to;
	add_label(&to, v.server);
	if (v.row->lines != NULL)
		v.row->lines(&v);
	else
		server_fields_add(&v, NULL, server_fields_number(&v));
}
