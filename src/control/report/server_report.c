/* server_report.c: what is known of servers: in classic Pen's line, in a long
 * one, and as JSON. */
#include "config.h"

#include <stdio.h>

#include "base/clock.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/plan/server_setting.h"

const char *
report_tenths(uint64_t tenths, char text[REPORT_TEXT_MAX])
{
	snprintf(text, REPORT_TEXT_MAX, "%llu.%llu",
	    (unsigned long long)(tenths / 10),
	    (unsigned long long)(tenths % 10));
	return text;
}

const char *
report_rate(const struct server *s, uint64_t now, char text[REPORT_TEXT_MAX])
{
	return report_tenths(rate_tenths(&s->counters->rate, now), text);
}

uint64_t
report_now(const struct pen *p)
{
	return p->loop != NULL ? loop_now(p->loop) : clock_monotonic_ms();
}

/* ---- groups of fields ---- */

static void
server_report_emit_address(struct fields *f, const struct server *s)
{
	char host[ADDR_TEXT_MAX] = "0.0.0.0";
	const struct addr *at = &s->addrs.addr[s->addr_first];
	bool known = s->addrs.count > 0;

	if (known)
		addr_format_host(at, host);
	fields_word(f, "addr", host);
	fields_number(f, "port", known ? addr_port(at) : 0);
}

static void
emit_numbers(struct fields *f, const struct server *s)
{
	fields_number(f, "conn", s->connections);
	fields_number(f, "max", s->set.soft);
	fields_number(f, "hard", s->set.hard);
	fields_number(f, "weight", s->set.weight);
	fields_integer(f, "prio", s->set.prio);
	fields_number(f, "sx", s->counters->sent);
	fields_number(f, "rx", s->counters->received);
}

static void
server_report_emit_state(struct fields *f, const struct server *s, uint64_t now)
{
	const struct server_history *h = &s->history;
	char since[REPORT_TEXT_MAX];

	fields_word(f, "name", s->name);
	fields_text(f, "state", server_state_name(server_state(s)));
	fields_text(f, "since", clock_text(h->since_wall, since));
	fields_number(f, "age_s", (now - h->since_ms) / 1000);
	fields_phrase(f, "reason", h->reason);
	fields_number(f, "changes", h->changes);
	fields_number(f, "share", server_share(s) * 100 / SERVER_SHARES);
	fields_text(f, "role", server_role_name(s->role));
}

/* Without a connect that was timed there is nothing to report. */
static void
emit_latency(struct fields *f, const char *key, const struct histogram *h,
    unsigned percent)
{
	if (h->total > 0)
		fields_number(f, key, histogram_percentile(h, percent));
	else
		fields_text(f, key, NULL);
}

static void
emit_counts(struct fields *f, const struct server *s, uint64_t now)
{
	char rate[REPORT_TEXT_MAX];

	fields_number(f, "connects", s->counters->connects);
	fields_number(f, "failures", s->counters->failures);
	fields_decimal(f, "rate", report_rate(s, now, rate));
	emit_latency(f, "connect_p50_us", &s->counters->connect_times, 50);
	emit_latency(f, "connect_p99_us", &s->counters->connect_times, 99);
}

/* ---- a server ---- */

/* The access list of its clients, as the operator wrote it. */
static const struct acl_ref *
acl_of(const struct service *svc, const struct server *s)
{
	static const struct acl_ref none = ACL_REF_NONE;
	const struct server_plan *plan = plan_slot(svc->plan, s->slot);

	return plan != NULL ? &plan->acl : &none;
}

/* A removed server is shown as long as it has connections. */
static void
emit_short(struct reply *r, const struct service *svc, const struct server *s)
{
	uint64_t now = report_now(svc->pen);
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_number(&f, "server", s->number);
	server_report_emit_address(&f, s);
	emit_numbers(&f, s);
	if (r->json) {
		server_report_emit_state(&f, s, now);
		emit_counts(&f, s, now);
		report_check(&f, svc, s);
		server_setting_tell(&f, &s->set, acl_of(svc, s));
	}
	fields_end(&f);
}

static void
emit_known(struct fields *f, const struct service *svc, const struct server *s)
{
	uint64_t now = report_now(svc->pen);

	fields_number(f, "server", s->number);
	server_report_emit_state(f, s, now);
	server_report_emit_address(f, s);
	emit_numbers(f, s);
	emit_counts(f, s, now);
}

static void
emit_long(struct reply *r, const struct service *svc, const struct server *s)
{
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	emit_known(&f, svc, s);
	report_check(&f, svc, s);
	fields_end(&f);
}

/* Its row of a table. */
static void
emit_row(struct reply *r, const struct service *svc, const struct server *s,
    enum fields_style style)
{
	/* the colours of the page */
	static const char *const classes[SERVER_STATES] = {
		[SERVER_REMOVED] = " class=\"down\"",
		[SERVER_DOWN] = " class=\"down\"",
		[SERVER_BLACKLISTED] = " class=\"down\"",
		[SERVER_MAINT] = " class=\"warn\"",
		[SERVER_DRAIN] = " class=\"warn\"",
		[SERVER_SUSPECT] = " class=\"warn\"",
	};
	const char *class = classes[server_state(s)];
	struct fields f;

	reply_add(&r->out, "<tr%s>",
	    style == FIELDS_CELLS && class != NULL ? class : "");
	fields_begin(&f, r, style);
	emit_known(&f, svc, s);
	fields_end(&f);
	reply_add(&r->out, "</tr>\n");
}

/* ---- all servers ---- */

/* Empty slots at the end of the list are not worth a line. */
static unsigned
slots_in_use(const struct pool *p)
{
	unsigned n = pool_count(p);

	while (n > 0 && !server_is_known(pool_server(p, n - 1)))
		n--;
	return n;
}

/* The regular servers by number, then the special ones. */
static struct server *
server_report_server_at(const struct pool *p, unsigned i, unsigned regular)
{
	return i < regular ? pool_server(p, i) : pool_slot(p, i - regular);
}

static bool
more_servers(struct reply *r, struct service *svc)
{
	unsigned count = slots_in_use(svc->pool);

	while (r->at < count && buffer_length(&r->out) < REPLY_PIECE)
		emit_short(r, svc, pool_server(svc->pool, (unsigned)r->at++));
	if (r->at < count)
		return true;
	fields_list_end(r);
	return false;
}

static bool
more_servers_long(struct reply *r, struct service *svc)
{
	unsigned regular = slots_in_use(svc->pool);
	unsigned count = regular + SLOTS_SPECIAL;
	const struct server *s;

	while (r->at < count && buffer_length(&r->out) < REPLY_PIECE) {
		s = server_report_server_at(
		    svc->pool, (unsigned)r->at++, regular);
		if (!server_is_known(s))
			continue;
		if (r->json)
			emit_short(r, svc, s);
		else
			emit_long(r, svc, s);
	}
	if (r->at < count)
		return true;
	fields_list_end(r);
	return false;
}

static void
server_report_begin(
    struct reply *r, bool (*more)(struct reply *r, struct service *svc))
{
	fields_list_begin(r);
	r->at = 0;
	r->more = more;
}

void
report_servers(struct reply *r)
{
	server_report_begin(r, more_servers);
}

void
report_servers_long(struct reply *r)
{
	server_report_begin(r, more_servers_long);
}

void
report_servers_table(const struct service *svc, struct reply *r)
{
	unsigned i, regular = slots_in_use(svc->pool), rows = 0;
	const struct server *s;

	for (i = 0; i < regular + SLOTS_SPECIAL; i++) {
		s = server_report_server_at(svc->pool, i, regular);
		if (!server_is_known(s))
			continue;
		if (rows++ == 0) {
			reply_add(&r->out, "<thead>");
			emit_row(r, svc, s, FIELDS_HEADS);
			reply_add(&r->out, "</thead>\n<tbody>\n");
		}
		emit_row(r, svc, s, FIELDS_CELLS);
	}
	reply_add(&r->out, rows > 0 ? "</tbody>" : "");
}
