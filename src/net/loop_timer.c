/* loop_timer.c: timers and signals, each an event of libevent's. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include <event2/event.h>

#include "net/loop_private.h"

struct signal_watch {
	struct signal_watch *next;
	struct event *event;
	void (*on_signal)(void *arg);
	void *arg;
};

/* ---- timers ---- */

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct timer *t = arg;

	(void)fd;
	(void)what;
	loop_update_now(t->loop);
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
loop_signals_free(struct loop *l)
{
	struct signal_watch *s;

	while ((s = l->signals) != NULL) {
		l->signals = s->next;
		event_free(s->event);
		free(s);
	}
}
