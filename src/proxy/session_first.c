/* session_first.c: a step of HELLO: the client's first bytes, for who wants to
 * see them before a server is chosen.
 *
 *     client --pipe_gather()--> kept bytes of the pipe to the server
 *                                   |
 *                deciders: more | enough  ---> session_hello_next()
 *
 * They go to the server as the pipe's bytes, whichever that will be. */
#include "config.h"

#include "net/sock.h"
#include "proxy/first.h"
#include "proxy/session_private.h"

/* ---- who wants to see them ---- */

static bool
peek_wanted(const struct frontend_core *f)
{
	return f->options.peek;
}

static enum first_verdict
peek_decide(struct session *s, const char *bytes, size_t n, bool last)
{
	(void)s;
	(void)bytes;
	return n > 0 || last ? FIRST_KNOWN : FIRST_MORE;
}

/* Each sees all `n` bytes so far, until it has seen enough: FIRST_KNOWN. With
 * `last` no more will come. FIRST_WRONG ends the session. */
static const struct decider {
	bool (*wanted)(const struct frontend_core *f);
	enum first_verdict (*decide)(
	    struct session *s, const char *bytes, size_t n, bool last);
} deciders[] = {
	{ .wanted = peek_wanted, .decide = peek_decide },
};
enum { DECIDERS = sizeof(deciders) / sizeof(deciders[0]) };

bool
session_first_wanted(const struct frontend_core *f)
{
	unsigned i;

	for (i = 0; i < DECIDERS; i++)
		if (deciders[i].wanted(f))
			return true;
	return false;
}

/* ---- deciding ---- */

static enum first_verdict
session_first_decide(struct session *s, bool last)
{
	const struct buffer *kept = s->to_server.kept;
	const char *bytes = kept != NULL ? buffer_bytes(kept) : "";
	size_t n = pipe_pending(&s->to_server);
	enum first_verdict v = FIRST_KNOWN;
	unsigned i;

	for (i = 0; i < DECIDERS && v == FIRST_KNOWN; i++)
		if (deciders[i].wanted(&s->frontend->core))
			v = deciders[i].decide(s, bytes, n, last);
	return v;
}

/* Goes on, or waits for more. */
static void
session_first_conclude(struct session *s, enum pipe_verdict stop)
{
	enum first_verdict v = session_first_decide(s, stop == PIPE_DONE);

	if (v == FIRST_KNOWN)
		session_hello_next(s);
	else if (v == FIRST_WRONG)
		session_close(s, REASON_NO_RESOURCES);
	else if (stop == PIPE_BLOCKED)
		session_close(s, REASON_HELLO_TOO_LONG);
	else if (watch_want(s->frontend->core.loop, &s->down.watch,
		     READY_READ | stream_wants(&s->down)) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

static void
session_first_read(struct session *s)
{
	bool was_silent = pipe_pending(&s->to_server) == 0;
	struct pipe_stop stop = pipe_gather(
	    &s->to_server, &s->down, FIRST_MAX, &s->frontend->core.share);

	if (stop.verdict == PIPE_READ_FAILED)
		stop = session_client_unread(s, stop);
	if (stop.verdict == PIPE_READ_FAILED) {
		session_close(s, session_unread_reason(stop.cause));
		return;
	}
	if (was_silent && pipe_pending(&s->to_server) > 0)
		session_hello_schedule(s); /* peek_wait is for silence */
	session_first_conclude(s, stop.verdict);
}

/* ---- the step ---- */

/* Whether a client that says nothing gets a server all the same. */
static bool
session_first_serves_silence(const struct session *s)
{
	return s->frontend->core.options.peek_wait_ms > 0;
}

uint64_t
session_first_due(const struct session *s)
{
	uint64_t due = session_hello_due(s);
	uint64_t wait = s->frontend->core.options.peek_wait_ms;

	if (wait == 0 || pipe_pending(&s->to_server) > 0)
		return due;
	return s->active + wait < due ? s->active + wait : due;
}

void
session_first_begin(struct session *s)
{
	if (s->down.flags & STREAM_READABLE)
		session_first_read(s);
}

void
session_first_on_client(struct session *s, unsigned ready)
{
	if (ready & READY_ERROR && sock_error(s->down.fd) != 0) {
		session_close(s, REASON_CLIENT_RESET);
		return;
	}
	stream_note_ready(&s->down, ready);
	session_first_read(s);
}

void
session_first_on_time(struct session *s)
{
	if (pipe_pending(&s->to_server) > 0 || !session_first_serves_silence(s))
		session_close(s, REASON_HELLO_TIMEOUT);
	else
		session_first_conclude(s, PIPE_DONE);
}
