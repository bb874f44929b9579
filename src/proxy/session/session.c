/* session.c: where a session begins and ends, and which function answers which
 * event in which state. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "net/sock.h"
#include "proxy/session/session_private.h"

/* ---- state x event -> function ---- */

/* A field that is empty belongs to an event that cannot come. There is no
 * server before CONNECTING, nor in DRAINING, and only a session that relays, or
 * answers by itself, requests another turn; in CLOSED, watches and times have
 * been cancelled. */
static const struct session_handlers {
	void (*client)(struct session *s, unsigned ready); /* its socket is */
	void (*server)(struct session *s, unsigned ready);
	void (*turn)(struct session *s); /* that was requested */
	void (*time)(struct session *s); /* `expiry` has expired */
	void (*reschedule)(struct session *s); /* settings have other times */
} handlers[STATES] = {
	[HELLO] = {
		.client = session_hello_on_client,
		.time = session_hello_on_time,
		.reschedule = session_hello_schedule,
	},
	[QUEUED] = {
		.client = session_wait_on_client,
		.turn = session_http_on_turn,
		.time = session_queue_on_time,
		.reschedule = session_queue_schedule,
	},
	[CONNECTING] = {
		.client = session_connect_on_client,
		.turn = session_http_on_turn,
		.server = session_connect_on_server,
		.time = session_connect_on_time,
		.reschedule = session_connect_schedule,
	},
	[RELAYING] = {
		.client = session_relay_on_client,
		.server = session_relay_on_server,
		.turn = session_relay,
		.time = session_relay_on_time,
		.reschedule = session_relay_reschedule,
	},
	[DRAINING] = {
		.client = session_relay_on_client,
		.turn = session_relay,
		.time = session_relay_on_time,
		.reschedule = session_relay_reschedule,
	},
};

void
session_on_client(struct watch *w, unsigned ready)
{
	struct session *s = list_entry(w, struct session, down.watch);

	handlers[s->state].client(s, ready);
}

void
session_on_server(struct watch *w, unsigned ready)
{
	struct session *s = list_entry(w, struct session, up.watch);

	handlers[s->state].server(s, ready);
}

void
session_on_time(struct timeouts *t, struct expiry *x)
{
	struct session *s = list_entry(x, struct session, expiry);

	(void)t;
	handlers[s->state].time(s);
}

void
session_reschedule(struct session *s)
{
	handlers[s->state].reschedule(s);
}

void
session_set_state(struct session *s, enum session_state to)
{
	static const bool legal[STATES][STATES] = {
		[HELLO] = { [CONNECTING] = true,
		    [DRAINING] = true,
		    [CLOSED] = true },
		[CONNECTING] = { [QUEUED] = true,
		    [RELAYING] = true,
		    [DRAINING] = true,
		    [CLOSED] = true },
		[QUEUED] = { [CONNECTING] = true,
		    [DRAINING] = true,
		    [CLOSED] = true },
		[RELAYING] = { [CONNECTING] = true, /* once more */
		    [HELLO] = true,
		    [DRAINING] = true,
		    [CLOSED] = true },
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
session_free(struct session *s)
{
	session_more_free(s->more);
	free(s);
}

static void
session_free_task(struct task *t)
{
	session_free(list_entry(t, struct session, task));
}

static void
session_free_soon(struct session *s)
{
	s->task = (struct task){ .run = session_free_task };
	list_init(&s->task.link);
	loop_soon(s->frontend->loop, &s->task);
}

/* ---- turns ---- */

void
session_soon(struct session *s)
{
	struct session_turns *t = &s->frontend->sessions->turns;

	s->turn_due = true;
	if (s->has_turn)
		return;
	s->has_turn = true;
	s->next_turn = NULL;
	if (t->first == NULL)
		t->first = s;
	else
		t->last->next_turn = s;
	t->last = s;
	loop_soon(s->frontend->loop, &t->task);
}

static void
session_take_turn(struct session *s)
{
	s->has_turn = false;
	if (s->state == CLOSED) {
		session_free(s);
	} else if (s->turn_due) {
		s->turn_due = false;
		handlers[s->state].turn(s);
	}
}

/* Those that request another one wait for the next wake-up. */
static void
session_turns_run(struct task *task)
{
	struct session_turns *t =
	    list_entry(task, struct session_turns, task);
	struct session *s = t->first, *next;

	t->first = NULL;
	for (; s != NULL; s = next) {
		next = s->next_turn;
		session_take_turn(s);
	}
}

/* Those that requested one are closed: it was to free them. */
static void
session_turns_fini(struct session_turns *t)
{
	struct session *s, *next;

	list_remove(&t->task.link);
	for (s = t->first; s != NULL; s = next) {
		next = s->next_turn;
		session_free_soon(s);
	}
}

void
session_release_server(struct session *s, bool reset)
{
	session_note_address(s);
	session_http_count(s, NULL);
	stream_close(s->frontend->loop, &s->up, reset);
	if (!s->counted)
		return;
	s->counted = false;
	pool_closed(s->frontend->pool, s->server, &s->client, &s->attempts, 0,
	    pipe_pending(&s->to_client));
}

static bool
session_resets_client(const struct session *s, enum reset_client when)
{
	return when == RESET_ALWAYS ||
	    (when == RESET_UNTOLD && (s->reset_due || !s->client_told)) ||
	    (when == RESET_LAGGING && !s->client_told &&
		session_lags(s, false));
}

/* Events that are fetched already may still point to the session: its memory is
 * freed by a task, at the end of the wake-up. */
void
session_close(struct session *s, enum reason why)
{
	struct frontend_core *f = s->frontend;
	const struct reason_row *row = &reason_rows[why];
	enum reason said =
	    s->because != REASON_DONE ? (enum reason)s->because : why;

	if (s->state == QUEUED)
		session_queue_remove(s); /* and has its queue_ms */
	if (f->httplog != NULL)
		session_requests_end(s, said);
	if (f->sessionlog != NULL)
		session_log_close(s, said);
	if (s->server != NULL)
		pool_session_ended(s->server, reason_end(said));
	if (row->status >= 400) {
		s->down.flags |= STREAM_NO_CLOSE_NOTIFY;
		s->up.flags |= STREAM_NO_CLOSE_NOTIFY;
	}
	if (s->admission != NOT_ADMITTED)
		session_admit_end(s);
	session_release_server(s,
	    row->resets_server ||
		(row->resets_client == RESET_LAGGING && !s->server_told &&
		    session_lags(s, true)));
	stream_close(f->loop, &s->down,
	    session_resets_client(s, (enum reset_client)row->resets_client));
	duration_add(&f->stats->durations.session,
	    (loop_now(f->loop) - s->started) * 1000);
	pipe_fini(&s->to_server, &f->share);
	pipe_fini(&s->to_client, &f->share);
	if (s->request != NULL)
		session_drop_request(s);
	expiry_cancel(&s->expiry);
	list_remove(&s->link);
	id_table_remove(&f->sessions->ids, s->number);
	session_set_state(s, CLOSED);
	if (s->more == &f->sessions->nothing) /* which may be gone before */
		s->more = NULL;
	if (!s->has_turn) /* else it is freed then */
		session_free_soon(s);
	frontend_client_out(f, said);
}

/* ---- life ---- */

/* Clients on Unix sockets have no address: where the choice of a server depends
 * on the client, its process and user identify it. */
static void
session_identify(struct session *s)
{
	struct peer_owner owner;

	if (pool_tells_clients_apart(s->frontend->pool) &&
	    sock_peer_owner(s->down.fd, &owner) == 0)
		peer_set_owner(&s->client, &owner);
}

int
session_join(struct session *s, struct sessions *all)
{
	if (id_table_add(&all->ids, s, &s->number) < 0)
		return -1;
	s->frontend = all->frontend;
	list_remove(&s->link);
	list_append(&all->young, &s->link);
	if (!all->is_aging)
		session_begin_aging(all);
	if (s->client.family == AF_UNIX)
		session_identify(s);
	return 0;
}

static struct session *
session_new(struct sessions *all, int fd, const struct peer *who)
{
	struct session *s = memory_zeroed(sizeof(*s));

	if (s == NULL)
		return NULL;
	list_init(&s->link);
	s->client = *who;
	stream_open_plain(&s->down, fd, false);
	if (session_join(s, all) < 0) {
		free(s);
		return NULL;
	}
	s->more = &all->nothing;
	stream_init(&s->up);
	pipe_init(&s->to_server, false);
	s->to_server.reported = true;
	pipe_init(&s->to_client, true);
	if (who->family == AF_UNIX) {
		s->down.flags |= STREAM_READ_END;
		sock_take_urgent(fd); /* it has nothing from its listener */
	}
	s->attempts.proven = true; /* by accept(2) */
	expiry_init(&s->expiry);
	s->started = loop_now(all->frontend->loop);
	s->state = HELLO;
	return s;
}

/* A client of plain TCP is not watched before its server is chosen: what it has
 * sent by now is read with the connect, what it sends later is an event. */
void
session_start(
    struct sessions *all, int fd, const struct peer *who, uint16_t port)
{
	struct frontend_core *f = all->frontend;
	struct session *s = session_new(all, fd, who);
	char client[PEER_TEXT_MAX];

	if (s == NULL) {
		log_warn("session refused reason=%s",
		    reason_name(REASON_NO_RESOURCES));
		sock_close_reset(fd);
		return;
	}
	s->port = port;
	log_debug("session begins session=%u client=%s port=%u", s->number,
	    peer_format(who, client), port);
	frontend_client_in(f);
	if (f->hello != 0)
		session_hello_from(s, HELLO_PROXY);
	else
		session_connect(s);
	if (s->state != CLOSED && s->down.watch.fd < 0 &&
	    watch_start(
		f->loop, &s->down.watch, fd, READY_READ, session_on_client) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* ---- all of them ---- */

int
sessions_init(struct sessions *all, struct frontend_core *f)
{
	all->frontend = f;
	list_init(&all->young);
	list_init(&all->settled);
	list_init(&all->stale);
	id_table_init(&all->ids);
	all->turns.task.run = session_turns_run;
	list_init(&all->turns.task.link);
	session_queue_init(all);
	session_rebalance_init(all);
	f->share.on_read = session_on_read;
	session_requests_init(f);
	return session_times_init(all);
}

void
sessions_fini(struct sessions *all)
{
	struct list *link;

	list_move_all(&all->stale, &all->settled);
	list_move_all(&all->stale, &all->young);
	while ((link = list_first(&all->stale)) != NULL)
		session_close(
		    list_entry(link, struct session, link), REASON_STOPPED);
	session_turns_fini(&all->turns);
	session_queue_fini(all);
	session_times_fini(all);
	session_rebalance_fini(all);
	free(all->http_room);
	id_table_fini(&all->ids);
}
