/* test_notify.c: what a service manager is told. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/life/notify.h"
#include "support/manager.h"
#include "support/suite.h"
#include "support/wait.h"

static struct manager manager;
static struct notify notify;
static struct loop *loop;
static struct timer tick;
static const char *status;

static void
describe(void *arg, char text_[NOTIFY_STATUS_MAX])
{
	ck_assert_ptr_eq(arg, &manager);
	snprintf(text_, NOTIFY_STATUS_MAX, "%s", status);
}

static void
on_tick(struct timer *t)
{
	(void)t;
	loop_stop(loop);
}

static bool
is_told(const char *what)
{
	ck_assert_int_eq(timer_start(loop, &tick, 1), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	return manager_has_heard(&manager, what);
}

static void
begin(bool is_abstract, const char *watchdog, const char *pid)
{
	struct error e;

	status = "serving";
	manager_begin(&manager, is_abstract);
	setenv("NOTIFY_SOCKET", manager.name, 1);
	if (watchdog != NULL)
		setenv("WATCHDOG_USEC", watchdog, 1);
	if (pid != NULL)
		setenv("WATCHDOG_PID", pid, 1);
	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	timer_init(&tick, on_tick);
	notify_init(&notify);
	notify_open(&notify);
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
	ck_assert_ptr_null(getenv("WATCHDOG_PID"));
}

static void
end(void)
{
	notify_fini(&notify);
	timer_fini(&tick);
	loop_free(loop);
	manager_end(&manager);
}

START_TEST(life)
{
	uint64_t before;
	long long us;

	begin(_i == 1, NULL, NULL);
	notify_ready(&notify, loop, describe, &manager);
	ck_assert(manager_has_heard(&manager, "|READY=1\nSTATUS=serving\n"));
	manager_forget(&manager);
	before = clock_monotonic_us();
	notify_reloading(&notify);
	ck_assert(manager_has_heard(&manager, "|RELOADING=1\nMONOTONIC_USEC="));
	us = atoll(strrchr(manager.heard, '=') + 1);
	ck_assert_int_ge(us, (long long)before);
	ck_assert_int_le(us, (long long)clock_monotonic_us());
	notify_reloaded(&notify);
	ck_assert(manager_has_heard(&manager, "|READY=1\n"));
	notify_stopping(&notify);
	ck_assert(manager_has_heard(&manager, "|STOPPING=1\n"));
	ck_assert_int_eq(manager.sender, getpid());
	end();
}
END_TEST

START_TEST(watchdog_and_status)
{
	begin(false, "20000", text("%ld", (long)getpid()));
	notify_ready(&notify, loop, describe, &manager);
	WAIT_FOR(is_told("|WATCHDOG=1\n|WATCHDOG=1\n"), 5000);
	ck_assert(!is_told("\n|STATUS="));
	status = "no server is available";
	WAIT_FOR(is_told("|STATUS=no server is available\n"), 5000);
	/* nothing comes after the end */
	notify_stopping(&notify);
	manager_forget(&manager);
	ck_assert_int_eq(timer_start(loop, &tick, 100), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert(!manager_has_heard(&manager, "="));
	end();
}
END_TEST

START_TEST(watchdog_of_another)
{
	begin(false, "20000", "1");
	ck_assert_uint_eq(notify.watchdog_us, 0);
	end();
	begin(false, "x", NULL);
	ck_assert_uint_eq(notify.watchdog_us, 0);
	end();
	begin(false, "20000", NULL);
	ck_assert_uint_eq(notify.watchdog_us, 20000);
	end();
}
END_TEST

/* Nobody there, or a name that is none: a line in the log, and life goes on. */
START_TEST(nobody_to_tell)
{
	static const char *const names[] = { "/no/such/socket", "relative",
		"vsock:2:1", "" };

	begin(false, "20000", NULL);
	notify_fini(&notify);
	setenv("NOTIFY_SOCKET", names[_i], 1);
	notify_init(&notify);
	notify_open(&notify);
	ck_assert_int_eq(notify.fd, -1);
	notify_ready(&notify, loop, describe, &manager);
	notify_reloading(&notify);
	notify_stopping(&notify);
	end();
}
END_TEST

/* Who does not read loses messages, and holds nobody up. */
START_TEST(reader_that_is_full)
{
	int i;

	begin(false, NULL, NULL);
	notify_ready(&notify, loop, describe, &manager);
	for (i = 0; i < 20000; i++)
		notify_reloaded(&notify);
	ck_assert_int_lt(manager_count(&manager, "READY=1"), 20000);
	end();
}
END_TEST

/* Empties the queue after a while, up to the message that is due. */
static void *
read_soon(void *arg)
{
	poll(NULL, 0, 100);
	WAIT_FOR(manager_has_heard(&manager, "MAINPID=42\n"), 10000);
	return arg;
}

/* The manager would take the end of this process for that of the service. */
START_TEST(full_queue_loses_no_main_pid)
{
	pthread_t reader;

	begin(false, NULL, NULL);
	while (send(notify.fd, "x", 1, MSG_DONTWAIT) == 1)
		continue;
	ck_assert_int_eq(pthread_create(&reader, NULL, read_soon, NULL), 0);
	notify_hand_over(&notify, 42);
	ck_assert_int_eq(pthread_join(reader, NULL), 0);
	end();
}
END_TEST

/* A status for which there was no room is sent later. */
START_TEST(full_queue_delays_status)
{
	begin(false, "20000", NULL);
	notify_ready(&notify, loop, describe, &manager);
	while (send(notify.fd, "x", 1, MSG_DONTWAIT) == 1)
		continue;
	status = "no server is available";
	ck_assert_int_eq(timer_start(loop, &tick, 50), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	WAIT_FOR(is_told("|STATUS=no server is available\n"), 5000);
	end();
}
END_TEST

SUITE(test_notify)
{
	Suite *s = suite_create("notify");
	TCase *c = tcase_create("life");

	tcase_add_loop_test(c, life, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, watchdog_and_status, 20);
	SUITE_ADD(s, watchdog_of_another, 10);
	c = tcase_create("nobody_to_tell");
	tcase_add_loop_test(c, nobody_to_tell, 0, 4);
	suite_add_tcase(s, c);
	SUITE_ADD(s, reader_that_is_full, 20);
	SUITE_ADD(s, full_queue_loses_no_main_pid, 20);
	SUITE_ADD(s, full_queue_delays_status, 20);
	return s;
}
