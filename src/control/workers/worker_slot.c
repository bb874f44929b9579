/* worker_slot.c: one worker, as its leader sees it: its messages, its end, and
 * when it is replaced. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/workers/workers_private.h"

/* So often, every millisecond, to see whether one has ended, before it is
 * killed, and after that. */
enum { REAP_TRIES = 1000 };
/* How long one that was just replaced must last for the next one to come at
 * once; the longest pause. */
enum { LASTS_MS = 60000, PAUSE_MS = 1000, PAUSE_MAX_MS = 30000 };
/* Bytes that are kept for one that is busy, or stopped, before it is ended. */
enum { KEPT_MAX = 16 << 20 };

/* Waits for the end of the process, which its channel has reported: that is
 * closed a moment before the process can be waited for. A process that has only
 * closed its channel is killed. Returns its status. */
int
worker_slot_reap(pid_t pid)
{
	int status = 0, tries;

	for (tries = 0; tries < 2 * REAP_TRIES; tries++) {
		if (waitpid(pid, &status, WNOHANG) != 0)
			return status;
		if (tries == REAP_TRIES)
			(void)kill(pid, SIGKILL);
		(void)poll(NULL, 0, 1);
	}
	return -1;
}

static void
log_end(const struct worker_slot *s, pid_t pid, int status)
{
	if (status < 0)
		log_error("worker does not end worker=%u pid=%ld "
			  "error=\"a call to the system does not return\"",
		    s->member, (long)pid);
	else if (WIFSIGNALED(status))
		log_error("worker killed worker=%u pid=%ld signal=%d "
			  "error=\"%s\"",
		    s->member, (long)pid, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (s->workers->leaves)
		log_info("worker ended worker=%u pid=%ld "
			 "reason=\"its sessions are over\"",
		    s->member, (long)pid);
	else if (s->workers->pen->phase == PHASE_SERVING)
		log_error("worker ended worker=%u pid=%ld status=%d", s->member,
		    (long)pid, WEXITSTATUS(status));
}

static void
stop_for_fork(struct worker_slot *s)
{
	s->due = true;
	if (workers_are_due(s->workers->pen))
		loop_stop(s->workers->pen->loop);
}

static bool
others_serve(const struct worker_slot *s)
{
	struct worker_slot *other;

	WORKER_SLOT_EACH (s->workers, other)
		return true;
	return false;
}

/* The first one is replaced at once, those that follow it after a pause, for
 * which another one has its clients. */
void
worker_slot_replace(struct worker_slot *s)
{
	struct loop *l = s->workers->pen->loop;
	uint64_t ms = PAUSE_MS;
	unsigned i;

	if (loop_now(l) - s->started > LASTS_MS)
		s->deaths = 0;
	for (i = 1; i < s->deaths && ms < PAUSE_MAX_MS; i++)
		ms *= 2;
	if (s->deaths++ == 0 ||
	    timer_start(l, &s->again, others_serve(s) ? ms : PAUSE_MS) < 0)
		stop_for_fork(s);
	else
		cover_soon(s->workers);
}

static void
on_again(struct timer *t)
{
	stop_for_fork(container_of(t, struct worker_slot, again));
}

/* The worker has ended: the sockets of other workers that it served for them
 * are served by it no longer. */
static void
forget_help(struct worker_slot *s)
{
	struct workers *w = s->workers;
	bool any = false;
	unsigned i;

	for (i = 0; i < w->count; i++)
		if (w->slots[i].cover == s->member) {
			w->slots[i].cover = 0;
			any = true;
		}
	if (any)
		cover_soon(w);
}

/* A worker has ended: keeps its counters, fails the reports that were requested
 * of it, and forks another one. */
static void
worker_slot_lose(struct worker_slot *s)
{
	struct pen *p = s->workers->pen;
	pid_t pid = s->pid;
	int status;

	if (pid == 0)
		return;
	s->pid = 0;
	watch_stop(p->loop, &s->watch);
	channel_close(&s->channel);
	list_remove(&s->task.link);
	forget_help(s);
	status = worker_slot_reap(pid);
	log_end(s, pid, status);
	if (status < 0)
		(void)buffer_append(&s->workers->ending, &pid, sizeof(pid));
	pool_share_clear(&s->workers->share, s->member - 1);
	worker_counters_move(
	    p, &s->workers->counters, &s->workers->counters, s->member - 1);
	remote_lose(s);
	if (s->workers->leaves)
		workers_end(s->workers);
	else if (p->phase == PHASE_SERVING)
		worker_slot_replace(s);
}

void
worker_slot_kill(struct worker_slot *s, const char *why)
{
	if (s->pid == 0)
		return;
	log_error("worker is stuck worker=%u pid=%ld error=\"%s\"", s->member,
	    (long)s->pid, why);
	(void)kill(s->pid, SIGKILL);
	worker_slot_lose(s);
}

/* ---- messages ---- */

static void
worker_slot_receive(struct worker_slot *s, const struct message *m)
{
	switch (m->type) {
	case MESSAGE_ANSWER:
	case MESSAGE_ANSWERED:
		remote_receive(s, m);
		break;
	case MESSAGE_STATE:
		if (!s->workers->leaves) /* its servers may be others */
			states_sync_receive(
			    s->workers->pen, m->bytes, m->length);
		break;
	case MESSAGE_CANNOT:
		workers_replace(s, m->bytes);
		break;
	default: /* it turns */
		break;
	}
}

static void
worker_slot_take_messages(struct worker_slot *s)
{
	struct message *m;

	while (s->pid != 0 && (m = channel_next(&s->channel)) != NULL) {
		s->last_message = clock_monotonic_ms();
		worker_slot_receive(s, m);
		free(m);
	}
}

static void
worker_slot_want_room(struct worker_slot *s)
{
	bool more = buffer_length(&s->channel.out) > 0;

	(void)watch_want(s->workers->pen->loop, &s->watch,
	    READY_READ | WATCH_LEVEL | (more ? READY_WRITE : 0u));
}

void
worker_slot_on_messages(struct watch *w, unsigned ready)
{
	struct worker_slot *s = container_of(w, struct worker_slot, watch);
	int rc = channel_read(&s->channel);

	worker_slot_take_messages(s);
	if (rc < 0) {
		worker_slot_lose(s);
	} else if (ready & READY_WRITE && s->pid != 0) {
		(void)channel_flush(&s->channel);
		worker_slot_want_room(s);
	}
}

static void
worker_slot_on_task(struct task *t)
{
	worker_slot_take_messages(container_of(t, struct worker_slot, task));
}

void
worker_slot_post(
    struct worker_slot *s, unsigned type, const void *bytes, size_t n)
{
	if (s->pid == 0)
		return;
	if (buffer_length(&s->channel.out) > KEPT_MAX ||
	    channel_post(&s->channel, type, bytes, n) < 0)
		worker_slot_kill(s, "takes no messages");
	else if (buffer_length(&s->channel.out) > 0)
		worker_slot_want_room(s);
}

/* A change that lacks one cannot be carried out. */
void
worker_slot_post_socket(void *slot, int fd)
{
	struct worker_slot *s = slot;

	if (s->pid != 0)
		(void)channel_post_fd(&s->channel, fd);
}

struct message *
worker_slot_wait(
    struct worker_slot *s, unsigned type, unsigned other, uint64_t ms)
{
	struct message *m;

	if (s->pid == 0)
		return NULL;
	m = channel_wait(&s->channel, type, other, ms);
	if (m != NULL)
		s->last_message = clock_monotonic_ms();
	if (!list_is_empty(&s->channel.messages))
		loop_soon(s->workers->pen->loop, &s->task);
	if (m == NULL && channel_read(&s->channel) < 0)
		worker_slot_lose(s);
	else if (m == NULL)
		worker_slot_kill(s, "does not answer");
	return m;
}

/* ---- life ---- */

void
worker_slot_init(struct worker_slot *s, struct workers *w, unsigned member)
{
	s->workers = w;
	s->member = member;
	s->due = true;
	s->channel.fd = -1;
	s->task.run = worker_slot_on_task;
	list_init(&s->task.link);
	watch_init(&s->watch);
	timer_init(&s->again, on_again);
}

void
worker_slot_fini(struct worker_slot *s)
{
	watch_stop(s->workers->pen->loop, &s->watch);
	list_remove(&s->task.link);
	channel_close(&s->channel);
	timer_fini(&s->again);
}
