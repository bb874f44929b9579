/* stopping.c: the graceful stop; see stopping.h. */
#include "config.h"

#include <inttypes.h>

#include "base/log.h"
#include "control/pen.h"
#include "control/reply.h"
#include "dsr/director/director.h"

/* How often to check whether anybody is left. */
enum { TICK_MS = 50 };

uint64_t
stopping_left(const struct pen *p)
{
	return frontend_left(p->frontend) +
	    (p->director != NULL ? director_left(p->director) : 0);
}

void
stopping_tell(const struct pen *p, struct buffer *out)
{
	uint64_t left = stopping_left(p);

	reply_add(out, "stopping, %" PRIu64 " session%s left\n", left,
	    left == 1 ? "" : "s");
}

static void
on_tick(struct timer *t)
{
	struct pen *p = list_entry(t, struct pen, stopping.tick);
	uint64_t left = stopping_left(p), now = loop_now(p->loop);

	if (left > 0 && now < p->stopping.until &&
	    timer_start(p->loop, t, TICK_MS) == 0)
		return;
	log_info("stopped left=%" PRIu64 " ms=%" PRIu64, left,
	    now - p->stopping.since);
	pen_stop(p);
}

void
stopping_init(struct stopping *s)
{
	timer_init(&s->tick, on_tick);
}

void
stopping_fini(struct stopping *s)
{
	timer_fini(&s->tick);
}

void
stopping_begin(struct pen *p, uint64_t ms, const char *who)
{
	uint64_t now;

	if (p->phase != PHASE_SERVING && p->phase != PHASE_DRAINING)
		return;
	now = loop_now(p->loop);
	p->stopping.until = ms > 0 ? now + ms : UINT64_MAX;
	if (p->phase == PHASE_SERVING) {
		p->phase = PHASE_DRAINING;
		p->stopping.since = now;
		notify_draining(&p->notify);
		frontend_drain(p->frontend);
		if (p->director != NULL)
			director_drain(p->director);
	}
	log_info("stopping reason=\"%s\" left=%" PRIu64 " most_ms=%" PRIu64,
	    who, stopping_left(p), ms);
	if (timer_start(p->loop, &p->stopping.tick, 0) < 0)
		pen_stop(p);
}
