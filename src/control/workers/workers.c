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
enum { BEAT_MS = 1000, END_MS = 5000 };

/* In a new root, or the sandbox, the files about quotas are others. */
unsigned
workers_wanted(struct pen *p, const struct plan *plan)
{
	unsigned n = plan->config.process.workers;

	if (p->processors == 0)
		p->processors = processors_count("");
	if (p->processors > SOCK_GROUP_MAX)
		p->processors = SOCK_GROUP_MAX;
	return n > 0 ? n : p->processors;
}

/* ---- what is sent to all ---- */

void
workers_send(struct workers *w, unsigned type, const void *bytes, size_t n)
{
	struct seat *s;

	SEAT_EACH (w, s)
		seat_send(s, type, bytes, n);
}

static void
send_all(struct pen *p, unsigned type)
{
	struct workers *w;

	WORKERS_EACH(p, w)
	workers_send(w, type, NULL, 0);
}

static void
workers_drain(struct pen *p)
{
	send_all(p, MESSAGE_DRAIN);
}

static void
workers_hang_up(struct pen *p)
{
	send_all(p, MESSAGE_HANG_UP);
}

/* ---- counters ---- */

/* Peaks are those of the set that serves new clients: the peak of all has those
 * before it, which have had their time, already. */
static int
add_set(struct tally *t, const struct workers *w)
{
	int rc = tally_add(t, &w->gone);
	unsigned i;

	for (i = 0; i < w->count && rc == 0; i++)
		if (w->seat[i].counts != NULL)
			rc = tally_read(t, w->seat[i].counts->bytes,
			    w->seat[i].counts->length, !w->leaves);
	return rc;
}

static void
add_up(struct pen *p)
{
	const struct workers *w;
	struct tally t;
	int rc = 0;

	tally_count_log(&p->team.workers->gone, p);
	tally_init(&t);
	WORKERS_EACH(p, w)
	rc |= add_set(&t, w);
	if (rc == 0)
		tally_apply(p, &t);
	tally_fini(&t);
}

/* Those that come late are behind the times. */
static void
wait_for_counts(struct seat *s)
{
	struct message *m;

	do {
		m = channel_wait(
		    &s->channel, MESSAGE_COUNTS, MESSAGE_COUNTS, COUNT_MS);
		if (m != NULL)
			seat_take_counts(s, m);
	} while (m != NULL && s->awaited > 0);
	loop_soon(s->workers->pen->loop, &s->task);
}

/* Once in a turn. All get the request before the first answer is awaited. Of
 * one that is busy for long, or has ended, the last answer counts. */
static void
workers_count(struct pen *p)
{
	struct workers *w = p->team.workers;
	struct seat *s;

	if (w->sums && w->counted == loop_turn(p->loop))
		return;
	w->sums = true;
	w->counted = loop_turn(p->loop);
	WORKERS_EACH(p, w)
	SEAT_EACH (w, s)
		seat_count(s);
	WORKERS_EACH(p, w)
	SEAT_EACH (w, s)
		wait_for_counts(s);
	add_up(p);
}

/* ---- life ---- */

/* Those that did not end in time. */
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

/* One whose loop does not turn serves no client, and never will. After a pause
 * of the leader itself, perhaps of all, none had a ping to answer. */
static void
on_beat(struct timer *t)
{
	struct workers *w = container_of(t, struct workers, beat);
	uint64_t ms = w->pen->plan->config.process.worker_watchdog_ms,
		 now = clock_monotonic_ms(), since = now - w->beaten;
	struct seat *s;

	w->beaten = now;
	reap_rest(w);
	SEAT_EACH (w, s) {
		if (since > 2 * BEAT_MS)
			s->heard = now;
		if (ms > 0 && now - s->heard > ms + BEAT_MS)
			seat_kill(s, "its loop does not turn");
		else
			seat_send(s, MESSAGE_PING, NULL, 0);
	}
	(void)timer_start(w->pen->loop, t, BEAT_MS);
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
		seat_fini(&w->seat[i]);
	list_remove(&w->end.link);
	list_remove(&w->lend.link);
	buffer_fini(&w->ending);
	timer_fini(&w->beat);
	timer_fini(&w->again);
	reserve_empty(&w->reserve);
	tally_fini(&w->gone);
	buffer_fini(&w->states);
	pool_share_close(&w->share);
	free(w->seat);
	free(w);
}

static void
on_end(struct task *t)
{
	struct workers *w = list_entry(t, struct workers, end), *next;

	next = w->pen->team.workers;
	while (next->past != w)
		next = next->past;
	next->past = w->past;
	(void)tally_add(&next->gone, &w->gone);
	free_set(w);
}

/* Not at once: it may be a part of it that has noticed it. */
void
workers_end(struct workers *w)
{
	struct seat *s;

	SEAT_EACH (w, s)
		return;
	if (w != w->pen->team.workers)
		loop_soon(w->pen->loop, &w->end);
}

static struct workers *
new_set(struct pen *p, unsigned count, struct error *e)
{
	struct workers *w = calloc(1, sizeof(*w));
	unsigned i;

	if (w == NULL || (w->seat = calloc(count, sizeof(*w->seat))) == NULL) {
		free(w);
		error_set(e, "out of memory");
		return NULL;
	}
	w->pen = p;
	w->count = w->wanted = count;
	w->waits = true;
	tally_init(&w->gone);
	timer_init(&w->beat, on_beat);
	timer_init(&w->again, workers_on_again);
	list_init(&w->remotes);
	list_init(&w->end.link);
	w->end.run = on_end;
	list_init(&w->lend.link);
	w->lend.run = lend_on_task;
	buffer_init(&w->ending);
	buffer_init(&w->states);
	for (i = 0; i < count; i++)
		seat_init(&w->seat[i], w, i + 1);
	if (pool_share_open(&w->share, count) == 0 &&
	    timer_start(p->loop, &w->beat, BEAT_MS) == 0)
		return w;
	error_set(e, "shared memory: %s", strerror(errno));
	free_set(w);
	return NULL;
}

/* What an older process has counted. */
static int
keep_counters(const struct pen *p, struct tally *t)
{
	struct buffer counts;
	int rc;

	buffer_init(&counts);
	rc = tally_write(p, &counts);
	if (rc == 0)
		rc = tally_read(
		    t, buffer_bytes(&counts), buffer_length(&counts), false);
	buffer_fini(&counts);
	return rc;
}

int
workers_open(struct pen *p, unsigned count, struct error *e)
{
	struct workers *w = new_set(p, count, e);

	if (w == NULL)
		return -1;
	if (p->team.workers == NULL && keep_counters(p, &w->gone) < 0) {
		free_set(w);
		return error_set(e, "out of memory");
	}
	log_count_lost(&p->team.lines_lost);
	w->past = p->team.workers;
	p->team.size = count;
	p->team.workers = w;
	p->team.count = workers_count;
	p->team.ask = remote_begin;
	p->team.drain = workers_drain;
	p->team.pause = workers_pause;
	p->team.leave = workers_leave;
	p->team.gather = workers_gather;
	p->team.hang_up = workers_hang_up;
	p->team.tell_state = sync_tell;
	return 0;
}

bool
workers_have(const struct pen *p, pid_t pid)
{
	const struct workers *w;
	const struct seat *s;

	WORKERS_EACH (p, w) {
		if (reserve_has(&w->reserve, pid))
			return true;
		SEAT_EACH (w, s)
			if (s->pid == pid)
				return true;
	}
	return false;
}

static void
wait_for_ends(struct workers *w)
{
	uint64_t until = clock_monotonic_ms() + END_MS;
	struct seat *s;
	int status;

	SEAT_EACH (w, s) {
		while (waitpid(s->pid, &status, WNOHANG) == 0 &&
		    clock_monotonic_ms() < until) {
			(void)channel_read(&s->channel);
			(void)poll(NULL, 0, 1);
		}
		if (waitpid(s->pid, &status, WNOHANG) == 0) {
			(void)kill(s->pid, SIGKILL);
			(void)seat_reap(s->pid);
		}
		s->pid = 0;
	}
}

void
workers_forget(struct workers *w)
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
	struct seat *s;

	if (all == NULL)
		return;
	for (w = all; w != NULL; w = w->past)
		SEAT_EACH (w, s)
			(void)channel_send(
			    &s->channel, MESSAGE_END, NULL, 0, 100);
	for (w = all; w != NULL; w = w->past)
		wait_for_ends(w);
	services_part(all->pen);
	workers_forget_flows(all->pen);
	all->pen->team = (struct team){ .size = 1 };
	workers_forget(all);
}
