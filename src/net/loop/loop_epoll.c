/* loop_epoll.c: an epoll set of the loop's own, which it waits in.
 *
 *     sockets, pipes ------------.
 *     alarm, when a timer is due - > our set: epoll_wait()
 *     libevent's set ------------'
 *      '- signals, evhttp
 *
 * A socket costs the 16 bytes of its struct watch instead of an event of 128
 * and a map entry, changing an interest is one system call, and a batch of
 * events is handed out in one go. libevent runs when its set has something.
 * The other way round, ours in libevent's, each wake-up took two system calls,
 * and the kernel passed on each event from set to set and took a lock of all
 * processes for each socket that was added.
 *
 * Must never call back for a watch that was stopped. */
#include "config.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#ifdef HAVE_SYS_EPOLL_H
#include <sys/epoll.h>
#include <sys/timerfd.h>
#endif

#include "base/shortcuts.h"
#include "net/loop/loop_private.h"

#ifdef HAVE_SYS_EPOLL_H

/* Events fetched at once; how long they may keep a timer from its turn, ms. */
enum { BATCH = 256, OVERDUE_MS = 1000 };

/* ---- watches ---- */

static uint32_t
to_epoll(unsigned want)
{
	return (want & READY_READ ? EPOLLIN | EPOLLRDHUP : 0u) |
	    (want & READY_WRITE ? (uint32_t)EPOLLOUT : 0u) |
	    (want & WATCH_LEVEL ? 0u : (uint32_t)EPOLLET | (uint32_t)EPOLLPRI);
}

/* Events that are rare, apart from the common ones. */
static unsigned
ready_of_epoll_rare(uint32_t events)
{
	return (events & EPOLLHUP ? READY_READ | READY_WRITE : 0u) |
	    (events & EPOLLERR ? READY_READ | READY_WRITE | READY_ERROR : 0u) |
	    (events & EPOLLPRI ? READY_READ | READY_URGENT : 0u);
}

static unsigned
ready_of_epoll(uint32_t events)
{
	unsigned ready = 0;

	if (events & EPOLLIN)
		ready |= READY_READ;
	if (events & EPOLLOUT)
		ready |= READY_WRITE;
	if (events & EPOLLRDHUP)
		ready |= READY_READ | READY_EOF;
	if (events & (EPOLLHUP | EPOLLERR | EPOLLPRI))
		ready |= ready_of_epoll_rare(events);
	return ready;
}

/* The address of a watch is below 2^48, as all are of programs that do not
 * request others; the rest of the word distinguishes its starts. */
enum { START_BITS = 16 };

static uint64_t
word_of(const struct watch *w)
{
	return (uint64_t)(uintptr_t)w << START_BITS | w->start;
}

/* The watch that an event is for; NULL: it has been stopped since then, and may
 * watch another descriptor by now. */
static struct watch *
watch_of(uint64_t word)
{
	struct watch *w = (struct watch *)(uintptr_t)(word >> START_BITS);

	return w->fd >= 0 && w->start == (uint16_t)word ? w : NULL;
}

/* An edge-triggered interest that is no longer wanted is left armed: it costs
 * nothing until the next edge, and taking it away costs a system call. */
int
loop_epoll_want(struct loop *l, struct watch *w)
{
	unsigned need = WATCH_LISTED | w->want |
	    (!SHORTCUT_ARMED || w->want & WATCH_LEVEL ? 0 : w->armed);
	struct epoll_event ev = { .events = to_epoll(need) };
	int op = w->armed & WATCH_LISTED ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (need == w->armed)
		return 0;
	ev.data.u64 = word_of(w);
	if (epoll_ctl(l->epoll_fd, op, w->fd, &ev) < 0)
		return -1;
	w->armed = (uint8_t)need;
	return 0;
}

void
loop_epoll_remove(struct loop *l, struct watch *w)
{
	(void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
}

/* ---- waiting ---- */

/* Callbacks of the library may free what events of the same batch point to. */
static void
on_library(struct watch *w, unsigned ready)
{
	struct loop *l = container_of(w, struct loop, library);

	(void)ready;
	l->library_due = true;
}

static void
on_alarm(struct watch *w, unsigned ready)
{
	struct loop *l = container_of(w, struct loop, alarm);

	(void)ready;
	l->alarm_at = UINT64_MAX;
}

/* Wakes the loop in `ms`, or before. Each sleep with a timeout has the kernel
 * set a timer up and take it down; an alarm is only set when a timer is due
 * before it, which is seldom, and not read: it is edge-triggered. Returns the
 * timeout for epoll_wait(). */
static int
set_alarm(struct loop *l, int ms)
{
	struct itimerspec in = { .it_value = { ms / 1000,
				     ms % 1000 * 1000000L } };

	if (ms <= 0 || l->alarm.fd < 0)
		return ms;
	if (l->wake < l->alarm_at) {
		if (timerfd_settime(l->alarm.fd, 0, &in, NULL) < 0)
			return ms;
		l->alarm_at = l->wake;
	}
	return -1;
}

/* How long it may sleep, ms; -1: until something comes. The clock is not read
 * after a turn with one event, which is most of them and short: a timer is late
 * by that turn. */
static int
may_sleep(struct loop *l)
{
	int ms;

	if (event_base_get_num_events(l->base, EVENT_BASE_COUNT_ACTIVE) > 0)
		l->library_due = true;
	if (l->library_due || !list_is_empty(&l->tasks))
		return 0;
	if (l->busy)
		loop_update_now(l);
	ms = loop_timers_wait(l);
	l->wake = ms < 0 ? UINT64_MAX : l->now + (uint64_t)ms;
	return set_alarm(l, ms);
}

/* Polls for a moment if that pays, before it sleeps. */
static int
poll_or_sleep(struct loop *l, struct epoll_event *ev)
{
	int n, ms = may_sleep(l);

	if (ms == 0 || !spin_begin(&l->spin, l->now_us))
		return epoll_wait(l->epoll_fd, ev, BATCH, ms);
	do
		n = epoll_wait(l->epoll_fd, ev, BATCH, 0);
	while (spin_again(&l->spin, n != 0, loop_clock_us(l)));
	return n != 0 ? n : epoll_wait(l->epoll_fd, ev, BATCH, ms);
}

/* Whether timers may run in this turn. Events go first: while there may be more
 * of them, or a signal came in between, timers wait, but only for a limited
 * number of turns. */
static bool
timers_have_their_turn(const struct loop *l, int events)
{
	return !l->stopped && events >= 0 &&
	    (events < BATCH || loop_timers_overdue(l, OVERDUE_MS));
}

static void
one_turn(struct loop *l)
{
	struct epoll_event ev[BATCH];
	int i, n;

	n = poll_or_sleep(l, ev);
	if (n < 0 && errno != EINTR)
		l->stopped = l->failed = true;
	l->turn++;
	loop_update_now(l);
	l->wake = 0;
	for (i = 0; i < n; i++) {
		struct watch *w;

		(void)loop_check_number(l);
		w = watch_of(ev[i].data.u64);
		if (w != NULL)
			w->on_ready(w, ready_of_epoll(ev[i].events));
	}
	l->busy = n != 1 || l->library_due || !list_is_empty(&l->tasks);
	loop_run_tasks(l);
	if (l->library_due && !l->stopped) {
		l->library_due = false;
		if (event_base_loop(l->base, EVLOOP_ONCE | EVLOOP_NONBLOCK) < 0)
			l->stopped = l->failed = true;
	}
	if (timers_have_their_turn(l, n))
		loop_run_timers(l);
}

void
loop_epoll_run(struct loop *l)
{
	l->wake = UINT64_MAX; /* since when it has not run is unknown */
	while (!l->stopped)
		one_turn(l);
}

/* ---- life ---- */

/* libevent does not report the descriptor of its set. While our set is in it,
 * it is the one that refuses to take ours a second time. It was made before
 * ours, so its number is lower. */
static int
find_library(int ours)
{
	struct epoll_event ev = { .events = 0 };
	int fd;

	for (fd = ours - 1; fd >= 0; fd--) {
		if (epoll_ctl(fd, EPOLL_CTL_ADD, ours, &ev) == 0)
			(void)epoll_ctl(fd, EPOLL_CTL_DEL, ours, NULL);
		else if (errno == EEXIST)
			return fd;
	}
	return -1;
}

static void
ignore_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static int
library_set(struct loop *l)
{
	struct event *e =
	    event_new(l->base, l->epoll_fd, EV_READ, ignore_event, l);
	int fd = -1;

	if (e == NULL)
		return -1;
	if (event_add(e, NULL) == 0)
		fd = find_library(l->epoll_fd);
	event_free(e);
	return fd;
}

/* Opens the timerfd of all timers; without it, each sleep gets a timeout
 * instead. */
static void
open_alarm(struct loop *l)
{
	int fd = SHORTCUT_ALARM
	    ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)
	    : -1;

	l->alarm_at = UINT64_MAX; /* a parent's is the parent's */
	if (fd >= 0 &&
	    watch_start(l, &l->alarm, fd, READY_READ, on_alarm) < 0)
		close(fd);
}

/* Opens the epoll set. If that of libevent is not found, which must be in it,
 * libevent watches all descriptors. */
int
loop_epoll_open(struct loop *l)
{
	int fd;

	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		return -1;
	fd = library_set(l);
	if (fd < 0) {
		loop_epoll_close(l);
		return 0;
	}
	open_alarm(l);
	return watch_start(
	    l, &l->library, fd, READY_READ | WATCH_LEVEL, on_library);
}

void
loop_epoll_close(struct loop *l)
{
	if (l->alarm.fd >= 0)
		close(l->alarm.fd);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	l->alarm.fd = l->epoll_fd = -1;
}

#else

int
loop_epoll_open(struct loop *l)
{
	(void)l;
	return 0;
}

void
loop_epoll_close(struct loop *l)
{
	(void)l;
}

int
loop_epoll_want(struct loop *l, struct watch *w)
{
	(void)l;
	(void)w;
	errno = ENOSYS;
	return -1;
}

void
loop_epoll_remove(struct loop *l, struct watch *w)
{
	(void)l;
	(void)w;
}

void
loop_epoll_run(struct loop *l)
{
	(void)l;
}

#endif
