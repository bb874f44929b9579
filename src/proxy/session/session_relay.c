/* session_relay.c: the states RELAYING and DRAINING: bytes. Their ends:
 * session_end.c. */
#include "config.h"

#include <errno.h>

#include "net/sock.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

/* Whether a close is all it takes to end both: TLS sends a close_notify first,
 * which may have to wait. */
static bool
session_is_plain(const struct session *s)
{
	return stream_ops(&s->down)->fin_is_end &&
	    stream_ops(&s->up)->fin_is_end;
}

/* ---- bytes ---- */

/* How long after its beginning a session's writes may make the kernel delay
 * ACKs. */
enum { ACKS_LATE_MS = 200 };

static bool
has_failed(struct pipe_stop stop)
{
	return stop.verdict == PIPE_READ_FAILED ||
	    stop.verdict == PIPE_WRITE_FAILED;
}

/* Whether the server has ended, one way or another. */
static bool
session_server_ended(struct pipe_stop stop)
{
	return stop.verdict == PIPE_DONE ||
	    (stop.verdict == PIPE_READ_FAILED && stop.cause != ENOMEM);
}

/* The server has closed: whether its client gets another one for an unanswered
 * request, an error page, or waits for the next one. A client that has ended
 * within a body gave up before its server did. */
static bool
session_outlives_server(struct session *s, struct pipe_stop stop)
{
	if ((s->request != NULL || session_is_unused(s)) &&
	    session_retry(s, false))
		return true;
	if ((!(s->to_server.ended && session_http_owes(s)) &&
		session_http_unanswered(s, 502, REASON_NO_ANSWER)) ||
	    session_await_next(s, false))
		return true;
	if (stop.verdict == PIPE_DONE)
		session_http_note_end(s);
	return false;
}

/* The pipe to the client could not read the server. A server that
 * cannot be read has ended; what it sent before goes to the client. One that
 * has sent everything when it gets the client's close_notify need not send its
 * own: some just close. Returns why the pipe stopped after that. */
static struct pipe_stop
session_on_down_failed(struct session *s, struct pipe_stop stop)
{
	if (stop.cause == ENOMEM)
		return stop;
	if (stop.cause == ECONNABORTED && s->server_told && !s->asked &&
	    !s->server_talks)
		s->to_client.ended = true;
	else
		session_on_server_reset(s, stop.cause);
	return session_pump_down(s);
}

/* The same to the server. One that takes no more bytes may have answered
 * before: the client is read on, for its end. */
static struct pipe_stop
session_on_up_failed(struct session *s, struct pipe_stop stop)
{
	if (stop.verdict == PIPE_WRITE_FAILED) {
		if (stop.cause == ECONNRESET)
			s->server_reset = true;
		s->client_sending = true;
		pipe_drop(&s->to_server, &s->frontend->share);
		stop = session_pump_up(s);
	}
	return stop.verdict == PIPE_READ_FAILED ? session_client_unread(s, stop)
						: stop;
}

static void
session_note_answer(struct session *s)
{
	struct frontend_core *f = s->frontend;
	uint64_t ms;

	if (s->first_ms != 0)
		return;
	ms = loop_now(f->loop) - s->started;
	s->first_ms = (uint32_t)ms + 1;
	duration_add(&f->stats->durations.first_byte, ms * 1000);
	pool_began_answer(s->server, ms * 1000);
}

/* Moves the server's bytes. Returns false when the session is closed, relays no
 * more, or has another server. */
static inline bool
session_relay_down(struct session *s, struct pipe_stop *down)
{
	struct pipe *p = &s->to_client;
	uint64_t before = p->bytes + pipe_pending(p);

	if (s->more->http_relay != NULL && session_is_asked(s))
		s->more->http_relay->responses.ends = true;
	*down = session_pump_down(s);
	if (s->more->http_relay != NULL &&
	    s->more->http_relay->requests.log.first != NULL)
		session_requests_answered(s);
	if (p->bytes + pipe_pending(p) > before) {
		s->asked = false;
		s->server_talks |= s->server_told;
		session_note_answer(s);
		if (s->request != NULL)
			session_on_answer(s);
	}
	if (session_server_ended(*down) && session_outlives_server(s, *down))
		return false;
	if (down->verdict == PIPE_READ_FAILED)
		*down = session_on_down_failed(s, *down);
	if (down->verdict == PIPE_READ_FAILED) {
		session_close(s, REASON_NO_RESOURCES);
		return false;
	}
	if (down->verdict == PIPE_WRITE_FAILED) {
		session_drop_answer(s);
		*down = session_pump_down(s);
	}
	return true;
}

/* The kernel delays ACKs of what follows bytes that we send within 40 ms of the
 * handshake, or of the server's last bytes. To prevent that for longer would
 * cost a call for each write of a long request. */
static inline void
session_note_acks(struct session *s)
{
	if (s->up.flags & STREAM_ACKS_LATE &&
	    loop_now(s->frontend->loop) - s->started > ACKS_LATE_MS)
		s->up.flags &= ~(unsigned)STREAM_ACKS_LATE;
}

/* The same of the client; a server that has failed before it took a byte is
 * read first. */
static inline bool
session_relay_up(
    struct session *s, struct pipe_stop *down, struct pipe_stop *up)
{
	struct pipe *p = &s->to_server;
	uint64_t before = p->bytes + pipe_pending(p);
	bool stalled = (s->down.flags & STREAM_STALLED) != 0;

	*up = session_pump_up(s);
	session_note_acks(s);
	if (up->verdict == PIPE_WRITE_FAILED && session_is_unused(s) &&
	    !session_relay_down(s, down))
		return false;
	if (has_failed(*up))
		*up = session_on_up_failed(s, *up);
	if (p->bytes + pipe_pending(p) > before) {
		s->asked = true;
		s->interleaved |= s->to_client.bytes > 0;
	}
	/* the read made the client's stream writable, which no event reports */
	if (stalled && !(s->down.flags & STREAM_STALLED))
		session_soon(s);
	return true;
}

/* Whether both pipes, which are starved, are simple and waited for as they are:
 * so it is after most events. */
static inline bool
session_waits_as_before(const struct session *s)
{
	return s->to_server.more == NULL && s->to_client.more == NULL &&
	    s->down.watch.want == READY_READ &&
	    s->up.watch.want == READY_READ && !session_is_unsent(s) &&
	    !s->reset_due;
}

/* The client has broken off, or at least takes no more. Returns whether nothing
 * is left to do now. */
static bool
session_on_client_gone(struct session *s, struct pipe_stop up)
{
	if (up.verdict == PIPE_READ_FAILED && up.cause == ENOMEM) {
		session_close(s, REASON_NO_RESOURCES);
		return true;
	}
	if (s->down.flags & STREAM_GONE)
		session_drop_answer(s);
	if (!session_client_is_lost(s, up))
		return false;
	session_break_off(s,
	    up.verdict == PIPE_READ_FAILED ? session_unread_reason(up.cause)
					   : REASON_CLIENT_RESET,
	    true);
	if (s->state != CLOSED)
		session_arm(s);
	return true;
}

/* The server is read first: after its FIN or RST the client's bytes are handled
 * differently. */
void
session_relay(struct session *s)
{
	struct pipe_stop down = { PIPE_STARVED, 0 }, up = { PIPE_STARVED, 0 };

	if (!pipe_is_starved(&s->to_client, &s->up) &&
	    !session_relay_down(s, &down))
		return;
	if (!pipe_is_starved(&s->to_server, &s->down) &&
	    !session_relay_up(s, &down, &up))
		return;
	if (down.verdict == PIPE_STARVED && up.verdict == PIPE_STARVED &&
	    session_waits_as_before(s))
		return;
	if (down.verdict == PIPE_YIELDED || up.verdict == PIPE_YIELDED)
		session_soon(s);
	if ((s->down.flags & STREAM_GONE || up.verdict == PIPE_READ_FAILED) &&
	    session_on_client_gone(s, up))
		return;
	if (s->more->http_relay != NULL && session_http_settle(s))
		return;
	/* the common end: two closes are all that is left to do */
	if (down.verdict == PIPE_DONE && up.verdict == PIPE_DONE &&
	    !s->server_reset && session_is_plain(s)) {
		session_close(s, REASON_DONE);
		return;
	}
	session_conclude(
	    s, down.verdict == PIPE_DONE, up.verdict == PIPE_DONE);
}

/* ---- events ---- */

static void
session_note_active(struct session *s)
{
	if (!s->reset_due)
		s->active = loop_now(s->frontend->loop);
}

void
session_relay_on_client(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	session_note_active(s);
	session_relay(s);
}

/* A server that had sent FIN and now resets takes no more. Its FIN may be known
 * from an earlier event, and not read yet. */
void
session_relay_on_server(struct session *s, unsigned ready)
{
	stream_note_ready(&s->up, ready);
	if (s->up.flags & STREAM_GONE &&
	    (s->to_client.ended ||
		(s->up.flags & STREAM_AT_EOF && !session_is_unused(s))) &&
	    !s->to_server.dropping) {
		s->client_sending |= session_is_sending(s);
		pipe_drop(&s->to_server, &s->frontend->share);
	}
	session_note_active(s);
	session_relay(s);
}
