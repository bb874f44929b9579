/* session.c: the second half of a session's story: bytes, the ends of either
 * side, time, and the close; and where sessions are made. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "net/sock.h"
#include "proxy/requestlog.h"
#include "proxy/session_private.h"

/* How often, and for how long, to look whether a client has got its last bytes
 * before it is reset. */
enum { UNSENT_MS = 5, UNSENT_MAX_MS = 30 * 1000 };

/* ---- states and waiting ---- */

void
session_set_state(struct session *s, enum session_state to)
{
	static const bool legal[STATES][STATES] = {
		[HELLO] = { [CONNECTING] = true, [CLOSED] = true },
		[CONNECTING] = { [RELAYING] = true, [CLOSED] = true },
		[RELAYING] = { [DRAINING] = true, [CLOSED] = true },
		[DRAINING] = { [CLOSED] = true },
	};

	if (!legal[s->state][to]) {
		log_error("illegal session state from=%d to=%d", s->state, to);
		abort();
	}
	if (to == CONNECTING || s->state == CONNECTING)
		frontend_connecting(s->frontend, to == CONNECTING);
	s->state = (uint8_t)to;
	s->active = loop_now(s->frontend->loop);
}

void
session_schedule(struct session *s)
{
	struct frontend *f = s->frontend;
	const struct frontend_options *o = &f->options;
	bool half = s->state == DRAINING || s->client_told || s->server_told;

	expiry_cancel(&s->expiry);
	if (s->reset_due)
		timeouts_add(
		    &f->unsent, &s->expiry, loop_now(f->loop) + UNSENT_MS);
	else if (s->state == DRAINING && s->client_told && o->linger_ms > 0)
		timeouts_add(
		    &f->lingering, &s->expiry, s->active + o->linger_ms);
	else if (o->idle_timeout_ms > 0)
		timeouts_add(
		    &f->idle, &s->expiry, s->active + o->idle_timeout_ms);
	else if (half && o->half_timeout_ms > 0)
		timeouts_add(
		    &f->half, &s->expiry, s->active + o->half_timeout_ms);
}

/* ---- closing ---- */

static void
session_log(const struct session *s, enum reason why)
{
	char client[PEER_TEXT_MAX], server[ADDR_TEXT_MAX] = "none";

	if (s->server != NULL)
		addr_format(
		    &s->server->addrs.addr[s->server->addr_first], server);
	log_debug("session closed reason=%s client=%s server=%s up=%llu "
		  "down=%llu ms=%llu",
	    reason_name(why), peer_format(&s->client, client), server,
	    (unsigned long long)s->to_server.bytes,
	    (unsigned long long)s->to_client.bytes,
	    (unsigned long long)(loop_now(s->frontend->loop) - s->started));
}

static void
session_free_task(struct task *t)
{
	free(list_entry(t, struct session, task));
}

/* The server's connection ends and no longer counts; what it sent and the
 * client has not taken yet stays in the pipe. */
static void
session_release_server(struct session *s, bool reset)
{
	stream_close(s->frontend->loop, &s->up, reset);
	if (!s->counted)
		return;
	s->counted = false;
	pool_closed(s->frontend->pool, s->server, &s->client, &s->tried,
	    s->to_server.bytes,
	    s->to_client.bytes + pipe_pending(&s->to_client));
}

void
session_close(struct session *s, enum reason why)
{
	struct frontend *f = s->frontend;
	bool reset_server = why == REASON_CLIENT_RESET || why == REASON_STOPPED;
	bool reset_client = why == REASON_SERVER_RESET ||
	    why == REASON_NO_SERVER || why == REASON_NO_RESOURCES ||
	    why == REASON_STOPPED;

	if (log_level >= LOG_LEVEL_DEBUG)
		session_log(s, why);
	session_release_server(s, reset_server);
	stream_close(f->loop, &s->down, reset_client);
	f->stats.up += s->to_server.bytes;
	f->stats.down += s->to_client.bytes;
	pipe_fini(&s->to_server, &f->share);
	pipe_fini(&s->to_client, &f->share);
	expiry_cancel(&s->expiry);
	list_remove(&s->link);
	numbers_remove(&f->connections, s->number);
	session_set_state(s, CLOSED);
	list_remove(&s->task.link);
	s->task.run = session_free_task;
	loop_soon(f->loop, &s->task);
	frontend_client_out(f, why);
}

/* ---- relaying ---- */

/* Tells the loop what each side waits for. */
static void
session_arm(struct session *s)
{
	struct frontend *f = s->frontend;
	size_t up = pipe_pending(&s->to_server);
	size_t down = pipe_pending(&s->to_client);
	bool ahead = down < f->share.keep_max;
	int rc = 0;

	if (s->down.fd >= 0)
		rc |= watch_want(f->loop, &s->down.watch,
		    (!s->to_server.ended && up == 0 ? READY_READ : 0u) |
			(down > 0 ? READY_WRITE : 0u));
	if (s->up.fd >= 0 && s->state != CONNECTING)
		rc |= watch_want(f->loop, &s->up.watch,
		    (!s->to_client.ended && (down == 0 || ahead) ? READY_READ
								 : 0u) |
			(up > 0 ? READY_WRITE : 0u));
	if (rc < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* The server has nothing more to do for this client: its connection is closed
 * and no longer counts while the client takes the rest. What the client still
 * sends is read and dropped, so that unread input never turns the end of the
 * answer into a reset. */
static void
session_let_go(struct session *s)
{
	struct frontend *f = s->frontend;

	session_release_server(s, false);
	pipe_drop(&s->to_server, &f->share);
	if (s->state == RELAYING) {
		session_set_state(s, DRAINING);
		session_schedule(s);
	}
}

/* Whether this was a request and its answer and no more: the client has said
 * nothing since the answer began, and says nothing now. Without a request, an
 * answer that the client is still taking. */
static bool
session_is_exchange(const struct session *s)
{
	size_t kept = pipe_pending(&s->to_client);

	return s->to_client.bytes + kept > 0 && !s->interleaved &&
	    pipe_pending(&s->to_server) == 0 &&
	    !(s->down.flags & STREAM_READABLE) &&
	    (s->to_server.bytes > 0 || kept > 0 || sock_unsent(s->down.fd) > 0);
}

/* Whether the server may be let go: it has said its last word and either can
 * hear no more, or the operator asked by `buffer` not to keep servers waiting
 * for clients and nothing more is to be expected of this one. */
static bool
session_may_let_go(const struct session *s)
{
	if (s->state != RELAYING || !s->to_client.ended)
		return false;
	if (s->to_server.dropping || s->server_told)
		return true;
	return s->frontend->options.buffer > 0 && session_is_exchange(s);
}

/* The server broke off. What it had said before still goes to the client. */
static void
session_on_server_reset(struct session *s)
{
	s->server_reset = true;
	s->client_sending = s->to_server.dropping ||
	    pipe_pending(&s->to_server) > 0 || s->down.flags & STREAM_READABLE;
	s->to_client.ended = true;
	session_let_go(s);
}

/* All the server said is with the client, whose end is yet to come. A reset is
 * passed on as one, once the client's kernel has all bytes; but a client that
 * is still sending would lose the answer to it, and gets an end. */
static void
session_on_server_done(struct session *s)
{
	struct frontend *f = s->frontend;

	if (s->server_reset && !s->client_sending) {
		if (sock_unsent(s->down.fd) > 0 &&
		    loop_now(f->loop) - s->active < UNSENT_MAX_MS) {
			s->reset_due = true;
			session_schedule(s);
			return;
		}
		session_close(s, REASON_SERVER_RESET);
		return;
	}
	if (f->options.fastclose_up) {
		session_close(s, REASON_FASTCLOSE);
		return;
	}
	stream_shutdown(&s->down);
	s->client_told = true;
	s->active = loop_now(f->loop);
	session_schedule(s);
}

/* All the client said is with the server. */
static void
session_on_client_done(struct session *s)
{
	s->server_told = true;
	if (s->frontend->options.fastclose_down) {
		session_close(s, REASON_FASTCLOSE);
		return;
	}
	if (stream_is_open(&s->up))
		stream_shutdown(&s->up);
	session_schedule(s);
}

/* Passes on the ends that have come, lets the server go when it may, and waits
 * for the rest. */
static void
session_conclude(struct session *s, bool server_done, bool client_done)
{
	if (server_done && !s->client_told)
		session_on_server_done(s);
	if (client_done && !s->server_told && s->state != CLOSED)
		session_on_client_done(s);
	if (s->state == CLOSED)
		return;
	if (s->client_told && s->server_told) {
		session_close(
		    s, s->server_reset ? REASON_SERVER_RESET : REASON_DONE);
		return;
	}
	if (session_may_let_go(s))
		session_let_go(s);
	session_arm(s);
}

void
session_on_io(struct session *s)
{
	struct pipe_share *share = &s->frontend->share;
	enum pipe_verdict down, up;
	uint64_t said;

	down = pipe_pump(&s->to_client, &s->up, &s->down, share);
	if (down == PIPE_READ_FAILED && errno == ENOMEM) {
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	if (down == PIPE_READ_FAILED) {
		session_on_server_reset(s);
		down = pipe_pump(&s->to_client, &s->up, &s->down, share);
	}
	said = s->to_server.bytes + pipe_pending(&s->to_server);
	up = pipe_pump(&s->to_server, &s->down, &s->up, share);
	if (s->to_client.bytes > 0 &&
	    s->to_server.bytes + pipe_pending(&s->to_server) > said)
		s->interleaved = true;
	if (up == PIPE_WRITE_FAILED) {
		if (errno == ECONNRESET)
			s->server_reset = true;
		s->client_sending = true;
		pipe_drop(&s->to_server, share);
		up = pipe_pump(&s->to_server, &s->down, &s->up, share);
	}
	if (down == PIPE_WRITE_FAILED || up == PIPE_READ_FAILED) {
		session_close(s,
		    up == PIPE_READ_FAILED && errno == ENOMEM
			? REASON_NO_RESOURCES
			: REASON_CLIENT_RESET);
		return;
	}
	if (s->state == CONNECTING) {
		session_arm(s);
		return;
	}
	if (down == PIPE_DONE && up == PIPE_DONE && !s->server_reset) {
		session_close(s, REASON_DONE);
		return;
	}
	if (down == PIPE_YIELDED || up == PIPE_YIELDED)
		loop_soon(s->frontend->loop, &s->task);
	session_conclude(s, down == PIPE_DONE, up == PIPE_DONE);
}

static void
session_on_client(struct watch *w, unsigned ready)
{
	struct session *s = list_entry(w, struct session, down.watch);

	/* A client that had ended and now breaks off wants no answer. */
	if (ready & READY_ERROR && s->to_server.ended &&
	    sock_error(s->down.fd) != 0) {
		session_close(s, REASON_CLIENT_RESET);
		return;
	}
	stream_note_ready(&s->down, ready);
	s->active = loop_now(s->frontend->loop);
	session_on_io(s);
}

void
session_on_server(struct watch *w, unsigned ready)
{
	struct session *s = list_entry(w, struct session, up.watch);

	if (s->state == CONNECTING) {
		session_on_connect_ready(s, ready);
		return;
	}
	/* A server that had ended and now breaks off hears no more. */
	if (ready & READY_ERROR && s->to_client.ended &&
	    sock_error(s->up.fd) != 0)
		pipe_drop(&s->to_server, &s->frontend->share);
	stream_note_ready(&s->up, ready);
	s->active = loop_now(s->frontend->loop);
	session_on_io(s);
}

static void
session_on_turn(struct task *t)
{
	session_on_io(list_entry(t, struct session, task));
}

/* ---- the log of requests ---- */

/* A request is what comes first, and what comes after an answer. */
void
session_on_said(struct pipe *p, const char *bytes, size_t n)
{
	struct session *s = container_of(p, struct session, to_server);
	uint32_t answered = (uint32_t)s->to_client.bytes;
	bool first = p->bytes + pipe_pending(p) == n;

	if (first || answered != s->heard)
		requestlog_line(
		    s->frontend->requestlog, &s->client, s->server, bytes, n);
	s->heard = answered;
}

/* ---- time ---- */

/* Nothing was moved to the end of the queue while bytes flowed, so whoever was
 * active meanwhile waits on. A limit that was lifted since ends nobody. */
static void
session_on_silence(
    struct timeouts *t, struct expiry *x, uint64_t limit, enum reason why)
{
	struct session *s = list_entry(x, struct session, expiry);
	uint64_t due = s->active + limit;

	if (limit == 0)
		session_schedule(s);
	else if (due > loop_now(s->frontend->loop))
		timeouts_add(t, x, due);
	else
		session_close(s, why);
}

static void
session_on_idle(struct timeouts *t, struct expiry *x)
{
	struct frontend *f = list_entry(t, struct frontend, idle);

	session_on_silence(
	    t, x, f->options.idle_timeout_ms, REASON_IDLE_TIMEOUT);
}

static void
session_on_half(struct timeouts *t, struct expiry *x)
{
	struct frontend *f = list_entry(t, struct frontend, half);

	session_on_silence(
	    t, x, f->options.half_timeout_ms, REASON_HALF_TIMEOUT);
}

static void
session_on_linger_over(struct timeouts *t, struct expiry *x)
{
	(void)t;
	session_close(
	    list_entry(x, struct session, expiry), REASON_LINGER_TIMEOUT);
}

static void
session_on_unsent(struct timeouts *t, struct expiry *x)
{
	(void)t;
	session_on_io(list_entry(x, struct session, expiry));
}

void
session_init_timeouts(struct frontend *f)
{
	timeouts_init(&f->connecting, f->loop, session_on_connecting_over);
	timeouts_init(&f->busy, f->loop, session_on_busy_over);
	timeouts_init(&f->unsent, f->loop, session_on_unsent);
	timeouts_init(&f->idle, f->loop, session_on_idle);
	timeouts_init(&f->half, f->loop, session_on_half);
	timeouts_init(&f->lingering, f->loop, session_on_linger_over);
}

/* ---- life ---- */

static struct session *
session_new(struct frontend *f, int fd, const struct peer *who)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	if (numbers_add(&f->connections, s, &s->number) < 0) {
		free(s);
		return NULL;
	}
	s->frontend = f;
	stream_open_plain(&s->down, fd, false);
	stream_init(&s->up);
	pipe_init(&s->to_server, false);
	s->to_server.reported = true;
	pipe_init(&s->to_client, true);
	s->client = *who;
	expiry_init(&s->expiry);
	list_init(&s->task.link);
	s->task.run = session_on_turn;
	s->started = loop_now(f->loop);
	s->state = HELLO;
	list_append(&f->sessions, &s->link);
	return s;
}

void
session_start(struct frontend *f, int fd, const struct peer *who)
{
	struct session *s = session_new(f, fd, who);

	if (s == NULL) {
		log_warn("session refused reason=%s",
		    reason_name(REASON_NO_RESOURCES));
		sock_close_reset(fd);
		return;
	}
	frontend_client_in(f);
	session_set_state(s, CONNECTING);
	session_next_server(s);
	if (s->state != CLOSED &&
	    watch_start(
		f->loop, &s->down.watch, fd, READY_READ, session_on_client) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

void
session_close_all(struct frontend *f)
{
	struct list *link;

	while ((link = list_first(&f->sessions)) != NULL)
		session_close(
		    list_entry(link, struct session, link), REASON_STOPPED);
}
