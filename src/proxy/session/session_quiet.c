/* session_quiet.c: which sessions may be closed early, and at which moment.
 *
 * A client whose connection is closed between an answer and the next request
 * loses nothing if the protocol lets it connect and send the request again:
 * HTTP does (RFC 9112, 9.3.1), a shell or a transaction does not. So the first
 * bytes of the client decide, unless the operator does. */
#include "config.h"

#include <stdlib.h>

#include "net/sock.h"
#include "pool/level.h"
#include "pool/surplus.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

/* ---- which sessions ---- */

bool
session_is_http(const struct session *s)
{
	return s->more->http_relay != NULL
	    ? http_relay_is_http(s->more->http_relay)
	    : s->http;
}

/* A session without any byte loses nothing. */
bool
session_may_end_quietly(const struct session *s)
{
	enum quiet_end which = s->frontend->options.end.quiet;

	if (s->state != RELAYING || s->client_told || s->server_told ||
	    which == QUIET_END_NONE)
		return false;
	return which == QUIET_END_ALL || session_is_http(s) ||
	    (s->to_server.bytes == 0 && s->to_client.bytes == 0);
}

/* ---- which moment ---- */

static bool
session_quiet_is_idle(const struct session *s)
{
	if (s->more->http_relay != NULL &&
	    !http_relay_is_idle(s->more->http_relay))
		return false;
	return !s->asked && pipe_pending(&s->to_server) == 0 &&
	    pipe_pending(&s->to_client) == 0 && !s->to_server.ended &&
	    !s->to_client.ended && !stream_is_unsent(&s->down) &&
	    !stream_is_unsent(&s->up) &&
	    !((s->down.flags | s->up.flags) & STREAM_BUFFERED);
}

/* Bytes that the loop has not reported yet, or that the client has not
 * acknowledged, would be lost by a reset: closing with unread input sends
 * one. */
bool
session_is_quiet(const struct session *s)
{
	const struct frontend_core *f = s->frontend;

	return session_may_end_quietly(s) && session_quiet_is_idle(s) &&
	    loop_now(f->loop) - s->active >= f->options.end.quiet_ms &&
	    sock_unsent(s->down.fd) == 0 && !sock_has_input(s->down.fd) &&
	    !sock_has_input(s->up.fd);
}

/* A client that is to be balanced anew must not be remembered. */
void
session_end_quietly(struct session *s)
{
	if (s->leaving)
		pool_remove_client(s->frontend->pool, &s->client);
	session_close(s, REASON_QUIET_END);
}

/* Ends it there, if it may be ended so, else at once: a better server is up,
 * which its client gets when it comes again. */
static void
session_retire(struct session *s)
{
	enum quiet_end which = s->frontend->options.end.quiet;

	if (which == QUIET_END_ALL ||
	    (which == QUIET_END_HTTP && session_is_http(s))) {
		s->leaving = true;
		session_reschedule(s);
		return;
	}
	pool_remove_client(s->frontend->pool, &s->client);
	session_close(s, REASON_SERVER_UP);
}

/* ---- a server is down, or a better one is up ---- */

static bool
session_is_outranked(const struct session *s)
{
	return (s->state == RELAYING || s->state == CONNECTING) &&
	    level_is_outranked(s->server, s->frontend->best_level, &s->client,
		s->more->facts != NULL ? session_first_allowed(s) : NULL);
}

/* Ends a session with a server that is down. One that still connects goes to
 * the next server if this one does not answer. */
void
session_cut(void *session)
{
	struct session *s = session;

	if (!s->counted || !session_is_current(s))
		return;
	if (session_is_outranked(s)) {
		session_retire(s);
	} else if (s->state == RELAYING &&
	    pool_cuts_sessions(s->frontend->pool, s->server) &&
	    !session_retry(s, true)) {
		s->because = REASON_SERVER_DOWN; /* unless it goes on */
		if (!session_await_next(s, true) &&
		    !session_http_unanswered(s, 502, REASON_SERVER_DOWN))
			session_close(s, REASON_SERVER_DOWN);
	}
}

/* ---- so that others get their share ---- */

static void
session_quiet_rebalance(void *entry)
{
	struct session *s = entry;
	struct session_rebalance *r = &s->frontend->sessions->rebalance;

	if (!s->counted || s->leaving || s->server->slot >= r->slots ||
	    r->surplus[s->server->slot] == 0 || !session_may_end_quietly(s) ||
	    (s->more->facts != NULL && !session_first_may_move(s)))
		return;
	r->surplus[s->server->slot]--;
	s->leaving = true;
	session_reschedule(s);
}

static void
rebalance_on_turn(struct task *t)
{
	struct sessions *all = list_entry(t, struct sessions, rebalance.task);
	struct session_rebalance *r = &all->rebalance;

	id_table_walk(&all->ids, &r->walk, session_quiet_rebalance);
	if (r->walk.left > 0) {
		loop_soon(all->frontend->loop, t);
		return;
	}
	free(r->surplus);
	r->surplus = NULL;
}

void
session_rebalance_init(struct sessions *all)
{
	list_init(&all->rebalance.task.link);
	all->rebalance.task.run = rebalance_on_turn;
}

void
session_rebalance_fini(struct sessions *all)
{
	list_remove(&all->rebalance.task.link);
	free(all->rebalance.surplus);
}

int
sessions_rebalance(
    struct sessions *all, unsigned percent, uint64_t *asked, struct error *e)
{
	struct frontend_core *f = all->frontend;
	struct session_rebalance *r = &all->rebalance;
	unsigned slots = pool_slots(f->pool);
	uint64_t *surplus;

	if (pool_goes_by_address(f->pool))
		return error_set(
		    e, "the algorithm depends on the client's address");
	if (f->options.end.quiet == QUIET_END_NONE)
		return error_set(e, "quiet_end is none");
	surplus = calloc(slots, sizeof(*surplus));
	if (surplus == NULL)
		return error_set(e, "out of memory");
	*asked = pool_surplus(f->pool, percent, surplus);
	if (*asked > f->stats->sessions) /* flows are not drained */
		*asked = f->stats->sessions;
	free(r->surplus);
	r->surplus = surplus;
	r->slots = slots;
	r->walk.left = all->ids.end;
	loop_soon(f->loop, &r->task);
	return 0;
}
