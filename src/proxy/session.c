/* session.c: where sessions are made: their states, and the close. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "net/sock.h"
#include "proxy/session_private.h"

/* ---- states ---- */

void
session_set_state(struct session *s, enum session_state to)
{
	static const bool legal[STATES][STATES] = {
		[HELLO] = { [CONNECTING] = true, [CLOSED] = true },
		[CONNECTING] = { [QUEUED] = true,
		    [RELAYING] = true,
		    [CLOSED] = true },
		[QUEUED] = { [CONNECTING] = true, [CLOSED] = true },
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

/* ---- closing ---- */

static void
session_log(const struct session *s, enum reason why)
{
	char client[PEER_TEXT_MAX], server[ADDR_TEXT_MAX] = "none";
	char down[SESSION_TLS_TEXT], up[SESSION_TLS_TEXT];

	if (s->server != NULL)
		addr_format(
		    &s->server->addrs.addr[s->server->addr_first], server);
	log_debug("session closed reason=%s client=%s server=%s up=%llu "
		  "down=%llu ms=%llu%s%s",
	    reason_name(why), peer_format(&s->client, client), server,
	    (unsigned long long)s->to_server.bytes,
	    (unsigned long long)s->to_client.bytes,
	    (unsigned long long)(loop_now(s->frontend->loop) - s->started),
	    session_tls_text(&s->down, "client", down),
	    session_tls_text(&s->up, "server", up));
}

static void
session_free_task(struct task *t)
{
	free(list_entry(t, struct session, task));
}

void
session_release_server(struct session *s, bool reset)
{
	stream_close(s->frontend->loop, &s->up, reset);
	if (!s->counted)
		return;
	s->counted = false;
	pool_closed(s->frontend->pool, s->server, &s->client, &s->attempts,
	    s->to_server.bytes - s->counted_up,
	    s->to_client.bytes - s->counted_down + pipe_pending(&s->to_client));
}

void
session_close(struct session *s, enum reason why)
{
	struct frontend *f = s->frontend;
	bool reset_server = why == REASON_CLIENT_RESET ||
	    why == REASON_STOPPED || why == REASON_TLS_FAILED ||
	    why == REASON_TRUNCATED;
	bool reset_client = why == REASON_SERVER_RESET ||
	    why == REASON_NO_SERVER || why == REASON_QUEUE_TIMEOUT ||
	    why == REASON_NO_RESOURCES || why == REASON_STOPPED ||
	    why == REASON_TRUNCATED;

	if (log_level >= LOG_LEVEL_DEBUG)
		session_log(s, why);
	if (why != REASON_DONE && why != REASON_FASTCLOSE) {
		s->down.flags |= STREAM_NO_CLOSE_NOTIFY;
		s->up.flags |= STREAM_NO_CLOSE_NOTIFY;
	}
	if (s->state == QUEUED)
		session_leave_queue(s);
	session_release_server(s, reset_server);
	stream_close(f->loop, &s->down, reset_client);
	f->stats.up += s->to_server.bytes - s->counted_up;
	f->stats.down += s->to_client.bytes - s->counted_down;
	pipe_fini(&s->to_server, &f->share);
	pipe_fini(&s->to_client, &f->share);
	expiry_cancel(&s->expiry);
	list_remove(&s->link);
	id_table_remove(&f->connections, s->number);
	session_set_state(s, CLOSED);
	list_remove(&s->task.link);
	s->task.run = session_free_task;
	loop_soon(f->loop, &s->task);
	frontend_client_out(f, why);
}

/* ---- life ---- */

/* Clients on Unix sockets have no address: where the choice depends on who they
 * are, it is the process and user that count. */
static void
session_identify(struct session *s)
{
	pid_t pid;
	uid_t uid;

	if (pool_tells_clients_apart(s->frontend->pool) &&
	    sock_peer_owner(s->down.fd, &pid, &uid) == 0)
		peer_set_owner(&s->client, (uint32_t)pid, (uint32_t)uid);
}

static struct session *
session_new(struct frontend *f, int fd, const struct peer *who)
{
	struct session *s = memory_zeroed(sizeof(*s));

	if (s == NULL)
		return NULL;
	if (id_table_add(&f->connections, s, &s->number) < 0) {
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
	if (who->family == AF_UNIX) {
		s->down.flags |= STREAM_READ_END;
		session_identify(s);
	}
	s->attempts.proven = true; /* accept(2) says so */
	expiry_init(&s->expiry);
	list_init(&s->task.link);
	s->task.run = session_on_turn;
	s->started = loop_now(f->loop);
	s->state = HELLO;
	list_append(&f->sessions, &s->link);
	if (!f->is_aging)
		session_begin_aging(f);
	return s;
}

void
session_begin(struct session *s)
{
	if (s->frontend->queue.due)
		session_serve_queue(s->frontend);
	session_set_state(s, CONNECTING);
	session_next_server(s);
}

void
session_start(struct frontend *f, int fd, const struct peer *who, uint16_t port)
{
	struct session *s = session_new(f, fd, who);

	if (s == NULL) {
		log_warn("session refused reason=%s",
		    reason_name(REASON_NO_RESOURCES));
		sock_close_reset(fd);
		return;
	}
	s->port = port;
	frontend_client_in(f);
	if (f->tls.server != NULL) {
		session_hello(s);
		return;
	}
	session_begin(s);
	if (s->state != CLOSED &&
	    watch_start(
		f->loop, &s->down.watch, fd, READY_READ, session_on_client) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

void
session_close_all(struct frontend *f)
{
	struct list *link;

	list_move_all(&f->stale, &f->settled);
	list_move_all(&f->stale, &f->sessions);
	while ((link = list_first(&f->stale)) != NULL)
		session_close(
		    list_entry(link, struct session, link), REASON_STOPPED);
}
