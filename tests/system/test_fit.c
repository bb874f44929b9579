/* test_fit.c: fit_file: the file is there exactly while pen can serve, however
 * that ends. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SOON = 20000 };

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *file;

static bool
is_fit(void)
{
	return access(file, F_OK) == 0;
}

static void
prepare(void)
{
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	ck_assert_int_eq(mkdir(scratch("d"), 0755), 0);
	file = scratch("d/fit");
}

static void
up(const char *option, const char *value)
{
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O",
	    text("fit_file %s", file), "-O", "check connect", "-O",
	    "check_interval 0.1", option, value, front.text, back.at.text,
	    NULL);
	WAIT_FOR(is_fit(), SOON);
	ck_assert_str_eq(contents(file), "1\n");
}

/* Without a server, before the first check, in maintenance; and with other
 * values refused while it serves. */
static void
expect_to_follow(const char *option, const char *value)
{
	struct endpoint at = back.at;

	backend_stop(&back);
	write_file(file, "of an earlier life");
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O",
	    text("fit_file %s", file), "-O", "check connect", "-O",
	    "check_interval 0.1", option, value, front.text, at.text, NULL);
	WAIT_FOR(child_has_said(&pen.child, "no server has passed a check yet"),
	    SOON);
	WAIT_FOR(child_has_said(&pen.child, "server down server=0"), SOON);
	ck_assert(!child_has_said(&pen.child, ": fit file="));
	ck_assert(!is_fit());
	backend_start_at(&back, &at, backend_echo, NULL);
	WAIT_FOR(is_fit(), SOON);
	ck_assert_str_eq(contents(file), "1\n");
	backend_stop(&back);
	WAIT_FOR(!is_fit(), SOON);
	WAIT_FOR(child_has_said(&pen.child,
		     text("not fit file=%s reason=\"no server is up\"", file)),
	    SOON);
	backend_start_at(&back, &at, backend_echo, NULL);
	WAIT_FOR(is_fit(), SOON);
	pen_answers(&ctl, "server 0 maint", "");
	WAIT_FOR(!is_fit(), SOON);
	pen_answers(&ctl, "server 0 up", "");
	WAIT_FOR(is_fit(), SOON);
	pen_answers(&ctl, "fit_file /tmp/x", "can be set only at startup");
	pen_down(&pen);
	ck_assert(!is_fit());
	backend_stop(&back);
}

START_TEST(follows_its_servers)
{
	prepare();
	expect_to_follow("-O", "tcp_nodelay");
}
END_TEST

START_TEST(in_the_sandbox)
{
	NEEDS_SANDBOX();
	prepare();
	expect_to_follow("-O", "sandbox on");
}
END_TEST

START_TEST(with_workers)
{
	prepare();
	up("-O", "workers 2");
	child_stop(&pen.child, SIGKILL);
	WAIT_FOR(!is_fit(), SOON);
	backend_stop(&back);
}
END_TEST

/* Another process removes it when pen cannot. */
START_TEST(killed)
{
	prepare();
	up("-O", "tcp_nodelay");
	child_stop(&pen.child, SIGKILL);
	WAIT_FOR(!is_fit(), SOON);
	/* the next one at once, as a service manager would start it */
	up("-O", "tcp_nodelay");
	child_stop(&pen.child, SIGKILL);
	up("-O", "tcp_nodelay");
	pen_down(&pen);
	ck_assert(!is_fit());
	backend_stop(&back);
}
END_TEST

static pid_t
first_child(pid_t pid)
{
	return (pid_t)strtol(child_children(pid), NULL, 10);
}

static pid_t
guard(void)
{
	pid_t pid = first_child(pen.child.pid);

	return pid > 0 && first_child(pid) > 0 &&
		strncmp(child_status_line(pid, "Name"), "fit-guard", 9) == 0
	    ? pid
	    : 0;
}

/* It does not end by what ends pen: signals, kills by name; and if it is
 * killed, before or with pen, there is another one. */
START_TEST(guard_is_killed)
{
	pid_t first, twin, next = 0;

	NEEDS_ONE_WORKER("its first child is the guard");
	if (getenv("PEN_TEST_WRAPPER") != NULL)
		SKIP("the command line is the wrapper's");
	prepare();
	up("-O", "tcp_nodelay");
	WAIT_FOR((first = guard()) != 0, SOON);
	ck_assert_str_eq(
	    contents(text("/proc/%d/cmdline", (int)first)), "fit-guard");
	/* the twin is replaced; 0, while the list is read, is no process */
	WAIT_FOR((twin = first_child(first)) > 0, SOON);
	ck_assert_int_eq(kill(twin, SIGKILL), 0);
	WAIT_FOR((next = first_child(first)) > 0 && next != twin, SOON);
	twin = next;
	/* of the watchdog, and of the terminal */
	ck_assert_int_eq(kill(first, SIGABRT), 0);
	ck_assert_int_eq(kill(first, SIGTERM), 0);
	ck_assert_int_eq(kill(twin, SIGABRT), 0);
	ck_assert_int_eq(kill(pen.child.pid, SIGSTOP), 0);
	ck_assert_int_eq(kill(first, SIGKILL), 0);
	ck_assert_int_eq(kill(pen.child.pid, SIGKILL), 0);
	(void)child_wait(&pen.child, SOON);
	WAIT_FOR(!is_fit(), SOON);
	/* no process may be there to reap it */
	WAIT_FOR(
	    child_status_line(twin, "State")[0] == 'Z' || kill(twin, 0) < 0,
	    SOON);
	backend_stop(&back);
}
END_TEST

/* What was left behind is removed also by a start that fails, but not what
 * another process keeps, beside which none starts with that file. */
START_TEST(failed_start)
{
	struct endpoint taken;
	int fd;

	prepare();
	endpoint_new(&taken, ENDPOINT_TCP4);
	fd = endpoint_listen(&taken, 1);
	write_file(file, "1\n");
	pen_expect_failure(taken.text, "-f", "-O", text("fit_file %s", file),
	    taken.text, back.at.text, NULL);
	ck_assert(!is_fit());
	up("-O", "tcp_nodelay");
	pen_expect_failure(taken.text, "-f", "-O", text("fit_file %s", file),
	    taken.text, back.at.text, NULL);
	ck_assert(is_fit());
	close(fd);
	pen_expect_failure("another process keeps it", "-f", "-O",
	    text("fit_file %s", file), taken.text, back.at.text, NULL);
	ck_assert(is_fit());
	pen_down(&pen);
	ck_assert(!is_fit());
	backend_stop(&back);
}
END_TEST

/* Its session goes on, but new clients have to go elsewhere. */
START_TEST(draining)
{
	int client;

	prepare();
	up("-O", "tcp_nodelay");
	client = endpoint_connect(&front);
	endpoint_expect_echo(client, "before");
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	WAIT_FOR(!is_fit(), SOON);
	WAIT_FOR(child_has_said(&pen.child, "reason=\"stopping\""), SOON);
	endpoint_expect_echo(client, "after");
	close(client);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	ck_assert(!is_fit());
	backend_stop(&back);
}
END_TEST

/* Without room it is tried again; one line of the log for each trouble. */
START_TEST(cannot_be_written)
{
	prepare();
	up("-O", "tcp_nodelay");
	ck_assert_int_eq(unlink(file), 0);
	WAIT_FOR(is_fit(), SOON);
	ck_assert_int_eq(rename(scratch("d"), scratch("e")), 0);
	WAIT_FOR(child_has_said(&pen.child, "fit_file not changed"), SOON);
	ck_assert_int_eq(rename(scratch("e"), scratch("d")), 0);
	ck_assert_int_eq(unlink(file), 0);
	WAIT_FOR(is_fit(), SOON);
	ck_assert_int_eq(
	    count_in(child_err(&pen.child), "fit_file not changed"), 1);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* Only after a start it waits for a check: a server that replaces one may have
 * clients before its first check is over. */
START_TEST(other_server)
{
	struct backend silent;

	prepare();
	up("-O", "check_timeout 60");
	backend_start(&silent, ENDPOINT_TCP4, backend_hang, NULL);
	pen_answers(&ctl, "server 0 check http /", "");
	pen_answers(&ctl,
	    text("server 0 address 127.0.0.1 port %d", silent.at.port), "");
	ck_assert_int_eq(unlink(file), 0);
	WAIT_FOR(is_fit(), SOON);
	pen_down(&pen);
	backend_stop(&silent);
	backend_stop(&back);
}
END_TEST

/* Any that listens is enough. */
START_TEST(any_service)
{
	const char *conf, *common;
	struct endpoint second, none;

	prepare();
	endpoint_new(&second, ENDPOINT_TCP4);
	endpoint_new(&none, ENDPOINT_TCP4);
	conf = scratch("conf");
	common = text("fit_file %s\ncheck_interval 0.1\ncheck connect\n"
		      "listen %s\nserver add %s\n",
	    file, front.text, back.at.text);
	write_file(conf, common);
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	WAIT_FOR(is_fit(), SOON);
	write_file(conf,
	    text("%sservice b\ncheck_interval 0.1\ncheck connect\nlisten %s\n"
		 "server add %s\n",
		common, second.text, none.text));
	pen_answers(&ctl, "reload", "");
	WAIT_FOR(
	    strstr(pen_ask(&ctl, "services"), "b state down ") != NULL, SOON);
	ck_assert(is_fit());
	pen_answers(&ctl, "server 0 maint", "");
	WAIT_FOR(!is_fit(), SOON);
	ck_assert(
	    child_has_said(&pen.child, "reason=\"no service can serve\""));
	write_file(conf, common);
	pen_answers(&ctl, "reload", "");
	pen_answers(&ctl, "server 0 up", "");
	WAIT_FOR(is_fit(), SOON);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

static pid_t
upgraded(pid_t old)
{
	pid_t now;

	ck_assert(is_fit());
	now = upgrading_pid(&ctl);
	return now != old ? now : 0;
}

/* It never goes away meanwhile, also when the new process fails. */
START_TEST(upgrades)
{
	const char *program = upgrading_install();
	pid_t new;

	NEED_UPGRADES(program);
	prepare();
	up("-O", "tcp_nodelay");
	upgrading_replace(program, "#!/bin/sh\nexit 1\n");
	pen_answers(&ctl, "upgrade", "exit status 1");
	ck_assert(is_fit());
	upgrading_replace(program, NULL);
	ck_assert_int_eq(kill(pen.child.pid, SIGUSR2), 0);
	WAIT_FOR((new = upgraded(pen.child.pid)) != 0, 60000);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	ck_assert(is_fit());
	kill(new, SIGKILL);
	WAIT_FOR(!is_fit(), SOON);
	backend_stop(&back);
}
END_TEST

SUITE(test_fit)
{
	Suite *s = suite_create("fit");

	SUITE_ADD(s, follows_its_servers, 60);
	SUITE_ADD(s, in_the_sandbox, 60);
	SUITE_ADD(s, with_workers, 60);
	SUITE_ADD(s, killed, 60);
	SUITE_ADD(s, guard_is_killed, 60);
	SUITE_ADD(s, failed_start, 60);
	SUITE_ADD(s, draining, 60);
	SUITE_ADD(s, cannot_be_written, 60);
	SUITE_ADD(s, other_server, 60);
	SUITE_ADD(s, any_service, 60);
	SUITE_ADD(s, upgrades, 120);
	return s;
}
