/* connections.c: what control asks of sessions, by their numbers; and the walk
 * that ends those whose server is down. */
#include "config.h"

#include "pool/level.h"
#include "proxy/session_private.h"

static struct session *
session_of(const struct frontend *f, uint64_t number)
{
	const struct id_table *c = &f->connections;

	return number < c->end ? c->entry[number] : NULL;
}

static void
tell(const struct session *s, struct connection_info *info)
{
	static const struct {
		const char *name;
		unsigned phase;
	} states[STATES] = {
		[HELLO] = { "hello", 1 },
		[CONNECTING] = { "connecting", 2 },
		[RELAYING] = { "relaying", 3 },
		[DRAINING] = { "draining", 4 },
		[QUEUED] = { "queued", 5 },
		[CLOSED] = { "closed", 6 },
	};
	uint64_t now = loop_now(s->frontend->core.loop);

	*info = (struct connection_info){
		.number = s->number,
		.phase = states[s->state].phase,
		.state = states[s->state].name,
		.down_fd = s->down.fd,
		.up_fd = s->up.fd,
		.client = s->client,
		.client_number = s->attempts.hint,
		.server = s->server,
		.stream = &s->down,
		.pending_up = pipe_pending(&s->to_server),
		.pending_down = pipe_pending(&s->to_client),
		.up = s->to_server.bytes,
		.down = s->to_client.bytes,
		.age_ms = now - s->started,
		.idle_ms = now - s->active,
	};
}

bool
frontend_connection(
    const struct frontend *f, uint64_t number, struct connection_info *info)
{
	const struct session *s = session_of(f, number);

	if (s != NULL)
		tell(s, info);
	return s != NULL;
}

uint64_t
frontend_connections_end(const struct frontend *f)
{
	return f->connections.end;
}

bool
frontend_connection_next(
    const struct frontend *f, uint64_t from, struct connection_info *info)
{
	for (; from < frontend_connections_end(f); from++)
		if (frontend_connection(f, from, info))
			return true;
	return false;
}

bool
frontend_close_connection(struct frontend *f, uint64_t number)
{
	struct session *s = session_of(f, number);

	if (s != NULL)
		session_close(s, REASON_STOPPED);
	return s != NULL;
}

int64_t
frontend_connection_of_fd(const struct frontend *f, int fd)
{
	const struct session *s;
	uint32_t i;

	for (i = 0; i < f->connections.end; i++) {
		s = f->connections.entry[i];
		if (s != NULL && fd >= 0 &&
		    (s->down.fd == fd || s->up.fd == fd))
			return i;
	}
	return -1;
}

/* ---- a server is down, or a better one is up ---- */

static bool
is_outranked(const struct session *s)
{
	return (s->state == RELAYING || s->state == CONNECTING) && s->counted &&
	    level_is_outranked(s->server, s->frontend->core.best_level,
		&s->client,
		s->more->facts != NULL ? session_first_allowed(s) : NULL);
}

/* One that still connects to a server that is down goes to the next one if this
 * one does not answer. */
static void
cut(void *entry)
{
	struct session *s = entry;

	if (is_outranked(s))
		session_leave(s);
	else if (s->state == RELAYING && s->counted &&
	    pool_cuts_sessions(s->frontend->core.pool, s->server) &&
	    !session_retry(s, true) && !session_await_next(s, true) &&
	    !session_http_unanswered(s, 502, REASON_SERVER_DOWN))
		session_close(s, REASON_SERVER_DOWN);
}

void
session_cut_on_turn(struct task *t)
{
	struct frontend *f = list_entry(t, struct frontend, cut.task);

	f->core.best_level = level_best(f->core.pool);
	id_table_walk(&f->connections, &f->cut.sessions, cut);
	id_table_walk(&f->flows.ids, &f->cut.flows, flow_cut);
	if (f->cut.sessions.left > 0 || f->cut.flows.left > 0)
		loop_soon(f->core.loop, t);
}

/* A server knows how many sessions it has, not which: that would cost each of
 * them memory. All are visited once from now on, those too that a walk under
 * way has passed: they may be of the server that went down just now. */
void
frontend_cut_sessions(struct frontend *f)
{
	f->cut.sessions.left = f->connections.end;
	f->cut.flows.left = f->flows.ids.end;
	loop_soon(f->core.loop, &f->cut.task);
}
