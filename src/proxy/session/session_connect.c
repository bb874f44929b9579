/* session_connect.c: the state CONNECTING: which server. After a failed connect
 * the next address of the server is tried, then the next server; what the
 * client sends meanwhile is kept for it.
 *
 *     session_connect -> session_next_server -> session_dial
 *                             ^                   |  '---> connected at once
 *                             |  no answer        v
 *                             '------- session_connect_on_server, _on_time
 *                                                 '------> session_connected */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "net/sock.h"
#include "proxy/session/session_private.h"

/* How soon servers that all refused are tried again. */
enum { REFUSED_MS = 500 };

/* ---- failures ---- */

/* That no local port is left towards it is no fault of the server: it has more
 * connections than one that fails would. */
void
session_blame_server(
    struct session *s, struct server *server, int error, const char *why)
{
	struct frontend_core *f = s->frontend;

	if (s->no_port) {
		log_warn("no local port left%s server=%u name=%s%s",
		    f->options.source.count > 0 ? ", or no source address" : "",
		    server->number, server->name, f->label);
		return;
	}
	if (!frontend_error_blames_server(f, server, s->port, error))
		return;
	frontend_connection_failed(f, server, error, why);
	preopened_drop(&f->preopened, server);
}

/* The address did not answer: tries the next one, of this server or the next
 * server. Returns false if there is none: then the session is closed. A server
 * that no longer has the address has not failed, and may be tried again. */
static bool
session_next_address(struct session *s, int error)
{
	struct frontend_core *f = s->frontend;
	struct server *server = s->server;
	bool tls = stream_is_open(&s->up) && stream_is_tls(&s->up);
	bool moved = !session_is_current(s);
	const char *why = tls && *tls_error(&s->up) != '\0' ? tls_error(&s->up)
							    : strerror(error);

	if (tls && error == ECONNRESET)
		error = EPROTO; /* a broken handshake is no refusal */
	stream_close(f->loop, &s->up, false);
	if (error == EADDRNOTAVAIL) {
		s->no_port = true;
	} else if (sock_error_is_ours(error)) {
		log_warn("connect failed error=\"%s\"", strerror(error));
		session_close(s, REASON_NO_RESOURCES);
		return false;
	}
	if (error == EPROTONOSUPPORT) { /* what this client talks, not all */
		log_info("session refused server=%u name=%s error=\"%s\"%s",
		    server->number, server->name, why, f->label);
		session_close(s, REASON_NO_SERVER);
		return false;
	}
	if (moved || s->addr_tried >= server->addrs.count) {
		if (!moved) {
			session_note_tried(s, server);
			session_blame_server(s, server, error, why);
		}
		pool_closed(f->pool, server, &s->client, &s->attempts, 0, 0);
		s->counted = false;
		s->server = NULL;
		s->failed_once = true;
		s->refused = moved || sock_error_is_refusal(error);
		/* at another server the same port is another client's */
		if (s->attempts.old &&
		    !frontend_error_blames_server(f, server, s->port, error)) {
			session_unserved(s, REASON_NO_SERVER);
			return false;
		}
	}
	return true;
}

/* Servers refuse for a moment while they are started again: all are tried once
 * more then, and for the last time when the time for that is over. Returns
 * whether the session waits for that. */
static bool
session_await_restart(struct session *s)
{
	struct frontend_core *f = s->frontend;
	uint64_t now = loop_now(f->loop), end;
	struct session_facts *facts;

	if (!s->refused || pool_options(f->pool)->stubborn ||
	    !pool_has_tries_left(f->pool, &s->attempts) ||
	    (facts = session_facts(s)) == NULL)
		return false;
	if (facts->refused == 0)
		facts->refused = now;
	end = facts->refused + f->options.retry_ms;
	if (now >= end)
		return false;
	timeouts_add(f->sessions->times, &s->expiry,
	    end - now < REFUSED_MS ? end : now + REFUSED_MS);
	return true;
}

/* ---- the next server ---- */

static void
session_take_server(struct session *s, struct server *server, uint64_t now)
{
	struct frontend_core *f = s->frontend;

	s->server = server;
	s->no_port = false;
	s->addr_tried = 0;
	s->preopened_tried = false;
	s->connect_us = 0;
	s->connect_done = false;
	s->addr_start = (uint8_t)server->addr_first;
	s->generation = (uint8_t)server->generation;
	session_clear_address(s);
	if (s->failed_once)
		f->stats->retries++;
	pool_opened(f->pool, server, &s->client, &s->attempts, now);
	s->counted = true;
	session_http_count(s, server);
	if (s->more->facts != NULL && s->more->facts->sticky != NULL)
		session_sticky_set(s);
}

struct server *
session_choose(struct session *s, uint64_t now)
{
	if (s->more->facts != NULL) {
		s->attempts.allowed = session_first_allowed(s);
		attempts_want(&s->attempts, session_sticky_server(s));
	}
	return pool_choose(s->frontend->pool, &s->client, &s->attempts, now);
}

/* Whether there is any server for the client, be it the abuse server. */
bool
session_is_welcome(const struct session *s)
{
	const struct pool *p = s->frontend->pool;

	return pool_slot(p, SLOT_ABUSE)->present || pool_permits(p, &s->client);
}

/* Returns false when there is none: then the session waits for one, if it may,
 * or is closed. */
static bool
session_choose_server(struct session *s, uint64_t now)
{
	struct server *server = session_choose(s, now);

	if (server != NULL) {
		session_take_server(s, server, now);
		return true;
	}
	if (s->no_port)
		session_close(s, REASON_NO_RESOURCES);
	else if (!session_queue(s) && !session_await_restart(s))
		session_unserved(s,
		    session_is_welcome(s) ? REASON_NO_SERVER : REASON_DENIED);
	return false;
}

/* Goes on to the next address or server until one connect is under way. */
static void
session_next_server(struct session *s)
{
	uint64_t now = loop_now(s->frontend->loop);
	int error;

	expiry_cancel(&s->expiry);
	s->active = now;
	s->waited_ms = 0;
	do {
		if (s->server == NULL && !session_choose_server(s, now))
			return;
		if (s->frontend->stats->preopened > 0 && s->addr_tried == 0 &&
		    !s->preopened_tried && session_use_preopened(s))
			return;
		error = session_dial(s);
	} while (error != 0 && session_next_address(s, error));
}

void
session_connect(struct session *s)
{
	struct frontend_core *to = session_first_leads_to(s);

	if (to != NULL) {
		session_move(s, to);
		return;
	}
	if (s->frontend->sessions->queue.due)
		session_queue_serve(s->frontend->sessions);
	if (!session_http_begin(s)) {
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	session_set_state(s, CONNECTING);
	session_next_server(s);
}

void
session_reset_waits(struct session *s)
{
	if (s->more->facts != NULL)
		s->more->facts->queued = s->more->facts->refused = 0;
}

void
session_connect_again(struct session *s)
{
	s->attempts = (struct attempts){ .hint = s->attempts.hint,
		.proven = s->attempts.proven,
		.abuse = s->attempts.abuse,
		.given = s->attempts.given };
	session_next_server(s);
}

void
session_connect_anew(struct session *s)
{
	s->server = NULL;
	s->because = REASON_DONE;
	s->server_reset = s->failed_once = s->refused = false;
	s->attempts.given = 0;
	session_clear_tried(s);
	session_reset_waits(s);
	expiry_cancel(&s->expiry);
	session_set_state(s, CONNECTING);
	session_connect_again(s);
}

/* Connects to the server. A spare connection may have been closed meanwhile,
 * and the request would be lost with it: the session gets a new connection. */
void
session_connect_to(struct session *s, struct server *server)
{
	session_take_server(s, server, loop_now(s->frontend->loop));
	s->preopened_tried = true;
	session_set_state(s, CONNECTING);
	session_next_server(s);
}

static void
session_connect_failed(struct session *s, int error)
{
	if (session_next_address(s, error))
		session_next_server(s);
}

/* ---- events ---- */

/* A portion of what the client sends is kept for the server; more stays in the
 * kernel, which closes the client's window. */
void
session_connect_on_client(struct session *s, unsigned ready)
{
	struct pipe_stop stop;
	bool more;

	stream_note_ready(&s->down, ready);
	s->active = loop_now(s->frontend->loop);
	stop = session_send_early(s);
	if (stop.verdict == PIPE_READ_FAILED) {
		session_close(s, session_unread_reason(stop.cause));
		return;
	}
	more = pipe_wants(&s->to_server) && !(s->down.flags & STREAM_GONE);
	if (watch_want(s->frontend->loop, &s->down.watch,
		(more ? READY_READ : 0u) | stream_wants(&s->down)) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* Nothing but the handshake may be written until it is over. */
static void
session_on_server_hello(struct session *s, unsigned ready)
{
	struct frontend_core *f = s->frontend;

	stream_note_ready(&s->up, ready);
	switch (tls_handshake(&s->up)) {
	case TLS_DONE:
		f->stats->tls.up_handshakes++;
		f->stats->tls.up_resumed += tls_is_resumed(&s->up);
		session_connected(s);
		session_relay(s);
		break;
	case TLS_FAILED:
		f->stats->tls.up_failed++;
		session_connect_failed(s, errno);
		break;
	case TLS_WAITS:
		s->up.flags &= ~(unsigned)STREAM_WRITABLE;
		if (watch_want(f->loop, &s->up.watch,
			READY_READ | stream_wants(&s->up)) < 0)
			session_close(s, REASON_NO_RESOURCES);
		break;
	}
}

void
session_connect_on_server(struct session *s, unsigned ready)
{
	int error = ready & READY_ERROR ? sock_error(s->up.fd) : 0;
	bool tls = stream_is_tls(&s->up);

	if (error != 0 && (tls || !session_was_accepted(s, error))) {
		session_connect_failed(s, error);
		return;
	}
	if (tls) {
		session_on_server_hello(s, ready);
		return;
	}
	if (!(ready & READY_WRITE))
		return;
	s->server_reset = error != 0;
	stream_note_error(&s->up, error);
	session_connected(s);
	stream_note_ready(&s->up, ready);
	session_relay(s);
}

/* The listener of a Unix server had no room; it may have now. */
static void
session_dial_busy(struct session *s)
{
	int error;

	s->waited_ms += session_busy_ms(s);
	if (s->waited_ms >= s->frontend->options.connect_timeout_ms) {
		s->addr_tried++;
		session_connect_failed(s, ETIMEDOUT);
		return;
	}
	error = session_dial(s);
	if (error != 0)
		session_connect_failed(s, error);
}

/* The time is over, of the connect under way, of the wait for room in the
 * backlog of the chosen server, or, without a server, of the wait for servers
 * that refused. */
void
session_connect_on_time(struct session *s)
{
	if (stream_is_open(&s->up))
		session_connect_failed(s, ETIMEDOUT);
	else if (s->server != NULL)
		session_dial_busy(s);
	else
		session_connect_again(s);
}
