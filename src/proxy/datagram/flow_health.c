/* flow_health.c: failures of servers seen by flows: refusals, silence. They are
 * of the server that the flow got: one that took its place since is neither
 * blamed nor praised for it. Any host that guesses a port can forge a refusal
 * (RFC 5927), so it takes two without an answer in between. */
#include "config.h"

#include "base/array.h"
#include "pool/level.h"
#include "proxy/datagram/flow_private.h"

/* What a server has done since its last answer. */
struct flow_server {
	uint64_t since;	     /* ms: the first of the questions, */
	unsigned unanswered; /* which it has left unanswered */
	bool refused;
	unsigned generation; /* of the server */
};

bool
flow_find_address(struct flow *w)
{
	int at = frontend_server_address(
	    w->server, w->fd, addr_port(&w->listener->at));

	if (at < 0)
		return false;
	w->generation = w->server->generation;
	w->address = (unsigned)at;
	w->addresses_tried = 0;
	return true;
}

bool
flow_is_served(const struct flow *w)
{
	const struct frontend_core *f = w->frontend;
	uint64_t down = w->server->health.since;

	if (w->answered)
		return w->active > down;
	return w->asked > down &&
	    loop_now(f->loop) - w->asked <= f->options.connect_timeout_ms;
}

/* NULL if memory is short. */
static struct flow_server *
flow_server_record(struct flows *fs, const struct server *s)
{
	struct flow_server *r;

	r = array_grow(fs->servers, &fs->server_room, sizeof(*r), s->slot);
	if (r == NULL)
		return NULL;
	fs->servers = r;
	r += s->slot;
	/* What is known is of a server that had this slot before. */
	if (r->generation != s->generation)
		*r = (struct flow_server){ .generation = s->generation };
	return r;
}

bool
flow_note_question(struct flow *w)
{
	struct frontend_core *f = w->frontend;
	const struct frontend_options *o = &f->options;
	struct flow_server *s;
	uint64_t now = loop_now(f->loop);

	/* silence alone does not take a special server out of rotation */
	if (o->udp.responses == 0 || o->udp.fail == 0 ||
	    w->server->role != SERVER_REGULAR ||
	    (s = flow_server_record(f->flows, w->server)) == NULL)
		return false;
	if (s->unanswered++ == 0)
		s->since = now;
	return s->unanswered > o->udp.fail &&
	    now - s->since >= o->connect_timeout_ms;
}

static void
forget_questions(struct flow *w)
{
	struct flows *fs = w->frontend->flows;

	if (w->server->slot < fs->server_room)
		fs->servers[w->server->slot].unanswered = 0;
}

void
flow_note_answer(struct flow *w)
{
	struct frontend_core *f = w->frontend;
	struct server *s = w->server;

	if (w->first_ms == 0)
		w->first_ms = (uint32_t)(loop_now(f->loop) - w->started) + 1;
	if (!flow_is_current(w))
		return;
	forget_questions(w);
	if (w->server->slot < w->frontend->flows->server_room)
		w->frontend->flows->servers[w->server->slot].refused = false;
	w->addresses_tried = 0;
	s->counters->answered_ms = loop_now(f->loop);
	if (s->blacklisted_until != 0)
		pool_connected(f->pool, s, s->counters->answered_ms);
}

/* The flow's address is not the one to begin with any more. */
static void
flow_health_drop_address(struct flow *w)
{
	struct server *s = w->server;

	if (s->addr_first == w->address)
		s->addr_first = (w->address + 1) % s->addrs.count;
}

/* A server that failed begins with no unanswered questions when it is back. */
void
flow_server_failed(struct flow *w, int error)
{
	struct frontend_core *f = w->frontend;
	struct server *s = w->server;

	if (!flow_is_current(w))
		return;
	flow_health_drop_address(w);
	forget_questions(w);
	if (frontend_error_blames_server(
		f, s, addr_port(&w->listener->at), error))
		frontend_server_failed(f, s, error, NULL);
}

/* The next address of its server, if there is one that the flow has not tried.
 */
static bool
try_address(struct flow *w)
{
	if (!flow_is_current(w))
		return false;
	flow_health_drop_address(w);
	return ++w->addresses_tried < w->server->addrs.count;
}

/* Whether it is the first refusal since the server's last answer, so that
 * nothing follows from it yet. */
static bool
flow_health_is_first_refusal(struct flow *w, int error)
{
	struct frontend_core *f = w->frontend;
	struct flow_server *r;
	bool first;

	if (!flow_is_current(w) ||
	    !frontend_error_blames_server(
		f, w->server, addr_port(&w->listener->at), error) ||
	    (r = flow_server_record(f->flows, w->server)) == NULL)
		return false;
	first = !r->refused;
	r->refused = true;
	return first;
}

bool
flow_refused(struct flow *w, int error)
{
	bool first = flow_health_is_first_refusal(w, error);

	if (try_address(w) || first) {
		flow_hang_up(w);
		return true;
	}
	if (!flow_is_current(w)) /* none of the present ones got a request
				  * yet */
		w->attempts = (struct attempts){ .count = 0 };
	flow_server_failed(w, error);
	flow_release(w);
	return false;
}

void
flow_cut(void *flow)
{
	struct flow *w = flow;

	if (w->server != NULL && flow_is_current(w) &&
	    pool_cuts_sessions(w->frontend->pool, w->server))
		flow_end(w, REASON_SERVER_DOWN);
	else if (w->server != NULL && flow_is_current(w) &&
	    level_is_outranked(
		w->server, w->frontend->best_level, &w->who, NULL))
		flow_end(w, REASON_SERVER_UP);
}
