/* loop_timer.c: timers, in a heap of the loop's own; signals, each an event of
 * libevent's.
 *
 * With an epoll set of its own the loop sleeps until the first timer is due;
 * else one event of libevent's wakes it then. A timer that is stopped may
 * leave a wake-up behind that finds nothing to do. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <event2/event.h>

#include "net/loop/loop_private.h"

/* Timers that can be started for the first time without memory. */
enum { SPARE = 64 };

struct signal_watch {
	struct signal_watch *next;
	struct event *event;
	void (*on_signal)(void *arg);
	void *arg;
};

/* Of a number: its timer, or the next number that is free, plus 1. */
struct timer_slot {
	struct timer *timer;
	uint32_t next_free;
};

/* ---- numbers of timers ---- */

/* Room for one more. It is made early: what waits for memory to come back needs
 * a timer, which may be its first. */
static int
reserve_number(struct loop *l)
{
	uint32_t room = l->numbers + SPARE;
	struct timer_slot *slots;

	if (room > l->slots_room && heap_reserve(&l->due, room) == 0) {
		slots = realloc(l->slots, l->due.room * sizeof(*slots));
		if (slots != NULL) {
			l->slots = slots;
			l->slots_room = l->due.room;
		}
	}
	return l->numbers < l->slots_room ? 0 : -1;
}

static int
take_number(struct loop *l, struct timer *t)
{
	uint32_t n = l->free_number;

	if (n == 0) {
		if (reserve_number(l) < 0)
			return -1;
		n = ++l->numbers;
	} else {
		l->free_number = l->slots[n - 1].next_free;
	}
	l->slots[n - 1].timer = t;
	t->number = n;
	t->loop = l;
	list_init(&t->link);
	return 0;
}

/* ---- when they are due ---- */

int
loop_timers_wait(const struct loop *l)
{
	uint64_t due;

	if (heap_top(&l->due) == HEAP_EMPTY)
		return -1;
	due = heap_top_key(&l->due);
	if (due <= l->now)
		return 0;
	return due - l->now < INT_MAX ? (int)(due - l->now) : INT_MAX;
}

bool
loop_timers_overdue(const struct loop *l, uint64_t ms)
{
	return heap_top(&l->due) != HEAP_EMPTY &&
	    heap_top_key(&l->due) + ms < l->now;
}

/* The first timer is set in libevent, unless that will wake the loop by
 * then. */
static void
wake_for_timers(struct loop *l)
{
	struct timeval tv;
	int ms;

	if (l->epoll_fd >= 0 || heap_top(&l->due) == HEAP_EMPTY ||
	    heap_top_key(&l->due) >= l->wake)
		return;
	loop_update_now(l);
	ms = loop_timers_wait(l);
	tv.tv_sec = ms / 1000;
	tv.tv_usec = ms % 1000 * 1000;
	if (event_add(l->timer_event, &tv) == 0)
		l->wake = heap_top_key(&l->due);
}

void
loop_run_timers(struct loop *l)
{
	struct list now = LIST_INIT(now);
	struct list *link;

	while (loop_timers_wait(l) == 0) {
		uint32_t n = (uint32_t)heap_top(&l->due);

		heap_remove(&l->due, n);
		list_append(&now, &l->slots[n].timer->link);
	}
	if (!list_is_empty(&now))
		(void)loop_check_number(l);
	while ((link = list_first(&now)) != NULL) {
		struct timer *t = list_entry(link, struct timer, link);

		list_remove(link);
		t->on_time(t);
	}
}

static void
on_timers(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;

	(void)fd;
	(void)what;
	loop_update_now(l);
	l->wake = 0; /* what is started meanwhile is set below */
	loop_run_timers(l);
	loop_update_now(l);
	l->wake = UINT64_MAX;
	wake_for_timers(l);
}

/* ---- timers ---- */

void
timer_init(struct timer *t, void (*on_time)(struct timer *t))
{
	*t = (struct timer){ .on_time = on_time };
}

int
timer_start(struct loop *l, struct timer *t, uint64_t ms)
{
	if (t->number == 0 && take_number(l, t) < 0) {
		errno = ENOMEM;
		return -1;
	}
	list_remove(&t->link);
	heap_set(&l->due, t->number - 1, loop_clock_us(l) / 1000 + ms);
	wake_for_timers(l);
	return 0;
}

void
timer_stop(struct timer *t)
{
	if (t->number == 0)
		return;
	list_remove(&t->link);
	heap_remove(&t->loop->due, t->number - 1);
}

void
timer_fini(struct timer *t)
{
	struct loop *l = t->loop;

	if (t->number == 0)
		return;
	timer_stop(t);
	l->slots[t->number - 1].next_free = l->free_number;
	l->free_number = t->number;
	t->number = 0;
}

int
loop_timers_init(struct loop *l)
{
	heap_init(&l->due);
	l->timer_event = event_new(l->base, -1, 0, on_timers, l);
	return l->timer_event == NULL ? -1 : 0;
}

void
loop_timers_fini(struct loop *l)
{
	heap_fini(&l->due);
	free(l->slots);
	if (l->timer_event != NULL)
		event_free(l->timer_event);
}

/* ---- signals ---- */

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

void
loop_remove_signals(struct loop *l)
{
	struct signal_watch *s;

	while ((s = l->signals) != NULL) {
		l->signals = s->next;
		event_free(s->event);
		free(s);
	}
}
