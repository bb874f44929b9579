/* pool_known.c: states that the pool gets from others: health checks, and other
 * processes, for which it describes its own. */
#include "config.h"

#include <string.h>

#include "base/number.h"
#include "pool/history.h"
#include "pool/pool_change.h"

/* ---- health checks ---- */

void
pool_begin_checks(struct pool *p, struct server *s)
{
	(void)p;
	s->checked = true;
	pool_refresh(s);
	pool_report(s, server_reason(s));
}

bool
pool_checked(struct pool *p, struct server *s, bool good, const char *reason,
    uint64_t now)
{
	bool changed =
	    health_take(&s->health, &pool_options(p)->health, good, now);

	s->checked = true;
	if (changed && !good)
		history_blame(s, reason);
	pool_refresh(s);
	/* one success is not enough: a server may answer checks, and fail
	 * clients */
	if (server_state(s) == SERVER_SUSPECT && !s->observed &&
	    s->health.good >= pool_options(p)->health.rise) {
		s->refusals = 0;
		pool_end_blacklisting(s);
		pool_refresh(s);
	}
	pool_report(s, reason);
	if (changed && !good)
		pool_report_down(s, reason);
	if (good && s->health.good == 1)
		pool_report_up(s);
	return changed;
}

void
pool_assume(struct pool *p, struct server *s, enum server_initial initial)
{
	(void)p;
	s->health = (struct health){ .down = initial != SERVER_INITIAL_UP,
		.unproven = initial == SERVER_INITIAL_CHECKED,
		.assumed = initial != SERVER_INITIAL_UP };
	if (s->health.down)
		history_blame(s, "not checked yet");
	pool_refresh(s);
	pool_report(s, "not checked yet");
}

void
pool_unchecked(struct pool *p, struct server *s)
{
	(void)p;
	s->checked = false;
	s->health = (struct health){ .down = false };
	pool_refresh(s);
	pool_report(s, "no longer checked");
}

/* ---- from another process ---- */

void
pool_note_mark(struct server *s, const struct server_mark *mark)
{
	s->mark = *mark;
}

/* A blacklisting that is over, but was not ended yet, is described as one of 1
 * ms. */
void
pool_describe(
    const struct server *s, struct server_elsewhere *e, uint64_t now)
{
	const struct server_counters *c = s->counters;

	*e = (struct server_elsewhere){ .admin = s->admin,
		.mark = s->mark,
		.by_operator = s->by_operator,
		.observed = s->observed,
		.checked = s->checked,
		.refusals = s->refusals,
		.health = s->health,
		.connects = c->connects,
		.failures = c->failures,
		.sent = c->sent,
		.received = c->received,
		.history = s->history };
	strcpy(e->reasons.reason, server_reason(s));
	strcpy(e->reasons.fault, server_fault(s));
	memcpy(e->http, c->http, sizeof(e->http));
	if (s->blacklisted_until > 0)
		e->blacklisted_ms =
		    s->blacklisted_until > now ? s->blacklisted_until - now : 1;
}

void
pool_restore(struct pool *p, struct server *s, const struct server_elsewhere *e,
    uint64_t now)
{
	struct log_site log = s->history.log;

	(void)p;
	if (e->admin != SERVER_ENABLED)
		s->admin = e->admin;
	s->mark = e->mark;
	if (s->checked)
		s->health = e->health;
	s->refusals = e->refusals;
	if (e->blacklisted_ms > 0 && s->blacklisted_until == 0) {
		pool_set_blacklisted(
		    s, now + e->blacklisted_ms, e->by_operator);
		s->observed = e->observed;
	}
	pool_refresh(s);
	/* The state that follows now may be another one than it was: of a
	 * server that is checked no longer, or whose time has expired. Then its
	 * history is new. */
	pool_report(s, e->reasons.reason);
	if (s->history.state == e->history.state) {
		s->history = e->history;
		s->history.log = log;
		server_set_reason(&s->reason, e->reasons.reason);
		server_set_reason(&s->fault, e->reasons.fault);
	}
	pool_resume_slow_start(s, now);
}

void
pool_restore_counters(
    struct pool *p, struct server *s, const struct server_elsewhere *e)
{
	(void)p;
	s->counters->connects = e->connects;
	/* what is open here was opened there */
	s->counters->rate = (struct rate){ .count = 0 };
	s->counters->failures = e->failures;
	s->counters->sent = e->sent;
	s->counters->received = e->received;
	memcpy(s->counters->http, e->http, sizeof(e->http));
}

void
pool_follow(struct pool *p, struct server *s, const struct server_elsewhere *e,
    uint64_t now)
{
	bool well = e->health.good > 0 && s->health.good == 0;

	(void)p;
	s->health = e->health;
	s->checked = e->checked;
	s->refusals = e->refusals;
	if (e->blacklisted_ms > 0)
		pool_set_blacklisted(
		    s, now + e->blacklisted_ms, e->by_operator);
	else
		pool_end_blacklisting(s);
	s->observed = e->blacklisted_ms > 0 && e->observed;
	/* drain and maint come by commands of their own, which may be first */
	if (s->admin != SERVER_ENABLED &&
	    (s->health.down || s->blacklisted_until != 0))
		history_blame(s,
		    server_state_is_down(e->history.state) ? e->reasons.reason
							   : e->reasons.fault);
	pool_refresh(s);
	pool_report(s, e->reasons.reason);
	if (well)
		pool_report_up(s);
}

/* ---- counters of several processes ---- */

/* Numbers come first: these, and then durations, which are numbers, too. */
enum {
	COUNTED = offsetof(struct server_counters, connect_durations) /
	    sizeof(uint64_t),
	NUMBERS =
	    offsetof(struct server_counters, connect_times) / sizeof(uint64_t)
};

/* Most have counted nothing. */
static bool
has_counted(const struct server_counters *c)
{
	return c->answered_ms != 0 || numbers_any(c, COUNTED);
}

void
server_counters_add(struct server_counters *to, const struct server_counters *c)
{
	to->connections += c->connections;
	if (c->generation != to->generation || !has_counted(c))
		return;
	numbers_add(to, c, NUMBERS);
	if (to->answered_ms < c->answered_ms)
		to->answered_ms = c->answered_ms;
	rate_merge(&to->rate, &c->rate);
	histogram_merge(&to->connect_times, &c->connect_times);
}

void
server_counters_subtract(
    struct server_counters *from, const struct server_counters *c)
{
	numbers_subtract(from, c, NUMBERS);
	server_counters_drop_times(from);
}

void
server_counters_drop_times(struct server_counters *c)
{
	histogram_clear(&c->connect_times);
}

void
pool_count_in(struct server *s, struct server_counters *at)
{
	at->generation = s->generation;
	s->counters = at;
}

void
pool_take_counters(struct server *s, const struct server_counters *c)
{
	s->connections = c->connections;
	if (server_counts(s))
		*s->counters = *c;
	if (s->set.soft > 0 || s->set.hard > 0)
		pool_refresh(s);
	if (!s->present && s->connections == 0 && s->addrs.count > 0)
		pool_clear_server(s);
}
