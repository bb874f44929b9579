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
#include "control/workers/workers_private.h"
#include "net/sock_group.h"

/* How often the leader looks whether workers turn; how long one that was just
 * replaced must last for the next one to come at once; the longest pause. */
enum {
	BEAT_MS = 1000,
	LASTS_MS = 60000,
	PAUSE_MS = 1000,
	PAUSE_MAX_MS = 30000
};
/* How long workers may take for their end. */
enum { END_MS = 5000 };

unsigned
workers_wanted(const struct plan *plan)
{
	unsigned n = plan->config.process.workers;
	long cpus;

	if (n > 0)
		return n;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return cpus < 1		    ? 1
	    : cpus < SOCK_GROUP_MAX ? (unsigned)cpus
				    : SOCK_GROUP_MAX;
}

/* ---- one of them ---- */

/* Its end was seen on the channel, which is closed a moment before the process
 * can be waited for; one that only closed it is killed. */
static int
reap(pid_t pid)
{
	int status = 0, tries;

	for (tries = 0; tries < 1000; tries++) {
		if (waitpid(pid, &status, WNOHANG) != 0)
			return status;
		(void)poll(NULL, 0, 1);
	}
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void
keep_counts(struct seat *s)
{
	struct tally t;

	if (s->counts == NULL)
		return;
	tally_init(&t);
	if (tally_read(&t, s->counts->bytes, s->counts->length) == 0) {
		tally_end(&t);
		(void)tally_add(&s->workers->gone, &t);
	}
	tally_fini(&t);
	free(s->counts);
	s->counts = NULL;
}

static void
log_end(const struct seat *s, pid_t pid, int status)
{
	if (WIFSIGNALED(status))
		log_error("worker killed worker=%u pid=%ld signal=%d "
			  "error=\"%s\"",
		    s->member, (long)pid, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (s->workers->pen->phase == PHASE_SERVING)
		log_error("worker ended worker=%u pid=%ld status=%d", s->member,
		    (long)pid, WEXITSTATUS(status));
}

static void
stop_for_fork(struct seat *s)
{
	s->due = true;
	loop_stop(s->workers->pen->loop);
}

/* The first one is replaced at once, those that follow it after a pause. */
static void
replace(struct seat *s)
{
	struct loop *l = s->workers->pen->loop;
	uint64_t ms = PAUSE_MS;
	unsigned i;

	if (loop_now(l) - s->born > LASTS_MS)
		s->deaths = 0;
	for (i = 1; i < s->deaths && ms < PAUSE_MAX_MS; i++)
		ms *= 2;
	if (s->deaths++ == 0 || timer_start(l, &s->again, ms) < 0)
		stop_for_fork(s);
}

static void
on_again(struct timer *t)
{
	stop_for_fork(container_of(t, struct seat, again));
}

static void
seat_lose(struct seat *s)
{
	struct pen *p = s->workers->pen;
	pid_t pid = s->pid;

	if (pid == 0)
		return;
	s->pid = 0;
	watch_stop(p->loop, &s->watch);
	channel_close(&s->channel);
	list_remove(&s->task.link);
	list_init(&s->task.link);
	log_end(s, pid, reap(pid));
	pool_share_clear(&s->workers->share, s->member - 1);
	keep_counts(s);
	remote_lose(s);
	s->workers->sums = false;
	if (p->phase == PHASE_SERVING)
		replace(s);
}

void
seat_kill(struct seat *s, const char *why)
{
	if (s->pid == 0)
		return;
	log_error("worker is stuck worker=%u pid=%ld error=\"%s\"", s->member,
	    (long)s->pid, why);
	(void)kill(s->pid, SIGKILL);
	seat_lose(s);
}

/* ---- messages ---- */

static void
take_counts(struct seat *s, struct message *m)
{
	free(s->counts);
	s->counts = m;
}

/* Returns whether it is kept. */
static bool
seat_hear(struct seat *s, struct message *m)
{
	switch (m->type) {
	case MESSAGE_COUNTS: /* late */
		take_counts(s, m);
		return true;
	case MESSAGE_ANSWER:
	case MESSAGE_ANSWERED:
		remote_hear(s, m);
		break;
	case MESSAGE_STATE:
		sync_hear(s->workers->pen, m->bytes, m->length);
		break;
	default: /* it turns */
		break;
	}
	return false;
}

static void
take_messages(struct seat *s)
{
	struct message *m;

	while (s->pid != 0 && (m = channel_next(&s->channel)) != NULL) {
		s->heard = clock_monotonic_ms();
		if (!seat_hear(s, m))
			free(m);
	}
}

static void
on_messages(struct watch *w, unsigned ready)
{
	struct seat *s = container_of(w, struct seat, watch);
	int rc = channel_read(&s->channel);

	(void)ready;
	take_messages(s);
	if (rc < 0)
		seat_lose(s);
}

static void
on_task(struct task *t)
{
	take_messages(container_of(t, struct seat, task));
}

void
seat_send(struct seat *s, unsigned type, const void *bytes, size_t n)
{
	bool sent;

	if (s->pid == 0)
		return;
	errno = 0;
	sent = channel_send(&s->channel, type, bytes, n, SEND_MS) == 0;
	if (!sent && errno == EPIPE)
		seat_lose(s);
	else if (!sent)
		seat_kill(s, "takes no messages");
	else if (!list_is_empty(&s->channel.messages))
		loop_soon(s->workers->pen->loop, &s->task);
}

struct message *
seat_wait(struct seat *s, unsigned type, unsigned other, uint64_t ms)
{
	struct message *m;

	if (s->pid == 0)
		return NULL;
	m = channel_wait(&s->channel, type, other, ms);
	if (m == NULL) {
		if (channel_read(&s->channel) < 0)
			seat_lose(s);
		else
			seat_kill(s, "does not answer");
		return NULL;
	}
	s->heard = clock_monotonic_ms();
	if (!list_is_empty(&s->channel.messages))
		loop_soon(s->workers->pen->loop, &s->task);
	return m;
}

/* ---- counters ---- */

static void
add_up(struct workers *w)
{
	struct tally t;
	unsigned i;
	int rc;

	tally_init(&t);
	rc = tally_add(&t, &w->gone);
	for (i = 0; i < w->count && rc == 0; i++)
		if (w->seat[i].counts != NULL)
			rc = tally_read(&t, w->seat[i].counts->bytes,
			    w->seat[i].counts->length);
	if (rc == 0)
		tally_apply(w->pen, &t);
	tally_fini(&t);
}

/* Once in a turn. All get the request before the first answer is awaited. Of
 * one that is busy for long, or has ended, the last answer counts. */
static void
workers_count(struct pen *p)
{
	struct workers *w = p->team.workers;
	struct message *m;
	struct seat *s;

	if (w->sums && w->counted == loop_turn(p->loop))
		return;
	w->sums = true;
	w->counted = loop_turn(p->loop);
	SEAT_EACH (w, s)
		seat_send(s, MESSAGE_COUNT, NULL, 0);
	SEAT_EACH (w, s) {
		m = channel_wait(
		    &s->channel, MESSAGE_COUNTS, MESSAGE_COUNTS, COUNT_MS);
		if (m != NULL)
			take_counts(s, m);
		loop_soon(p->loop, &s->task);
	}
	add_up(w);
}

/* ---- what happens to all ---- */

static void
workers_drain(struct pen *p)
{
	struct seat *s;

	SEAT_EACH (p->team.workers, s)
		seat_send(s, MESSAGE_DRAIN, NULL, 0);
}

static void
workers_hang_up(struct pen *p)
{
	struct seat *s;

	SEAT_EACH (p->team.workers, s)
		seat_send(s, MESSAGE_HANG_UP, NULL, 0);
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

/* ---- life ---- */

int
workers_open(struct pen *p, struct error *e)
{
	struct workers *w = calloc(1, sizeof(*w));
	unsigned i, n = p->team.size;

	if (w == NULL || (w->seat = calloc(n, sizeof(*w->seat))) == NULL) {
		free(w);
		return error_set(e, "out of memory");
	}
	w->pen = p;
	w->count = n;
	tally_init(&w->gone);
	timer_init(&w->beat, on_beat);
	list_init(&w->remotes);
	buffer_init(&w->states);
	for (i = 0; i < n; i++) {
		struct seat *s = &w->seat[i];

		s->workers = w;
		s->member = i + 1;
		s->due = true;
		s->channel.fd = -1;
		s->task.run = on_task;
		list_init(&s->task.link);
		watch_init(&s->watch);
		timer_init(&s->again, on_again);
	}
	if (pool_share_open(&w->share, n) < 0) {
		free(w->seat);
		free(w);
		return error_set(e, "shared memory: %s", strerror(errno));
	}
	p->team.workers = w;
	p->team.share = &w->share;
	services_join(p);
	p->team.count = workers_count;
	p->team.ask = remote_begin;
	p->team.drain = workers_drain;
	p->team.hang_up = workers_hang_up;
	p->team.tell_state = sync_tell;
	if (timer_start(p->loop, &w->beat, BEAT_MS) == 0)
		return 0;
	return error_set(e, "out of memory");
}

bool
workers_are_due(const struct pen *p)
{
	const struct workers *w = p->team.workers;
	unsigned i;

	for (i = 0; w != NULL && p->phase == PHASE_SERVING && i < w->count; i++)
		if (w->seat[i].due)
			return true;
	return false;
}

static int
fork_one(struct seat *s, struct error *e)
{
	struct pen *p = s->workers->pen;
	struct channel end;
	pid_t pid;

	if (channel_open_pair(&s->channel, &end) < 0)
		return error_set(e, "socketpair: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		channel_close(&s->channel);
		return worker_become(s, &end, e);
	}
	channel_close(&end);
	s->born = loop_now(p->loop);
	s->heard = clock_monotonic_ms();
	if (pid > 0 &&
	    watch_start(p->loop, &s->watch, s->channel.fd,
		READY_READ | WATCH_LEVEL, on_messages) == 0) {
		s->pid = pid;
		s->due = false;
		return 0;
	}
	error_set(e, "worker not started: %s", strerror(errno));
	if (pid > 0) /* it sees the end of the channel */
		(void)kill(pid, SIGKILL);
	channel_close(&s->channel);
	if (pid > 0)
		(void)reap(pid);
	return -1;
}

/* At the start all must be there; later one that cannot be forked is tried
 * again. */
int
workers_fork(struct pen *p, struct error *e)
{
	struct workers *w = p->team.workers;
	unsigned i;

	for (i = 0; i < w->count; i++) {
		struct seat *s = &w->seat[i];

		if (!s->due)
			continue;
		if (fork_one(s, e) < 0) {
			if (p->team.member > 0 || s->deaths == 0)
				return -1;
			log_error("%s worker=%u", e->text, s->member);
			s->due = false;
			s->born = loop_now(p->loop);
			replace(s);
		}
		if (p->team.member > 0)
			return 0;
		if (s->deaths > 0)
			log_info("worker replaced worker=%u pid=%ld", s->member,
			    (long)s->pid);
	}
	return 0;
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
			(void)waitpid(s->pid, &status, 0);
		}
		s->pid = 0;
	}
}

void
workers_free(struct workers *w)
{
	struct loop *l;
	struct seat *s;
	unsigned i;

	if (w == NULL)
		return;
	l = w->pen->loop;
	SEAT_EACH (w, s)
		(void)channel_send(&s->channel, MESSAGE_END, NULL, 0, 100);
	wait_for_ends(w);
	for (i = 0; i < w->count; i++) {
		s = &w->seat[i];
		watch_stop(l, &s->watch);
		list_remove(&s->task.link);
		channel_close(&s->channel);
		timer_fini(&s->again);
		free(s->counts);
	}
	timer_fini(&w->beat);
	tally_fini(&w->gone);
	buffer_fini(&w->states);
	services_part(w->pen);
	w->pen->team = (struct team){ .size = 1 };
	pool_share_close(&w->share);
	free(w->seat);
	free(w);
}
