/* server_report.c: what is known of servers: in classic Pen's line, in a long
 * one, and as JSON. */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "control/apply/checks.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/plan/server_setting.h"

const char *
report_server_state(const struct server *s)
{
	return server_state_name(server_state(s));
}

const char *
report_rate(const struct server *s, uint64_t now, char text[REPORT_TEXT_MAX])
{
	uint64_t tenths = rate_tenths(&s->rate, now);

	snprintf(text, REPORT_TEXT_MAX, "%llu.%llu",
	    (unsigned long long)(tenths / 10),
	    (unsigned long long)(tenths % 10));
	return text;
}

uint64_t
report_now(const struct pen *p)
{
	return p->loop != NULL ? loop_now(p->loop) : clock_monotonic_ms();
}

/* ---- groups of facts ---- */

static void
server_report_tell_address(struct facts *f, const struct server *s)
{
	char host[ADDR_TEXT_MAX] = "0.0.0.0";
	const struct addr *at = &s->addrs.addr[s->addr_first];
	bool known = s->addrs.count > 0;

	if (known)
		addr_format_host(at, host);
	facts_word(f, "addr", host);
	facts_number(f, "port", known ? addr_port(at) : 0);
}

static void
tell_numbers(struct facts *f, const struct server *s)
{
	facts_number(f, "conn", s->connections);
	facts_number(f, "max", s->set.soft);
	facts_number(f, "hard", s->set.hard);
	facts_number(f, "weight", s->set.weight);
	facts_integer(f, "prio", s->set.prio);
	facts_number(f, "sx", s->sent);
	facts_number(f, "rx", s->received);
}

static void
server_report_tell_state(struct facts *f, const struct server *s, uint64_t now)
{
	const struct server_history *h = &s->history;
	char since[REPORT_TEXT_MAX];

	facts_word(f, "name", s->name);
	facts_text(f, "state", report_server_state(s));
	facts_text(f, "since", clock_text(h->since_wall, since));
	facts_number(f, "age_s", (now - h->since_ms) / 1000);
	facts_phrase(f, "reason", h->reason);
	facts_number(f, "changes", h->changes);
	facts_number(f, "share", server_share(s) * 100 / SERVER_SHARES);
	facts_text(f, "role", server_role_name(s->role));
}

/* Without a connect that was timed there is nothing to tell. */
static void
tell_latency(struct facts *f, const char *key, const struct histogram *h,
    unsigned percent)
{
	if (h->total > 0)
		facts_number(f, key, histogram_percentile(h, percent));
	else
		facts_text(f, key, NULL);
}

static void
tell_counts(struct facts *f, const struct server *s, uint64_t now)
{
	char rate[REPORT_TEXT_MAX];

	facts_number(f, "connects", s->connects);
	facts_number(f, "failures", s->failures);
	facts_decimal(f, "rate", report_rate(s, now, rate));
	tell_latency(f, "connect_p50_us", &s->connect_times, 50);
	tell_latency(f, "connect_p99_us", &s->connect_times, 99);
}

/* ---- a server ---- */

/* Whom it serves, as the operator said it. */
static const struct acl_ref *
acl_of(const struct pen *p, const struct server *s)
{
	static const struct acl_ref none = ACL_REF_NONE;
	const struct server_plan *plan = plan_slot(p->plan, s->slot);

	return plan != NULL ? &plan->acl : &none;
}

/* A removed server is shown as long as it has connections. */
static void
tell_short(struct reply *r, const struct pen *p, const struct server *s)
{
	uint64_t now = report_now(p);
	struct facts f;

	facts_begin(&f, r, FACTS_LINE);
	facts_number(&f, "server", s->number);
	server_report_tell_address(&f, s);
	tell_numbers(&f, s);
	if (r->json) {
		server_report_tell_state(&f, s, now);
		tell_counts(&f, s, now);
		report_check(&f, p, s);
		server_setting_tell(&f, &s->set, acl_of(p, s));
	}
	facts_end(&f);
}

static void
tell_long(struct reply *r, const struct pen *p, const struct server *s)
{
	uint64_t now = report_now(p);
	struct facts f;

	facts_begin(&f, r, FACTS_LINE);
	facts_number(&f, "server", s->number);
	server_report_tell_state(&f, s, now);
	server_report_tell_address(&f, s);
	tell_numbers(&f, s);
	tell_counts(&f, s, now);
	report_check(&f, p, s);
	facts_end(&f);
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
more_servers(struct reply *r, struct pen *p)
{
	unsigned count = slots_in_use(p->pool);

	while (r->at < count && buffer_length(&r->out) < REPLY_PIECE)
		tell_short(r, p, pool_server(p->pool, (unsigned)r->at++));
	if (r->at < count)
		return true;
	facts_list_end(r);
	return false;
}

static bool
more_servers_long(struct reply *r, struct pen *p)
{
	unsigned regular = slots_in_use(p->pool);
	unsigned count = regular + SLOTS_SPECIAL;
	const struct server *s;

	while (r->at < count && buffer_length(&r->out) < REPLY_PIECE) {
		s = server_report_server_at(
		    p->pool, (unsigned)r->at++, regular);
		if (!server_is_known(s))
			continue;
		if (r->json)
			tell_short(r, p, s);
		else
			tell_long(r, p, s);
	}
	if (r->at < count)
		return true;
	facts_list_end(r);
	return false;
}

static void
server_report_begin(
    struct reply *r, bool (*more)(struct reply *r, struct pen *p))
{
	facts_list_begin(r);
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
