/* session_next.c: a server closes between two requests of an HTTP connection.
 * Its client may be sending a request at that moment, and could not know
 * whether it may repeat it. So the client gets the FIN a little later; what it
 * sends until then goes to the next server:
 *
 *     RELAYING --> HELLO_NEXT --> a request: CONNECTING
 *                      |
 *                      '--------> silence: DRAINING, with the server's end */
#include "config.h"

#include "net/sock.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

/* How long the next request may take. */
enum { NEXT_MS = 1000 };

/* A server that sends bytes without a request has not ended the connection,
 * which is ended for that. */
static bool
is_unasked(const struct session *s)
{
	return http_relay_course(s->more->http_relay) == HTTP_COURSE_UNASKED;
}

static bool
may_await_next(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	return h != NULL && s->state == RELAYING &&
	    (is_unasked(s) || (http_relay_may_move(h) && session_repeats(s))) &&
	    !s->client_told && !s->server_told && !s->to_server.ended &&
	    !s->to_server.dropped && pipe_pending(&s->to_client) == 0 &&
	    pipe_pending(&s->to_server) == 0 && !s->leaving &&
	    !s->frontend->draining;
}

/* A client whose server has not ended may be silent as long as one with a
 * server. */
uint64_t
session_next_due(const struct session *s)
{
	const struct frontend_core *f = s->frontend;

	if (!s->more->http_relay->unasked || f->draining)
		return s->active + NEXT_MS;
	return f->options.idle_timeout_ms > 0
	    ? s->active + f->options.idle_timeout_ms
	    : UINT64_MAX;
}

/* The client gets the end of its server after all. */
static void
pass_end_on(struct session *s)
{
	expiry_cancel(&s->expiry);
	s->to_client.ended = true;
	pipe_drop(&s->to_server, &s->frontend->share);
	session_set_state(s, DRAINING);
	session_relay(s);
}

/* Bytes that are no whole request are for CONNECTING to judge, as at first. */
static void
session_next_read(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct http_requests *r = &s->more->http_relay->requests;
	struct pipe_stop stop = session_pump_up(s);

	if (stop.verdict == PIPE_READ_FAILED)
		stop = session_client_unread_early(s, stop);
	if (stop.verdict == PIPE_READ_FAILED)
		session_close(s, session_unread_reason(stop.cause));
	else if (pipe_pending(&s->to_server) > 0 || r->status != 0 ||
	    http_relay_is_partial(s->more->http_relay))
		session_connect_anew(s);
	else if (s->to_server.ended)
		pass_end_on(s);
	else if (watch_want(f->loop, &s->down.watch,
		     READY_READ | stream_wants(&s->down)) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

bool
session_await_next(struct session *s, bool reset)
{
	if (!may_await_next(s))
		return false;
	s->more->http_relay->unasked = is_unasked(s);
	if (session_detach_server(s, reset, NULL, 0) < 0) {
		session_close(s, REASON_NO_RESOURCES);
		return true;
	}
	s->server_reset = reset;
	session_set_state(s, HELLO);
	s->step = HELLO_NEXT;
	session_hello_schedule(s);
	session_next_read(s);
	return true;
}

void
session_next_on_client(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	session_next_read(s);
}

void
session_next_on_time(struct session *s)
{
	pass_end_on(s);
}
