/* session_connect.c: the state CONNECTING: which server, and getting through
 * to it. A connect that fails goes on with the next address of the server,
 * then with the next server; what the client has said meanwhile is kept for
 * it.
 *
 *     session_connect -> session_next_server -> session_dial
 *                             ^                   |  '---> connected at once
 *                             |  no answer        v
 *                             '------- session_connect_on_server, _on_time
 *                                                 '------> session_connected */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/sock.h"
#include "proxy/session_private.h"

/* How soon a Unix listener whose backlog is full is tried again: at first, and
 * in the end. How soon servers that all refused are tried again. */
enum { BUSY_MS = 5, BUSY_SELDOM_MS = 100, REFUSED_MS = 500 };

/* What connects are timed by: the clock where the algorithm goes by it, else
 * the beginning of this wake-up, which costs no reading of the clock. Never
 * 0. */
static uint32_t
session_clock_us(const struct session *s)
{
	const struct frontend_core *f = &s->frontend->core;

	return (uint32_t)(pool_wants_times(f->pool) ? clock_monotonic_us()
						    : loop_now_us(f->loop)) |
	    1;
}

/* ---- the server is there ---- */

static void
session_connected(struct session *s)
{
	struct frontend *f = s->frontend;
	struct server *server = s->server;

	if (s->addr_tried > 1) /* others begin with the address that answered */
		server->addr_first =
		    (s->addr_start + s->addr_tried - 1u) % server->addrs.count;
	pool_connected(f->core.pool, server, loop_now(f->core.loop));
	if (s->connect_us != 0)
		pool_took(
		    f->core.pool, server, session_clock_us(s) - s->connect_us);
	s->up.flags |= STREAM_WRITABLE;
	s->asked = s->to_server.bytes + pipe_pending(&s->to_server) > 0;
	session_set_state(s, RELAYING);
	session_relay_schedule(s);
	if (s->settled)
		session_guard_server(s);
}

/* The server took the client's first bytes with the connect, or the connection
 * was there before: nothing has to be waited for, and from here on it is the
 * loop's to say what comes. What `sent` says, the loop does not say again:
 * that the server broke off behind the first bytes, that the client has ended,
 * that more of its bytes are here than a fair share. */
static void
session_connected_at_once(struct session *s, struct pipe_stop sent)
{
	struct loop *l = s->frontend->core.loop;

	if (sent.verdict == PIPE_WRITE_FAILED && sent.cause == ECONNRESET)
		s->server_reset = true;
	session_connected(s);
	if (sent.verdict == PIPE_DONE || sent.verdict == PIPE_YIELDED)
		loop_soon(l, &s->task);
	if (watch_start(l, &s->up.watch, s->up.fd,
		READY_READ |
		    (pipe_pending(&s->to_server) > 0 ? READY_WRITE : 0u),
		session_on_server) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* ---- one address ---- */

static bool
session_is_to_unix(const struct session *s)
{
	return s->server->addrs.addr[0].u.sa.sa_family == AF_UNIX;
}

static void
session_open_up(struct session *s, int fd)
{
	stream_open_plain(&s->up, fd, s->frontend->core.options.nodelay);
	if (session_is_to_unix(s))
		s->up.flags |= STREAM_READ_END;
}

/* What the client has said so far goes to the server, or is kept for it. */
static struct pipe_stop
session_send_early(struct session *s)
{
	struct pipe_stop stop = pipe_pump(
	    &s->to_server, &s->down, &s->up, &s->frontend->core.share);

	return stop.verdict == PIPE_READ_FAILED ? session_client_unread(s, stop)
						: stop;
}

/* With no connect under way the time is that of another wait, which says by
 * itself how long. */
void
session_connect_schedule(struct session *s)
{
	struct frontend *f = s->frontend;

	if (!stream_is_open(&s->up))
		return;
	expiry_cancel(&s->expiry);
	timeouts_add(&f->session_times, &s->expiry,
	    s->active + f->core.options.connect_timeout_ms);
}

/* Waits for the connect to complete. Returns 0, or an errno. */
static int
session_await_connect(struct session *s)
{
	struct frontend *f = s->frontend;

	s->up.flags &= ~(unsigned)STREAM_WRITABLE;
	session_connect_schedule(s);
	if (watch_start(f->core.loop, &s->up.watch, s->up.fd,
		READY_READ | READY_WRITE, session_on_server) == 0)
		return 0;
	expiry_cancel(&s->expiry);
	return errno;
}

/* TLS over the connection to `at`, which is being made or is there; the server
 * is offered the protocol that its client talks. Returns 0, or an errno. */
static int
session_await_server_hello(struct session *s, const struct addr *at)
{
	struct frontend *f = s->frontend;
	char alpn[TLS_ALPN_NAME] = "";

	if (stream_is_tls(&s->down))
		tls_alpn(&s->down, alpn);
	if (tls_connect(&s->up, f->core.tls.client, s->server->name, at, alpn) <
		0 ||
	    tls_handshake(&s->up) == TLS_FAILED)
		return errno;
	return session_await_connect(s);
}

/* Whether a connection with this error had been accepted: its server broke off,
 * which says nothing of what it does for others. On a Unix socket a reset means
 * that the listener went with the connection in its queue. */
static bool
session_was_accepted(const struct session *s, int error)
{
	if (session_is_to_unix(s))
		return error == EPIPE && sock_error(s->up.fd) != ECONNRESET;
	return error == ECONNRESET || error == EPIPE;
}

static uint32_t
session_busy_ms(const struct session *s)
{
	return session_wait_ms(s, BUSY_MS, BUSY_SELDOM_MS);
}

/* Connects to the next address of the chosen server. What the client has said
 * already is sent right behind the connect: on a fast network that has
 * completed by then, which spares a turn of the loop; what the server cannot
 * take yet is kept, for it or for the next one. Returns 0 when the session
 * goes on by itself, or the errno with which this address failed at once. */
static int
session_dial(struct session *s)
{
	struct frontend *f = s->frontend;
	struct sock_connect_options co =
	    frontend_connect_options(&f->core, s->port);
	struct server *server = s->server;
	unsigned at = (s->addr_start + s->addr_tried) % server->addrs.count;
	struct pipe_stop sent;
	int fd;

	if (s->connect_us == 0)
		s->connect_us = session_clock_us(s);
	fd = sock_connect(&server->addrs.addr[at], &co);
	if (fd < 0 && errno == EAGAIN) { /* a Unix listener's backlog is full */
		timeouts_add(&f->session_times, &s->expiry,
		    loop_now(f->core.loop) + session_busy_ms(s));
		return 0;
	}
	s->addr_tried++;
	if (fd < 0)
		return errno;
	session_open_up(s, fd);
	s->up.flags &= ~(unsigned)STREAM_READABLE; /* the loop will say */
	if (frontend_server_is_tls(&f->core, server))
		return session_await_server_hello(s, &server->addrs.addr[at]);
	sent = session_send_early(s);
	if (sent.verdict == PIPE_WRITE_FAILED && s->to_server.bytes == 0 &&
	    !session_was_accepted(s, sent.cause))
		return sent.cause;
	if (sent.verdict == PIPE_READ_FAILED) {
		session_close(s, session_unread_reason(sent.cause));
		return 0;
	}
	if (s->to_server.bytes == 0 && sent.verdict != PIPE_WRITE_FAILED)
		return session_await_connect(s);
	session_connected_at_once(s, sent);
	return 0;
}

/* Goes on over a pre-opened connection, if there is one, and sends what the
 * client has said. Returns whether that is so. One that breaks before it took a
 * byte is dropped, as if it had not been there. So is one whose TLS handshake
 * fails, which may be the fault of its age; the next try is a connection of its
 * own then, or a bad server would use up all that were opened. */
static bool
session_use_preopened(struct session *s)
{
	struct frontend *f = s->frontend;
	struct server *server = s->server;
	struct pipe_stop sent;
	int fd;

	while ((fd = preopened_take(&f->preopened, server)) >= 0) {
		session_open_up(s, fd);
		if (frontend_server_is_tls(&f->core, server)) {
			s->preopened_tried = true;
			preopened_refill(&f->preopened, server);
			if (session_await_server_hello(s,
				&server->addrs.addr[server->addr_first]) == 0)
				return true;
			stream_close(f->core.loop, &s->up, false);
			return false;
		}
		sent = session_send_early(s);
		if (sent.verdict == PIPE_WRITE_FAILED &&
		    s->to_server.bytes == 0) {
			stream_close(f->core.loop, &s->up, false);
			continue;
		}
		s->addr_tried = 1;
		if (sent.verdict == PIPE_READ_FAILED)
			session_close(s, session_unread_reason(sent.cause));
		else
			session_connected_at_once(s, sent);
		preopened_refill(&f->preopened, server);
		return true;
	}
	return false;
}

/* ---- failures ---- */

/* No address of the server took the connection. That no local port is left
 * towards it is no fault of the server: it has more connections than one that
 * fails would. */
static void
session_blame_server(struct session *s, int error, const char *why)
{
	struct frontend *f = s->frontend;
	struct server *server = s->server;

	if (s->no_port) {
		log_warn("no local port left server=%u name=%s", server->number,
		    server->name);
		return;
	}
	frontend_server_failed(&f->core, server, error, why);
	preopened_drop(&f->preopened, server);
}

/* This address did not answer. Returns whether there may be another one to try,
 * of this server or the next; else the session is closed. */
static bool
session_give_up_address(struct session *s, int error)
{
	struct frontend *f = s->frontend;
	struct server *server = s->server;
	bool tls = stream_is_open(&s->up) && stream_is_tls(&s->up);
	const char *why = tls && *tls_error(&s->up) != '\0' ? tls_error(&s->up)
							    : strerror(error);

	if (tls && error == ECONNRESET)
		error = EPROTO; /* a broken handshake is no refusal */
	stream_close(f->core.loop, &s->up, false);
	if (error == EADDRNOTAVAIL) {
		s->no_port = true;
	} else if (sock_error_is_ours(error)) {
		log_warn("connect failed error=\"%s\"", strerror(error));
		session_close(s, REASON_NO_RESOURCES);
		return false;
	}
	if (error == EPROTONOSUPPORT) { /* what this client talks, not all */
		log_info("session refused server=%u name=%s error=\"%s\"",
		    server->number, server->name, why);
		session_close(s, REASON_NO_SERVER);
		return false;
	}
	if (s->addr_tried >= server->addrs.count) {
		session_blame_server(s, error, why);
		pool_closed(
		    f->core.pool, server, &s->client, &s->attempts, 0, 0);
		s->counted = false;
		s->server = NULL;
		s->failed_once = true;
		s->refused = sock_error_is_refusal(error);
	}
	return true;
}

/* Servers refuse for a moment while they are started again: all are tried once
 * more then. Returns whether the session waits for that. */
static bool
session_await_restart(struct session *s)
{
	struct frontend *f = s->frontend;
	uint64_t again = loop_now(f->core.loop) + REFUSED_MS;

	if (!s->refused || pool_options(f->core.pool)->stubborn ||
	    !pool_has_tries_left(f->core.pool, &s->attempts) ||
	    again - s->started > f->core.options.retry_ms)
		return false;
	timeouts_add(&f->session_times, &s->expiry, again);
	return true;
}

/* ---- the next server ---- */

/* Returns false when there is none: then the session waits for one, if it may,
 * or is closed. */
static bool
session_choose_server(struct session *s, uint64_t now)
{
	struct frontend *f = s->frontend;

	s->server = pool_choose(f->core.pool, &s->client, &s->attempts, now);
	if (s->server == NULL) {
		if (s->no_port)
			session_close(s, REASON_NO_RESOURCES);
		else if (!session_queue(s) && !session_await_restart(s))
			session_close(s, REASON_NO_SERVER);
		return false;
	}
	s->no_port = false;
	s->addr_tried = 0;
	s->preopened_tried = false;
	s->connect_us = 0;
	s->addr_start = (uint8_t)s->server->addr_first;
	if (s->failed_once)
		f->core.stats.retries++;
	pool_opened(f->core.pool, s->server, &s->client, &s->attempts, now);
	s->counted = true;
	return true;
}

/* Goes on to the next address or server until one connect is under way. */
static void
session_next_server(struct session *s)
{
	uint64_t now = loop_now(s->frontend->core.loop);
	int error;

	expiry_cancel(&s->expiry);
	s->active = now;
	s->waited_ms = 0;
	do {
		if (s->server == NULL && !session_choose_server(s, now))
			return;
		if (s->addr_tried == 0 && !s->preopened_tried &&
		    session_use_preopened(s))
			return;
		error = session_dial(s);
	} while (error != 0 && session_give_up_address(s, error));
}

void
session_connect(struct session *s)
{
	if (s->frontend->queue.due)
		session_queue_serve(s->frontend);
	session_set_state(s, CONNECTING);
	session_next_server(s);
}

void
session_connect_again(struct session *s)
{
	s->attempts = (struct attempts){ .hint = s->attempts.hint,
		.proven = s->attempts.proven,
		.given = s->attempts.given };
	session_next_server(s);
}

static void
session_connect_failed(struct session *s, int error)
{
	if (session_give_up_address(s, error))
		session_next_server(s);
}

/* ---- events ---- */

/* A portion of what the client says is kept for the server; more stays in the
 * kernel, which tells the client to wait. */
void
session_connect_on_client(struct session *s, unsigned ready)
{
	struct pipe_stop stop;
	bool more;

	if (ready & READY_ERROR && sock_error(s->down.fd) != 0) {
		session_close(s, REASON_CLIENT_RESET);
		return;
	}
	stream_note_ready(&s->down, ready);
	s->active = loop_now(s->frontend->core.loop);
	stop = session_send_early(s);
	if (stop.verdict == PIPE_READ_FAILED) {
		session_close(s, session_unread_reason(stop.cause));
		return;
	}
	more = !s->to_server.ended && pipe_pending(&s->to_server) == 0;
	if (watch_want(s->frontend->core.loop, &s->down.watch,
		(more ? READY_READ : 0u) | stream_wants(&s->down)) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* Nothing but the handshake may be written until it is over. */
static void
session_on_server_hello(struct session *s, unsigned ready)
{
	struct frontend *f = s->frontend;

	stream_note_ready(&s->up, ready);
	switch (tls_handshake(&s->up)) {
	case TLS_DONE:
		f->core.stats.tls.up_handshakes++;
		f->core.stats.tls.up_resumed += tls_is_resumed(&s->up);
		session_connected(s);
		session_relay(s);
		break;
	case TLS_FAILED:
		session_connect_failed(s, errno);
		break;
	case TLS_WAITS:
		s->up.flags &= ~(unsigned)STREAM_WRITABLE;
		if (watch_want(f->core.loop, &s->up.watch,
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
	if (s->waited_ms >= s->frontend->core.options.connect_timeout_ms) {
		s->addr_tried++;
		session_connect_failed(s, ETIMEDOUT);
		return;
	}
	error = session_dial(s);
	if (error != 0)
		session_connect_failed(s, error);
}

/* It waits for the connect that is under way, for room in the backlog of the
 * server that was chosen, or, having none, for servers that refused. */
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
