/* pool_traffic.c: what connections do to servers: they count, as load and in
 * counters, and those that fail blacklist the server. */
#include "config.h"

#include "pool/history.h"
#include "pool/pool_private.h"

/* ---- connections ---- */

/* The server has more load, or less. That of one that is eligible and
 * has no limits stays so. */
static void
connections_changed(struct server *s)
{
	struct pool *p = s->pool;
	bool eligible = eligible_has(&p->eligible, s->slot);

	/* in a change its weight may have become 0 */
	if (!eligible || p->changing || (s->set.soft | s->set.hard) > 0) {
		pool_refresh(s);
		eligible = eligible_has(&p->eligible, s->slot);
	}
	if (eligible && p->options.balance->changed != NULL)
		p->options.balance->changed(p->order, s);
}

/* ---- what happens to servers ---- */

static inline void
count_and_remember(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	s->connections++;
	if (p->share != NULL)
		pool_unreserve(p);
	if (s->shared != NULL)
		pool_share_report(s);
	connections_changed(s);
	if (p->sticky != NULL && s->role == SERVER_REGULAR)
		sticky_remember(p->sticky, who, &attempts->hint, s->number,
		    attempts->proven, now);
}

void
pool_opened(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	s->counters->connects++;
	rate_count(&s->counters->rate, now);
	count_and_remember(p, s, who, attempts, now);
}

void
pool_resumed(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	count_and_remember(p, s, who, attempts, now);
}

void
pool_served(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	s->counters->connects++;
	s->brief++;
	rate_count(&s->counters->rate, now);
	connections_changed(s);
	if (p->sticky == NULL || s->role != SERVER_REGULAR)
		return;
	sticky_remember(
	    p->sticky, who, &attempts->hint, s->number, attempts->proven, now);
	sticky_closed(p->sticky, who, &attempts->hint);
}

void
pool_faded(struct server *s)
{
	s->brief--;
	connections_changed(s);
}

void
pool_proven(struct pool *p, const struct peer *who, struct attempts *attempts)
{
	attempts->proven = true;
	if (p->sticky != NULL)
		sticky_prove(p->sticky, who, &attempts->hint);
}

void
pool_connected(struct pool *p, struct server *s, uint64_t now)
{
	(void)p;
	s->refusals = 0;
	s->counters->answered_ms = now;
	if (s->blacklisted_until == 0 || s->by_operator || s->observed)
		return;
	pool_end_blacklisting(s);
	pool_refresh(s);
	pool_report(s, "answered");
}

bool
pool_wants_times(const struct pool *p)
{
	return p->options.balance->took != NULL;
}

void
pool_took(struct pool *p, struct server *s, uint64_t us)
{
	histogram_add(&s->counters->connect_times,
	    us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
	duration_add(&s->counters->connect_durations, us);
	if (p->options.balance->took != NULL && s->role == SERVER_REGULAR)
		p->options.balance->took(p->order, s, us);
}

void
pool_answered(struct server *s, uint64_t us)
{
	histogram_add(&s->counters->connect_times,
	    us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
	duration_add(&s->counters->first_bytes, us);
}

void
pool_began_answer(struct server *s, uint64_t us)
{
	duration_add(&s->counters->first_bytes, us);
}

void
pool_session_ended(struct server *s, enum server_end how)
{
	s->counters->ended[how]++;
}

void
pool_moved(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t up, uint64_t down)
{
	s->counters->sent += up;
	s->counters->received += down;
	if (p->sticky != NULL)
		sticky_count_bytes(p->sticky, who, &attempts->hint, down, up);
}

void
pool_closed(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t up, uint64_t down)
{
	pool_moved(p, s, who, attempts, up, down);
	pool_idled(p, s, who, attempts);
}

void
pool_idled(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts)
{
	s->connections--;
	if (s->shared != NULL)
		pool_share_report(s);
	if (p->sticky != NULL && s->role == SERVER_REGULAR)
		sticky_closed(p->sticky, who, &attempts->hint);
	connections_changed(s);
	if (!s->present && s->connections == 0)
		pool_clear_server(s);
}

/* ---- failures ---- */

/* A failure does not change a time that the operator has set. */
static void
blacklist(struct server *s, const char *reason, uint64_t now, uint64_t until)
{
	if (s->by_operator && s->blacklisted_until > now)
		return;
	s->health.good = 0;
	if (!s->health.down)
		history_blame(s, reason);
	pool_set_blacklisted(s, until, false);
	pool_report(s, reason);
}

bool
pool_failed(struct pool *p, struct server *s, const char *reason, uint64_t now)
{
	uint64_t ms = pool_blacklist_ms(s);

	(void)p;
	s->counters->failures++;
	if (ms > 0)
		blacklist(s, reason, now, now + ms);
	return ms > 0;
}

/* A server that stops refuses many connections at the same moment. They count
 * as one refusal, or the time would double with each of them. A later one, of a
 * client that had no other server, ends the blacklisting no sooner than if it
 * were the first. */
bool
pool_refused(struct pool *p, struct server *s, const char *reason, uint64_t now)
{
	uint64_t ms = pool_blacklist_ms(s), wait, first;

	(void)p;
	s->counters->failures++;
	if (ms == 0)
		return false;
	if (s->blacklisted_until > now) {
		first = now + (ms < REFUSED_MS ? ms : REFUSED_MS);
		if (s->blacklisted_until < first && !s->by_operator)
			pool_set_blacklisted(s, first, false);
		return true;
	}
	wait = (uint64_t)REFUSED_MS << s->refusals;
	if (wait < ms)
		s->refusals++;
	blacklist(s, reason, now, now + (wait < ms ? wait : ms));
	return true;
}

void
pool_observed(struct server *s, const char *reason, uint64_t now)
{
	uint64_t ms = pool_blacklist_ms(s);

	if (ms == 0 || server_state(s) != SERVER_UP)
		return;
	s->health.good = 0;
	history_blame(s, reason);
	pool_set_blacklisted(s, now + ms, false);
	s->observed = true;
	pool_report(s, reason);
}

void
pool_observed_enough(struct server *s, const char *reason)
{
	if (!s->observed)
		return;
	pool_end_blacklisting(s);
	pool_refresh(s);
	pool_report(s, reason);
}

void
pool_take_out(struct pool *p, struct server *s, uint64_t now)
{
	if (s->set.blacklist_ms > 0) {
		if (!s->health.down)
			history_blame(s, p->why);
		pool_set_blacklisted(s, now + s->set.blacklist_ms, true);
	} else {
		pool_end_blacklisting(s);
		pool_refresh(s);
	}
	pool_report(s, p->why);
}
