/* session_end.c: of RELAYING and DRAINING: the ends of either side: what is
 * passed on of them, when, and what is waited for. What came before an end
 * counts: it is read and delivered first, and a limit for that is one without
 * progress. In DRAINING the server has been let go and the client takes the
 * rest. */
#include "config.h"

#include <errno.h>

#include "net/sock.h"
#include "proxy/session/session_private.h"

/* How often to look whether one side has got its last bytes before it is reset:
 * at first, in the end; and for how long although none are taken. */
enum { UNSENT_MS = 5, UNSENT_SELDOM_MS = 1000, UNSENT_MAX_MS = 30 * 1000 };
/* And how often at least in that time. */
enum { LOOKS = 16 };

/* ---- waiting ---- */

void
session_arm(struct session *s)
{
	struct frontend_core *f = s->frontend;
	size_t up = pipe_pending(&s->to_server);
	size_t down = pipe_pending(&s->to_client);
	bool ahead = down < f->share.keep_max;
	bool blocked = pipe_is_blocked(&s->to_client);
	int rc = 0;

	if (s->down.fd >= 0)
		rc |= watch_want(f->loop, &s->down.watch,
		    s->down.flags & STREAM_GONE
			? 0u
			: (pipe_wants(&s->to_server) ? READY_READ : 0u) |
			    (blocked && !(s->down.flags & STREAM_STALLED)
				    ? READY_WRITE
				    : 0u) |
			    stream_wants(&s->down));
	if (s->up.fd >= 0)
		rc |= watch_want(f->loop, &s->up.watch,
		    (!s->to_client.ended && (!blocked || ahead) ? READY_READ
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

bool
session_is_sending(const struct session *s)
{
	return !s->to_server.ended &&
	    (s->to_server.dropping || pipe_pending(&s->to_server) > 0 ||
		s->down.flags & STREAM_READABLE);
}

/* The server was reset, or broke off TLS by an alert, as it does to a client
 * that has ended without close_notify. What it had sent before still goes to
 * the client. */
void
session_on_server_reset(struct session *s, int cause)
{
	bool complete = session_http_is_answered(s);

	if (cause == EPROTO && s->client_cut)
		s->down.flags |= STREAM_NO_CLOSE_NOTIFY;
	else
		s->server_reset = !complete;
	s->server_cut = cause == ECONNABORTED && !complete;
	s->up.flags |= STREAM_NO_CLOSE_NOTIFY;
	s->client_sending = session_is_sending(s);
	s->to_client.ended = true;
	session_let_go(s);
}

enum reason
session_reset_reason(const struct session *s)
{
	return s->server_cut ? REASON_TRUNCATED : REASON_SERVER_RESET;
}

static uint64_t
unsent_max_ms(const struct session *s)
{
	uint64_t half = s->frontend->options.half_timeout_ms;

	return half > 0 && half < UNSENT_MAX_MS ? half : UNSENT_MAX_MS;
}

/* How long until it looks whether more bytes were taken: as long as none were,
 * which is the same again after some were; several times within the limit. */
static uint64_t
reset_wait_ms(const struct session *s)
{
	uint64_t waited = loop_now(s->frontend->loop) - s->active;
	uint64_t most = unsent_max_ms(s) / LOOKS;

	if (most > UNSENT_SELDOM_MS)
		most = UNSENT_SELDOM_MS;
	return waited > most ? most : waited < UNSENT_MS ? UNSENT_MS : waited;
}

/* Those that have lagged for long are looked at together. */
uint64_t
session_relay_reset_due(const struct session *s)
{
	uint64_t wait = reset_wait_ms(s), step = 1 + wait / 8;
	uint64_t due = loop_now(s->frontend->loop) + wait;

	return (due + step - 1) / step * step;
}

void
session_break_off(struct session *s, enum reason why, bool up)
{
	uint64_t now = loop_now(s->frontend->loop);
	bool waited = s->reset_due;

	s->reset_due = true;
	if (!session_lags(s, up)) {
		session_close(s, why);
		return;
	}
	if (!waited) {
		(void)session_has_moved(s);
		s->active = now;
	} else if (session_has_moved(s)) {
		s->active = now - reset_wait_ms(s);
	} else if (now - s->active >= unsent_max_ms(s) + reset_wait_ms(s)) {
		session_close(s, why);
		return;
	}
	session_relay_schedule(s);
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
	session_break_off(s, REASON_FASTCLOSE, false);
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
		session_break_off(s, session_reset_reason(s), false);
		return;
	}
	if (s->server_reset) {
		s->client_sending = true;
		s->down.flags |= STREAM_NO_CLOSE_NOTIFY;
	}
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

bool
session_may_write_in_vain(const struct session *s)
{
	return s->client_told && s->to_server.dropping && !s->to_server.ended &&
	    s->because == REASON_DONE && !session_is_http(s);
}

/* Whether a client that has got the FIN of its server writes on, as one does
 * that never reads: it gets an error for that, as from the server. Not at once
 * if it was writing at that moment, and may not have read the answer; and not
 * where answers end uploads. */
static bool
session_writes_in_vain(const struct session *s)
{
	return session_may_write_in_vain(s) &&
	    (s->to_client.bytes == 0 ||
		(s->to_server.dropped && !s->client_sending));
}

void
session_conclude(struct session *s, bool server_done, bool client_done)
{
	server_done |= session_http_is_over(s);
	if (server_done && (!s->client_told || s->because == REASON_FASTCLOSE))
		session_on_server_done(s);
	if (client_done && !s->server_told && s->state != CLOSED)
		session_on_client_done(s);
	if (s->state == CLOSED)
		return;
	if (session_writes_in_vain(s)) {
		session_break_off(s,
		    s->to_client.bytes == 0 ? REASON_SERVER_RESET
					    : REASON_LINGER_TIMEOUT,
		    false);
		if (s->state == CLOSED)
			return;
	}
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

/* A client that got close_notify need not send its own. Else each further read
 * fails as this one did, without an event. */
struct pipe_stop
session_client_unread(struct session *s, struct pipe_stop stop)
{
	s->down.flags |= STREAM_READABLE;
	if (stop.cause != ECONNABORTED ||
	    (s->frontend->tls.require_close_notify && !s->client_told))
		return stop;
	s->client_cut = !s->client_told;
	s->to_server.ended = true;
	return (struct pipe_stop){ PIPE_DONE, 0 };
}

struct pipe_stop
session_client_unread_early(struct session *s, struct pipe_stop stop)
{
	stop = session_client_unread(s, stop);
	if (stop.verdict != PIPE_READ_FAILED || stop.cause == ENOMEM ||
	    s->to_server.bytes + pipe_pending(&s->to_server) == 0)
		return stop;
	return (struct pipe_stop){ PIPE_DONE, 0 };
}

/* Before all is read, only that of a plain client is sure. In TLS its end may
 * still come, or have come before: then a reset behind it, by a kernel with
 * unread bytes, means nothing but that it gets no answer. */
bool
session_client_is_lost(const struct session *s, struct pipe_stop up)
{
	if (up.verdict == PIPE_READ_FAILED)
		return true;
	return s->down.flags & STREAM_GONE && up.verdict != PIPE_YIELDED &&
	    (stream_ops(&s->down)->fin_is_end || s->client_cut ||
		up.verdict == PIPE_WAITS);
}

void
session_drop_answer(struct session *s)
{
	if (s->to_client.dropping)
		return;
	s->down.flags |= STREAM_GONE | STREAM_READABLE;
	pipe_drop(&s->to_client, &s->frontend->share);
	session_relay_schedule(s);
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
