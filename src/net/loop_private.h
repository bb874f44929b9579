/* loop_private.h: the inside of the loop, for the files that know libevent:
 * loop.c, loop_watch.c and loop_timer.c, which share struct loop, and
 * resolver.c, which needs the event_base alone. */
#ifndef PEN_NET_LOOP_PRIVATE_H
#define PEN_NET_LOOP_PRIVATE_H

#include <sys/time.h>

#include "base/clock.h"
#include "net/loop.h"

struct event_base;
struct signal_watch;

struct loop {
	struct event_base *base;
	uint64_t now, now_us;
	unsigned turn;
	struct timeval turn_began; /* with the event library's methods only */
	struct list tasks;
	struct event *task_event; /* wakes at once when tasks wait */
	bool dispatching;	  /* tasks will be run without that */
	bool stopped;
	struct signal_watch *signals;
	int epoll_fd; /* -1: libevent watches each descriptor */
	struct event *epoll_event;
};

struct event_base *loop_event_base(struct loop *l);

static inline void
loop_update_now(struct loop *l)
{
	l->now_us = clock_monotonic_us();
	l->now = l->now_us / 1000;
}

/* Runs the tasks that wait now. What they add waits for the next wake-up. */
void loop_run_tasks(struct loop *l);

/* ---- loop_watch.c ---- */

/* Makes the epoll set. Returns 0, also where there is no epoll, or -1 with
 * errno. */
int loop_watch_open(struct loop *l);
void loop_watch_close(struct loop *l);

/* ---- loop_timer.c ---- */

void loop_signals_free(struct loop *l);

#endif
