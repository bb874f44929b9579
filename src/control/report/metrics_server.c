/* metrics_server.c: the families of metrics that have lines for each server.
 * They name it by its number; pen_server_info has its name and address. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/report/metrics_private.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "proxy/check/checker.h"

enum { LABELS_MAX = 440 };

/* `server="0"`, and more after it. */
static const char *
labels_of(
    const struct server *s, const char *more, char text[static LABELS_MAX])
{
	if (s->role == SERVER_REGULAR)
		snprintf(text, LABELS_MAX, "server=\"%u\"%.400s", s->number,
		    more);
	else
		snprintf(text, LABELS_MAX, "server=\"%s\"%.400s",
		    server_role_name(s->role), more);
	return text;
}

static void
metrics_server_add_number(const struct family *f, const struct server *s,
    uint64_t value, const struct lines *out)
{
	char labels[LABELS_MAX];

	metric_number(out, f, labels_of(s, "", labels), value);
}

static void
each_info(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	char name[184] = "", address[184], at[ADDR_TEXT_MAX], more[LABELS_MAX],
	     labels[LABELS_MAX];

	(void)svc;
	if (s->name != NULL)
		metric_escape(name, sizeof(name), s->name);
	addr_format(&s->addrs.addr[s->addr_first], at);
	snprintf(more, sizeof(more), ",name=\"%s\",address=\"%s\"", name,
	    metric_escape(address, sizeof(address), at));
	metric_number(out, f, labels_of(s, more, labels), 1);
}

static void
each_up(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	(void)svc;
	metrics_server_add_number(f, s, server_is_healthy(s), out);
}

/* A set of states, of which one is 1. */
static void
each_state(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	enum server_state is = server_state(s);
	char more[64], labels[LABELS_MAX];
	int i;

	(void)svc;
	for (i = SERVER_REMOVED; i < SERVER_STATES; i++) {
		snprintf(more, sizeof(more), ",state=\"%s\"",
		    server_state_name((enum server_state)i));
		metric_number(out, f, labels_of(s, more, labels),
		    i == (int)is);
	}
}

static void
each_changes(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	(void)svc;
	metrics_server_add_number(f, s, s->history.changes, out);
}

static void
each_since(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	(void)svc;
	metrics_server_add_number(f, s, (uint64_t)s->history.since_wall, out);
}

/* Those that last, too. */
static void
each_down(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	const struct server_history *h = &s->history;
	char labels[LABELS_MAX];
	uint64_t ms = h->down_ms;

	if (server_state_is_down(h->state))
		ms += report_now(svc->pen) - h->since_ms;
	metric_seconds(out, f, labels_of(s, "", labels), ms * 1000);
}

static void
each_end(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	static const char *const ends[SERVER_ENDS] = { ",end=\"good\"",
		",end=\"client\"", ",end=\"failed\"" };
	char labels[LABELS_MAX];
	int i;

	(void)svc;
	for (i = 0; i < SERVER_ENDS; i++)
		metric_number(out, f, labels_of(s, ends[i], labels),
		    s->counters->ended[i]);
}

/* `offset` is that of a struct duration in struct server_counters. Without a
 * value there are no lines: many servers have none. */
static void
each_duration(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	const char *from = (const void *)s->counters;
	const struct duration *d = (const void *)(from + f->offset);
	char labels[LABELS_MAX];
	unsigned i;

	(void)svc;
	for (i = 0; i < DURATION_BUCKETS && d->bucket[i] == 0; i++)
		;
	if (i < DURATION_BUCKETS)
		metric_duration(out, f, labels_of(s, "", labels), d);
}

/* The last check; nothing where there is none yet. */
static bool
checked(
    const struct service *svc, const struct server *s, bool *good, uint64_t *us)
{
	const struct probe_report *probe =
	    svc->director != NULL ? director_probed(svc->director, s) : NULL;
	struct checker_report r;

	if (probe != NULL) {
		*good = probe->result == PROBE_OK;
		*us = probe->rtt;
		return probe->result != PROBE_NONE;
	}
	if (svc->checker == NULL || !checker_report(svc->checker, s->slot, &r))
		return false;
	*good = r.result == CHECK_GOOD;
	*us = r.took_us;
	return r.result != CHECK_NONE;
}

static void
each_check(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	uint64_t us;
	bool good;

	if (checked(svc, s, &good, &us))
		metrics_server_add_number(f, s, good, out);
}

static void
each_check_time(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	char labels[LABELS_MAX];
	uint64_t us;
	bool good;

	if (checked(svc, s, &good, &us) && good)
		metric_seconds(out, f, labels_of(s, "", labels), us);
}

static void
each_weight(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	(void)svc;
	metrics_server_add_number(f, s, s->set.weight, out);
}

static void
add_member(const struct family *f, const struct server *s, const void *of,
    const struct lines *out)
{
	uint64_t value;

	memcpy(&value, (const char *)of + f->offset, sizeof(value));
	metrics_server_add_number(f, s, value, out);
}

/* `offset` is that of a number in struct server. */
static void
each_number(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	(void)svc;
	add_member(f, s, s, out);
}

/* .. in struct server_counters. */
static void
each_counted(const struct family *f, const struct service *svc,
    const struct server *s, const struct lines *out)
{
	(void)svc;
	add_member(f, s, s->counters, out);
}

#define SERVER(member) \
	.each = each_number, .offset = offsetof(struct server, member)
#define COUNTED(member) \
	.each = each_counted, .offset = offsetof(struct server_counters, member)
#define DURATION(member)       \
	.each = each_duration, \
	.offset = offsetof(struct server_counters, member)

static const struct family families[] = {
	{ "pen_server_info", METRIC_GAUGE, "Name and address of a server.",
	    .each = each_info },
	{ "pen_server_up", METRIC_GAUGE, "1: the server may get new clients.",
	    .each = each_up },
	{ "pen_server_state", METRIC_GAUGE, "1: the server is in this state.",
	    .each = each_state },
	{ "pen_server_state_changes", METRIC_COUNTER, "State changes.",
	    .each = each_changes },
	{ "pen_server_state_since_seconds", METRIC_GAUGE,
	    "Time of the last state change, Unix time.", .each = each_since },
	{ "pen_server_down_seconds", METRIC_COUNTER,
	    "Time spent down, suspect or blacklisted.",
	    .each = each_down },
	{ "pen_server_check_good", METRIC_GAUGE,
	    "1: the last health check succeeded.", .each = each_check },
	{ "pen_server_check_duration_seconds", METRIC_GAUGE,
	    "Duration of the last health check.", .each = each_check_time },
	{ "pen_server_weight", METRIC_GAUGE, "Weight.",
	    .each = each_weight },
	{ "pen_server_connections_max", METRIC_GAUGE,
	    "Soft limit of connections; 0: no limit.",
	    SERVER(set.soft) },
	{ "pen_server_connections_hard", METRIC_GAUGE,
	    "Hard limit of connections; 0: no limit.",
	    SERVER(set.hard) },
	{ "pen_server_connections", METRIC_GAUGE, "Open connections.",
	    SERVER(connections) },
	{ "pen_server_connects", METRIC_COUNTER, "Clients assigned to the "
						 "server.",
	    COUNTED(connects) },
	{ "pen_server_failures", METRIC_COUNTER, "Failed connection attempts.",
	    COUNTED(failures) },
	{ "pen_server_sessions_closed", METRIC_COUNTER,
	    "Sessions that ended: good, ended by the client, or failed.",
	    .each = each_end },
	{ "pen_server_sent_bytes", METRIC_COUNTER, "Bytes sent to the server.",
	    COUNTED(sent) },
	{ "pen_server_received_bytes", METRIC_COUNTER,
	    "Bytes received from the server.", COUNTED(received) },
	{ "pen_server_connect_duration_seconds", METRIC_HISTOGRAM,
	    "Connect times.", DURATION(connect_durations) },
	{ "pen_server_first_byte_duration_seconds", METRIC_HISTOGRAM,
	    "From the start of a session to the first byte of the response.",
	    DURATION(first_bytes) },
};

const struct family *
metrics_of_servers(unsigned number)
{
	return number < sizeof(families) / sizeof(families[0])
	    ? &families[number]
	    : NULL;
}
