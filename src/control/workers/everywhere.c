/* everywhere.c: a change comes into force in all processes, or in none.
 *
 *     leader   check, prepare --PREPARE--> all --PREPARED--> commit --COMMIT-->
 *     worker   -----------------check, prepare, wait for the verdict----commit
 *
 * The command goes to the workers as it was given, with the addresses that its
 * names have; each makes its own draft of it. The workers' participant is the
 * last that prepares: in the leader it sends the command to all, in a worker it
 * waits for the decision of the leader, and serves no client meanwhile. So the
 * leader first pings all, and refuses the change when one does not answer, and
 * also when one stops while it prepares; see prepared.c. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/apply/direct.h"
#include "control/apply/services.h"
#include "control/socket/request.h"
#include "control/workers/change.h"
#include "control/workers/worker_private.h"
#include "control/workers/workers_private.h"

/* ---- the leader: all or none ---- */

/* With one process sessions are in the process that would lead. */
static int
check_number(const struct apply *a, unsigned wanted, struct error *e)
{
	const struct pen *p = a->pen;

	if (p->phase < PHASE_SERVING || p->team.member > 0 ||
	    wanted == p->team.size)
		return 0;
	if (p->phase != PHASE_SERVING)
		return error_set(e, "pen is stopping");
	if (wanted > 1 && p->team.size > 1)
		return 0;
	return error_set(e,
	    "the number of workers changes from one to several, or back, "
	    "only at a start or an upgrade");
}

int
workers_check(struct apply *a, struct error *e)
{
	unsigned wanted = workers_wanted(a->pen, a->draft);

	if (check_number(a, wanted, e) < 0)
		return -1;
	if (wanted == 1)
		return 0;
	if (direct_is_wanted(a->wanted))
		return error_set(e,
		    "direct server return is served by one process: workers "
		    "must be 1");
	return 0;
}

/* Also of services that do not change. */
static int
grow(struct apply *a, unsigned members, struct error *e)
{
	struct service *svc = NULL;

	if (a->new)
		return frontend_grow(a->service->frontend, members, e);
	if (!service_is_first(a->service))
		return 0;
	SERVICE_EACH (a->pen, svc)
		if (!svc->leaves &&
		    frontend_grow(svc->frontend, members, e) < 0)
			return -1;
	return 0;
}

int
workers_sockets_prepare(struct apply *a, struct error *e)
{
	struct workers *w = a->pen->team.workers;
	struct seat *s;

	if (w == NULL)
		return 0;
	if (grow(a, workers_wanted(a->pen, a->draft), e) < 0)
		return -1;
	if (!a->first && listen_list_equal(&a->now->listen, &a->wanted->listen))
		return 0;
	SEAT_EACH (w, s)
		frontend_each_member(a->service->frontend, s->member - 1, false,
		    seat_send_socket, s);
	return 0;
}

/* Workers that wait for the verdict have it, and all forget sockets that they
 * got for nothing. */
void
workers_sockets_cancel(struct apply *a)
{
	struct workers *w = a->pen->team.workers;

	if (w != NULL && service_is_first(a->service))
		workers_send(w, MESSAGE_CANCEL, NULL, 0);
}

/* That the leader waited here is no pause of its own: who is stuck goes on
 * being so for the watchdog. */
static int
all_turn(struct workers *w, struct error *e)
{
	struct message *m;
	struct seat *s;
	int rc = 0;

	SEAT_EACH (w, s) /* answers to earlier ones */
		while ((m = seat_take(s, MESSAGE_PONG, MESSAGE_PONG)) != NULL)
			free(m);
	workers_send(w, MESSAGE_PING, NULL, 0);
	SEAT_EACH (w, s)
		if (!seat_turns(s))
			rc = error_set(
			    e, "worker %u does not answer", s->member);
	w->beaten = clock_monotonic_ms();
	return rc;
}

static int
tell_all(struct apply *a, struct error *e)
{
	struct workers *w = a->pen->team.workers;
	struct buffer change;

	buffer_init(&change);
	if (change_write(a, ++w->changes, &change) < 0) {
		buffer_fini(&change);
		return error_set(e, "out of memory");
	}
	workers_send(w, MESSAGE_PREPARE, buffer_bytes(&change),
	    buffer_length(&change));
	buffer_fini(&change);
	return prepared_by_all(w, e);
}

/* Another number of workers has its room before it is in force. */
static int
prepare_all(struct apply *a, struct error *e)
{
	struct workers *w = a->pen->team.workers;
	unsigned wanted = workers_wanted(a->pen, a->wanted);

	if (wanted != w->wanted && wanted != w->count &&
	    reserve_fill(&w->reserve, wanted, e) < 0)
		return -1;
	if (all_turn(w, e) == 0 && tell_all(a, e) == 0)
		return 0;
	reserve_empty(&w->reserve);
	return -1;
}

/* Servers that are new, or checked in another way. */
void
workers_states_commit(struct apply *a)
{
	struct workers *w = a->pen->team.workers;
	bool all = checks_concern_all(a);
	size_t i, n = all ? pool_slots(a->service->pool) : a->servers.count;
	const struct server *s;
	int rc = 0;

	for (i = 0; w != NULL && i < n && rc == 0; i++) {
		s = pool_slot(a->service->pool,
		    all ? (unsigned)i : a->servers.list[i].slot);
		if (s != NULL && s->present)
			rc = sync_write(a->service, s, &w->states);
	}
	if (rc < 0)
		log_error("out of memory");
}

/* ---- the worker ---- */

static void
never_wakes(struct request *q)
{
	(void)q;
}

/* The command of the leader; it has what a command may wait for. */
static int
do_line(struct worker *w, struct change_bytes *c, struct error *e)
{
	char *line = strndup(c->line, c->head.line);
	struct caller caller = {
		.access = ACCESS_ADMIN, .who = "by command", .prompt = true
	}; /* whose service stays */
	struct request q;
	int rc = 0;

	memcpy(caller.service, c->head.service, sizeof(caller.service));
	request_init(&q, w->pen, &caller, never_wakes);
	if (line == NULL || change_read_names(c, w->pen, &q.names) < 0 ||
	    request_begin(&q, line) < 0)
		rc = error_set(e, "out of memory");
	while (rc == 0 && request_run(&q) == REQUEST_FULL)
		buffer_cut(&q.reply.out, 0);
	if (rc == 0 && q.failed) {
		*e = q.error;
		rc = -1;
	}
	request_fini(&q);
	free(line);
	return rc;
}

/* As refresh.c does it. */
static int
do_refresh(struct worker *w, struct change_bytes *c, struct error *e)
{
	struct plan *draft;
	struct names n;
	int rc = -1;

	names_init(&n);
	draft = plan_copy(w->pen->plan);
	if (draft == NULL || change_read_names(c, w->pen, &n) < 0) {
		error_set(e, "out of memory");
		plan_free(draft);
	} else {
		rc = apply_plan(w->pen, draft, &n, e);
	}
	names_fini(&n);
	return rc;
}

static void
refuse(struct worker *w, const struct error *e)
{
	char bytes[sizeof(w->change) + sizeof(e->text)];
	size_t n = strlen(e->text);

	memcpy(bytes, &w->change, sizeof(w->change));
	memcpy(bytes + sizeof(w->change), e->text, n);
	worker_say(w->pen, MESSAGE_REFUSED, bytes, sizeof(w->change) + n);
}

void
worker_change(struct worker *w, const struct message *m)
{
	struct change_bytes c;
	struct error e;
	int rc;

	if (change_begin(&c, m->bytes, m->length) < 0)
		return;
	worker_take_sockets(w, m);
	w->verdict_due = false;
	w->change = c.head.number;
	team_hush(w->pen, true);
	rc = c.head.line > 0 ? do_line(w, &c, &e) : do_refresh(w, &c, &e);
	if (rc < 0 || !w->verdict_due)
		inherited_fini(&w->pen->inherited);
	team_hush(w->pen, false);
	if (!w->verdict_due) {
		if (rc == 0)
			error_set(&e, "it changes nothing here");
		refuse(w, &e);
	}
	if (w->verdict != NULL)
		sync_hear(w->pen, w->verdict->bytes, w->verdict->length);
	free(w->verdict);
	w->verdict = NULL;
}

/* All is prepared here. */
static int
await_verdict(struct worker *w, struct error *e)
{
	struct message *m;

	w->verdict_due = true;
	worker_say(w->pen, MESSAGE_PREPARED, &w->change, sizeof(w->change));
	m = channel_wait(
	    &w->channel, MESSAGE_COMMIT, MESSAGE_CANCEL, VERDICT_MS);
	if (m != NULL && m->type == MESSAGE_COMMIT) {
		w->verdict = m;
		return 0;
	}
	free(m);
	return error_set(e, "refused by another worker");
}

/* ---- either of them ---- */

int
workers_prepare(struct apply *a, struct error *e)
{
	struct team *t = &a->pen->team;

	return t->worker != NULL ? await_verdict(t->worker, e)
	    : t->workers != NULL ? prepare_all(a, e)
				 : 0;
}

/* A context that is new made its keys by itself in each process. */
void
workers_keys_commit(struct apply *a)
{
	const struct tls_server *t = a->service->tls_config->server;
	struct workers *w = a->pen->team.workers;
	struct shared_keys k;

	if (w == NULL || t == NULL || !tls_config_may_differ(a))
		return;
	memset(&k, 0, sizeof(k));
	memcpy(k.service, a->service->name, sizeof(k.service));
	k.length = tls_server_share_keys(t, k.keys);
	workers_send(w, MESSAGE_KEYS, &k, sizeof(k));
	tls_wipe(&k, sizeof(k));
}

static bool
share_is_used_up(const struct workers *w)
{
	const struct service *svc;
	size_t servers = 0;

	SERVICE_EACH (w->pen, svc)
		servers += pool_slots(svc->pool);
	return pool_share_is_used_up(&w->share, servers);
}

void
workers_commit(struct apply *a)
{
	struct workers *w = a->pen->team.workers;
	unsigned wanted;

	if (w == NULL)
		return;
	workers_send(w, MESSAGE_COMMIT, buffer_bytes(&w->states),
	    buffer_length(&w->states));
	buffer_cut(&w->states, 0);
	wanted = workers_wanted(a->pen, a->wanted);
	if (wanted != w->wanted)
		w->put_off = false;
	w->wanted = wanted;
	w->used_up =
	    share_is_used_up(w) || shared_memory_is_used_up(&w->counters);
	lend_anew(w);
	if (workers_are_due(w->pen))
		loop_stop(w->pen->loop);
}
