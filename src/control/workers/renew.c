/* renew.c: a new set of workers takes over from the old one, as a new process
 * does at an upgrade:
 *
 *     old workers   client tables, then pause, flows -> leave: serve what they
 *                          |                                   have to its end
 *     leader               '-> its own tables, sockets of the new number
 *                                 '-- fork --> new workers: keep their clients
 */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "control/apply/services.h"
#include "control/handover/handover_state.h"
#include "control/workers/workers_private.h"

/* How long a piece may take. */
enum { GATHER_MS = 5000 };

/* ---- for an upgrade, too ---- */

static void
pause_set(struct workers *w, bool pause)
{
	w->paused = pause;
	workers_post(w, pause ? MESSAGE_PAUSE : MESSAGE_RESUME, NULL, 0);
}

void
workers_pause(struct pen *p, bool pause)
{
	pause_set(p->role.workers, pause);
	if (pause)
		return;
	services_steer(p); /* the other process may have done it */
	if (workers_are_due(p))
		loop_stop(p->loop);
}

static void
leave_set(struct workers *w)
{
	w->leaves = true;
	workers_post(w, MESSAGE_HAND_OVER, NULL, 0);
	workers_end(w);
}

void
workers_hand_over(struct pen *p)
{
	leave_set(p->role.workers);
}

/* Takes the sockets that have come with the message. */
static void
take_sockets(
    struct channel *c, const struct message *m, struct passed *sockets)
{
	unsigned n = channel_fds(c, m), i;

	for (i = 0; i < n && sockets != NULL; i++) {
		passed_add(sockets, c->passed.fd[i]);
		c->passed.fd[i] = -1;
	}
	channel_drop_fds(c, m);
}

/* Requests the next portion of clients or flows from the workers, one worker
 * after the other, and waits for it. Returns 1: there is more, 0: that was all,
 * -1: no memory. */
static int
gather_next(struct workers *w, bool flows, bool first, struct buffer *out,
    struct passed *sockets)
{
	struct gather gather = { .flows = flows, .sockets = sockets != NULL };
	struct message *m;
	struct worker_slot *s;
	int rc = 0;

	if (first)
		w->gathered = w->begun = 0;
	if (w->gathered >= w->count)
		return 0;
	s = &w->slots[w->gathered];
	gather.first = !w->begun;
	worker_slot_post(s, MESSAGE_GATHER, &gather, sizeof(gather));
	m = worker_slot_wait(
	    s, MESSAGE_GATHERED, MESSAGE_GATHERED_ALL, GATHER_MS);
	if (m != NULL) {
		rc = buffer_append(out, m->bytes, m->length);
		take_sockets(&s->channel, m, sockets);
	}
	w->begun = m != NULL && m->type == MESSAGE_GATHERED;
	w->gathered += !w->begun;
	free(m);
	return rc < 0 ? -1 : w->gathered < w->count;
}

int
workers_gather(struct pen *p, bool flows, bool first, struct buffer *out,
    struct passed *sockets)
{
	return gather_next(p->role.workers, flows, first, out, sockets);
}

/* ---- a new number ---- */

static void
gather_all(struct workers *w, bool flows, struct handover_state_reader *l)
{
	struct handover_record record;
	struct handover_reader r;
	struct passed sockets = { .fd = NULL };
	struct buffer piece;
	bool first = true;
	int rc;

	l->sockets = &sockets;
	handover_reader_go_on(&r);
	do {
		buffer_init(&piece);
		rc = gather_next(w, flows, first, &piece, &sockets);
		first = false;
		(void)handover_feed(
		    &r, buffer_bytes(&piece), buffer_length(&piece));
		while (handover_next(&r, &record))
			handover_state_read(l, &record);
		buffer_fini(&piece);
	} while (rc > 0);
	handover_reader_fini(&r);
	passed_drop(&sockets);
	l->sockets = NULL;
}

static void
share_anew(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		if (!svc->leaves)
			frontend_share(svc->frontend, p->role.size,
			    p->plan->process->workers_by);
}

/* Nothing has happened. */
static void
go_back(struct pen *p, struct workers *old)
{
	struct workers *new = p->role.workers;
	unsigned i;

	workers_drop_flows(p);
	p->role.workers = old;
	p->role.size = old->count;
	share_anew(p);
	new->past = NULL;
	workers_free_sets(new);
	log_count_lost(worker_counters_lines_lost(p, &old->counters));
	old->leaves = false;
	services_steer(p);
	pause_set(old, false);
	for (i = 0; i < old->count; i++) /* it has ended meanwhile */
		if (old->slots[i].pid == 0 && !old->slots[i].due)
			worker_slot_replace(&old->slots[i]);
}

/* The sockets are open. Clients that come meanwhile wait in their backlogs. */
int
workers_renew(struct pen *p, struct error *e)
{
	struct workers *old = p->role.workers;
	struct handover_state_reader l;
	unsigned count = old->wanted;

	if (workers_open(p, count, e) < 0)
		return -1;
	p->role.workers->reserve = old->reserve;
	old->reserve.count = 0;
	old->leaves = true; /* one that dies is not replaced */
	log_info("new workers=%u before=%u", count, old->count);
	handover_state_reader_init_workers(&l, p);
	gather_all(old, false, &l);
	pause_set(old, true);
	gather_all(old, true, &l);
	handover_state_reader_end(&l);
	share_anew(p);
	services_steer_datagrams(p);
	if (workers_fork_set(p, e) < 0) {
		if (p->role.member == 0)
			go_back(p, old);
		return -1;
	}
	if (p->role.member > 0)
		return 0;
	old->wanted = old->count;
	services_steer(p);
	leave_set(old);
	workers_go(p);
	return 0;
}
