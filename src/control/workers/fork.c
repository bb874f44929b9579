/* fork.c: workers are forked: all of a set, or none; and one that replaces
 * another. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/apply/services.h"
#include "control/workers/workers_private.h"
#include "pool/sticky/sticky.h"

/* How long the loop of a new one may take for its first turn; until a set that
 * could not be forked is tried again. */
enum { TURN_MS = 5000, AGAIN_MS = 3000 };

static bool
is_to_be_renewed(const struct workers *w)
{
	return (w->wanted != w->count || w->used_up || w->is_stale) &&
	    !w->put_off;
}

bool
workers_are_due(const struct pen *p)
{
	const struct workers *w = p->role.workers;
	unsigned i;

	if (w == NULL || p->phase != PHASE_SERVING || w->paused)
		return false;
	for (i = 0; i < w->count; i++)
		if (w->slots[i].due)
			return true;
	return is_to_be_renewed(w);
}

void
workers_on_again(struct timer *t)
{
	struct workers *w = container_of(t, struct workers, again);

	w->put_off = false;
	if (workers_are_due(w->pen))
		loop_stop(w->pen->loop);
}

void
workers_replace(struct worker_slot *s, const char *why)
{
	struct workers *w = s->workers;
	struct loop *l = w->pen->loop;

	if (w->leaves)
		return;
	log_error("worker has not made a change worker=%u "
		  "pid=%ld error=\"%s\"",
	    s->member, (long)s->pid, why);
	w->is_stale = true;
	if (!w->put_off && loop_now(l) - s->started < AGAIN_MS)
		w->put_off = timer_start(l, &w->again, AGAIN_MS) == 0;
	if (workers_are_due(w->pen))
		loop_stop(l);
}

static int
fork_one(struct worker_slot *s, struct error *e)
{
	struct pen *p = s->workers->pen;
	struct channel end;
	pid_t pid;

	if (channel_open_pair(&s->channel, &end) < 0)
		return error_set(e, "socketpair: %s", strerror(errno));
	loop_forks(p->loop);
	pid = fork();
	if (pid == 0) {
		channel_close(&s->channel);
		return worker_become(s, &end, e);
	}
	channel_close(&end);
	s->started = loop_now(p->loop);
	s->last_message = clock_monotonic_ms();
	if (pid > 0 &&
	    watch_start(p->loop, &s->watch, s->channel.fd,
		READY_READ | WATCH_LEVEL, worker_slot_on_messages) == 0) {
		s->pid = pid;
		s->due = false;
		return 0;
	}
	error_set(e, "worker not started: %s", strerror(errno));
	if (pid > 0) /* it sees the end of the channel */
		(void)kill(pid, SIGKILL);
	channel_close(&s->channel);
	if (pid > 0)
		(void)worker_slot_reap(pid);
	return -1;
}

void
workers_drop_flows(struct pen *p)
{
	struct buffer *all = &p->role.flows;
	struct worker_flow f;

	for (; buffer_length(all) >= sizeof(f);
	     buffer_consume(all, sizeof(f))) {
		memcpy(&f, buffer_bytes(all), sizeof(f));
		if (f.past.has_socket)
			close(f.past.fd);
	}
	buffer_fini(all);
}

/* Empties the leader's client tables and flows of older processes, as the
 * workers have them now. */
static void
forget_clients(struct pen *p)
{
	struct service *svc;

	workers_drop_flows(p);
	SERVICE_EACH (p, svc)
		if (pool_sticky(svc->pool) != NULL &&
		    sticky_count(pool_sticky(svc->pool)) > 0)
			pool_clear_clients(svc->pool);
}

/* ---- a set ---- */

static int
fork_each(struct workers *w, struct error *e)
{
	struct pen *p = w->pen; /* a worker forgets the set */
	unsigned i;

	for (i = 0; i < w->count; i++) {
		reserve_take(&w->reserve);
		if (fork_one(&w->slots[i], e) < 0)
			return -1;
		if (p->role.member > 0)
			return 0;
	}
	return 0;
}

/* Waits until each worker has answered a ping: its loop turns. Returns 0, or -1
 * with a full message. */
static int
all_begin(struct workers *w, struct error *e)
{
	uint64_t end = clock_monotonic_ms() + TURN_MS, now;
	struct message *m;
	struct worker_slot *s;

	WORKER_SLOT_EACH (w, s)
		(void)channel_post(&s->channel, MESSAGE_PING, NULL, 0);
	WORKER_SLOT_EACH (w, s) {
		now = clock_monotonic_ms();
		m = channel_wait(&s->channel, MESSAGE_PONG, MESSAGE_PONG,
		    now < end ? end - now : 1);
		if (m == NULL)
			return error_set(e, "worker %u not started: %s",
			    s->member,
			    channel_read(&s->channel) < 0
				? "it has ended"
				: "its loop does not turn");
		free(m);
	}
	return 0;
}

/* Ends all workers of a set that has no clients yet. */
static void
end_each(struct workers *w)
{
	struct worker_slot *s;
	pid_t pid;

	WORKER_SLOT_EACH (w, s)
		(void)kill(s->pid, SIGKILL);
	WORKER_SLOT_EACH (w, s) {
		pid = s->pid;
		s->pid = 0;
		watch_stop(w->pen->loop, &s->watch);
		list_remove(&s->task.link);
		channel_close(&s->channel);
		(void)worker_slot_reap(pid);
	}
}

int
workers_fork_set(struct pen *p, struct error *e)
{
	struct workers *w = p->role.workers;
	int rc = fork_each(w, e);

	if (p->role.member > 0)
		return rc;
	if (rc == 0)
		rc = all_begin(w, e);
	if (rc < 0)
		end_each(w);
	forget_clients(p);
	if (rc < 0)
		return -1;
	services_part(p);
	p->role.share = &w->share;
	services_join(p);
	return 0;
}

void
workers_go(struct pen *p)
{
	struct workers *w = p->role.workers;

	if (w == NULL || !w->waits)
		return;
	w->waits = false;
	if (!w->paused)
		workers_post(w, MESSAGE_RESUME, NULL, 0);
}

/* The old set goes on, and another one is tried again. */
static int
renew(struct pen *p, struct error *e)
{
	struct workers *w = p->role.workers;
	unsigned count = w->wanted;
	int rc = workers_renew(p, e);

	if (p->role.member > 0 || rc == 0)
		return rc;
	log_error(
	    "workers not changed workers=%u error=\"%s\"", count, e->text);
	w->wanted = count;
	w->put_off = timer_start(p->loop, &w->again, AGAIN_MS) == 0;
	return 0;
}

/* Forks the workers that are due. One that cannot be forked is tried again
 * later. */
static int
fork_due(struct workers *w, struct error *e)
{
	struct pen *p = w->pen;
	unsigned i;

	for (i = 0; i < w->count; i++) {
		struct worker_slot *s = &w->slots[i];

		if (!s->due)
			continue;
		if (fork_one(s, e) < 0) {
			if (p->role.member > 0)
				return -1;
			log_error("%s worker=%u", e->text, s->member);
			s->due = false;
			s->started = loop_now(p->loop);
			worker_slot_replace(s);
			continue;
		}
		if (p->role.member > 0)
			return 0;
		cover_soon(w);
		if (s->deaths > 0)
			log_info("worker replaced worker=%u pid=%ld", s->member,
			    (long)s->pid);
	}
	return 0;
}

int
workers_fork(struct pen *p, struct error *e)
{
	struct workers *w = p->role.workers;

	if (is_to_be_renewed(w))
		return renew(p, e);
	return fork_due(w, e);
}
