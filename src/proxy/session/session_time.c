/* session_time.c: how long sessions may wait, how peers that vanish are
 * noticed, and the effect of a changed timeout on existing sessions. */
#include "config.h"

#include "net/sock.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

/* Sessions that are looked at in one wake-up: to schedule them anew; to set up
 * their sockets, several calls each. */
enum { PORTION = 1024, TUNED = 256 };
/* When a session has settled, and how often to look which have. What is due
 * later than SOON_MS waits until then: most sessions are over by then, and need
 * not wait for anything. */
enum { SETTLED_MS = 2000, AGING_MS = 1000, SOON_MS = 10 * 1000 };
/* How long a server may take to end its connection after the last answer, which
 * its client has. */
enum { OVER_MS = 1000 };
/* How often to check at most whether a session is quiet. */
enum { RECHECK_MS = 100 };
/* How long a client that writes in vain may have left what came before its
 * server's end unread. */
enum { IN_VAIN_MS = 1000 };

/* ---- silence ---- */

/* Its server has closed and it got the FIN, but it continues to send; or it has
 * ended and takes nothing, and its server continues. */
static bool
is_lingering(const struct session *s)
{
	return s->client_told ? s->state == DRAINING
			      : s->to_client.dropping && s->to_server.ended;
}

static bool
is_half_closed(const struct session *s)
{
	return s->state == DRAINING || s->client_told || s->server_told ||
	    s->down.flags & STREAM_GONE;
}

/* How long it lingers at most without progress; 0: no limit. One that writes in
 * vain, but may have the answer unread, has time to read it. */
static uint64_t
linger_ms(const struct session *s)
{
	uint64_t ms = s->frontend->options.linger_ms;

	if (s->to_server.dropped && session_may_write_in_vain(s) &&
	    (ms == 0 || ms > IN_VAIN_MS))
		return IN_VAIN_MS;
	return ms;
}

static uint64_t
lingers_from(const struct session *s)
{
	return s->started + s->lingers_s * 1000ull;
}

static enum reason
linger_reason(const struct session *s)
{
	return s->server_reset	    ? session_reset_reason(s)
	    : s->to_client.dropping ? REASON_CLIENT_RESET
				    : REASON_LINGER_TIMEOUT;
}

/* Whether its client owes the rest of a request's header. */
static bool
is_partial(const struct session *s)
{
	return s->state == RELAYING && s->more->http_relay != NULL &&
	    s->more->http_relay->partial_since != 0;
}

/* Its client has the end of the last answer; the server has not ended. */
static bool
session_time_is_over(const struct session *s)
{
	return s->state == RELAYING && s->client_told && !s->to_client.ended;
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

/* When the session, being old, is drained; UINT64_MAX: never. Up to a tenth
 * before max_age, so that those that began together do not end together. */
static uint64_t
retirement(const struct session *s)
{
	uint64_t age = s->frontend->options.end.max_age_ms;
	uint32_t jitter = (s->number * UINT32_C(2654435761)) >> 24;

	if (age == 0)
		return UINT64_MAX;
	return s->started + age - age / 10 * jitter / 256;
}

/* When the session ends unless a byte comes, and why; UINT64_MAX: never. Of all
 * limits that are set for what it is, the first one counts. */
static uint64_t
silence_limit(const struct session *s, enum reason *why)
{
	const struct frontend_options *o = &s->frontend->options;
	uint64_t due = UINT64_MAX;

	take_sooner(
	    &due, why, s->active, o->idle_timeout_ms, REASON_IDLE_TIMEOUT);
	if (is_lingering(s))
		take_sooner(
		    &due, why, lingers_from(s), linger_ms(s), linger_reason(s));
	if (session_time_is_over(s))
		take_sooner(&due, why, s->active, OVER_MS, REASON_DONE);
	if (is_half_closed(s))
		take_sooner(&due, why, s->active, o->half_timeout_ms,
		    REASON_HALF_TIMEOUT);
	if (is_partial(s))
		take_sooner(&due, why, s->more->http_relay->partial_since,
		    o->hello_ms, REASON_HELLO_TIMEOUT);
	if (o->end.max_age_ms > 0)
		take_sooner(&due, why, retirement(s), o->end.drain_ms,
		    REASON_MAX_AGE);
	return due;
}

/* From when on it is drained; UINT64_MAX: it is not. */
static uint64_t
asked_from(const struct session *s)
{
	return s->leaving || s->frontend->draining ? 0 : retirement(s);
}

bool
session_is_asked(const struct session *s)
{
	uint64_t from = asked_from(s);

	return from != UINT64_MAX && from <= loop_now(s->frontend->loop) &&
	    session_may_end_quietly(s);
}

/* A session that lingers is checked half-way through: while its client still
 * takes the last bytes, it lingers from that moment on. */
static uint64_t
linger_check_due(const struct session *s, uint64_t due)
{
	uint64_t check = lingers_from(s) + linger_ms(s) / 2;

	return check > loop_now(s->frontend->loop) && check < due ? check : due;
}

/* When it ends, or is checked for a quiet moment, unless a byte comes. */
static uint64_t
deadline(const struct session *s)
{
	enum reason why = REASON_IDLE_TIMEOUT;
	uint64_t due, asked = asked_from(s), quiet;

	if (asked == UINT64_MAX && !is_half_closed(s) && !is_partial(s) &&
	    s->frontend->options.idle_timeout_ms == 0)
		return UINT64_MAX; /* most sessions, at first */
	due = silence_limit(s, &why);
	if (is_lingering(s))
		due = linger_check_due(s, due);
	if (asked == UINT64_MAX || !session_may_end_quietly(s))
		return due;
	quiet = s->active + s->frontend->options.end.quiet_ms;
	if (quiet < asked)
		quiet = asked;
	return quiet < due ? quiet : due;
}

/* It was silent for a while, but an answer is due, or its last bytes are under
 * way. */
static void
await_quiet(struct session *s, uint64_t limit)
{
	struct frontend_core *f = s->frontend;
	uint64_t wait = f->options.end.quiet_ms, due;

	due = loop_now(f->loop) + (wait > RECHECK_MS ? wait : RECHECK_MS);
	timeouts_add(f->sessions->times, &s->expiry, due < limit ? due : limit);
}

/* Each byte puts off the timeout of a session that relays. It is not scheduled
 * anew for that: the wheel gets the present time when it comes across it. */
static uint64_t
true_due(struct expiry *x)
{
	struct session *s = list_entry(x, struct session, expiry);

	return s->state < RELAYING || s->reset_due ? x->due : deadline(s);
}

static size_t
unsent_in_kernel(const struct stream *to)
{
	return stream_is_open(to) ? sock_unsent(to->fd) : 0;
}

bool
session_lags(const struct session *s, bool up)
{
	const struct stream *to = up ? &s->up : &s->down;

	return pipe_pending(up ? &s->to_server : &s->to_client) > 0 ||
	    stream_is_unsent(to) || unsent_in_kernel(to) > 0;
}

/* The kernel reports that a peer has taken bytes only when a large part of its
 * buffer is free, which takes a slow peer minutes. */
bool
session_has_moved(struct session *s)
{
	size_t lag = unsent_in_kernel(&s->down) + unsent_in_kernel(&s->up);
	uint32_t before = s->taken;

	s->taken = (uint32_t)(s->to_client.bytes + s->to_server.bytes - lag);
	return s->taken != before;
}

/* The same, of peers that still lag. */
static bool
session_is_taken(struct session *s)
{
	return session_has_moved(s) &&
	    unsent_in_kernel(&s->down) + unsent_in_kernel(&s->up) > 0;
}

static uint32_t
lingers_now(const struct session *s)
{
	uint64_t now = loop_now(s->frontend->loop);

	return (uint32_t)((now - s->started) / 1000 + 1);
}

void
session_relay_on_time(struct session *s)
{
	enum reason why = REASON_IDLE_TIMEOUT;
	uint64_t limit, now = loop_now(s->frontend->loop);

	if (s->reset_due) {
		session_relay(s);
		return;
	}
	if (is_lingering(s) && session_has_moved(s)) {
		s->active = now;
		s->lingers_s = lingers_now(s);
	}
	limit = silence_limit(s, &why);
	if (limit <= now &&
	    (why == REASON_IDLE_TIMEOUT || why == REASON_HALF_TIMEOUT) &&
	    session_is_taken(s)) {
		s->active = now;
		session_relay_schedule(s);
	} else if (limit <= now && why == REASON_DONE) {
		session_relay_end_server(s);
	} else if (is_lingering(s) && limit > now) {
		session_relay_schedule(s);
	} else if (limit <= now && why == REASON_HELLO_TIMEOUT)
		session_http_too_slow(s);
	else if (limit <= now) {
		unsigned status = session_http_owes(s) ? 408 : 504;

		if (!session_http_unanswered(s, status, why))
			session_close(s, why);
	} else if (asked_from(s) <= now && session_is_quiet(s))
		session_end_quietly(s);
	else
		await_quiet(s, limit);
}

void
session_relay_schedule(struct session *s)
{
	struct frontend_core *f = s->frontend;
	uint64_t now = loop_now(f->loop), due;

	expiry_cancel(&s->expiry);
	if (s->reset_due) {
		timeouts_add(
		    f->sessions->times, &s->expiry, session_relay_reset_due(s));
		return;
	}
	if (is_lingering(s) && s->lingers_s == 0) {
		s->lingers_s = lingers_now(s);
		s->taken = (uint32_t)(s->to_client.bytes + s->to_server.bytes);
	}
	due = deadline(s);
	if (due != UINT64_MAX && (s->settled || due < now + SOON_MS))
		timeouts_add(f->sessions->times, &s->expiry, due);
}

/* How long a reset waits is no setting. */
void
session_relay_reschedule(struct session *s)
{
	if (!s->reset_due)
		session_relay_schedule(s);
}

/* ---- peers that vanish ---- */

void
session_guard_server(struct session *s)
{
	struct sock_keepalive k = frontend_keepalive(s->frontend);

	if (stream_is_open(&s->up))
		sock_set_keepalive(s->up.fd, &k);
}

/* Accepted sockets have it from their listener: here it was set anew. */
static void
guard_client(struct session *s)
{
	struct sock_keepalive k = frontend_keepalive(s->frontend);

	k.on = true;
	if (stream_is_open(&s->down))
		sock_set_keepalive(s->down.fd, &k);
}

/* Keep-alive towards a server costs several calls, which most sessions never
 * need: they are over by then. */
static void
on_aging(struct timer *t)
{
	struct sessions *all = list_entry(t, struct sessions, aging);
	const struct frontend_core *f = all->frontend;
	uint64_t now = loop_now(f->loop);
	struct list *link;
	struct session *s;
	int i;

	for (i = 0; (link = list_first(&all->young)) != NULL; i++) {
		s = list_entry(link, struct session, link);
		if (now - s->started < SETTLED_MS || i == TUNED)
			break;
		list_remove(link);
		list_append(&all->settled, link);
		s->settled = true;
		if (s->state >= RELAYING)
			session_relay_reschedule(s);
		if (f->options.keepalive || f->options.user_timeout_ms > 0)
			session_guard_server(s);
	}
	/* stale ones, which get times set anew, come back to the list */
	all->is_aging = (link != NULL || !list_is_empty(&all->stale)) &&
	    timer_start(f->loop, t, i == TUNED ? 0 : AGING_MS) == 0;
}

void
session_begin_aging(struct sessions *all)
{
	all->is_aging =
	    timer_start(all->frontend->loop, &all->aging, SETTLED_MS) == 0;
}

/* ---- times that are set anew ---- */

/* Applies changed timeouts to sessions, a portion in each turn of the loop. */
static void
session_time_on_turn(struct task *t)
{
	struct sessions *all = list_entry(t, struct sessions, rescheduling);
	struct list *link;
	int i, most = all->retune ? TUNED : PORTION;

	for (i = 0; i < most && (link = list_first(&all->stale)) != NULL; i++) {
		struct session *s = list_entry(link, struct session, link);

		list_remove(link);
		list_append(s->settled ? &all->settled : &all->young, link);
		session_reschedule(s);
		s->to_server.reported = true; /* a log may have come */
		if (all->retune)
			guard_client(s);
		if (all->retune && s->settled)
			session_guard_server(s);
	}
	if (!list_is_empty(&all->stale))
		loop_soon(all->frontend->loop, t);
	else
		all->retune = false;
}

void
sessions_reschedule(struct sessions *all, bool retune)
{
	all->retune |= retune;
	list_move_all(&all->stale, &all->settled);
	list_move_all(&all->stale, &all->young);
	loop_soon(all->frontend->loop, &all->rescheduling);
}

int
session_times_init(struct sessions *all)
{
	timer_init(&all->aging, on_aging);
	list_init(&all->rescheduling.link);
	all->rescheduling.run = session_time_on_turn;
	all->times =
	    timeouts_of_loop(all->frontend->loop, session_on_time, true_due);
	return all->times != NULL ? 0 : -1;
}

void
session_times_fini(struct sessions *all)
{
	list_remove(&all->rescheduling.link); /* the loop may outlive us */
	timer_fini(&all->aging);
}
