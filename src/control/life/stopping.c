/* stopping.c: the graceful stop; see stopping.h. */
#include "config.h"

#include <inttypes.h>
#include <sys/wait.h>

#include "base/log.h"
#include "control/life/context.h"
#include "control/life/logs.h"
#include "control/answer/reply.h"
#include "dsr/director/director.h"

/* How often to check whether sessions are left, and whether logs were moved. */
enum { TICK_MS = 50, FOLLOW_MS = 1000 };

uint64_t
stopping_left(const struct pen *p)
{
	const struct service *svc;
	uint64_t left = 0;

	SERVICE_EACH (p, svc) {
		left += frontend_left(svc->frontend);
		if (svc->director != NULL)
			left += director_left(svc->director);
	}
	return left;
}

void
stopping_report(const struct pen *p, struct buffer *out)
{
	uint64_t left = stopping_left(p);

	reply_add(out, "stopping, %" PRIu64 " session%s left\n", left,
	    left == 1 ? "" : "s");
}

void
stopping_end(struct pen *p)
{
	if (p->phase < PHASE_SERVING)
		return;
	p->phase = PHASE_STOPPING;
	notify_stopping(&p->notify);
	loop_stop(p->loop);
}

void
stopping_end_by(struct pen *p, const char *who)
{
	if (p->phase >= PHASE_SERVING && p->phase < PHASE_STOPPING)
		log_info("stopped reason=\"%s\"", who);
	stopping_end(p);
}

/* The process that took over is our child, and gets the signals for new
 * logs. */
static void
follow_successor(struct pen *p, uint64_t now)
{
	if (p->successor != 0 &&
	    waitpid(p->successor, NULL, WNOHANG) == p->successor)
		p->successor = 0;
	if (now - p->stopping.followed < FOLLOW_MS)
		return;
	p->stopping.followed = now;
	logs_follow(p);
}

static bool
has_workers(const struct pen *p)
{
	return p->role.has_workers != NULL && p->role.has_workers(p);
}

static void
stopping_on_tick(struct timer *t)
{
	struct pen *p = list_entry(t, struct pen, stopping.tick);
	uint64_t left, now = loop_now(p->loop);

	pen_count(p);
	left = stopping_left(p);
	if (p->replaced)
		follow_successor(p, now);
	if ((left > 0 || p->answers > 0 || has_workers(p)) &&
	    now < p->stopping.until && timer_start(p->loop, t, TICK_MS) == 0)
		return;
	if (p->role.member == 0)
		log_info("stopped sessions=%" PRIu64 " ms=%" PRIu64, left,
	    now - p->stopping.since);
	stopping_end(p);
}

void
stopping_init(struct stopping *s)
{
	timer_init(&s->tick, stopping_on_tick);
}

void
stopping_fini(struct stopping *s)
{
	timer_fini(&s->tick);
}

uint64_t
stopping_sooner(const struct pen *p, uint64_t ms)
{
	uint64_t now = loop_now(p->loop), left;

	if (p->phase != PHASE_DRAINING || p->stopping.until == UINT64_MAX)
		return ms;
	left = p->stopping.until > now ? p->stopping.until - now : 1;
	return ms == 0 || left < ms ? left : ms;
}

static void
drain_services(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc) {
		frontend_drain(svc->frontend);
		if (svc->director != NULL)
			director_drain(svc->director);
	}
}

/* The time limit of a worker is its leader's. */
void
stopping_limit(struct pen *p, uint64_t ms)
{
	if (p->phase == PHASE_DRAINING && p->role.member == 0)
		p->stopping.until =
		    ms > 0 ? loop_now(p->loop) + ms : UINT64_MAX;
}

void
stopping_begin(struct pen *p, uint64_t ms, const char *who)
{
	if (p->phase != PHASE_SERVING && p->phase != PHASE_DRAINING)
		return;
	p->stopping.asked = !p->replaced || p->phase == PHASE_DRAINING;
	if (p->phase == PHASE_SERVING) {
		p->phase = PHASE_DRAINING;
		p->stopping.since = loop_now(p->loop);
		p->stopping.until = UINT64_MAX;
		notify_draining(&p->notify);
		drain_services(p);
	}
	stopping_limit(p, ms);
	pen_count(p);
	if (p->role.drain != NULL)
		p->role.drain(p);
	if (p->role.member == 0)
		log_info("stopping reason=\"%s\" sessions=%" PRIu64
		 " timeout_ms=%" PRIu64,
	    who, stopping_left(p), ms);
	if (timer_start(p->loop, &p->stopping.tick, 0) < 0)
		stopping_end(p);
}
