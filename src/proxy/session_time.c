/* session_time.c: how long sessions may wait, and what becomes of those that are
 * there when a time is set anew. */
#include "config.h"

#include "proxy/session_private.h"

/* Sessions that are scheduled anew in one wake-up. */
enum { PORTION = 1024 };

/* ---- silence ---- */

/* Its server is gone and it was told so, but goes on sending. */
static bool
is_lingering(const struct session *s)
{
	return s->state == DRAINING && s->client_told;
}

static bool
is_half_closed(const struct session *s)
{
	return s->state == DRAINING || s->client_told || s->server_told;
}

static void
take_sooner(uint64_t *due, enum reason *why, uint64_t from, uint64_t limit,
    enum reason reason)
{
	if (limit > 0 && from + limit < *due) {
		*due = from + limit;
		*why = reason;
	}
}

/* When the session ends unless a byte comes, and why; UINT64_MAX: never. Of all
 * limits that are set for what it is, the first one counts. */
static uint64_t
deadline(const struct session *s, enum reason *why)
{
	const struct frontend_options *o = &s->frontend->options;
	uint64_t due = UINT64_MAX;

	take_sooner(
	    &due, why, s->active, o->idle_timeout_ms, REASON_IDLE_TIMEOUT);
	if (is_lingering(s))
		take_sooner(&due, why, s->started + s->lingers_s * 1000ull,
		    o->linger_ms, REASON_LINGER_TIMEOUT);
	if (is_half_closed(s))
		take_sooner(&due, why, s->active, o->half_timeout_ms,
		    REASON_HALF_TIMEOUT);
	return due;
}

static uint64_t
true_due(struct expiry *x)
{
	enum reason why = REASON_IDLE_TIMEOUT;

	return deadline(list_entry(x, struct session, expiry), &why);
}

static void
on_silence(struct timeouts *t, struct expiry *x)
{
	struct session *s = list_entry(x, struct session, expiry);
	enum reason why = REASON_IDLE_TIMEOUT;

	(void)t;
	(void)deadline(s, &why);
	session_close(s, why);
}

void
session_schedule(struct session *s)
{
	struct frontend *f = s->frontend;
	uint64_t now = loop_now(f->loop), due;
	enum reason why = REASON_IDLE_TIMEOUT;

	expiry_cancel(&s->expiry);
	if (s->reset_due) {
		timeouts_add(&f->unsent, &s->expiry, session_reset_due(s));
		return;
	}
	if (is_lingering(s) && s->lingers_s == 0)
		s->lingers_s = (uint32_t)((now - s->started) / 1000 + 1);
	due = deadline(s, &why);
	if (due != UINT64_MAX)
		timeouts_add(&f->silent, &s->expiry, due);
}

/* ---- times that are set anew ---- */

/* One that waits for a Unix server asks by itself how long it may. */
static void
reschedule(struct session *s)
{
	struct frontend *f = s->frontend;

	switch (s->state) {
	case HELLO:
		expiry_cancel(&s->expiry);
		timeouts_add(
		    &f->shaking, &s->expiry, s->started + f->tls.handshake_ms);
		break;
	case CONNECTING:
		if (stream_is_open(&s->up))
			session_schedule_connect(s);
		break;
	default:
		if (!s->reset_due)
			session_schedule(s);
		break;
	}
}

static void
on_turn(struct task *t)
{
	struct frontend *f = list_entry(t, struct frontend, rescheduling);
	struct list *link;
	int i;

	for (i = 0; i < PORTION && (link = list_first(&f->stale)) != NULL;
	     i++) {
		list_remove(link);
		list_append(&f->sessions, link);
		reschedule(list_entry(link, struct session, link));
	}
	if (!list_is_empty(&f->stale))
		loop_soon(f->loop, t);
}

void
session_reschedule_all(struct frontend *f)
{
	list_move_all(&f->stale, &f->sessions);
	if (!list_is_empty(&f->stale))
		loop_soon(f->loop, &f->rescheduling);
}

void
session_init_timeouts(struct frontend *f)
{
	timeouts_init(&f->shaking, f->loop, session_on_hello_over, NULL);
	timeouts_init(
	    &f->connecting, f->loop, session_on_connecting_over, NULL);
	timeouts_init(&f->busy, f->loop, session_on_busy_over, NULL);
	session_wait_init(f);
	timeouts_init(&f->unsent, f->loop, session_on_unsent, NULL);
	timeouts_init(&f->silent, f->loop, on_silence, true_due);
	list_init(&f->stale);
	list_init(&f->rescheduling.link);
	f->rescheduling.run = on_turn;
}
