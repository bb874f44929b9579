/* loop.h: the event loop: descriptors, timers, signals, and what time it is.
 *
 * Only loop*.c and those that include loop_library.h use the event library. A
 * program has one loop; everything happens in its callbacks.
 *
 * Watches are edge-like: a callback reports what has become possible, and the
 * owner of the descriptor remembers it (stream.h does) and continues until the
 * operation itself returns EAGAIN. On methods that can, interests are
 * registered once per descriptor, and dropping an interest costs no system
 * call; on the others (poll, select) the interest is kept exact, and an error
 * of a descriptor without interests is reported within a second. Callers write
 * the same code for both: they set what they wait for by watch_want(). */
#ifndef PEN_NET_LOOP_H
#define PEN_NET_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

struct loop;

/* What a watch waits for, and what is reported to it. */
enum {
	READY_READ = 1,
	READY_WRITE = 2,
	READY_EOF = 4,	   /* reported only: the peer has sent its FIN */
	READY_ERROR = 8,   /* reported only: maybe an error, see the next
			    * call */
	WATCH_LEVEL = 16,  /* with READY_READ: report again while it lasts */
	READY_URGENT = 32, /* reported only (epoll): urgent data is coming */
	WATCH_LISTED = 64, /* the loop's: the descriptor is registered */
};

struct watch;
typedef void watch_fn(struct watch *w, unsigned ready);

/* Embedded in its owner; init with WATCH_INIT or watch_init(). */
struct watch {
	int fd;	       /* -1: not watching */
	uint8_t want;  /* what the owner waits for */
	uint8_t armed; /* what is registered in the kernel */
	uint16_t start; /* which one it is: events of others are stale */
	watch_fn *on_ready;
};

/* Something to do once, after the callbacks of this wake-up. Embedded in its
 * owner; link is empty while it is not waiting. */
struct task {
	struct list link;
	void (*run)(struct task *t);
};

/* A one-shot timer; the loop refers to it from its first start until
 * timer_fini(). */
struct timer {
	struct loop *loop;
	void (*on_time)(struct timer *t);
	uint32_t number;  /* the loop's; 0: never started */
	struct list link; /* of those that are due */
};

/* `method` is "epoll", "kqueue", "poll", "select" or NULL for the best one.
 * Returns NULL with a full message in `e`. */
struct loop *loop_new(const char *method, struct error *e);
/* Before a fork: a child may have copies of descriptors from now on, so that
 * close() alone does not end events; watch_stop() does, in this process. */
void loop_forks(struct loop *l);
/* In a child process, before the loop is used: opens objects of the kernel of
 * its own, and leaves those of its parent alone. Watches of the loop's own set
 * must be started again; their owners may stop them. Returns 0, or -1 with
 * errno. */
int loop_reopen(struct loop *l);
/* Runs the tasks that are left, then frees; NULL is fine. */
void loop_free(struct loop *l);
/* LOOP_SCRATCH bytes for the running callback, until it returns to the loop;
 * NULL with errno ENOMEM. */
enum { LOOP_SCRATCH = 1024 * 1024 };
char *loop_scratch(struct loop *l);
/* The method in use, as above. */
const char *loop_method(const struct loop *l);

/* The numbers of descriptors that it can watch are below this: select(2) has
 * a limit. */
size_t loop_fds_max(const struct loop *l);

/* The version of the event library. */
const char *loop_library_version(void);

/* Runs until loop_stop(). Returns 0, or -1 when the event library failed. */
int loop_run(struct loop *l);
void loop_stop(struct loop *l);
/* Whether it polls for a moment before it sleeps, where that pays: spin.h. Only
 * with a set of its own; from the start it does not. */
void loop_spin(struct loop *l, bool on);
/* Monotonic ms, read once per wake-up. */
uint64_t loop_now(const struct loop *l);
/* The same reading of the clock, in microseconds. */
uint64_t loop_now_us(const struct loop *l);
/* Counts polls of the sockets; wraps around. */
unsigned loop_turn(const struct loop *l);

static inline void
watch_init(struct watch *w)
{
	*w = (struct watch){ .fd = -1 };
}

/* Starts watching `fd` for `want`. Returns 0, or -1 with errno: then it does
 * not watch. */
int watch_start(
    struct loop *l, struct watch *w, int fd, unsigned want, watch_fn *on_ready);
/* For watch_want(), when the wanted events have changed. */
int watch_change(struct loop *l, struct watch *w, unsigned want);
/* Changes what is waited for. Returns 0, or -1 with errno. */
static inline int
watch_want(struct loop *l, struct watch *w, unsigned want)
{
	return w->want == want ? 0 : watch_change(l, w, want);
}
/* Stops; no callback comes any more, not even for events already fetched. The
 * descriptor stays the caller's, which closes it next: only a WATCH_LEVEL one
 * may be kept and watched again. The memory of `w` must stay until this wake-up
 * is over: free it in a task. */
void watch_stop(struct loop *l, struct watch *w);

/* Runs `t` after the callbacks of this wake-up, before sleeping again. */
void loop_soon(struct loop *l, struct task *t);

void timer_init(struct timer *t, void (*on_time)(struct timer *t));
/* (Re)starts; fires once, after `ms`. Returns 0, or -1 with errno ENOMEM, which
 * can only be at the first start, after those of some dozens of others while
 * memory is short. */
int timer_start(struct loop *l, struct timer *t, uint64_t ms);
void timer_stop(struct timer *t);
void timer_fini(struct timer *t);

/* A number in memory that another process shares, which raises it when it has
 * done something that callbacks here must not miss. */
struct shared_number {
	const _Atomic uint32_t *now;
	uint32_t seen;
	void (*on_change)(struct shared_number *n);
};
/* `n`, one at most, is looked at before each callback; NULL: none is. */
void loop_watch_number(struct loop *l, struct shared_number *n);
/* Whether it differs from what was seen; not during on_change(). */
bool loop_number_changed(const struct loop *l);
/* If the loop's number has changed, calls on_change(), which may do whatever a
 * callback may. For callbacks that are about to handle something new, for
 * example a client. Returns whether it was called. */
bool loop_check_number(struct loop *l);

/* Calls `on_signal(arg)` in the loop for each delivery of `signo`. The loop
 * owns the registration. Returns 0, or -1 with errno. */
int loop_on_signal(
    struct loop *l, int signo, void (*on_signal)(void *arg), void *arg);
/* Forgets all of them. */
void loop_remove_signals(struct loop *l);

#endif
