/* replicate.c: a change goes one way:
 *
 *     leader   check, prepare, commit --CHANGE--> the answer of the command
 *     worker                            '-> check, prepare, commit
 *
 * The leader posts what workers need to do the same: the command as it was
 * given, what its names and files were, sockets; see change.h. It waits for
 * none of them: one that is stopped gets it when it goes on, and one that ends
 * is replaced by a fork of the leader, where it is in force.
 *
 * A worker that cannot make a change, or lacks the one before, serves as before
 * and makes no further ones. Its leader replaces it, with all of its set, by
 * forks of itself, as for another number of workers: old ones serve their
 * sessions to the end; see renew.c. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/direct.h"
#include "control/apply/services.h"
#include "control/socket/request.h"
#include "control/workers/change.h"
#include "control/workers/worker_private.h"
#include "control/workers/workers_private.h"

/* ---- the leader ---- */

/* Refuses a change between one worker and several while pen runs: with one, the
 * sessions are in the process that would become the leader. */
static int
check_number(const struct apply_all *a, unsigned wanted, struct error *e)
{
	const struct pen *p = a->pen;

	if (p->phase < PHASE_SERVING || p->role.member > 0 ||
	    wanted == p->role.size)
		return 0;
	if (p->phase != PHASE_SERVING)
		return error_set(e, "pen is stopping");
	if (wanted > 1 && p->role.size > 1)
		return 0;
	return error_set(e,
	    "the number of workers changes from one to several, or back, "
	    "only at a start or an upgrade");
}

int
workers_check(struct apply_all *a, struct error *e)
{
	return check_number(a, workers_wanted(a->pen, a->draft), e);
}

int
workers_check_service(struct apply *a, struct error *e)
{
	if (workers_wanted(a->pen, a->draft) != 1 &&
	    direct_is_wanted(a->wanted))
		return error_set(e,
		    "direct server return is served by one process: workers "
		    "must be 1");
	return 0;
}

/* Sockets of so many workers, also of services that do not change. */
static int
grow(struct apply_all *a, unsigned members, struct error *e)
{
	const struct apply *one;
	struct service *svc = NULL;

	for (one = a->one; one < a->one + a->count; one++)
		if (one->new &&
		    frontend_grow(one->service->frontend, members, e) < 0)
			return -1;
	SERVICE_EACH (a->pen, svc)
		if (!svc->leaves &&
		    frontend_grow(svc->frontend, members, e) < 0)
			return -1;
	return 0;
}

/* Another number of workers has its room before it is in force. Nothing can
 * fail after that. */
static int
prepare_change(struct apply_all *a, struct error *e)
{
	struct workers *w = a->pen->role.workers;
	unsigned wanted = workers_wanted(a->pen, a->draft);

	/* sockets of a member that is not there any more would be first in the
	 * group of new ones at the same address */
	w->closes = (a->changed & CHANGED_LISTEN) != 0 || a->leaves;
	if (grow(a, wanted, e) < 0)
		return -1;
	if (wanted != w->wanted && wanted != w->count &&
	    reserve_fill(&w->reserve, wanted, e) < 0)
		return -1;
	workers_announce(w);
	return 0;
}

/* Posts the sockets of new listeners. */
static void
post_sockets(const struct apply_all *all, struct worker_slot *s)
{
	const struct apply *a;

	for (a = all->one; a < all->one + all->count; a++)
		if (a->changed & CHANGED_LISTEN)
			frontend_each_member(a->service->frontend,
			    s->member - 1, false, worker_slot_post_socket, s);
}

/* Workers know of it since it was prepared; without memory they get one that
 * they cannot make. */
static void
post_change(const struct apply_all *a, struct workers *w)
{
	struct buffer change;
	struct worker_slot *s;

	buffer_init(&change);
	if (change_write(a, ++w->changes, &change) < 0) {
		log_error("out of memory");
		w->is_stale = true;
		buffer_cut(&change, 0);
	}
	WORKER_SLOT_EACH (w, s) {
		post_sockets(a, s);
		worker_slot_post(s, MESSAGE_CHANGE, buffer_bytes(&change),
		    buffer_length(&change));
	}
	tls_wipe(change.data, change.size);
	buffer_fini(&change);
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

static void
commit_worker_count(struct apply_all *a)
{
	struct workers *w = a->pen->role.workers;
	unsigned wanted = workers_wanted(a->pen, a->draft);

	if (wanted != w->wanted)
		w->put_off = false;
	w->wanted = wanted;
	w->used_up =
	    share_is_used_up(w) || shared_memory_is_used_up(&w->counters);
	cover_anew(w);
	if (workers_are_due(w->pen))
		loop_stop(w->pen->loop);
}

/* ---- the worker ---- */

/* A command of the leader. While it reads a long file of an access list the
 * worker serves, and what else its leader sends waits. */
struct making {
	struct worker *worker;
	struct message *message;
	struct change_bytes bytes;
	struct caller caller; /* its service stays: it has a prompt */
	struct request request;
};

void
worker_give_up_change(struct worker *w)
{
	struct making *k = w->making;

	if (k == NULL)
		return;
	w->making = NULL;
	request_fini(&k->request);
	free(k->message);
	free(k);
}

static void
join_keys(struct pen *p, const char *bytes, unsigned count)
{
	struct shared_keys k;
	struct service *svc;

	for (; count > 0; count--, bytes += sizeof(k)) {
		memcpy(&k, bytes, sizeof(k));
		svc = service_find(p, k.service);
		if (svc != NULL && svc->tls_config->server != NULL)
			tls_server_join_keys(
			    svc->tls_config->server, k.keys, k.length);
	}
	tls_wipe(&k, sizeof(k));
}

/* Ends the change: it is in force here, or, with `rc` -1 and a full message, it
 * could not be made, and the leader will replace this worker. */
static void
end_change(
    struct worker *w, const struct change_bytes *c, int rc, struct error *e)
{
	if (rc == 0 && w->changes != w->next)
		rc = error_set(e, "it changes nothing here");
	inherited_fini(&w->pen->sockets.inherited);
	w->is_stale = rc < 0;
	w->taken++;
	if (rc < 0) {
		worker_send(w->pen, MESSAGE_CANNOT, e->text, strlen(e->text));
		return;
	}
	states_sync_receive(w->pen, c->states, c->head.states);
	join_keys(w->pen, c->keys, c->head.keys);
}

static void
continue_change(struct making *k)
{
	struct worker *w = k->worker;
	struct request *q = &k->request;
	struct buffer *files = &w->pen->role.change.files;
	enum request_result result = REQUEST_DONE;

	if (!q->failed &&
	    buffer_append(files, k->bytes.files, k->bytes.head.files) < 0)
		q->failed = error_set(&q->error, "out of memory") < 0;
	process_role_mute(w->pen, true);
	while (!q->failed && (result = request_run(q)) == REQUEST_FULL)
		buffer_cut(&q->reply.out, 0);
	process_role_mute(w->pen, false);
	buffer_fini(files);
	if (result == REQUEST_WAITS && w->changes != w->next)
		return; /* once it is in force only its answer waits */
	end_change(w, &k->bytes, q->failed ? -1 : 0, &q->error);
	worker_give_up_change(w);
	loop_soon(w->pen->loop, &w->task);
}

static void
on_wake(struct request *q)
{
	continue_change(list_entry(q, struct making, request));
}

/* Returns 0, or -1 without memory. */
static int
make_line(struct worker *w, struct message *m, struct change_bytes *c)
{
	struct making *k = calloc(1, sizeof(*k));
	char *line = strndup(c->line, c->head.line);
	int rc = -1;

	if (k != NULL && line != NULL) {
		*k = (struct making){ .worker = w, .message = m };
		k->caller.access = ACCESS_ADMIN;
		k->caller.prompt = true;
		memcpy(k->caller.service, c->head.service,
		    sizeof(k->caller.service));
		memcpy(k->caller.who, c->head.who, sizeof(k->caller.who));
		request_init(&k->request, w->pen, &k->caller, on_wake);
		if (change_read_names(c, w->pen, &k->request.names) < 0 ||
		    request_begin(&k->request, line) < 0)
			k->request.failed =
			    error_set(&k->request.error, "out of memory") < 0;
		k->bytes = *c;
		w->making = k;
		continue_change(k);
		rc = 0;
	} else {
		free(k);
	}
	free(line);
	return rc;
}

/* Applies new addresses of names, as refresh.c has done in the leader. */
static int
make_refresh(struct worker *w, struct change_bytes *c, struct error *e)
{
	struct pen *p = w->pen;
	struct plan *draft;
	struct names n;
	int rc = -1;

	names_init(&n);
	p->who = c->head.who;
	process_role_mute(p, true);
	draft = plan_copy(p->plan);
	if (draft == NULL || change_read_names(c, p, &n) < 0) {
		error_set(e, "out of memory");
		plan_free(draft);
	} else {
		rc = apply_plan(p, draft, &n, e);
	}
	process_role_mute(p, false);
	p->who = NULL;
	names_fini(&n);
	return rc;
}

void
worker_change(struct worker *w, struct message *m)
{
	struct change_bytes c;
	struct error e;
	int rc = 0;

	if (w->is_stale) {
		w->taken++;
		channel_drop_fds(&w->channel, m);
		free(m);
		return;
	}
	worker_take_sockets(w, m);
	if (change_begin(&c, m->bytes, m->length) < 0)
		rc = error_set(&e, "it is not complete");
	else if (c.head.number != w->changes + 1)
		rc = error_set(&e, "an earlier change is missing");
	w->next = w->changes + 1;
	w->lists = c.head.lists;
	if (rc == 0 && c.head.line > 0 && make_line(w, m, &c) == 0)
		return;
	if (rc == 0)
		rc = c.head.line > 0 ? error_set(&e, "out of memory")
				     : make_refresh(w, &c, &e);
	end_change(w, &c, rc, &e);
	free(m);
}

/* Checks that the worker has read the same files and access lists as its
 * leader. */
static int
check_files(const struct apply_all *a, struct error *e)
{
	const struct process_role *t = &a->pen->role;

	if (buffer_length(&t->change.files) > 0)
		return error_set(e, "the files are not those of the leader");
	if (plan_acls_digest(&a->draft->process->acls) != t->worker->lists)
		return error_set(
		    e, "the access lists are not those of the leader");
	return 0;
}

/* ---- either of them ---- */

int
workers_prepare(struct apply_all *a, struct error *e)
{
	struct process_role *t = &a->pen->role;

	return t->worker != NULL ? check_files(a, e)
	    : t->workers != NULL ? prepare_change(a, e)
				 : 0;
}

void
workers_commit(struct apply_all *a)
{
	struct process_role *t = &a->pen->role;

	if (t->worker != NULL)
		t->worker->changes = t->worker->next;
	if (t->workers == NULL)
		return;
	post_change(a, t->workers);
	commit_worker_count(a);
}
