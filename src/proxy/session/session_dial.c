/* session_dial.c: one address of the chosen server: connects, over a pre-opened
 * connection if there is one, sends what the client has sent so far, and makes
 * a session RELAYING whose server has accepted. The choice of the server, and
 * failures, are session_connect.c's. */
#include "config.h"

#include <errno.h>

#include "base/clock.h"
#include "base/shortcuts.h"
#include "net/sock.h"
#include "proxy/session/session_private.h"

/* How soon a Unix listener whose backlog is full is tried again: at first, and
 * in the end. */
enum { BUSY_MS = 5, BUSY_SELDOM_MS = 100 };

/* What connects are timed by: the clock where the algorithm goes by it, else
 * the beginning of this wake-up, which costs no reading of the clock. Never
 * 0. */
static uint32_t
session_clock_us(const struct session *s)
{
	const struct frontend_core *f = s->frontend;

	return (uint32_t)(pool_wants_times(f->pool) ? clock_monotonic_us()
						    : loop_now_us(f->loop)) |
	    1;
}

/* Whether the server still has the address of the connection. If it has other
 * addresses now, the attempts are counted from that address in the new list, so
 * that no list makes a session try more addresses than it has. */
bool
session_is_current(struct session *s)
{
	const struct server *server = s->server;
	unsigned n = server->addrs.count;
	unsigned before = s->addr_tried > 1 ? s->addr_tried - 1u : 0;
	int at;

	if (!session_server_moved(s))
		return true;
	at = stream_is_open(&s->up)
	    ? frontend_server_address(server, s->up.fd, s->port)
	    : -1;
	if (at < 0)
		return false;
	s->addr_start = (uint8_t)(((unsigned)at + n - before % n) % n);
	s->generation = (uint8_t)server->generation;
	return true;
}

/* ---- the server is there ---- */

void
session_connected(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct server *server = s->server;

	if (session_is_current(s)) {
		if (s->addr_tried > 1) /* others begin with this address */
			server->addr_first =
			    (s->addr_start + s->addr_tried - 1u) %
			    server->addrs.count;
		pool_connected(f->pool, server, loop_now(f->loop));
	}
	if (s->connect_us != 0 && !s->connect_done) {
		uint32_t took = session_clock_us(s) - s->connect_us;

		pool_took(f->pool, server, took);
		duration_add(&f->stats->durations.connect, took);
		s->connect_us = took > 0 ? took : 1;
		s->connect_done = true;
	}
	s->up.flags |= STREAM_WRITABLE;
	s->asked = s->to_server.bytes + pipe_pending(&s->to_server) > 0;
	session_set_state(s, RELAYING);
	session_relay_schedule(s);
	if (s->settled)
		session_guard_server(s);
}

/* The server took the client's first bytes with the connect, or the connection
 * was there before: nothing has to be waited for, and from here on the loop
 * reports events. It does not report again what `sent` has: a reset of the
 * server after the first bytes, the FIN of the client, more of its bytes than a
 * fair share; nor anything of a client whose bytes were not wanted any more. */
static void
session_connected_at_once(struct session *s, struct pipe_stop sent)
{
	struct loop *l = s->frontend->loop;

	if (sent.verdict == PIPE_WRITE_FAILED && sent.cause == ECONNRESET)
		s->server_reset = true;
	session_connected(s);
	if (sent.verdict == PIPE_DONE || sent.verdict == PIPE_YIELDED ||
	    (s->down.watch.want == 0 && s->down.watch.fd >= 0))
		session_soon(s);
	if (watch_start(l, &s->up.watch, s->up.fd,
		READY_READ |
		    (pipe_pending(&s->to_server) > 0 ? READY_WRITE : 0u) |
		    stream_wants(&s->up),
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
	stream_open_plain(&s->up, fd, s->frontend->options.nodelay);
	s->up.flags &= ~(unsigned)STREAM_READABLE; /* the loop will report it */
	if (session_is_to_unix(s))
		s->up.flags |= STREAM_READ_END;
}

struct pipe_stop
session_send_early(struct session *s)
{
	struct pipe_stop stop = session_pump_up(s);

	if (s->more->http_relay != NULL)
		session_http_note(s);
	if (stop.verdict == PIPE_READ_FAILED)
		stop = session_client_unread_early(s, stop);
	return s->up.flags & STREAM_PREFIXED ? session_introduce_early(s, stop)
					     : stop;
}

/* Sets the timeout of the connect; without a connect under way the session
 * waits for something else, which sets its own. */
void
session_connect_schedule(struct session *s)
{
	struct frontend_core *f = s->frontend;

	if (!stream_is_open(&s->up))
		return;
	expiry_cancel(&s->expiry);
	timeouts_add(f->sessions->times, &s->expiry,
	    s->active + f->options.connect_timeout_ms);
}

/* Waits for the connect to complete. Returns 0, or an errno. */
static int
session_await_connect(struct session *s)
{
	struct frontend_core *f = s->frontend;

	s->up.flags &= ~(unsigned)STREAM_WRITABLE;
	session_connect_schedule(s);
	if (watch_start(f->loop, &s->up.watch, s->up.fd,
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
	struct frontend_core *f = s->frontend;
	char alpn[TLS_ALPN_NAME] = "";

	if (stream_is_tls(&s->down))
		tls_alpn(&s->down, alpn);
	if (tls_connect(
		&s->up, f->tls.client, server_host(s->server), at, alpn) < 0 ||
	    session_introduce(s, at) < 0 || tls_handshake(&s->up) == TLS_FAILED)
		return errno;
	return session_await_connect(s);
}

/* On a Unix socket a reset means that the listener went with the connection in
 * its queue. */
bool
session_was_accepted(const struct session *s, int error)
{
	if (session_is_to_unix(s))
		return error == EPIPE && sock_error(s->up.fd) != ECONNRESET;
	return error == ECONNRESET || error == EPIPE;
}

uint32_t
session_busy_ms(const struct session *s)
{
	return session_wait_ms(s, BUSY_MS, BUSY_SELDOM_MS);
}

/* Clients of most protocols begin, those of some wait for the server: the next
 * one does what the last one did. A guess that is wrong costs a call. */
static bool
session_will_begin(const struct session *s)
{
	const struct frontend_core *f = s->frontend;

	return SHORTCUT_ACK_WITH_BYTES && f->sessions->clients_begin &&
	    !session_is_to_unix(s) &&
	    !frontend_server_is_tls(f, s->server) &&
	    frontend_server_proxy(&f->options, s->server) == PROXY_OFF;
}

static void
session_note_begin(struct session *s, bool expected)
{
	bool begins = s->to_server.bytes + pipe_pending(&s->to_server) > 0;

	s->frontend->sessions->clients_begin = begins;
	if (expected && !begins)
		sock_ack_at_once(s->up.fd);
}

/* What the client has sent already follows the connect at once: on a fast
 * network that has completed by then, which spares a turn of the loop; what the
 * server cannot take yet is kept, for it or for the next one. */
int
session_dial(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct sock_connect_options co = frontend_connect_options(f, s->port);
	struct server *server = s->server;
	unsigned at = (s->addr_start + s->addr_tried) % server->addrs.count;
	struct pipe_stop sent;
	int fd;

	if (s->connect_us == 0)
		s->connect_us = session_clock_us(s);
	co.client = frontend_client_of(f, &s->client, &server->addrs.addr[at]);
	co.bytes_follow = session_will_begin(s);
	fd = sock_connect(&server->addrs.addr[at], &co);
	if (fd < 0 && errno == EAGAIN) { /* a Unix listener's backlog is full */
		timeouts_add(f->sessions->times, &s->expiry,
		    loop_now(f->loop) + session_busy_ms(s));
		return 0;
	}
	s->addr_tried++;
	if (fd < 0)
		return errno;
	session_open_up(s, fd);
	if (frontend_server_is_tls(f, server))
		return session_await_server_hello(s, &server->addrs.addr[at]);
	if (session_introduce(s, &server->addrs.addr[at]) < 0)
		return errno;
	if (co.bytes_follow)
		s->up.flags |= STREAM_ACKS_LATE;
	if (!SHORTCUT_EARLY_SEND) /* the loop will report it */
		s->up.flags &= ~(unsigned)STREAM_WRITABLE;
	sent = session_send_early(s);
	session_note_begin(s, co.bytes_follow);
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

/* A connection that breaks before it took a byte is dropped, as if it had not
 * been there. So is one whose TLS handshake fails, which may be the fault of
 * its age; the next try is a connection of its own then, or a bad server would
 * use up all that were opened. */
bool
session_use_preopened(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct server *server = s->server;
	struct pipe_stop sent;
	int fd;

	while ((fd = preopened_take(&f->preopened, server)) >= 0) {
		session_open_up(s, fd);
		if (frontend_server_is_tls(f, server)) {
			s->preopened_tried = true;
			preopened_refill(&f->preopened, server);
			if (session_await_server_hello(s,
				&server->addrs.addr[server->addr_first]) == 0)
				return true;
			stream_close(f->loop, &s->up, false);
			return false;
		}
		sent = session_introduce(
			   s, &server->addrs.addr[server->addr_first]) < 0
		    ? (struct pipe_stop){ PIPE_WRITE_FAILED, errno }
		    : session_send_early(s);
		if (sent.verdict == PIPE_WRITE_FAILED &&
		    s->to_server.bytes == 0) {
			stream_close(f->loop, &s->up, false);
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
