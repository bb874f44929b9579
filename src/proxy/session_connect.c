/* session_connect.c: the first half of a session: which server, and getting
 * through to it. A failed connect goes on with the next address of the server,
 * then the next server; what the client has said meanwhile is kept for it. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/sock.h"
#include "proxy/session_private.h"

/* How soon a Unix listener whose backlog is full is tried again: at first, and in the
 * end. */
enum { BUSY_MS = 5, BUSY_SELDOM_MS = 100 };

/* No address of the server took the connection. That there are no ports left to it
 * is no fault of its: it has more connections than one that fails would. */
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
	frontend_server_failed(f, server, error, why);
	spares_drop(&f->spares, server);
}

static void
session_on_connected(struct session *s)
{
	struct frontend *f = s->frontend;
	struct server *server = s->server;

	if (s->addr_tried > 1)
		server->addr_first =
		    (s->addr_start + s->addr_tried - 1u) % server->addrs.count;
	pool_connected(f->pool, server, loop_now(f->loop));
	if (s->connect_us != 0)
		pool_took(f->pool, server,
		    (uint32_t)clock_monotonic_us() - s->connect_us);
	s->up.flags |= STREAM_WRITABLE;
	session_set_state(s, RELAYING);
	session_schedule(s);
	if (s->settled)
		session_guard_server(s);
}

static bool
session_is_to_unix(const struct session *s)
{
	return s->server->addrs.addr[0].u.sa.sa_family == AF_UNIX;
}

static void
session_open_up(struct session *s, int fd)
{
	stream_open_plain(&s->up, fd, s->frontend->options.nodelay);
	if (session_is_to_unix(s))
		s->up.flags |= STREAM_READ_END;
}

/* Whether a connection with this error had been accepted: its server broke off, which
 * says nothing of what it does for others. On a Unix socket a reset means that the
 * listener went with the connection in its queue. */
static bool
session_was_accepted(const struct session *s, int error)
{
	if (session_is_to_unix(s))
		return error == EPIPE && sock_error(s->up.fd) != ECONNRESET;
	return error == ECONNRESET || error == EPIPE;
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
	stream_close(f->loop, &s->up, false);
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
		pool_closed(f->pool, server, &s->client, &s->attempts, 0, 0);
		s->counted = false;
		s->server = NULL;
		s->failed_once = true;
		s->refused = sock_error_is_refusal(error);
	}
	return true;
}

/* The server took the client's first bytes, or the connection was there before:
 * from here on it is the loop's to say what comes. What the verdict says is told
 * once: that the server broke off behind the first bytes, that the client has
 * ended, that more of its bytes are here than a fair share. */
static void
session_go_on(struct session *s, enum pipe_verdict v)
{
	struct loop *l = s->frontend->loop;

	if (v == PIPE_WRITE_FAILED && errno == ECONNRESET)
		s->server_reset = true;
	session_on_connected(s);
	if (v == PIPE_DONE || v == PIPE_YIELDED)
		loop_soon(l, &s->task);
	if (watch_start(l, &s->up.watch, s->up.fd,
		READY_READ |
		    (pipe_pending(&s->to_server) > 0 ? READY_WRITE : 0u),
		session_on_server) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* What the client has said so far goes to the server. */
static enum pipe_verdict
session_send_early(struct session *s)
{
	enum pipe_verdict v =
	    pipe_pump(&s->to_server, &s->down, &s->up, &s->frontend->share);

	return v == PIPE_READ_FAILED ? session_on_unread(s) : v;
}

void
session_schedule_connect(struct session *s)
{
	struct frontend *f = s->frontend;

	expiry_cancel(&s->expiry);
	timeouts_add(&f->connecting, &s->expiry,
	    s->active + f->options.connect_timeout_ms);
}

/* Waits for the connect to complete. */
static int
session_await_connect(struct session *s)
{
	struct frontend *f = s->frontend;

	s->up.flags &= ~(unsigned)STREAM_WRITABLE;
	session_schedule_connect(s);
	if (watch_start(f->loop, &s->up.watch, s->up.fd,
		READY_READ | READY_WRITE, session_on_server) == 0)
		return 0;
	expiry_cancel(&s->expiry);
	return -1;
}

/* Goes on over a connection that is there already, sending what the client has
 * said. Returns whether that is so; one that breaks before it took a byte is as if
 * it had not been there. So is one whose handshake fails, which may have been the
 * connection's fault; but the next is not a spare, or a bad server would get all. */
static bool
session_take_spare(struct session *s)
{
	struct frontend *f = s->frontend;
	struct server *server = s->server;
	enum pipe_verdict v;
	int fd;

	while ((fd = spares_take(&f->spares, server)) >= 0) {
		session_open_up(s, fd);
		if (frontend_server_is_tls(f, server)) {
			s->spare_tried = true;
			spares_refill(&f->spares, server);
			if (session_hello_server(s,
				&server->addrs.addr[server->addr_first]) == 0 &&
			    session_await_connect(s) == 0)
				return true;
			stream_close(f->loop, &s->up, false);
			return false;
		}
		v = session_send_early(s);
		if (v == PIPE_WRITE_FAILED && s->to_server.bytes == 0) {
			stream_close(f->loop, &s->up, false);
			continue;
		}
		s->addr_tried = 1;
		if (v == PIPE_READ_FAILED)
			session_close(s, session_unread_reason());
		else
			session_go_on(s, v);
		spares_refill(&f->spares, server);
		return true;
	}
	return false;
}

/* As long as it has waited so far. */
static uint32_t
session_busy_ms(const struct session *s)
{
	if (s->waited_ms < BUSY_MS)
		return BUSY_MS;
	return s->waited_ms < BUSY_SELDOM_MS ? s->waited_ms : BUSY_SELDOM_MS;
}

/* The next address of the chosen server. What the client has said already is
 * sent right behind the connect: on a fast network that has completed by then,
 * which spares a turn of the loop; what the server cannot take yet is kept, for
 * it or for the next one. Returns 0 when the session goes on by itself, -1 with
 * errno when this address failed at once. */
static int
session_connect(struct session *s)
{
	struct frontend *f = s->frontend;
	struct sock_connect_options co = frontend_connect_options(f, s->port);
	struct server *server = s->server;
	unsigned at = (s->addr_start + s->addr_tried) % server->addrs.count;
	enum pipe_verdict v;
	int fd;

	if (s->connect_us == 0 && pool_wants_times(f->pool))
		s->connect_us = (uint32_t)clock_monotonic_us() | 1;
	fd = sock_connect(&server->addrs.addr[at], &co);
	if (fd < 0 && errno == EAGAIN) {
		timeouts_add(&f->busy, &s->expiry,
		    loop_now(f->loop) + session_busy_ms(s));
		return 0;
	}
	s->addr_tried++;
	if (fd < 0)
		return -1;
	session_open_up(s, fd);
	s->up.flags &= ~(unsigned)STREAM_READABLE; /* the loop will say */
	if (frontend_server_is_tls(f, server))
		return session_hello_server(s, &server->addrs.addr[at]) == 0
		    ? session_await_connect(s)
		    : -1;
	v = session_send_early(s);
	if (v == PIPE_WRITE_FAILED && s->to_server.bytes == 0 &&
	    !session_was_accepted(s, errno))
		return -1;
	if (v == PIPE_READ_FAILED) {
		session_close(s, session_unread_reason());
		return 0;
	}
	if (s->to_server.bytes == 0 && v != PIPE_WRITE_FAILED)
		return session_await_connect(s);
	session_go_on(s, v);
	return 0;
}

/* Goes on to the next address or server until one connect is under way. */
void
session_next_server(struct session *s)
{
	struct frontend *f = s->frontend;
	uint64_t now = loop_now(f->loop);

	expiry_cancel(&s->expiry);
	s->active = now;
	s->waited_ms = 0;
	do {
		if (s->server == NULL) {
			s->server =
			    pool_choose(f->pool, &s->client, &s->attempts, now);
			if (s->server == NULL) {
				if (s->no_port)
					session_close(s, REASON_NO_RESOURCES);
				else if (!session_wait(s))
					session_close(s, REASON_NO_SERVER);
				return;
			}
			s->no_port = false;
			s->addr_tried = 0;
			s->spare_tried = false;
			s->connect_us = 0;
			s->addr_start = (uint8_t)s->server->addr_first;
			if (s->failed_once)
				f->stats.retries++;
			pool_opened(
			    f->pool, s->server, &s->client, &s->attempts, now);
			s->counted = true;
		}
		if ((s->addr_tried == 0 && !s->spare_tried &&
			session_take_spare(s)) ||
		    session_connect(s) == 0)
			return;
	} while (session_give_up_address(s, errno));
}

static void
session_on_connect_failed(struct session *s, int error)
{
	if (session_give_up_address(s, error))
		session_next_server(s);
}

static void
session_shake_server(struct session *s, unsigned ready)
{
	switch (session_on_server_hello(s, ready)) {
	case TLS_DONE:
		session_on_connected(s);
		session_on_io(s);
		break;
	case TLS_FAILED:
		session_on_connect_failed(s, errno);
		break;
	case TLS_WAITS:
		if (watch_want(s->frontend->loop, &s->up.watch,
			READY_READ | stream_wants(&s->up)) < 0)
			session_close(s, REASON_NO_RESOURCES);
		break;
	}
}

void
session_on_connect_ready(struct session *s, unsigned ready)
{
	int error = ready & READY_ERROR ? sock_error(s->up.fd) : 0;
	bool tls = stream_is_tls(&s->up);

	if (error != 0 && (tls || !session_was_accepted(s, error))) {
		session_on_connect_failed(s, error);
		return;
	}
	if (tls) {
		session_shake_server(s, ready);
		return;
	}
	if (!(ready & READY_WRITE))
		return;
	s->server_reset = error != 0;
	session_on_connected(s);
	stream_note_ready(&s->up, ready);
	session_on_io(s);
}

void
session_on_connecting_over(struct timeouts *t, struct expiry *x)
{
	(void)t;
	session_on_connect_failed(
	    list_entry(x, struct session, expiry), ETIMEDOUT);
}

/* The listener of a Unix server had no room; it may have now. */
void
session_on_busy_over(struct timeouts *t, struct expiry *x)
{
	struct session *s = list_entry(x, struct session, expiry);
	struct frontend *f = s->frontend;

	(void)t;
	s->waited_ms += session_busy_ms(s);
	if (s->waited_ms >= f->options.connect_timeout_ms) {
		s->addr_tried++;
		session_on_connect_failed(s, ETIMEDOUT);
	} else if (session_connect(s) < 0) {
		session_on_connect_failed(s, errno);
	}
}
