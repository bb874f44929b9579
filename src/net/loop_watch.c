/* loop_watch.c: descriptors: an epoll set of our own, or libevent's events.
 *
 * libevent owns the wait. With the epoll method the sockets themselves sit in
 * an epoll set of our own, whose descriptor libevent watches: a socket then
 * costs the 32 bytes of its struct watch instead of an event of 128 and a map
 * entry, changing an interest is one system call, and a batch of events is
 * handed out in one go. The other methods use one libevent event per watch.
 * Must never call back for a watch that was stopped. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>
#ifdef HAVE_SYS_EPOLL_H
#include <sys/epoll.h>
#endif

#include "net/loop_private.h"

/* Events fetched at once, and how often in a row before timers get a turn. */
enum { BATCH = 256, ROUNDS = 8 };

/* ---- descriptors: an epoll set of our own ---- */

#ifdef HAVE_SYS_EPOLL_H

static uint32_t
to_epoll(unsigned want)
{
	return (want & READY_READ ? EPOLLIN | EPOLLRDHUP : 0u) |
	    (want & READY_WRITE ? (uint32_t)EPOLLOUT : 0u) |
	    (want & WATCH_LEVEL ? 0u : (uint32_t)EPOLLET | (uint32_t)EPOLLPRI);
}

/* Events that are rare, apart from the common ones. */
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
		loop_update_now(l);
		for (i = 0; i < n; i++) {
			struct watch *w = ev[i].data.ptr;

			if (w->fd >= 0)
				w->on_ready(w, from_epoll(ev[i].events));
		}
		l->dispatching = false;
		loop_run_tasks(l);
	} while (n == BATCH && ++round < ROUNDS);
}

int
loop_watch_open(struct loop *l)
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

int
loop_watch_open(struct loop *l)
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

/* Counts a turn when the library's cached time has changed: it reads the clock
 * each time it polls the sockets, and only then. */
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
	loop_update_now(we->loop);
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
watch_change(struct loop *l, struct watch *w, unsigned want)
{
	uint8_t before = w->want;
	int rc;

	w->want = (uint8_t)want;
	rc = l->epoll_fd >= 0 ? epoll_want(l, w) : event_want(l, w);
	if (rc < 0)
		w->want = before;
	return rc;
}

int
watch_start(
    struct loop *l, struct watch *w, int fd, unsigned want, watch_fn *on_ready)
{
	int error;

	*w = (struct watch){ .fd = fd, .on_ready = on_ready };
	if (watch_change(l, w, want) == 0)
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
	/* close() removes a descriptor from the set. One that stays open has to
	 * be removed here; only a listener (WATCH_LEVEL) may. */
	if (l->epoll_fd >= 0 && w->listed && w->armed & WATCH_LEVEL)
		epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
#else
	(void)l;
#endif
	w->fd = -1;
	w->listed = false;
	w->armed = 0;
}

void
loop_watch_close(struct loop *l)
{
	if (l->epoll_event != NULL)
		event_free(l->epoll_event);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
}
