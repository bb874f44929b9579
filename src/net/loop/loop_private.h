/* loop_private.h: the inside of the loop, which loop.c, loop_epoll.c,
 * loop_watch.c and loop_timer.c share. */
#ifndef PEN_NET_LOOP_PRIVATE_H
#define PEN_NET_LOOP_PRIVATE_H

#include <sys/time.h>

#include "base/clock.h"
#include "base/heap.h"
#include "net/loop/loop_library.h"
#include "net/loop/spin.h"

struct signal_watch;
struct timer_slot;
struct watch_event;

struct loop {
	struct event_base *base;
	uint64_t now, now_us;
	uint64_t lost_us; /* pauses, which its time leaves out */
	uint64_t wake; /* it runs again by then, ms; UINT64_MAX: at any time */
	unsigned turn;
	uint16_t starts; /* of watches; wraps around */
	struct list tasks;
	struct shared_number *number; /* NULL: none */
	bool in_number;		      /* its on_change() is running */
	bool stopped;
	bool failed; /* the event library has */
	struct signal_watch *signals;
	char *scratch; /* of loop_scratch(); NULL: none so far */
	struct timeouts *wheels; /* of timeouts_of_loop() */

	struct heap due;	  /* timers that run, by number, and when: ms */
	struct timer_slot *slots; /* by number */
	uint32_t slots_room;
	uint32_t numbers;	  /* given to timers so far */
	uint32_t free_number;	  /* one that was given back, plus 1; 0: none */

	/* ---- with a set of our own ---- */
	int epoll_fd;	      /* -1: libevent watches each descriptor */
	bool forks;	      /* a child may have copies of descriptors */
	struct watch library; /* libevent's own set */
	bool library_due;     /* it has something to do */
	struct watch alarm;   /* a timerfd */
	uint64_t alarm_at;    /* ms: it goes off by then; UINT64_MAX: never */
	bool busy; /* the last turn may have been long */
	struct spin spin;

	/* ---- with the event library's methods only ---- */
	struct timeval turn_began;
	struct watch_event **events; /* by descriptor */
	uint32_t events_room;
	struct event *task_event;  /* wakes at once when tasks wait */
	struct event *timer_event; /* wakes when the first timer is due */
	struct timer look;	   /* for errors they don't report */
	bool looking;		   /* it runs */
};

/* The time of the loop at this moment. */
static inline uint64_t
loop_clock_us(const struct loop *l)
{
	return clock_monotonic_us() - l->lost_us;
}

/* Reads the clock. */
void loop_update_now(struct loop *l);

/* Runs the tasks that wait now. What they add waits for the next wake-up. */
void loop_run_tasks(struct loop *l);

/* Calls what waits for nothing and has an error, once each. */
void loop_check_for_errors(struct timer *look);

/* ---- loop_epoll.c ---- */

/* Makes the set, unless there is no epoll or libevent's set cannot be found.
 * Returns 0, also then, or -1 with errno. */
int loop_epoll_open(struct loop *l);
void loop_epoll_close(struct loop *l);
/* Registers in the set what a watch needs. Returns 0, or -1 with errno. */
int loop_epoll_want(struct loop *l, struct watch *w);
/* Takes a descriptor out that may stay open. */
void loop_epoll_remove(struct loop *l, struct watch *w);
/* Runs until the loop is stopped. */
void loop_epoll_run(struct loop *l);

/* ---- loop_timer.c ---- */

/* Returns 0, or -1 when memory is short. */
int loop_timers_init(struct loop *l);
void loop_timers_fini(struct loop *l);
/* Calls the timers that are due now. Those that they start wait for the next
 * call. */
void loop_run_timers(struct loop *l);
/* How long to sleep for the first timer, ms; -1: there is none. */
int loop_timers_wait(const struct loop *l);
/* Whether one should have come so long ago. */
bool loop_timers_overdue(const struct loop *l, uint64_t ms);

#endif
