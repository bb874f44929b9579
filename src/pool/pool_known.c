/* pool_known.c: states that the pool gets from others: health checks, and the
 * process that served before this one. */
#include "config.h"

#include "pool/pool_change.h"

/* ---- health checks ---- */

void
pool_begin_checks(struct pool *p, struct server *s)
{
	(void)p;
	s->checked = true;
	pool_refresh(s);
	pool_tell(s, s->history.reason);
}

bool
pool_checked(struct pool *p, struct server *s, bool good, const char *reason,
    uint64_t now)
{
	bool changed =
	    health_take(&s->health, &pool_options(p)->health, good, now);

	s->checked = true;
	pool_refresh(s);
	/* one success is not enough: a server may answer checks, and fail
	 * clients */
	if (server_state(s) == SERVER_SUSPECT &&
	    s->health.good >= pool_options(p)->health.rise) {
		s->refusals = 0;
		pool_end_blacklisting(s);
		pool_refresh(s);
	}
	pool_tell(s, reason);
	if (changed && !good)
		pool_tell_down(s, reason);
	if (good && s->health.good == 1)
		pool_tell_well(s);
	return changed;
}

void
pool_assume(struct pool *p, struct server *s, enum server_initial initial)
{
	(void)p;
	s->health = (struct health){ .down = initial != SERVER_INITIAL_UP,
		.unproven = initial == SERVER_INITIAL_CHECKED,
		.assumed = initial != SERVER_INITIAL_UP };
	pool_refresh(s);
	pool_tell(s, "not checked yet");
}

void
pool_unchecked(struct pool *p, struct server *s)
{
	(void)p;
	s->checked = false;
	s->health = (struct health){ .down = false };
	pool_refresh(s);
	pool_tell(s, "no longer checked");
}

/* ---- from another process ---- */

void
pool_restore(struct pool *p, struct server *s, const struct server_past *past,
    uint64_t now)
{
	struct log_site log = s->history.log;

	(void)p;
	if (past->admin != SERVER_ENABLED)
		s->admin = past->admin;
	if (s->checked)
		s->health = past->health;
	s->refusals = past->refusals;
	if (past->blacklisted_until > now && s->blacklisted_until == 0)
		pool_set_blacklisted(
		    s, past->blacklisted_until, past->by_operator);
	pool_refresh(s);
	/* The state that follows now may be another one than it was: of a
	 * server that is checked no longer, or whose time has expired. Then its
	 * history is new. */
	pool_tell(s, past->history.reason);
	if (s->history.state == past->history.state) {
		s->history = past->history;
		s->history.log = log;
	}
	pool_resume_slow_start(s, now);
}

void
pool_restore_counters(
    struct pool *p, struct server *s, const struct server_past *past)
{
	(void)p;
	s->connects = past->connects;
	s->failures = past->failures;
	s->sent = past->sent;
	s->received = past->received;
}
