/* session_relay.c: the states RELAYING and DRAINING: bytes, and the ends of
 * either side. In DRAINING the server has been let go and the client takes the
 * rest. */
#include "config.h"

#include <errno.h>

#include "net/sock.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

/* How often to look whether a client has got its last bytes before it is
 * reset: at first, in the end; and for how long. */
enum { UNSENT_MS = 5, UNSENT_SELDOM_MS = 1000, UNSENT_MAX_MS = 30 * 1000 };

/* ---- waiting ---- */

/* Whether bytes of either side wait in its stream: the session may not end,
 * nor a side be closed, before they are gone. */
static bool
session_is_unsent(const struct session *s)
{
	return stream_is_unsent(&s->down) || stream_is_unsent(&s->up);
}

/* Whether a close is all it takes to end both: TLS sends a close_notify first,
 * which may have to wait. */
static bool
session_is_plain(const struct session *s)
{
	return stream_ops(&s->down)->fin_is_end &&
	    stream_ops(&s->up)->fin_is_end;
}

/* Sets in the loop what each side waits for. */
static void
session_arm(struct session *s)
{
	struct frontend_core *f = s->frontend;
	size_t up = pipe_pending(&s->to_server);
	size_t down = pipe_pending(&s->to_client);
	bool ahead = down < f->share.keep_max;
	int rc = 0;

	if (s->down.fd >= 0)
		rc |= watch_want(f->loop, &s->down.watch,
		    (pipe_wants(&s->to_server) ? READY_READ : 0u) |
			(down > 0 && !(s->down.flags & STREAM_STALLED)
				? READY_WRITE
				: 0u) |
			stream_wants(&s->down));
	if (s->up.fd >= 0)
		rc |= watch_want(f->loop, &s->up.watch,
		    (!s->to_client.ended && (down == 0 || ahead) ? READY_READ
								 : 0u) |
			(up > 0 ? READY_WRITE : 0u) | stream_wants(&s->up));
	if (rc < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* Closes the server's connection, which no longer counts, while the client
 * takes the rest. What the client still sends is read and dropped: bytes left
 * unread would turn the close into a reset, and lose it the answer's end. */
static void
session_let_go(struct session *s)
{
	struct frontend_core *f = s->frontend;

	session_release_server(s, false);
	pipe_drop(&s->to_server, &f->share);
	if (s->state == RELAYING) {
		session_set_state(s, DRAINING);
		session_relay_schedule(s);
	}
}

/* Whether this was one request and its answer: the client has sent nothing
 * since the answer began. Without a request, an answer that the client is still
 * reading. */
static bool
session_is_exchange(const struct session *s)
{
	size_t kept = pipe_pending(&s->to_client);

	return s->to_client.bytes + kept > 0 && !s->interleaved &&
	    pipe_pending(&s->to_server) == 0 &&
	    !(s->down.flags & STREAM_READABLE) &&
	    (s->to_server.bytes > 0 || session_lags(s, false));
}

/* Whether the server may be let go: it has sent FIN and either takes no more
 * bytes, or `buffer` is set, which releases servers early, and nothing more is
 * to be expected of this client. */
static bool
session_may_let_go(const struct session *s)
{
	if (s->state != RELAYING || !s->to_client.ended)
		return false;
	if (s->to_server.dropping)
		return true;
	if (stream_is_unsent(&s->up))
		return false;
	if (s->server_told)
		return true;
	return s->frontend->options.buffer > 0 && session_is_exchange(s);
}

/* The server was reset, or broke off TLS by an alert, as it does to a client
 * that has ended without close_notify. What it had sent before still goes to
 * the client. */
static void
session_on_server_reset(struct session *s, int cause)
{
	bool complete = session_http_is_answered(s);

	if (cause == EPROTO && s->client_cut)
		s->down.flags |= STREAM_NO_CLOSE_NOTIFY;
	else
		s->server_reset = !complete;
	s->server_cut = cause == ECONNABORTED && !complete;
	s->up.flags |= STREAM_NO_CLOSE_NOTIFY;
	s->client_sending = !s->to_server.ended &&
	    (s->to_server.dropping || pipe_pending(&s->to_server) > 0 ||
		s->down.flags & STREAM_READABLE);
	s->to_client.ended = true;
	session_let_go(s);
}

enum reason
session_reset_reason(const struct session *s)
{
	return s->server_cut ? REASON_TRUNCATED : REASON_SERVER_RESET;
}

/* Closes once the client's kernel has all bytes, or it has had its time. */
static void
session_break_off(struct session *s, enum reason why)
{
	if (!session_lags(s, false) ||
	    (s->reset_due && s->waited_ms >= UNSENT_MAX_MS)) {
		session_close(s, why);
	} else if (!s->reset_due) {
		s->reset_due = true;
		s->waited_ms = 0;
		session_relay_schedule(s);
	}
}

static uint32_t
session_reset_wait_ms(const struct session *s)
{
	return session_wait_ms(s, UNSENT_MS, UNSENT_SELDOM_MS);
}

/* Those that have lagged for long are looked at together. */
uint64_t
session_relay_reset_due(const struct session *s)
{
	uint64_t wait = session_reset_wait_ms(s), step = 1 + wait / 8;
	uint64_t due = loop_now(s->frontend->loop) + wait;

	return (due + step - 1) / step * step;
}

/* Whether the client continued to send after the server had closed. The flags
 * are not enough: its bytes may be here without an event so far. Reading them,
 * even with MSG_PEEK, would take the error of a reset away from its event. */
static bool
session_client_talks(const struct session *s)
{
	return s->client_sending || s->to_server.dropped ||
	    sock_unread(s->down.fd) > 0;
}

/* The client gets its FIN, and what it still sends is dropped: it would make a
 * closed socket send a RST, which destroys the answer. */
static void
session_end_fast(struct session *s)
{
	if (!s->client_told) {
		s->because = REASON_FASTCLOSE;
		stream_shutdown(&s->down);
		s->client_told = true;
		session_let_go(s);
		session_soon(s); /* what it sent may have waited for room */
	}
	session_break_off(s, REASON_FASTCLOSE);
}

/* The client has all bytes of the server; now it gets its FIN. The reset of a
 * server is passed on as a reset. But a RST would destroy the answer at a
 * client that is still sending and has not read it, so that one gets a FIN, and
 * in TLS no close_notify, so that it detects the truncation. */
static void
session_on_server_done(struct session *s)
{
	struct frontend_core *f = s->frontend;

	if (s->server_reset &&
	    (s->to_client.bytes == 0 || !session_client_talks(s))) {
		session_break_off(s, session_reset_reason(s));
		return;
	}
	if (s->server_reset)
		s->down.flags |= STREAM_NO_CLOSE_NOTIFY;
	if (f->options.fastclose & FASTCLOSE_UP) {
		session_end_fast(s);
		return;
	}
	s->reset_due = false;
	stream_shutdown(&s->down);
	s->client_told = true;
	s->active = loop_now(f->loop);
	session_relay_schedule(s);
}

void
session_relay_retry_reset(struct session *s)
{
	s->waited_ms += session_reset_wait_ms(s);
	session_on_server_done(s);
	if (s->state != CLOSED)
		session_relay_schedule(s);
}

/* The server has all bytes of the client. */
static void
session_on_client_done(struct session *s)
{
	if (s->frontend->options.fastclose & FASTCLOSE_DOWN) {
		if (!stream_is_unsent(&s->up))
			session_close(s, REASON_FASTCLOSE);
		return;
	}
	s->server_told = true;
	if (s->client_cut)
		s->up.flags |= STREAM_NO_CLOSE_NOTIFY;
	if (stream_is_open(&s->up))
		stream_shutdown(&s->up);
	session_relay_schedule(s);
}

static enum reason
session_ended_reason(const struct session *s)
{
	if (s->server_reset)
		return session_reset_reason(s);
	return s->client_cut ? REASON_NO_CLOSE_NOTIFY : REASON_DONE;
}

/* Passes on the ends that have come, lets the server go when it may, and waits
 * for the rest. */
static void
session_conclude(struct session *s, bool server_done, bool client_done)
{
	server_done |= session_http_is_over(s);
	if (server_done && !s->client_told)
		session_on_server_done(s);
	if (client_done && !s->server_told && s->state != CLOSED)
		session_on_client_done(s);
	if (s->state == CLOSED)
		return;
	if (s->client_told && s->server_told && !session_is_unsent(s)) {
		session_close(s, session_ended_reason(s));
		return;
	}
	if (session_may_let_go(s))
		session_let_go(s);
	session_arm(s);
}

void
session_relay_leave(struct session *s)
{
	s->to_client.ended = true;
	session_let_go(s);
	session_arm(s);
}

void
session_relay_break_off(struct session *s)
{
	s->server_reset = s->server_cut = true;
	s->to_client.ended = true;
	session_let_go(s);
	session_conclude(s, true, false);
}

/* A client that got close_notify need not send its own. The server has all that
 * was read, or the pipe would not have read on. */
struct pipe_stop
session_client_unread(struct session *s, struct pipe_stop stop)
{
	if (stop.cause != ECONNABORTED ||
	    (s->frontend->tls.require_close_notify && !s->client_told))
		return stop;
	s->client_cut = !s->client_told;
	s->to_server.ended = true;
	return (struct pipe_stop){ PIPE_DONE, 0 };
}

enum reason
session_unread_reason(int cause)
{
	switch (cause) {
	case ENOMEM:
		return REASON_NO_RESOURCES;
	case EPROTO:
		return REASON_TLS_FAILED;
	case ECONNABORTED:
		return REASON_TRUNCATED;
	default:
		return REASON_CLIENT_RESET;
	}
}

/* ---- bytes ---- */

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
	if ((s->request != NULL || s->to_client.bytes == 0) &&
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

/* The pipe to the client could not read the server, or not write. A server that
 * cannot be read has ended; what it sent before goes to the client. One that
 * has sent everything when it gets the client's close_notify need not send its
 * own: some just close. Returns why the pipe stopped after that. */
static struct pipe_stop
session_on_down_failed(struct session *s, struct pipe_stop stop)
{
	if (stop.verdict != PIPE_READ_FAILED || stop.cause == ENOMEM)
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
		session_keep_unsent(s);
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
	duration_add(&f->durations.first_byte, ms * 1000);
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
	if (p->bytes + pipe_pending(p) > before) {
		s->asked = false;
		s->server_talks |= s->server_told;
		session_note_answer(s);
		if (s->request != NULL)
			session_on_answer(s);
	}
	if (session_server_ended(*down) && session_outlives_server(s, *down))
		return false;
	if (has_failed(*down))
		*down = session_on_down_failed(s, *down);
	if (down->verdict == PIPE_READ_FAILED) {
		session_close(s, REASON_NO_RESOURCES);
		return false;
	}
	return true;
}

/* The same of the client. Returns why it stopped. */
static inline struct pipe_stop
session_relay_up(struct session *s)
{
	struct pipe *p = &s->to_server;
	uint64_t before = p->bytes + pipe_pending(p);
	bool stalled = (s->down.flags & STREAM_STALLED) != 0;
	struct pipe_stop up = session_pump_up(s);

	if (has_failed(up))
		up = session_on_up_failed(s, up);
	if (p->bytes + pipe_pending(p) > before) {
		s->asked = true;
		s->interleaved |= s->to_client.bytes > 0;
	}
	/* the read made the client's stream writable, which no event reports */
	if (stalled && !(s->down.flags & STREAM_STALLED))
		session_soon(s);
	return up;
}

/* Whether both pipes, which are starved, are simple and waited for as they are:
 * so it is after most events. */
static inline bool
session_waits_as_before(const struct session *s)
{
	return s->to_server.more == NULL && s->to_client.more == NULL &&
	    s->down.watch.want == READY_READ &&
	    s->up.watch.want == READY_READ && !session_is_unsent(s);
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
	if (!pipe_is_starved(&s->to_server, &s->down))
		up = session_relay_up(s);
	if (down.verdict == PIPE_STARVED && up.verdict == PIPE_STARVED &&
	    session_waits_as_before(s))
		return;
	if (up.verdict == PIPE_READ_FAILED ||
	    down.verdict == PIPE_WRITE_FAILED) {
		session_close(s,
		    up.verdict == PIPE_READ_FAILED
			? session_unread_reason(up.cause)
			: REASON_CLIENT_RESET);
		return;
	}
	if (s->more->http_relay != NULL && session_http_settle(s))
		return;
	/* the common end: two closes are all that is left to do */
	if (down.verdict == PIPE_DONE && up.verdict == PIPE_DONE &&
	    !s->server_reset && session_is_plain(s)) {
		session_close(s, REASON_DONE);
		return;
	}
	if (down.verdict == PIPE_YIELDED || up.verdict == PIPE_YIELDED)
		session_soon(s);
	session_conclude(
	    s, down.verdict == PIPE_DONE, up.verdict == PIPE_DONE);
}

/* ---- events ---- */

/* A client that resets needs no answer, and no read reports it where its FIN
 * came before, or where the server takes no more. What it had sent goes to the
 * server as far as that takes it. */
void
session_relay_on_client(struct session *s, unsigned ready)
{
	if (ready & READY_ERROR && sock_error(s->down.fd) != 0) {
		stream_note_ready(&s->down, ready);
		(void)session_pump_up(s);
		session_close(s, REASON_CLIENT_RESET);
		return;
	}
	stream_note_ready(&s->down, ready);
	s->active = loop_now(s->frontend->loop);
	session_relay(s);
}

/* A server that had sent FIN and now resets takes no more. Its FIN may be known
 * from an earlier event, and not read yet. */
void
session_relay_on_server(struct session *s, unsigned ready)
{
	if (ready & READY_ERROR &&
	    (s->to_client.ended || s->up.flags & STREAM_AT_EOF) &&
	    sock_error(s->up.fd) != 0)
		pipe_drop(&s->to_server, &s->frontend->share);
	stream_note_ready(&s->up, ready);
	s->active = loop_now(s->frontend->loop);
	session_relay(s);
}
