/* test_loop.c: watches, tasks, timers and signals, with each method there
 * is. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/loop/loop_private.h"
#include "net/loop/timeouts.h"
#include "support/child.h"
#include "support/suite.h"
#include "support/wait.h"

/* Epoll also by libevent alone, and with spins. */
static const char *const methods[] = { "epoll", "poll", "select",
	"epoll (with changelist)", "epoll" };
enum { OUR_SET, LIBRARY_SET = 3, SPINNING, METHODS };

static struct loop *loop;
static struct watch a, b;
static struct task task;
static struct timer timer;
static int calls, tasks;
static int fds[3][2];
static int ends[2]; /* of tasks_starve_nobody */
static char order[8];

static void
begin(int method)
{
	struct error e;

	calls = tasks = 0;
	if (method == LIBRARY_SET)
		setenv("EVENT_EPOLL_USE_CHANGELIST", "1", 1);
	loop = loop_new(
	    method == LIBRARY_SET ? methods[OUR_SET] : methods[method], &e);
	unsetenv("EVENT_EPOLL_USE_CHANGELIST");
	ck_assert_msg(loop != NULL, "%s", e.text);
	ck_assert_str_eq(loop_method(loop), methods[method]);
	loop_spin(loop, method == SPINNING);
}

static void
run_task(struct task *t)
{
	(void)t;
	tasks++;
	if (tasks < 3)
		loop_soon(loop, t);
	else
		loop_stop(loop);
}

static void
stop_other(struct watch *w, unsigned ready)
{
	ck_assert(ready & READY_READ);
	calls++;
	/* both are ready; whoever comes first silences the other */
	watch_stop(loop, w == &a ? &b : &a);
	watch_stop(loop, w);
	loop_soon(loop, &task);
	loop_soon(loop, &task);
}

/* Both are ready; whoever comes first makes the other watch another descriptor,
 * which is not. */
static void
restart_other(struct watch *w, unsigned ready)
{
	struct watch *other = w == &a ? &b : &a;

	(void)ready;
	calls++;
	watch_stop(loop, w);
	watch_stop(loop, other);
	close(other == &a ? fds[0][0] : fds[1][0]);
	ck_assert_int_eq(
	    watch_start(loop, other, fds[2][0], READY_READ, restart_other), 0);
	loop_soon(loop, &task);
}

START_TEST(restarted_watches_are_silent)
{
	int i;

	begin(_i);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(
		    socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]), 0);
	ck_assert_int_eq(
	    watch_start(loop, &a, fds[0][0], READY_READ, restart_other), 0);
	ck_assert_int_eq(
	    watch_start(loop, &b, fds[1][0], READY_READ, restart_other), 0);
	ck_assert_int_eq(write(fds[0][1], "x", 1), 1);
	ck_assert_int_eq(write(fds[1][1], "x", 1), 1);
	task = (struct task){ .run = run_task };
	list_init(&task.link);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	watch_stop(loop, a.fd >= 0 ? &a : &b);
	loop_free(loop);
}
END_TEST

/* A watch stopped in a callback is not called, though its event was there;
 * a task runs once however often it is asked for, and may ask again. */
START_TEST(stopped_watches_are_silent)
{
	int one[2], two[2];

	begin(_i);
	task = (struct task){ .run = run_task };
	list_init(&task.link);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, one), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, two), 0);
	ck_assert_int_eq(
	    watch_start(loop, &a, one[0], READY_READ, stop_other), 0);
	ck_assert_int_eq(
	    watch_start(loop, &b, two[0], READY_READ, stop_other), 0);
	ck_assert_int_eq(write(one[1], "x", 1), 1);
	ck_assert_int_eq(write(two[1], "x", 1), 1);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(tasks, 3);
	loop_free(loop);
}
END_TEST

static void
switch_to_write(struct watch *w, unsigned ready)
{
	calls++;
	if (calls == 1) {
		ck_assert(ready & READY_READ);
		ck_assert_int_eq(watch_want(loop, w, READY_WRITE), 0);
	} else {
		ck_assert(ready & READY_WRITE);
		watch_stop(loop, w);
		loop_stop(loop);
	}
}

START_TEST(wants_can_change)
{
	int fd[2];

	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(
	    watch_start(loop, &a, fd[0], READY_READ, switch_to_write), 0);
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 2);
	loop_free(loop);
}
END_TEST

static void
go_on(struct task *t)
{
	if (++tasks < 1000000)
		loop_soon(loop, t);
	else
		loop_stop(loop);
}

static void
end_it(struct watch *w, unsigned ready)
{
	(void)ready;
	calls++;
	watch_stop(loop, w);
	timer_stop(&timer);
	loop_stop(loop);
}

static void
write_a_byte(struct timer *t)
{
	(void)t;
	calls++;
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
}

static void
stop_at_once(struct task *t)
{
	(void)t;
	loop_stop(loop);
}

/* Before the loop has waited once. */
START_TEST(stopped_by_its_first_task)
{
	begin(_i);
	task.run = stop_at_once;
	loop_soon(loop, &task);
	ck_assert_int_eq(loop_run(loop), 0);
	loop_free(loop);
}
END_TEST

/* A task that asks for itself again and again starves neither timers nor
 * descriptors. */
START_TEST(tasks_starve_nobody)
{
	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(watch_start(loop, &a, ends[0], READY_READ, end_it), 0);
	timer_init(&timer, write_a_byte);
	ck_assert_int_eq(timer_start(loop, &timer, 1), 0);
	task = (struct task){ .run = go_on };
	list_init(&task.link);
	loop_soon(loop, &task);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 2);
	ck_assert_int_lt(tasks, 1000000);
	timer_fini(&timer);
	close(ends[0]);
	close(ends[1]);
	loop_free(loop);
}
END_TEST

static void
on_usr2(void *arg)
{
	++*(int *)arg;
	loop_stop(loop);
}

static void
raise_usr2(struct timer *t)
{
	(void)t;
	raise(SIGUSR2);
}

START_TEST(timers_and_signals)
{
	uint64_t before;

	begin(_i);
	before = loop_now(loop);
	timer_init(&timer, raise_usr2);
	ck_assert_int_eq(loop_on_signal(loop, SIGUSR2, on_usr2, &calls), 0);
	ck_assert_int_eq(timer_start(loop, &timer, 30), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_ge(loop_now(loop) - before, 30);
	timer_fini(&timer);
	loop_free(loop);
}
END_TEST

static void
on_level(struct watch *w, unsigned ready)
{
	ck_assert(ready & READY_READ);
	if (++calls < 3)
		return; /* untouched: it is told again */
	watch_stop(loop, w);
	loop_stop(loop);
}

START_TEST(levels_are_told_again)
{
	int fd[2];

	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(
	    watch_start(loop, &a, fd[0], READY_READ | WATCH_LEVEL, on_level),
	    0);
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 3);
	/* a level watch may start again on the same descriptor */
	ck_assert_int_eq(
	    watch_start(loop, &a, fd[0], READY_READ | WATCH_LEVEL, on_level),
	    0);
	calls = 2;
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 3);
	loop_free(loop);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

static bool tells_ends;

static void
on_end(struct watch *w, unsigned ready)
{
	char byte;

	ck_assert(ready & READY_READ);
	/* our set tells the end; with the others the read does */
	if (tells_ends)
		ck_assert(ready & READY_EOF);
	ck_assert_int_eq(read(w->fd, &byte, 1), 0);
	watch_stop(loop, w);
	loop_stop(loop);
}

START_TEST(ends_are_told)
{
	int fd[2];

	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(watch_start(loop, &a, fd[0], READY_READ, on_end), 0);
	tells_ends = _i == OUR_SET || _i == SPINNING;
	shutdown(fd[1], SHUT_WR);
	ck_assert_int_eq(loop_run(loop), 0);
	loop_free(loop);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

static void
on_error(struct watch *w, unsigned ready)
{
	ck_assert(ready & READY_ERROR);
	calls++;
	watch_stop(loop, w);
	loop_stop(loop);
}

START_TEST(errors_come_without_interest)
{
	int fd[2];

	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(watch_start(loop, &a, fd[0], READY_READ, on_error), 0);
	ck_assert_int_eq(watch_want(loop, &a, 0), 0);
	/* what it does not read makes its close a reset */
	ck_assert_int_eq(write(fd[0], "x", 1), 1);
	close(fd[1]);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	loop_free(loop);
	close(fd[0]);
}
END_TEST

START_TEST(bad_descriptors)
{
	begin(_i);
	/* libevent finds out later, our set at once */
	if (_i == OUR_SET || _i == SPINNING) {
		ck_assert_int_eq(
		    watch_start(loop, &a, 999, READY_READ, on_end), -1);
		ck_assert_int_eq(errno, EBADF);
		watch_stop(loop, &a);
	}
	watch_init(&b);
	watch_stop(loop, &b);
	loop_free(loop);
}
END_TEST

static void
count_task(struct task *t)
{
	(void)t;
	tasks++;
}

static void
stop_timer(struct timer *t)
{
	(void)t;
	calls++;
	loop_stop(loop);
}

/* A timer started again counts from then; a stopped one is silent; a task that
 * is left runs before the loop goes. */
START_TEST(starts_and_stops)
{
	static struct timer silent;
	uint64_t before;

	begin(_i);
	timer_init(&timer, stop_timer);
	timer_init(&silent, raise_usr2);
	ck_assert_int_eq(timer_start(loop, &silent, 1), 0);
	timer_stop(&silent);
	timer_stop(&silent);
	ck_assert_int_eq(timer_start(loop, &timer, 1), 0);
	before = loop_now(loop);
	ck_assert_int_eq(timer_start(loop, &timer, 40), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_ge(loop_now(loop) - before, 40);
	ck_assert_int_eq(timer_start(loop, &timer, 0), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 2);
	task = (struct task){ .run = count_task };
	list_init(&task.link);
	loop_soon(loop, &task);
	loop_soon(loop, &task);
	ck_assert_int_eq(tasks, 0);
	timer_fini(&timer);
	timer_fini(&silent);
	timer_fini(&silent);
	loop_free(loop);
	ck_assert_int_eq(tasks, 1);
	loop_free(NULL);
}
END_TEST

/* ---- several timers ---- */

enum { TIMERS = 100 };

static struct timer many[TIMERS];
/* When each is due: the machine may be slow between two readings of the clock,
 * so not before and not after. */
static uint64_t earliest[TIMERS], latest[TIMERS], last;

static void
in_order(struct timer *t)
{
	long i = t - many;

	ck_assert_uint_ge(loop_now(loop), earliest[i]);
	ck_assert_uint_le(last, latest[i]);
	last = earliest[i];
	if (++calls == TIMERS)
		loop_stop(loop);
}

/* None is early, each comes once; numbers that were given back serve again. */
START_TEST(many_timers)
{
	int round, i;

	begin(_i);
	for (round = 0; round < 2; round++) {
		calls = 0;
		last = 0;
		for (i = 0; i < TIMERS; i++) {
			uint64_t ms = (uint64_t)(i * 37 % TIMERS);

			timer_init(&many[i], in_order);
			earliest[i] = clock_monotonic_ms() + ms;
			ck_assert_int_eq(timer_start(loop, &many[i], ms), 0);
			latest[i] = clock_monotonic_ms() + ms;
		}
		ck_assert_int_eq(loop_run(loop), 0);
		ck_assert_int_eq(calls, TIMERS);
		for (i = 0; i < TIMERS; i++)
			timer_fini(&many[(i * 7 + round) % TIMERS]);
	}
	loop_free(loop);
}
END_TEST

/* All three are due at once: the first one stops the next and starts the third
 * and itself anew, for later. */
static void
change_others(struct timer *t)
{
	int i = (int)(t - many);

	order[strlen(order)] = (char)('0' + i);
	if (strlen(order) == 1) {
		timer_stop(&many[(i + 1) % 3]);
		(void)timer_start(loop, &many[(i + 2) % 3], 20);
		(void)timer_start(loop, t, 0);
	} else if (strlen(order) == 3) {
		loop_stop(loop);
	}
}

START_TEST(timers_that_are_due_can_change)
{
	int i;

	begin(_i);
	memset(order, 0, sizeof(order));
	for (i = 0; i < 3; i++) {
		timer_init(&many[i], change_others);
		ck_assert_int_eq(timer_start(loop, &many[i], 0), 0);
	}
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(order[1], order[0]);
	ck_assert_int_eq(order[2], '0' + (order[0] - '0' + 2) % 3);
	for (i = 0; i < 3; i++)
		timer_fini(&many[i]);
	loop_free(loop);
}
END_TEST

static void
again_at_once(struct timer *t)
{
	if (++tasks < 1000000)
		(void)timer_start(loop, t, 0);
	else
		loop_stop(loop);
}

/* A timer that is always due starves no descriptor. */
START_TEST(timers_starve_nobody)
{
	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(watch_start(loop, &a, ends[0], READY_READ, end_it), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	timer_init(&timer, again_at_once);
	ck_assert_int_eq(timer_start(loop, &timer, 0), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_lt(tasks, 1000000);
	timer_fini(&timer);
	close(ends[0]);
	close(ends[1]);
	loop_free(loop);
}
END_TEST

/* ---- spins ---- */

static void
start_again(struct timer *t)
{
	if (++calls < TIMERS)
		(void)timer_start(loop, t, 2);
	else
		loop_stop(loop);
}

/* Where nothing comes but timers, each wait is a sleep, and spins rest. */
START_TEST(an_idle_loop_sleeps)
{
	struct rusage before, after;

	begin(SPINNING);
	timer_init(&timer, start_again);
	ck_assert_int_eq(timer_start(loop, &timer, 2), 0);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
	ck_assert_int_ge(after.ru_nvcsw - before.ru_nvcsw, TIMERS / 2);
	ck_assert_uint_gt(loop->spin.rest_us, SPIN_REST_MIN_US);
	timer_fini(&timer);
	loop_free(loop);
}
END_TEST

/* ---- pauses ---- */

enum { DUE_MS = 700, PAUSE_MS = 3000, CROWD = 700 };
/* Of a pause that begins when the loop has slept for a while. */
enum { SLEPT_MS = 1000, SLEEP_MS = 1800, COUNTED_MS = 1200 };

static uint64_t pause_after_ms, event_at;

/* Stops the process, sends what comes meanwhile, and lets it go on. */
static void
pause_process(struct timer *t)
{
	uint64_t begin_at = clock_monotonic_ms() + pause_after_ms;
	uint64_t end = begin_at + PAUSE_MS;
	pid_t pid = getpid();

	(void)t;
	if (child_fork() != 0)
		return;
	while (clock_monotonic_ms() < begin_at)
		wait_nap();
	kill(pid, SIGSTOP);
	while (clock_monotonic_ms() < end)
		wait_nap();
	(void)!write(ends[1], "x", 1);
	kill(pid, SIGCONT);
	_exit(0);
}

static void
note_event(struct watch *w, unsigned ready)
{
	char byte;

	(void)ready;
	(void)!read(w->fd, &byte, 1);
	order[strlen(order)] = 'e';
	event_at = loop_now(loop);
}

static void
note_time(struct timer *t)
{
	(void)t;
	order[strlen(order)] = 't';
	loop_stop(loop);
}

static void
count_event(struct watch *w, unsigned ready)
{
	(void)w;
	(void)ready;
	calls++;
}

static void
count_no_more(struct timer *t)
{
	(void)t;
	loop_stop(loop);
}

/* The process is paused after so long; a timer is due meanwhile. Returns when
 * it all began. */
static uint64_t
run_with_pause(int method, uint64_t after_ms, uint64_t due_ms)
{
	uint64_t began;

	begin(method);
	pause_after_ms = after_ms;
	memset(order, 0, sizeof(order));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(
	    watch_start(loop, &a, ends[0], READY_READ, note_event), 0);
	timer_init(&timer, note_time);
	began = loop_now(loop);
	ck_assert_int_eq(timer_start(loop, &timer, due_ms), 0);
	timer_init(&many[0], pause_process);
	ck_assert_int_eq(timer_start(loop, &many[0], 0), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	return began;
}

static void
end_pause(void)
{
	timer_fini(&many[0]);
	timer_fini(&timer);
	watch_stop(loop, &a);
	close(ends[0]);
	close(ends[1]);
	loop_free(loop);
}

/* What has come in a pause of the process is told first, and its time hardly
 * goes on meanwhile: what was due in the pause waits on. */
START_TEST(a_pause_is_no_time)
{
	uint64_t began = run_with_pause(_i, 0, DUE_MS);

	ck_assert_str_eq(order, "et");
	ck_assert_uint_ge(loop_now(loop) - began, DUE_MS);
	ck_assert_uint_lt(loop_now(loop) - began, PAUSE_MS);
	end_pause();
}
END_TEST

/* The sleep before it counts. */
START_TEST(a_sleep_before_a_pause_is_time)
{
	uint64_t began = run_with_pause(_i, SLEPT_MS, SLEEP_MS);

	ck_assert_str_eq(order, "et");
	ck_assert_uint_ge(event_at - began, COUNTED_MS);
	ck_assert_uint_ge(loop_now(loop) - began, SLEEP_MS);
	end_pause();
}
END_TEST

/* More descriptors than the loop asks for at a time are ready when a timer is
 * due: it comes after all of them. */
START_TEST(all_events_come_before_timers)
{
	static struct watch crowd[CROWD];
	int i;

	begin(OUR_SET);
	memset(crowd, 0, sizeof(crowd));
	calls = 0;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	for (i = 0; i < CROWD; i++)
		ck_assert_int_eq(watch_start(loop, &crowd[i], dup(ends[0]),
				     READY_READ, count_event),
		    0);
	timer_init(&timer, count_no_more);
	ck_assert_int_eq(timer_start(loop, &timer, 0), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, CROWD);
	timer_fini(&timer);
	loop_free(loop);
}
END_TEST

START_TEST(unknown_method)
{
	struct error e;

	ck_assert_ptr_null(loop_new("pigeon", &e));
	ck_assert_ptr_nonnull(strstr(e.text, "pigeon"));
}
END_TEST

/* ---- timeouts ---- */

static struct timeouts queue;
static struct expiry things[5];

static void
on_expired(struct timeouts *t, struct expiry *x)
{
	size_t n = strlen(order);

	order[n] = (char)('0' + (x - things));
	order[n + 1] = '\0';
	/* the first one comes a second time, and the last one after that */
	if (x == &things[0] && n == 0) {
		timeouts_add(t, x, loop_now(loop) + 40);
		expiry_cancel(&things[2]);
		timeouts_add(t, &things[2], loop_now(loop) + 100);
	}
	if (x == &things[2])
		loop_stop(loop);
}

START_TEST(expiries_in_order)
{
	uint64_t now;
	int i;

	begin(_i);
	order[0] = '\0';
	timeouts_init(&queue, loop, on_expired, NULL);
	now = loop_now(loop);
	for (i = 0; i < 5; i++)
		expiry_init(&things[i]);
	timeouts_add(&queue, &things[0], now + 10);
	timeouts_add(&queue, &things[1], now + 20);
	timeouts_add(&queue, &things[2], now + 600);
	timeouts_add(&queue, &things[3], now + 15);
	timeouts_add(&queue, &things[4], now + 5);
	expiry_cancel(&things[4]);
	expiry_cancel(&things[4]);
	ck_assert(!expiry_is_waiting(&things[4]));
	ck_assert(expiry_is_waiting(&things[3]));
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_str_eq(order, "03102");
	timeouts_fini(&queue);
	loop_free(loop);
}
END_TEST

static void
on_reopened(struct watch *w, unsigned ready)
{
	(void)ready;
	calls++;
	watch_stop(loop, w);
	loop_stop(loop);
}

/* A child has events of its own; what it takes out of its loop stays in that of
 * its parent. */
START_TEST(a_child_reopens)
{
	int status = 0;
	pid_t child;

	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[0]), 0);
	ck_assert_int_eq(
	    watch_start(
		loop, &a, fds[0][0], READY_READ | WATCH_LEVEL, on_reopened),
	    0);
	child = fork();
	if (child == 0) {
		if (loop_reopen(loop) < 0)
			_exit(1);
		watch_stop(loop, &a);
		if (watch_start(loop, &b, fds[0][0], READY_READ | WATCH_LEVEL,
			on_reopened) < 0 ||
		    write(fds[0][1], "x", 1) != 1 || loop_run(loop) < 0)
			_exit(2);
		_exit(calls == 1 ? 0 : 3);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	close(fds[0][0]);
	close(fds[0][1]);
	loop_free(loop);
}
END_TEST

static void
on_stop(struct timer *t)
{
	(void)t;
	loop_stop(loop);
}

/* A timer that the parent has slept for once wakes its child, too. */
START_TEST(a_child_wakes_for_timers)
{
	int status = 0;
	pid_t child;

	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[0]), 0);
	ck_assert_int_eq(
	    watch_start(loop, &a, fds[0][0], READY_READ, on_reopened), 0);
	timer_init(&timer, on_stop);
	ck_assert_int_eq(timer_start(loop, &timer, 200), 0);
	ck_assert_int_eq(write(fds[0][1], "x", 1), 1);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	child = child_fork();
	if (child == 0)
		_exit(loop_reopen(loop) < 0 || loop_run(loop) < 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(fds[0][0]);
	close(fds[0][1]);
	timer_fini(&timer);
	loop_free(loop);
}
END_TEST

/* A child has what is closed here still open: the watch may be gone when
 * something comes. */
START_TEST(a_child_keeps_descriptors)
{
	struct watch before;
	pid_t child;

	begin(_i);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[0]), 0);
	ck_assert_int_eq(
	    watch_start(loop, &a, fds[0][0], READY_READ, on_reopened), 0);
	loop_forks(loop);
	child = child_fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	before = a;
	watch_stop(loop, &a);
	close(fds[0][0]);
	a = before; /* as memory that is used again, or not */
	ck_assert_int_eq(write(fds[0][1], "x", 1), 1);
	timer_init(&timer, on_stop);
	ck_assert_int_eq(timer_start(loop, &timer, 20), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fds[0][1]);
	timer_fini(&timer);
	loop_free(loop);
}
END_TEST

/* ---- a number of another process ---- */

static _Atomic uint32_t number;
static struct shared_number shared;

static void
note(char what)
{
	size_t n = strlen(order);

	ck_assert_uint_lt(n + 1, sizeof(order));
	order[n] = what;
	order[n + 1] = '\0';
}

/* It may stop what is ready. */
static void
on_number(struct shared_number *n)
{
	ck_assert_ptr_eq(n, &shared);
	ck_assert_uint_eq(n->seen, number);
	ck_assert(!loop_number_changed(loop));
	note('N');
	if (calls == 2 && b.fd >= 0)
		watch_stop(loop, &b);
	if (calls == 2 && a.fd >= 0)
		watch_stop(loop, &a);
}

static void
raise_number(struct watch *w, unsigned ready)
{
	(void)ready;
	note('w');
	number++;
	if (calls == 2)
		return; /* the other one is silent from now on */
	watch_stop(loop, w);
	loop_soon(loop, &task);
}

static void
task_raises(struct task *t)
{
	(void)t;
	note('t');
	number++;
}

static void
timer_raises(struct timer *t)
{
	(void)t;
	note('T');
	loop_stop(loop);
}

/* Two that are ready, a task, a timer: it comes before each of them. */
START_TEST(a_number_comes_first)
{
	int i;

	begin(_i % METHODS);
	order[0] = '\0';
	number = 7;
	shared = (struct shared_number){
		.now = &number, .seen = 7, .on_change = on_number
	};
	loop_watch_number(loop, &shared);
	calls = _i / METHODS * 2;
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]), 0);
		ck_assert_int_eq(write(fds[i][1], "x", 1), 1);
		ck_assert_int_eq(watch_start(loop, i == 0 ? &a : &b, fds[i][0],
				     READY_READ, raise_number),
		    0);
	}
	task = (struct task){ .run = task_raises };
	list_init(&task.link);
	timer_init(&timer, timer_raises);
	ck_assert_int_eq(timer_start(loop, &timer, 20), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_str_eq(order, calls == 0 ? "wNwNtNT" : "wNT");
	ck_assert(!loop_check_number(loop));
	number++;
	ck_assert(loop_number_changed(loop));
	loop_watch_number(loop, NULL);
	ck_assert(!loop_check_number(loop));
	for (i = 0; i < 4; i++)
		close(fds[i / 2][i % 2]);
	timer_fini(&timer);
	loop_free(loop);
}
END_TEST

SUITE(test_loop)
{
	Suite *s = suite_create("loop");
	TCase *c = tcase_create("loop");

	tcase_set_timeout(c, 10);
	tcase_add_loop_test(c, stopped_watches_are_silent, 0, METHODS);
	tcase_add_loop_test(c, restarted_watches_are_silent, 0, METHODS);
	tcase_add_loop_test(c, wants_can_change, 0, METHODS);
	tcase_add_loop_test(c, timers_and_signals, 0, METHODS);
	tcase_add_loop_test(c, levels_are_told_again, 0, METHODS);
	tcase_add_loop_test(c, ends_are_told, 0, METHODS);
	tcase_add_loop_test(c, errors_come_without_interest, 0, METHODS);
	tcase_add_loop_test(c, bad_descriptors, 0, METHODS);
	tcase_add_loop_test(c, starts_and_stops, 0, METHODS);
	tcase_add_loop_test(c, stopped_by_its_first_task, 0, METHODS);
	tcase_add_loop_test(c, tasks_starve_nobody, 0, METHODS);
	tcase_add_loop_test(c, many_timers, 0, METHODS);
	tcase_add_loop_test(c, timers_that_are_due_can_change, 0, METHODS);
	tcase_add_loop_test(c, timers_starve_nobody, 0, METHODS);
	tcase_add_loop_test(c, expiries_in_order, 0, METHODS);
	tcase_add_loop_test(c, a_pause_is_no_time, 0, METHODS);
	tcase_add_loop_test(c, a_sleep_before_a_pause_is_time, 0, METHODS);
	tcase_add_loop_test(c, a_child_reopens, 0, METHODS);
	tcase_add_loop_test(c, a_child_wakes_for_timers, 0, METHODS);
	tcase_add_loop_test(c, a_child_keeps_descriptors, 0, METHODS);
	tcase_add_loop_test(c, a_number_comes_first, 0, 2 * METHODS);
	tcase_add_test(c, all_events_come_before_timers);
	tcase_add_test(c, an_idle_loop_sleeps);
	tcase_add_test(c, unknown_method);
	suite_add_tcase(s, c);
	return s;
}
