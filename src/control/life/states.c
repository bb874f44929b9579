/* states.c: see states.h. */
#include "config.h"

#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/list.h"
#include "control/life/on_state.h"
#include "control/life/context.h"
#include "control/life/states.h"
#include "proxy/check/checker.h"

/* Without clients only a timer notices that a blacklisting has expired; this is
 * how late it may be. */
enum { REVIVAL_MS = 1000 };

const char *
states_who(const struct pen *p)
{
	return p->who != NULL ? p->who : "configuration";
}

/* ---- the end of blacklistings ---- */

static void
await_revival(struct service *svc)
{
	uint64_t now = loop_now(svc->pen->loop),
		 at = pool_next_revival(svc->pool);
	uint64_t ms = at > now ? at - now : 1;

	if (at != UINT64_MAX)
		(void)timer_start(svc->pen->loop, &svc->revival,
		    ms < REVIVAL_MS ? ms : REVIVAL_MS);
}

static void
on_revival(struct timer *t)
{
	struct service *svc = container_of(t, struct service, revival);

	pool_revive(svc->pool, loop_now(svc->pen->loop));
	await_revival(svc);
}

/* ---- a change ---- */

static uint64_t
now_ms(void *arg)
{
	const struct service *svc = arg;

	return svc->pen->loop != NULL ? loop_now(svc->pen->loop)
				      : clock_monotonic_ms();
}

static int64_t
now_wall(void *arg)
{
	(void)arg;
	return time(NULL);
}

/* The pool reports a change once. The limit is for a server whose state changes
 * with every other client. */
static void
log_change(
    const struct service *svc, struct server *s, const struct server_change *c)
{
	enum log_level level = server_is_faulty(c->is, &s->set)
	    ? LOG_LEVEL_WARN
	    : LOG_LEVEL_INFO;

	if (level <= log_level)
		log_write(&s->history.log, level,
		    "server %s server=%u name=%s reason=\"%s\" prev=%s "
		    "prev_s=%llu%s",
		    server_state_name(c->is), s->number, s->name,
		    server_reason(s), server_state_name(c->was),
		    (unsigned long long)(c->lasted_ms / 1000), svc->label);
}

/* Sessions at lesser servers may end for it: the frontend finds out which. */
static void
cut_outranked(struct service *svc)
{
	if (svc->pen->phase == PHASE_SERVING &&
	    pool_options(svc->pool)->on_up == SERVER_ON_UP_CUT)
		frontend_cut_sessions(svc->frontend);
}

/* Logs a change of a server's state and starts the program for it. A state
 * taken over from another process was logged there; of a leader and its
 * workers, the leader does both. */
static void
states_announce(
    struct service *svc, struct server *s, const struct server_change *c)
{
	const char *program = svc->pen->plan->process->on_state;

	if (svc->pen->role.member == 0)
		log_change(svc, s, c);
	if (pool_cuts_sessions(svc->pool, s))
		frontend_cut_sessions(svc->frontend);
	if (c->is == SERVER_UP)
		cut_outranked(svc);
	if (program != NULL && svc->pen->phase == PHASE_SERVING &&
	    svc->pen->role.member == 0)
		on_state_add(svc->pen->on_state, program, svc->name, s, c);
}

/* Other workers have the same servers. */
static void
share_state(struct service *svc, struct server *s)
{
	const struct process_role *t = &svc->pen->role;

	if (t->share_state != NULL && !t->muted)
		t->share_state(svc, s);
}

static void
on_state(void *arg, struct server *s, const struct server_change *c)
{
	struct service *svc = arg;

	if (svc->pen->phase < PHASE_SERVING)
		return;
	recent_note(&svc->pen->recent, svc->name, s, c);
	if (!predecessor_is_there(&svc->pen->predecessor))
		states_announce(svc, s, c);
	if (c->is == SERVER_SUSPECT || c->is == SERVER_BLACKLISTED)
		await_revival(svc);
	if (c->is == SERVER_SUSPECT && svc->checker != NULL)
		checker_hurry(svc->checker, s);
	share_state(svc, s);
}

/* A server out of rotation fails health checks: its state stays as it is, but
 * its sessions are lost, as those of any server that is down. */
static void
on_down_unused(void *arg, struct server *s, const char *reason)
{
	struct service *svc = arg;

	if (svc->pen->phase < PHASE_SERVING)
		return;
	log_warn("server fails health checks while not in rotation server=%u "
		 "name=%s state=%s sessions=%llu reason=\"%s\"%s",
	    s->number, s->name, server_state_name(server_state(s)),
	    (unsigned long long)s->connections, reason, svc->label);
	if (pool_cuts_sessions(svc->pool, s))
		frontend_cut_sessions(svc->frontend);
	share_state(svc, s);
}

/* Nor does the state of a new server change with its first good check. */
static void
on_well(void *arg, struct server *s)
{
	struct service *svc = arg;

	cut_outranked(svc);
	if (svc->pen->phase == PHASE_SERVING)
		share_state(svc, s);
}

/* Sessions at servers that are down were spared as long as it lasted. */
static void
on_panic(void *arg, const struct pool_panic *now)
{
	struct service *svc = arg;

	if (svc->pen->phase < PHASE_SERVING)
		return;
	if (!now->on)
		frontend_cut_sessions(svc->frontend);
	if (predecessor_is_there(&svc->pen->predecessor) ||
	    svc->pen->role.member > 0)
		return;
	if (now->on)
		log_warn("panic: too few servers are up, all are tried "
			 "up=%u checked=%u%s",
		    now->checked - now->failing, now->checked, svc->label);
	else
		log_info("panic is over up=%u checked=%u%s",
		    now->checked - now->failing, now->checked, svc->label);
}

/* ---- life ---- */

void
states_watch(struct service *svc)
{
	struct pool_watcher w = { .now = now_ms,
		.wall = now_wall,
		.on_state = on_state,
		.on_down = on_down_unused,
		.on_well = on_well,
		.on_panic = on_panic,
		.arg = svc };

	timer_init(&svc->revival, on_revival);
	pool_watch(svc->pool, &w);
}

void
states_unwatch(struct service *svc)
{
	struct pool_watcher none = { .arg = NULL };

	timer_fini(&svc->revival);
	if (svc->pool != NULL)
		pool_watch(svc->pool, &none);
}
