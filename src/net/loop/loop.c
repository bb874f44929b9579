/* loop.c: creates and runs the event loop; its tasks and its time. Descriptors
 * are in loop_watch.c and loop_epoll.c, timers and signals in loop_timer.c. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

#include <event2/event.h>

#include "base/memory.h"
#include "net/loop/loop_private.h"
#include "net/loop/timeouts.h"

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

uint64_t
loop_now_us(const struct loop *l)
{
	return l->now_us;
}

/* No turn takes longer than this, us, besides its sleep. If it does, the
 * process was stopped, or its machine moved, and no peer could reach it
 * meanwhile: time that goes on by itself would end sessions and blame servers
 * for a pause of our own. Of such a turn so much counts; of such a sleep all
 * but its last part, so that what was due at its end has this time left. */
enum { LATE_US = 500 * 1000 };

void
loop_update_now(struct loop *l)
{
	uint64_t now = loop_clock_us(l);
	uint64_t due = l->now_us, counts = l->now_us + LATE_US;

	if (l->wake > l->now) {
		due = l->wake < UINT64_MAX / 1000 ? l->wake * 1000 : now;
		counts = due > counts ? due - LATE_US : l->now_us;
	}
	if (now > due && now - due > LATE_US) {
		l->lost_us += now - counts;
		now = counts;
	}
	l->now_us = now;
	l->now = now / 1000;
}

void
loop_poll_library(struct loop *l)
{
	l->library_due = true;
}

/* ---- a number of another process ---- */

void
loop_watch_number(struct loop *l, struct shared_number *n)
{
	l->number = n;
}

bool
loop_number_changed(const struct loop *l)
{
	return l->number != NULL && !l->in_number &&
	    atomic_load(l->number->now) != l->number->seen;
}

bool
loop_check_number(struct loop *l)
{
	struct shared_number *n = l->number;
	bool changed = false;

	while (loop_number_changed(l)) {
		changed = l->in_number = true;
		n->seen = atomic_load(n->now);
		n->on_change(n);
		l->in_number = false;
	}
	return changed;
}

/* ---- tasks ---- */

/* Where libevent does the waiting it wakes the loop at once, but after
 * descriptors and timers. event_active() would come before them, and a task
 * that adds itself again would starve them. */
static void
wake_for_tasks(struct loop *l)
{
	static const struct timeval now = { 0, 0 };

	if (l->epoll_fd < 0)
		(void)event_add(l->task_event, &now);
}

/* Tasks that these tasks add wait for the next wake-up, so that a task which
 * adds itself again cannot starve the descriptors. */
void
loop_run_tasks(struct loop *l)
{
	struct list now = LIST_INIT(now);
	struct list *link;

	if (list_is_empty(&l->tasks))
		return;
	(void)loop_check_number(l);
	list_insert_after(l->tasks.prev, &now);
	list_remove(&l->tasks);
	while ((link = list_first(&now)) != NULL) {
		struct task *t = list_entry(link, struct task, link);

		list_remove(link);
		t->run(t);
	}
	if (!list_is_empty(&l->tasks))
		wake_for_tasks(l);
}

static void
on_task_event(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;

	(void)fd;
	(void)what;
	loop_update_now(l);
	loop_run_tasks(l);
}

void
loop_soon(struct loop *l, struct task *t)
{
	if (t->link.next != NULL && !list_is_empty(&t->link))
		return;
	if (list_is_empty(&l->tasks))
		wake_for_tasks(l);
	list_append(&l->tasks, &t->link);
}

/* ---- life ---- */

/* libevent takes a method when all others are excluded. */
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
	watch_init(&l->library);
	watch_init(&l->alarm);
	timer_init(&l->look, loop_check_for_errors);
	l->epoll_fd = -1;
	l->wake = UINT64_MAX;
	loop_update_now(l);
	if (open_base(l, method, e) < 0) {
		loop_free(l);
		return NULL;
	}
	l->task_event = event_new(l->base, -1, 0, on_task_event, l);
	if (l->task_event == NULL || loop_timers_init(l) < 0 ||
	    (strcmp(loop_method(l), "epoll") == 0 && loop_epoll_open(l) < 0)) {
		error_set(e, "event loop: %s", strerror(errno));
		loop_free(l);
		return NULL;
	}
	return l;
}

void
loop_forks(struct loop *l)
{
	l->forks = true;
}

/* Closing the copy of a set leaves the parent's as it is; taking something out
 * of it would not. */
int
loop_reopen(struct loop *l)
{
	loop_epoll_close(l);
	l->forks = false;
	watch_init(&l->library);
	if (event_reinit(l->base) < 0) {
		errno = ENOMEM;
		return -1;
	}
	loop_update_now(l);
	return strcmp(loop_method(l), "epoll") == 0 ? loop_epoll_open(l) : 0;
}

static void
free_wheels(struct loop *l)
{
	struct timeouts *t;

	while ((t = l->wheels) != NULL) {
		l->wheels = t->next;
		timeouts_fini(t);
		free(t);
	}
}

void
loop_free(struct loop *l)
{
	if (l == NULL)
		return;
	/* Tasks free what was closed after the last wake-up. */
	while (!list_is_empty(&l->tasks))
		loop_run_tasks(l);
	free_wheels(l);
	loop_remove_signals(l);
	timer_fini(&l->look);
	loop_timers_fini(l);
	loop_epoll_close(l);
	if (l->task_event != NULL)
		event_free(l->task_event);
	if (l->base != NULL)
		event_base_free(l->base);
	free(l->events);
	memory_free_apart(l->scratch);
	free(l);
}

struct timeouts *
timeouts_of_loop(struct loop *l,
    void (*on_expired)(struct timeouts *t, struct expiry *x),
    uint64_t (*true_due)(struct expiry *x))
{
	struct timeouts *t;

	for (t = l->wheels; t != NULL; t = t->next)
		if (t->on_expired == on_expired && t->true_due == true_due)
			return t;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return NULL;
	timeouts_init(t, l, on_expired, true_due);
	t->next = l->wheels;
	l->wheels = t;
	return t;
}

char *
loop_scratch(struct loop *l)
{
	if (l->scratch == NULL)
		l->scratch = memory_apart(LOOP_SCRATCH);
	return l->scratch;
}

const char *
loop_method(const struct loop *l)
{
	return event_base_get_method(l->base);
}

size_t
loop_fds_max(const struct loop *l)
{
	return strcmp(loop_method(l), "select") == 0 ? FD_SETSIZE : SIZE_MAX;
}

const char *
loop_library_version(void)
{
	return event_get_version();
}

/* libevent forgets a stop that comes before it waits, as from a first task. */
int
loop_run(struct loop *l)
{
	l->stopped = false;
	loop_run_tasks(l);
	if (l->stopped)
		return 0;
	if (l->epoll_fd >= 0)
		loop_epoll_run(l);
	else if (event_base_dispatch(l->base) < 0)
		l->failed = true;
	return l->failed ? -1 : 0;
}

void
loop_spin(struct loop *l, bool on)
{
	if (l->spin.on != on)
		spin_init(&l->spin, on);
}

void
loop_stop(struct loop *l)
{
	l->stopped = true;
	event_base_loopbreak(l->base);
}
