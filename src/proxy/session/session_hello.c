/* session_hello.c: the state HELLO: the steps that a client takes before a
 * server is chosen for it. The frontend has the list of them; a client of plain
 * TCP, without any step, never gets here. A route may have the client take
 * those of another service. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "proxy/session/session_private.h"

/* A step begins, reads from its client, and ends by session_hello_next() or
 * session_close(); `due` limits its time. */
static const struct step {
	bool (*wanted)(const struct frontend_core *f);
	void (*begin)(struct session *s);
	void (*on_client)(struct session *s, unsigned ready);
	void (*on_time)(struct session *s);
	uint64_t (*due)(const struct session *s); /* UINT64_MAX: no limit */
} steps[HELLO_STEPS] = {
	[HELLO_PROXY] = {
		.wanted = session_proxy_wanted,
		.begin = session_proxy_begin,
		.on_client = session_proxy_on_client,
		.on_time = session_proxy_on_time,
		.due = session_hello_due,
	},
	[HELLO_ADMIT] = {
		.wanted = session_admit_wanted,
		.begin = session_admit_begin,
		.on_client = session_wait_on_client,
		.on_time = session_admit_on_time,
		.due = session_admit_due,
	},
	[HELLO_TLS] = {
		.wanted = session_tls_wanted,
		.begin = session_tls_begin,
		.on_client = session_tls_on_client,
		.on_time = session_tls_on_time,
		.due = session_tls_due,
	},
	[HELLO_FIRST] = {
		.wanted = session_first_wanted,
		.begin = session_first_begin,
		.on_client = session_first_on_client,
		.on_time = session_first_on_time,
		.due = session_first_due,
	},
	[HELLO_NEXT] = { /* it begins elsewhere */
		.on_client = session_next_on_client,
		.on_time = session_next_on_time,
		.due = session_next_due,
	},
};

unsigned
session_hello_steps(const struct frontend_core *f)
{
	unsigned i, mask = 0;

	for (i = 0; i < HELLO_STEPS; i++)
		if (steps[i].wanted != NULL && steps[i].wanted(f))
			mask |= 1u << i;
	return mask;
}

uint64_t
session_hello_due(const struct session *s)
{
	uint64_t ms = s->frontend->options.hello_ms;

	return ms == 0 ? UINT64_MAX : s->active + ms;
}

void
session_hello_schedule(struct session *s)
{
	uint64_t due = steps[s->step].due(s);

	expiry_cancel(&s->expiry);
	if (due != UINT64_MAX)
		timeouts_add(s->frontend->sessions->times, &s->expiry, due);
}

/* Begins the first step from `step` on that the frontend has. Bytes after the
 * end of the last one are here already, and no event will report them. */
void
session_hello_from(struct session *s, enum hello_step first)
{
	unsigned step = first;

	while (step < HELLO_STEPS && !(s->frontend->hello & 1u << step))
		step++;
	if (step == HELLO_STEPS) {
		expiry_cancel(&s->expiry);
		session_connect(s);
		return;
	}
	s->step = (uint8_t)step;
	s->active = loop_now(s->frontend->loop);
	if (step != HELLO_ADMIT && s->down.watch.fd < 0 &&
	    session_hello_watch(s) < 0) {
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	session_hello_schedule(s);
	steps[step].begin(s);
}

/* The client's bytes are hardly ever here yet: the loop will report them. */
int
session_hello_watch(struct session *s)
{
	s->down.flags &= ~(unsigned)STREAM_READABLE;
	return watch_start(s->frontend->loop, &s->down.watch, s->down.fd,
	    READY_READ, session_on_client);
}

void
session_hello_next(struct session *s)
{
	session_hello_from(s, (enum hello_step)(s->step + 1u));
}

void
session_hello_on_client(struct session *s, unsigned ready)
{
	steps[s->step].on_client(s, ready);
}

void
session_hello_on_time(struct session *s)
{
	steps[s->step].on_time(s);
}

/* ---- another service ---- */

/* What the service that it came from has noted for itself. What was read from
 * the first bytes stays, unless the other one reads them for its own routes. */
static void
forget_notes(struct session *s, const struct frontend_core *to)
{
	struct session_facts *facts = s->more->facts;

	free(facts->sticky);
	facts->sticky = NULL;
	if (to->routes != NULL) {
		free(facts->first);
		facts->first = NULL;
	}
	s->attempts = (struct attempts){ .proven = s->attempts.proven };
	s->settled = false;
	s->redirected = false;
}

void
session_move(struct session *s, struct frontend_core *to)
{
	struct frontend_core *from = s->frontend;
	uint32_t number = s->number;

	if (!frontend_has_room(to)) {
		session_unserved_now(s, REASON_SERVICE_FULL);
		return;
	}
	if (s->admission != NOT_ADMITTED)
		session_admit_end(s);
	expiry_cancel(&s->expiry);
	if (session_join(s, to->sessions) < 0) {
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	log_debug("session moves session=%u new_session=%u%s", number,
	    s->number, to->label);
	id_table_remove(&from->sessions->ids, number);
	forget_notes(s, to);
	frontend_client_moves(from, to);
	session_hello_from(s, HELLO_ADMIT);
}
