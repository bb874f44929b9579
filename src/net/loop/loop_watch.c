/* loop_watch.c: descriptors: in the loop's own epoll set, or an event of
 * libevent's each, with the methods that have none. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include <event2/event.h>

#include "base/array.h"
#include "net/loop/loop_private.h"

/* ---- an event of libevent's ---- */

struct watch_event {
	struct loop *loop;
	struct watch *watch;
	struct event *event;
};

/* The watch may have been stopped, and its descriptor have another one. */
static bool
is_gone(const struct loop *l, evutil_socket_t fd, uint16_t start)
{
	return l->events[fd] == NULL || l->events[fd]->watch->start != start;
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	struct watch_event *we = arg;
	struct loop *l = we->loop;
	uint16_t start = we->watch->start;
	struct timeval began;
	unsigned ready = 0;

	loop_update_now(l);
	if (loop_check_number(l) && is_gone(l, fd, start))
		return;
	/* A turn has begun when the library's cached time has changed: it reads
	 * the clock each time it polls the sockets, and only then. */
	event_base_gettimeofday_cached(l->base, &began);
	if (evutil_timercmp(&began, &l->turn_began, !=)) {
		l->turn_began = began;
		l->turn++;
	}
	if (what & EV_READ)
		ready |= READY_READ;
	if (what & EV_WRITE) /* may be an error: these methods don't report
			      * it */
		ready |= READY_WRITE | READY_ERROR;
	we->watch->on_ready(we->watch, ready);
}

/* ---- errors of what waits for nothing ---- */

enum { LOOK_MS = 1000 };

/* The library leaves out what waits for nothing, and with it the reset of a
 * peer. Each error is reported once. */
void
loop_check_for_errors(struct timer *t)
{
	struct loop *l = container_of(t, struct loop, look);
	uint32_t i;

	l->looking = false;
	for (i = 0; i < l->events_room; i++) {
		struct watch *w =
		    l->events[i] != NULL ? l->events[i]->watch : NULL;
		struct pollfd p = { .fd = (int)i };

		if (w == NULL || w->armed != WATCH_LISTED)
			continue;
		l->looking = true;
		if (poll(&p, 1, 0) <= 0)
			continue;
		w->armed |= READY_ERROR;
		w->on_ready(w, READY_READ | READY_WRITE | READY_ERROR);
	}
	if (l->looking)
		(void)timer_start(l, t, LOOK_MS);
}

static void
start_error_checks(struct loop *l)
{
	if (!l->looking)
		l->looking = timer_start(l, &l->look, LOOK_MS) == 0;
}

/* The libevent event of the watch's descriptor, made if there is none. NULL
 * without memory. */
static struct watch_event *
watch_event_of(struct loop *l, struct watch *w)
{
	struct watch_event **events = array_grow(
	    l->events, &l->events_room, sizeof(*events), (uint32_t)w->fd);
	struct watch_event *we;

	if (events == NULL)
		return NULL;
	l->events = events;
	we = events[w->fd];
	if (we != NULL) {
		we->watch = w;
		return we;
	}
	we = malloc(sizeof(*we));
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
	events[w->fd] = we;
	return we;
}

/* Makes libevent wait for what the watch wants. */
static int
event_want(struct loop *l, struct watch *w)
{
	unsigned need = w->want & (READY_READ | READY_WRITE);
	struct watch_event *we;
	short what = (short)(EV_PERSIST | (need & READY_READ ? EV_READ : 0) |
	    (need & READY_WRITE ? EV_WRITE : 0));

	if (w->armed == (need | WATCH_LISTED))
		return 0;
	we = watch_event_of(l, w);
	if (we == NULL)
		return -1;
	event_del(we->event);
	event_assign(we->event, l->base, w->fd, what, on_event, we);
	w->armed = (uint8_t)(need | WATCH_LISTED);
	if (need != 0)
		return event_add(we->event, NULL);
	start_error_checks(l);
	return 0;
}

/* ---- either of them ---- */

int
watch_change(struct loop *l, struct watch *w, unsigned want)
{
	uint8_t before = w->want;
	int rc;

	w->want = (uint8_t)want;
	rc = l->epoll_fd >= 0 ? loop_epoll_want(l, w) : event_want(l, w);
	if (rc < 0)
		w->want = before;
	return rc;
}

int
watch_start(
    struct loop *l, struct watch *w, int fd, unsigned want, watch_fn *on_ready)
{
	int error;

	*w = (struct watch){
		.fd = fd, .start = ++l->starts, .on_ready = on_ready
	};
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
	struct watch_event *we = w->fd >= 0 && (uint32_t)w->fd < l->events_room
	    ? l->events[w->fd]
	    : NULL;

	if (we != NULL) {
		l->events[w->fd] = NULL;
		event_free(we->event);
		free(we);
	}
	/* close() removes a descriptor from the set. One that stays open, here
	 * or in a child, has to be removed; here only a listener (WATCH_LEVEL)
	 * may. */
	if (l->epoll_fd >= 0 &&
	    (w->armed & WATCH_LEVEL || (l->forks && w->armed != 0)))
		loop_epoll_remove(l, w);
	w->fd = -1;
	w->armed = 0;
}
