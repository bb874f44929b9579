/* loop.c: the event loop over libevent.
 *
 * libevent owns the wait, timers and signals. With the epoll method the
 * sockets themselves sit in an epoll set of our own, whose descriptor libevent
 * watches: a socket then costs the 32 bytes of its struct watch instead of an
 * event of 128 and a map entry, changing an interest is one system call, and a
 * batch of events is handed out in one go. The other methods use one libevent
 * event per watch. Must never call back for a watch that was stopped. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#ifdef HAVE_SYS_EPOLL_H
#include <sys/epoll.h>
#endif

#include "base/clock.h"
#include "net/loop_private.h"

/* Events fetched at once, and how often in a row before timers get a turn. */
enum { BATCH = 256, ROUNDS = 8 };

struct signal_watch {
	struct signal_watch *next;
	struct event *event;
	void (*on_signal)(void *arg);
	void *arg;
};

struct loop {
	struct event_base *base;
	uint64_t now;
	unsigned turn;
	struct timeval turn_began; /* with the event library's methods only */
	struct list tasks;
	struct event *task_event; /* wakes at once when tasks wait */
	bool dispatching;	  /* tasks will be run without that */
	struct signal_watch *signals;
	int epoll_fd; /* -1: libevent watches each descriptor */
	struct event *epoll_event;
};

static void
update_now(struct loop *l)
{
	l->now = clock_monotonic_ms();
}

struct event_base *
loop_event_base(struct loop *l)
{
	return l->base;
}

unsigned
loop_turn(const struct loop *l)
{
	return l->turn;
}

uint64_t
loop_now(const struct loop *l)
{
	return l->now;
}

/* ---- tasks ---- */

/* At once, but after descriptors and timers: an event made active here would come
 * before them, and a task that goes on for ever before all of them. */
static void
wake_for_tasks(struct loop *l)
{
	static const struct timeval now = { 0, 0 };

	(void)event_add(l->task_event, &now);
}

/* Runs what waits now; what those tasks add waits for the next wake-up, so a
 * task that keeps itself busy cannot starve the descriptors. */
static void
run_tasks(struct loop *l)
{
	struct list now = LIST_INIT(now);
	struct list *link;

	if (list_is_empty(&l->tasks))
		return;
	list_insert_after(l->tasks.prev, &now);
	list_remove(&l->tasks);
	while ((link = list_first(&now)) != NULL) {
		struct task *t = list_entry(link, struct task, link);

		list_remove(link);
		t->run(t);
	}
	if (!list_is_empty(&l->tasks) && !l->dispatching)
		wake_for_tasks(l);
}

static void
on_task_event(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;

	(void)fd;
	(void)what;
	update_now(l);
	run_tasks(l);
}

void
loop_soon(struct loop *l, struct task *t)
{
	if (t->link.next != NULL && !list_is_empty(&t->link))
		return;
	if (list_is_empty(&l->tasks) && !l->dispatching)
		wake_for_tasks(l);
	list_append(&l->tasks, &t->link);
}

/* ---- descriptors: an epoll set of our own ---- */

#ifdef HAVE_SYS_EPOLL_H

static uint32_t
to_epoll(unsigned want)
{
	return (want & READY_READ ? EPOLLIN | EPOLLRDHUP : 0u) |
	    (want & READY_WRITE ? (uint32_t)EPOLLOUT : 0u) |
	    (want & WATCH_LEVEL ? 0u : (uint32_t)EPOLLET | (uint32_t)EPOLLPRI);
}

/* What hardly ever comes. */
static unsigned
from_epoll_rare(uint32_t events)
{
	return (events & EPOLLHUP ? READY_READ | READY_WRITE : 0u) |
	    (events & EPOLLERR ? READY_READ | READY_WRITE | READY_ERROR : 0u) |
	    (events & EPOLLPRI ? READY_READ | READY_URGENT : 0u);
}

static unsigned
from_epoll(uint32_t events)
{
	unsigned ready = 0;

	if (events & EPOLLIN)
		ready |= READY_READ;
	if (events & EPOLLOUT)
		ready |= READY_WRITE;
	if (events & EPOLLRDHUP)
		ready |= READY_READ | READY_EOF;
	if (events & (EPOLLHUP | EPOLLERR | EPOLLPRI))
		ready |= from_epoll_rare(events);
	return ready;
}

/* An edge-triggered interest that is no longer wanted is left armed: it costs
 * nothing until the next edge, and taking it away costs a system call. */
static int
epoll_want(struct loop *l, struct watch *w)
{
	unsigned need = w->want | (w->want & WATCH_LEVEL ? 0 : w->armed);
	struct epoll_event ev = { .events = to_epoll(need) };
	int op = w->listed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (w->listed && need == w->armed)
		return 0;
	ev.data.ptr = w;
	if (epoll_ctl(l->epoll_fd, op, w->fd, &ev) < 0)
		return -1;
	w->listed = true;
	w->armed = (uint8_t)need;
	return 0;
}

static void
on_epoll(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;
	struct epoll_event ev[BATCH];
	int n, i, round = 0;

	(void)what;
	l->turn++;
	do {
		l->dispatching = true;
		n = epoll_wait((int)fd, ev, BATCH, 0);
		update_now(l);
		for (i = 0; i < n; i++) {
			struct watch *w = ev[i].data.ptr;

			if (w->fd >= 0)
				w->on_ready(w, from_epoll(ev[i].events));
		}
		l->dispatching = false;
		run_tasks(l);
	} while (n == BATCH && ++round < ROUNDS);
}

static int
epoll_open(struct loop *l)
{
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		return -1;
	l->epoll_event =
	    event_new(l->base, l->epoll_fd, EV_READ | EV_PERSIST, on_epoll, l);
	if (l->epoll_event == NULL || event_add(l->epoll_event, NULL) < 0)
		return -1;
	return 0;
}

#else

static int
epoll_want(struct loop *l, struct watch *w)
{
	(void)l;
	(void)w;
	errno = ENOSYS;
	return -1;
}

static int
epoll_open(struct loop *l)
{
	(void)l;
	return 0;
}

#endif

/* ---- descriptors: one libevent event each ---- */

struct watch_event {
	struct loop *loop;
	struct watch *watch;
	struct event *event;
};

/* The library reads its clock each time it looks at the sockets, and only then. */
static void
note_turn(struct loop *l)
{
	struct timeval began;

	event_base_gettimeofday_cached(l->base, &began);
	if (evutil_timercmp(&began, &l->turn_began, !=)) {
		l->turn_began = began;
		l->turn++;
	}
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	struct watch_event *we = arg;
	unsigned ready = 0;

	(void)fd;
	update_now(we->loop);
	note_turn(we->loop);
	if (what & EV_READ)
		ready |= READY_READ;
	if (what & EV_WRITE) /* may be an error: these methods don't say */
		ready |= READY_WRITE | READY_ERROR;
	we->watch->on_ready(we->watch, ready);
}

static void
watch_event_free(struct watch_event *we)
{
	if (we == NULL)
		return;
	if (we->event != NULL)
		event_free(we->event);
	free(we);
}

static struct watch_event *
watch_event_new(struct loop *l, struct watch *w)
{
	struct watch_event *we = malloc(sizeof(*we));

	if (we == NULL)
		return NULL;
	we->loop = l;
	we->watch = w;
	we->event = event_new(l->base, w->fd, 0, on_event, we);
	if (we->event == NULL) {
		free(we);
		errno = ENOMEM;
		return NULL;
	}
	return we;
}

static int
event_want(struct loop *l, struct watch *w)
{
	unsigned need = w->want & (READY_READ | READY_WRITE);
	short what = (short)(EV_PERSIST | (need & READY_READ ? EV_READ : 0) |
	    (need & READY_WRITE ? EV_WRITE : 0));

	if (w->listed && need == w->armed)
		return 0;
	if (w->event == NULL && (w->event = watch_event_new(l, w)) == NULL)
		return -1;
	event_del(w->event->event);
	event_assign(w->event->event, l->base, w->fd, what, on_event, w->event);
	w->armed = (uint8_t)need;
	w->listed = true;
	return need == 0 ? 0 : event_add(w->event->event, NULL);
}

int
watch_want(struct loop *l, struct watch *w, unsigned want)
{
	w->want = (uint8_t)want;
	return l->epoll_fd >= 0 ? epoll_want(l, w) : event_want(l, w);
}

int
watch_start(
    struct loop *l, struct watch *w, int fd, unsigned want, watch_fn *on_ready)
{
	int error;

	*w = (struct watch){ .fd = fd, .on_ready = on_ready };
	if (watch_want(l, w, want) == 0)
		return 0;
	error = errno;
	watch_stop(l, w);
	errno = error;
	return -1;
}

void
watch_stop(struct loop *l, struct watch *w)
{
	watch_event_free(w->event);
	w->event = NULL;
#ifdef HAVE_SYS_EPOLL_H
	/* close() takes a descriptor out of the set by itself; only one that
	 * stays open has to be taken out, and a listener may. */
	if (l->epoll_fd >= 0 && w->listed && w->armed & WATCH_LEVEL)
		epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
#else
	(void)l;
#endif
	w->fd = -1;
	w->listed = false;
	w->armed = 0;
}

/* ---- timers and signals ---- */

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct timer *t = arg;

	(void)fd;
	(void)what;
	update_now(t->loop);
	t->on_time(t);
}

void
timer_init(struct timer *t, void (*on_time)(struct timer *t))
{
	*t = (struct timer){ .on_time = on_time };
}

int
timer_start(struct loop *l, struct timer *t, uint64_t ms)
{
	struct timeval tv = { .tv_sec = (time_t)(ms / 1000),
		.tv_usec = (suseconds_t)(ms % 1000 * 1000) };

	t->loop = l;
	if (t->event == NULL)
		t->event = event_new(l->base, -1, 0, on_timer, t);
	if (t->event == NULL) {
		errno = ENOMEM;
		return -1;
	}
	return event_add(t->event, &tv);
}

void
timer_stop(struct timer *t)
{
	if (t->event != NULL)
		event_del(t->event);
}

void
timer_fini(struct timer *t)
{
	if (t->event != NULL)
		event_free(t->event);
	t->event = NULL;
}

static void
on_signal_event(evutil_socket_t fd, short what, void *arg)
{
	struct signal_watch *s = arg;

	(void)fd;
	(void)what;
	s->on_signal(s->arg);
}

int
loop_on_signal(
    struct loop *l, int signo, void (*on_signal)(void *arg), void *arg)
{
	struct signal_watch *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -1;
	s->on_signal = on_signal;
	s->arg = arg;
	s->event = evsignal_new(l->base, signo, on_signal_event, s);
	if (s->event == NULL || event_add(s->event, NULL) < 0) {
		if (s->event != NULL)
			event_free(s->event);
		free(s);
		errno = ENOMEM;
		return -1;
	}
	s->next = l->signals;
	l->signals = s;
	return 0;
}

/* ---- life ---- */

/* libevent takes a method by being told to avoid all others. */
static int
avoid_all_but(struct event_config *cfg, const char *method)
{
	const char **names = event_get_supported_methods();
	int i, found = -1;

	for (i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], method) == 0)
			found = 0;
		else
			event_config_avoid_method(cfg, names[i]);
	}
	return found;
}

static int
open_base(struct loop *l, const char *method, struct error *e)
{
	struct event_config *cfg = event_config_new();

	if (cfg == NULL)
		return error_set(e, "event loop: out of memory");
	event_config_set_flag(cfg, EVENT_BASE_FLAG_NOLOCK);
	if (method != NULL && avoid_all_but(cfg, method) < 0) {
		event_config_free(cfg);
		return error_set(e, "%s: not supported on this system", method);
	}
	l->base = event_base_new_with_config(cfg);
	event_config_free(cfg);
	if (l->base == NULL)
		return error_set(e, "event loop: %s", strerror(errno));
	return 0;
}

struct loop *
loop_new(const char *method, struct error *e)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (l == NULL) {
		error_set(e, "event loop: out of memory");
		return NULL;
	}
	list_init(&l->tasks);
	l->epoll_fd = -1;
	update_now(l);
	if (open_base(l, method, e) < 0) {
		loop_free(l);
		return NULL;
	}
	l->task_event = event_new(l->base, -1, 0, on_task_event, l);
	if (l->task_event == NULL ||
	    (strcmp(loop_method(l), "epoll") == 0 && epoll_open(l) < 0)) {
		error_set(e, "event loop: %s", strerror(errno));
		loop_free(l);
		return NULL;
	}
	return l;
}

void
loop_free(struct loop *l)
{
	struct signal_watch *s;

	if (l == NULL)
		return;
	/* What was closed after the last wake-up is still to be freed. */
	l->dispatching = true;
	while (!list_is_empty(&l->tasks))
		run_tasks(l);
	while ((s = l->signals) != NULL) {
		l->signals = s->next;
		event_free(s->event);
		free(s);
	}
	if (l->epoll_event != NULL)
		event_free(l->epoll_event);
	if (l->task_event != NULL)
		event_free(l->task_event);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	if (l->base != NULL)
		event_base_free(l->base);
	free(l);
}

const char *
loop_method(const struct loop *l)
{
	return event_base_get_method(l->base);
}

const char *
loop_library_version(void)
{
	return event_get_version();
}

int
loop_run(struct loop *l)
{
	run_tasks(l);
	return event_base_dispatch(l->base) < 0 ? -1 : 0;
}

void
loop_stop(struct loop *l)
{
	event_base_loopbreak(l->base);
}
