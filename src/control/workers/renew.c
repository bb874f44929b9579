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
enum { GIVE_MS = 5000 };

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
	pause_set(p->team.workers, pause);
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
	workers_post(w, MESSAGE_LEAVE, NULL, 0);
	workers_end(w);
}

void
workers_leave(struct pen *p)
{
	leave_set(p->team.workers);
}

/* Those that have come with the message. */
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

static int
gather(struct workers *w, bool flows, bool first, struct buffer *out,
    struct passed *sockets)
{
	struct give give = { .flows = flows, .sockets = sockets != NULL };
	struct message *m;
	struct seat *s;
	int rc = 0;

	if (first)
		w->giver = w->begun = 0;
	if (w->giver >= w->count)
		return 0;
	s = &w->seat[w->giver];
	give.first = !w->begun;
	seat_post(s, MESSAGE_GIVE, &give, sizeof(give));
	m = seat_wait(s, MESSAGE_GIVEN, MESSAGE_GIVEN_ALL, GIVE_MS);
	if (m != NULL) {
		rc = buffer_append(out, m->bytes, m->length);
		take_sockets(&s->channel, m, sockets);
	}
	w->begun = m != NULL && m->type == MESSAGE_GIVEN;
	w->giver += !w->begun;
	free(m);
	return rc < 0 ? -1 : w->giver < w->count;
}

int
workers_gather(struct pen *p, bool flows, bool first, struct buffer *out,
    struct passed *sockets)
{
	return gather(p->team.workers, flows, first, out, sockets);
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
		rc = gather(w, flows, first, &piece, &sockets);
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
			frontend_share(svc->frontend, p->team.size,
			    p->plan->process->workers_by);
}

/* Nothing has happened. */
static void
go_back(struct pen *p, struct workers *old)
{
	struct workers *new = p->team.workers;
	unsigned i;

	workers_forget_flows(p);
	p->team.workers = old;
	p->team.size = old->count;
	share_anew(p);
	new->past = NULL;
	workers_forget(new);
	log_count_lost(tally_lines_lost(p, &old->counters));
	old->leaves = false;
	services_steer(p);
	pause_set(old, false);
	for (i = 0; i < old->count; i++) /* it has ended meanwhile */
		if (old->seat[i].pid == 0 && !old->seat[i].due)
			seat_replace(&old->seat[i]);
}

/* The sockets are open. Clients that come meanwhile wait in their backlogs. */
int
workers_renew(struct pen *p, struct error *e)
{
	struct workers *old = p->team.workers;
	struct handover_state_reader l;
	unsigned count = old->wanted;

	if (workers_open(p, count, e) < 0)
		return -1;
	p->team.workers->reserve = old->reserve;
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
		if (p->team.member == 0)
			go_back(p, old);
		return -1;
	}
	if (p->team.member > 0)
		return 0;
	old->wanted = old->count;
	services_steer(p);
	leave_set(old);
	workers_go(p);
	return 0;
}
