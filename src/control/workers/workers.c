/* workers.c: the leader's side: workers begin, die, are replaced, and end. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/apply/services.h"
#include "control/workers/processors.h"
#include "control/workers/workers_private.h"
#include "net/sock_group.h"

/* How often the leader looks whether workers turn; how long these may take for
 * their end. */
enum { WATCHDOG_MS = 1000, END_MS = 5000 };

/* How many workers the plan wants. The number of processors is found out once:
 * in a new root, or the sandbox, the files about quotas cannot be read. */
unsigned
workers_wanted(struct pen *p, const struct plan *plan)
{
	unsigned n = plan->process->workers;

	if (p->processors == 0)
		p->processors = processors_count("");
	if (p->processors > SOCK_GROUP_MAX)
		p->processors = SOCK_GROUP_MAX;
	return n > 0 ? n : p->processors;
}

/* ---- what is sent to all ---- */

void
workers_post(struct workers *w, unsigned type, const void *bytes, size_t n)
{
	struct worker_slot *s;

	WORKER_SLOT_EACH (w, s)
		worker_slot_post(s, type, bytes, n);
}

void
workers_announce(struct workers *w)
{
	atomic_store(shared_memory_number(&w->counters), ++w->announced);
}

static void
post_all(struct pen *p, unsigned type)
{
	struct workers *w;

	WORKERS_EACH(p, w)
	workers_post(w, type, NULL, 0);
}

static void
workers_drain(struct pen *p)
{
	post_all(p, MESSAGE_DRAIN);
}

static void
workers_hang_up(struct pen *p)
{
	post_all(p, MESSAGE_HANG_UP);
}

/* ---- counters ---- */

/* Once in a turn. */
static void
workers_count(struct pen *p)
{
	struct workers *w = p->role.workers;

	if (w->sums && w->counted == loop_turn(p->loop))
		return;
	w->sums = true;
	w->counted = loop_turn(p->loop);
	worker_counters_sum(p);
}

static void
workers_join(struct pen *p)
{
	worker_counters_join(p, &p->role.workers->counters, false);
}

/* ---- life ---- */

/* Collects the processes that did not end in time. */
static void
reap_rest(struct workers *w)
{
	const size_t n = sizeof(pid_t);
	size_t left = buffer_length(&w->ending) / n;
	pid_t pid;

	while (left-- > 0) {
		memcpy(&pid, buffer_bytes(&w->ending), n);
		buffer_consume(&w->ending, n);
		if (waitpid(pid, NULL, WNOHANG) == 0)
			(void)buffer_append(&w->ending, &pid, n);
	}
}

/* Kills workers whose loop does not turn: they serve no client, and never will.
 * Not after a pause of the leader itself, in which no worker had a ping to
 * answer. */
static void
on_watchdog(struct timer *t)
{
	struct workers *w = container_of(t, struct workers, watchdog);
	uint64_t ms = w->pen->plan->process->worker_watchdog_ms,
		 now = clock_monotonic_ms(), since = now - w->watched;
	struct worker_slot *s;

	w->watched = now;
	reap_rest(w);
	WORKER_SLOT_EACH (w, s) {
		if (since > 2 * WATCHDOG_MS)
			s->last_message = now;
		if (ms > 0 && now - s->last_message > ms + WATCHDOG_MS)
			worker_slot_kill(s, "its loop does not turn");
		else
			worker_slot_post(s, MESSAGE_PING, NULL, 0);
	}
	(void)timer_start(w->pen->loop, t, WATCHDOG_MS);
}

/* An answer that is not read yet may outlive those that gave it. */
static void
free_set(struct workers *w)
{
	struct list *remote;
	unsigned i;

	while ((remote = list_first(&w->remotes)) != NULL)
		list_remove(remote);
	for (i = 0; i < w->count; i++)
		worker_slot_fini(&w->slots[i]);
	list_remove(&w->end.link);
	list_remove(&w->cover.link);
	buffer_fini(&w->ending);
	timer_fini(&w->watchdog);
	timer_fini(&w->again);
	reserve_empty(&w->reserve);
	if (w->counters.parts != NULL)
		log_stop_counting_lost(
		    worker_counters_lines_lost(w->pen, &w->counters));
	shared_memory_close(&w->counters);
	pool_share_close(&w->share);
	free(w->slots);
	free(w);
}

static void
on_end(struct task *t)
{
	struct workers *w = list_entry(t, struct workers, end), *next;

	next = w->pen->role.workers;
	while (next->past != w)
		next = next->past;
	next->past = w->past;
	worker_counters_move(w->pen, &w->pen->role.workers->counters,
	    &w->counters, w->counters.own);
	free_set(w);
}

/* If none of its workers is left, ends an older set of workers; in the loop's
 * next turn, as the caller may be a part of it. */
void
workers_end(struct workers *w)
{
	struct worker_slot *s;

	WORKER_SLOT_EACH (w, s)
		return;
	if (w != w->pen->role.workers)
		loop_soon(w->pen->loop, &w->end);
}

/* A set of `count` workers, none of which is forked yet, with the memory that
 * they will share. NULL with a full message. */
static struct workers *
new_set(struct pen *p, unsigned count, struct error *e)
{
	uint32_t used =
	    p->role.workers != NULL ? p->role.workers->counters.used : 0;
	struct workers *w = calloc(1, sizeof(*w));
	unsigned i;

	if (w == NULL ||
	    (w->slots = calloc(count, sizeof(*w->slots))) == NULL) {
		free(w);
		error_set(e, "out of memory");
		return NULL;
	}
	w->pen = p;
	w->count = w->wanted = count;
	w->waits = true;
	timer_init(&w->watchdog, on_watchdog);
	timer_init(&w->again, workers_on_again);
	list_init(&w->remotes);
	list_init(&w->end.link);
	w->end.run = on_end;
	list_init(&w->cover.link);
	w->cover.run = cover_on_task;
	buffer_init(&w->ending);
	for (i = 0; i < count; i++)
		worker_slot_init(&w->slots[i], w, i + 1);
	if (pool_share_open(&w->share, count) == 0 &&
	    shared_memory_open(&w->counters, count + 1, used) == 0 &&
	    timer_start(p->loop, &w->watchdog, WATCHDOG_MS) == 0) {
		w->counters.own = count; /* the last one is the leader's */
		return w;
	}
	error_set(e, "shared memory: %s", strerror(errno));
	free_set(w);
	return NULL;
}

static bool
workers_are_there(const struct pen *p)
{
	const struct workers *w;
	const struct worker_slot *s;

	WORKERS_EACH(p, w)
	WORKER_SLOT_EACH (w, s)
		return true;
	return false;
}

int
workers_open(struct pen *p, unsigned count, struct error *e)
{
	struct workers *w = new_set(p, count, e);

	if (w == NULL)
		return -1;
	worker_counters_join(p, &w->counters, true);
	log_count_lost(worker_counters_lines_lost(p, &w->counters));
	w->past = p->role.workers;
	p->role.size = count;
	p->role.workers = w;
	p->role.count = workers_count;
	p->role.count_server = worker_counters_sum_server;
	p->role.clear = worker_counters_clear;
	p->role.join = workers_join;
	p->role.run = remote_begin;
	p->role.await_close = remote_await_close;
	p->role.drain = workers_drain;
	p->role.has_workers = workers_are_there;
	p->role.pause = workers_pause;
	p->role.hand_over = workers_hand_over;
	p->role.gather = workers_gather;
	p->role.hang_up = workers_hang_up;
	p->role.share_state = states_sync_send;
	return 0;
}

bool
workers_have(const struct pen *p, pid_t pid)
{
	const struct workers *w;
	const struct worker_slot *s;

	WORKERS_EACH (p, w) {
		if (reserve_has(&w->reserve, pid))
			return true;
		WORKER_SLOT_EACH (w, s)
			if (s->pid == pid)
				return true;
	}
	return false;
}

static void
wait_for_ends(struct workers *w)
{
	uint64_t until = clock_monotonic_ms() + END_MS;
	struct worker_slot *s;
	int status;

	WORKER_SLOT_EACH (w, s) {
		while (waitpid(s->pid, &status, WNOHANG) == 0 &&
		    clock_monotonic_ms() < until) {
			(void)channel_read(&s->channel);
			(void)poll(NULL, 0, 1);
		}
		if (waitpid(s->pid, &status, WNOHANG) == 0) {
			(void)kill(s->pid, SIGKILL);
			(void)worker_slot_reap(s->pid);
		}
		s->pid = 0;
	}
}

void
workers_free_sets(struct workers *w)
{
	struct workers *past;

	for (; w != NULL; w = past) {
		past = w->past;
		free_set(w);
	}
}

void
workers_free(struct workers *all)
{
	struct workers *w;
	struct worker_slot *s;

	if (all == NULL)
		return;
	for (w = all; w != NULL; w = w->past)
		WORKER_SLOT_EACH (w, s) {
			(void)channel_post(&s->channel, MESSAGE_END, NULL, 0);
			channel_empty(&s->channel, 100);
		}
	for (w = all; w != NULL; w = w->past)
		wait_for_ends(w);
	services_part(all->pen);
	workers_drop_flows(all->pen);
	all->pen->role = (struct process_role){ .size = 1 };
	workers_free_sets(all);
}
