/* session_admit.c: a step of HELLO: the limits of the client's source.
 *
 *     within them -----------------------------> the next step
 *     beyond: refuse --> reset
 *             delay  --> DELAYED --> the next step, or reset when time is over
 *             tarpit --> TARPITTED --> reset
 *             abuse  --> the next step, for the abuse server
 *
 * Of the clients of one source that are delayed only the first one tries again:
 * when the source has one connection less, and when client_rate allows one.
 * Those that wait are read from no more than those in the queue are. */
#include "config.h"

#include "net/sock.h"
#include "proxy/core/limits.h"
#include "proxy/session/session_private.h"

static enum reason
reason_of(enum limit_verdict which)
{
	return which == LIMIT_CONNS ? REASON_CLIENT_CONNS : REASON_CLIENT_RATE;
}

bool
session_admit_wanted(const struct frontend_core *f)
{
	return limits_are_set(&f->options.limits);
}

/* ---- waiting ---- */

static struct session *
first_delayed(struct source *src)
{
	struct list *link = list_first(&src->waiting);

	return link != NULL
	    ? list_entry(link, struct session_facts, queue_link)->session
	    : NULL;
}

/* Whether a client that is delayed need not, or may not, be so by the settings
 * that are in force now. */
static bool
session_begins_again(const struct session *s)
{
	const struct frontend_core *f = s->frontend;

	return f->options.limits.action != LIMIT_ACTION_DELAY ||
	    limits_find_source(f, &s->client) != s->more->source;
}

uint64_t
session_admit_due(const struct session *s)
{
	const struct frontend_core *f = s->frontend;
	uint64_t due = s->active + f->options.limits.wait_ms, again;

	/* the end of all clients does not wait for a tarpitted one */
	if (s->admission == TARPITTED)
		return f->draining ? loop_now(f->loop) : due;
	if (s->admission != DELAYED)
		return UINT64_MAX;
	if (session_begins_again(s))
		return loop_now(f->loop);
	if (first_delayed(s->more->source) != s ||
	    source_is_full(&f->sources, s->more->source))
		return due;
	again = loop_now(f->loop) +
	    rate_limit_wait(&f->options.limits.rate,
		&s->more->source->bucket, loop_now(f->loop));
	return again < due ? again : due;
}

/* The session that is the first one now may try. */
static void
wake_first(struct source *src)
{
	struct session *s = first_delayed(src);

	if (s != NULL)
		session_hello_schedule(s);
}

static void
stop_waiting(struct session *s)
{
	struct frontend_core *f = s->frontend;

	f->stats->limits.waiting--;
	if (s->admission == DELAYED) {
		source_wait_over(&f->sources, s->more->source,
		    &s->more->facts->queue_link);
		wake_first(s->more->source);
	}
	s->admission = NOT_ADMITTED;
}

/* Begins to wait. Returns whether it may: as many wait as are allowed to, or
 * half of all that there may be. */
static bool
wait_in(struct session *s, struct source *src, enum admission how)
{
	struct frontend_core *f = s->frontend;
	const struct limit_options *o = &f->options.limits;

	if (f->stats->limits.waiting >= o->wait_max ||
	    f->stats->limits.waiting >= f->options.sessions_max / 2)
		return false;
	if (how == DELAYED && session_facts(s) == NULL)
		return false;
	if (s->down.watch.fd < 0 && session_hello_watch(s) < 0)
		return false;
	f->stats->limits.waiting++;
	s->admission = (uint8_t)how;
	if (how == DELAYED) {
		f->stats->limits.delayed++;
		s->more->source = src;
		source_wait(&f->sources, src, &s->more->facts->queue_link);
	} else {
		f->stats->limits.tarpitted++;
	}
	session_hello_schedule(s);
	return true;
}

/* ---- in or not ---- */

static void
admit(struct session *s, struct source *src)
{
	struct source_limits *t = &s->frontend->sources;

	s->more->source = src;
	s->admission = ADMITTED;
	source_touch(t, src, true); /* by accept(2) */
	source_add_connection(t, src);
	session_hello_next(s);
}

static void
session_admit_refuse(struct session *s, enum limit_verdict which)
{
	s->frontend->stats->limits.refused++;
	session_close(s, reason_of(which));
}

static bool
goes_to_abuse(struct session *s)
{
	struct frontend_core *f = s->frontend;

	if (!pool_slot(f->pool, SLOT_ABUSE)->present)
		return false;
	f->stats->limits.abuse++;
	s->attempts.abuse = true;
	session_hello_next(s);
	return true;
}

/* Does with the session what is set for clients over a limit: it waits, gets
 * the abuse server, or is refused. */
static void
on_limit_exceeded(
    struct session *s, struct source *src, enum limit_verdict which)
{
	struct frontend_core *f = s->frontend;
	bool done = false;

	limits_note(f, src, which);
	switch (f->options.limits.action) {
	case LIMIT_ACTION_DELAY:
		done = wait_in(s, src, DELAYED);
		break;
	case LIMIT_ACTION_TARPIT:
		done = wait_in(s, src, TARPITTED);
		break;
	case LIMIT_ACTION_ABUSE:
		done = goes_to_abuse(s);
		break;
	case LIMIT_ACTION_REFUSE:
		break;
	}
	if (!done)
		session_admit_refuse(s, which);
}

void
session_admit_begin(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct source *src = limits_source(f, &s->client);
	enum limit_verdict v;

	if (src == NULL) {
		session_hello_next(s);
		return;
	}
	if (session_more(s) == NULL) {
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	v = source_arrive(&f->sources, src, true, loop_now(f->loop));
	if (v == LIMIT_WITHIN)
		admit(s, src);
	else
		on_limit_exceeded(s, src, v);
}

/* The client has waited: it is within the limits now, or comes anew. */
static void
resume(struct session *s, bool anew)
{
	struct source *src = s->more->source;

	stop_waiting(s);
	s->more->source = NULL;
	if (!session_wait_is_over(s))
		return;
	if (anew)
		session_admit_begin(s);
	else
		admit(s, src);
}

void
session_admit_on_time(struct session *s)
{
	struct frontend_core *f = s->frontend;
	uint64_t now = loop_now(f->loop);
	enum limit_verdict v = LIMIT_RATE;

	if (s->admission == TARPITTED) {
		session_close(s, REASON_TARPIT);
		return;
	}
	if (session_begins_again(s)) {
		resume(s, true);
		return;
	}
	if (first_delayed(s->more->source) == s)
		v = source_try_again(&f->sources, s->more->source, now);
	if (v == LIMIT_WITHIN)
		resume(s, false);
	else if (now - s->active >= f->options.limits.wait_ms)
		session_admit_refuse(s, v);
	else
		session_hello_schedule(s);
}

void
session_admit_end(struct session *s)
{
	struct source *src = s->more->source;

	if (s->admission == ADMITTED) {
		source_remove_connection(&s->frontend->sources, src);
		wake_first(src);
	} else if (s->admission != NOT_ADMITTED) {
		stop_waiting(s);
	}
	s->admission = NOT_ADMITTED;
	s->more->source = NULL;
}
