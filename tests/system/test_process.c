/* test_process.c: pen as a process: background, pid file, signals, users. */
#include "config.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* unshare() */
#endif

#include <check.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/mounts.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

static struct backend back;
static struct endpoint front;

static void
prepare(void)
{
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
}

static pid_t
pid_in(const char *path)
{
	pid_t pid = (pid_t)strtol(contents(path), NULL, 10);

	ck_assert_msg(pid > 1, "no process id in %s", path);
	return pid;
}

/* Starts it in the background: when the command returns it must be ready. */
static pid_t
start_in_background(const char *option, const char *value)
{
	const char *pid_file = scratch("pid");
	struct pen pen;

	pen_start(&pen, "-p", pid_file, option, value, "-r", front.text,
	    back.at.text, NULL);
	ck_assert_msg(child_wait(&pen.child, 10000) == 0, "exit %d: %s",
	    pen.child.status, child_err(&pen.child));
	ck_assert_str_eq(child_err(&pen.child), "");
	return pid_in(pid_file);
}

static void
stop_in_background(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	WAIT_FOR(access(scratch("pid"), F_OK) != 0, 5000);
}

START_TEST(background_when_ready)
{
	pid_t pid;

	prepare();
	pid = start_in_background("-O", "tcp_nodelay");
	ck_assert(endpoint_is_listening(&front));
	ck_assert_str_eq(endpoint_hear(&front), "served");
#ifdef __linux__
	ck_assert_int_eq(getsid(pid), pid);
	ck_assert_str_eq(child_link(pid, "fd/0"), "/dev/null");
#endif
	ck_assert_int_ne(getpgid(pid), getpgid(0));
	stop_in_background(pid);
	WAIT_FOR(!endpoint_is_listening(&front), 5000);
	backend_stop(&back);
}
END_TEST

START_TEST(background_fails_in_front)
{
	const char *pid = scratch("pid");
	int fd;

	prepare();
	fd = endpoint_listen(&front, 1);
	pen_expect_failure(
	    front.text, "-p", pid, "-r", front.text, back.at.text, NULL);
	ck_assert_int_ne(access(pid, F_OK), 0);
	close(fd);
	backend_stop(&back);
}
END_TEST

START_TEST(pid_file_is_locked)
{
	const char *pid_file = scratch("pid");
	struct endpoint other;
	struct pen pen;
	pid_t pid;

	prepare();
	endpoint_new(&other, ENDPOINT_TCP4);
	pen_up(
	    &pen, &front, "-p", pid_file, "-r", front.text, back.at.text, NULL);
	WAIT_FOR(file_has(pid_file, "\n"), 5000);
	pid = pid_in(pid_file);
	ck_assert_int_eq(pid, pen.child.pid);
	pen_expect_failure(
	    pid_file, "-f", "-p", pid_file, other.text, back.at.text, NULL);
	ck_assert_int_eq(pid_in(pid_file), pid);
	pen_down(&pen);
	ck_assert_int_ne(access(pid_file, F_OK), 0);
	/* one that a crash left behind is no obstacle */
	write_file(pid_file, "4194000\n");
	pen_up(
	    &pen, &front, "-p", pid_file, "-r", front.text, back.at.text, NULL);
	WAIT_FOR(file_has(pid_file, text("%ld\n", (long)pen.child.pid)), 5000);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* A script that reads it finds none, which was not said. */
START_TEST(lost_pid_file_is_reported)
{
	const char *pid_file = scratch("pid");
	struct pen pen;

	prepare();
	pen_up(
	    &pen, &front, "-p", pid_file, "-r", front.text, back.at.text, NULL);
	WAIT_FOR(file_has(pid_file, "\n"), 5000);
	ck_assert_int_eq(unlink(pid_file), 0);
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(child_has_said(&pen.child,
		     text("pid file was removed, only a restart makes it again "
			  "file=%s",
			 pid_file)),
	    5000);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

START_TEST(signals_that_end)
{
	struct pen pen;
	struct endpoint path;
	const char *pid_file = scratch("pid");
	static const int signals[] = { SIGTERM, SIGINT };
	int i, fd;

	prepare();
	endpoint_new(&path, ENDPOINT_UNIX);
	for (i = 0; i < 2; i++) {
		pen_up(&pen, &path, "-p", pid_file, "-r", path.text,
		    back.at.text, NULL);
		ck_assert_str_eq(endpoint_hear(&path), "served");
		fd = endpoint_connect(
		    &path); /* an open session is no obstacle */
		ck_assert_int_eq(child_stop(&pen.child, signals[i]), 0);
		close(fd);
		ck_assert_int_ne(access(path.text, F_OK), 0);
		ck_assert_int_ne(access(pid_file, F_OK), 0);
	}
	backend_stop(&back);
}
END_TEST

/* They end it all the same. */
START_TEST(signals_that_a_parent_blocked)
{
	sigset_t all, before;
	struct pen pen;

	prepare();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pen_up(&pen, &front, "-r", front.text, back.at.text, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	ck_assert_int_eq(child_stop(&pen.child, SIGTERM), 0);
	backend_stop(&back);
}
END_TEST

/* Those of children, too: pen waits for some. */
START_TEST(signals_that_a_parent_ignored)
{
	struct pen pen;

	if (system("env --ignore-signal=CHLD true 2>/dev/null") != 0)
		SKIP("needs env --ignore-signal");
	prepare();
	/* in place of valgrind, for which a child of --check has leaks */
	setenv("PEN_TEST_WRAPPER", "env --ignore-signal=CHLD", 1);
	pen_start(&pen, "--check", "-r", front.text, back.at.text, NULL);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	backend_stop(&back);
}
END_TEST

START_TEST(hangup_and_broken_pipe_do_not_end)
{
	struct pen pen;

	prepare();
	pen_up(&pen, &front, "-r", front.text, back.at.text, NULL);
	kill(pen.child.pid, SIGHUP);
	kill(pen.child.pid, SIGPIPE);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	ck_assert_str_eq(endpoint_hear(&front), "served");
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* -j: the root moves; the pid file is written before. */
START_TEST(changes_root)
{
	const char *jail = scratch("jail"), *pid_file = scratch("pid");
	struct stat want, have;
	struct pen pen;
	const char *root;

	if (geteuid() != 0)
		SKIP("needs root");
	prepare();
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	pen_without_leak_checker();
	pen_up(&pen, &front, "-p", pid_file, "-j", jail, "-r", front.text,
	    back.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	root = text("/proc/%ld/root/.", (long)pen.child.pid);
	if (stat(root, &have) == 0) {
		ck_assert_int_eq(stat(jail, &want), 0);
		ck_assert(want.st_ino == have.st_ino);
	}
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* In the background it leaves the terminal, whatever the new root lacks: who
 * waits for the end of its output, as ssh does, goes on. */
START_TEST(background_in_a_new_root)
{
	const char *jail = scratch("jail_behind");
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	prepare();
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	pen_without_leak_checker();
	pid = start_in_background("-j", jail);
	ck_assert_str_eq(endpoint_hear(&front), "served");
#ifdef __linux__
	ck_assert_str_eq(child_link(pid, "fd/0"), "/dev/null");
	ck_assert_str_eq(child_link(pid, "fd/1"), "/dev/null");
	ck_assert_str_eq(child_link(pid, "fd/2"), "/dev/null");
#endif
	kill(pid, SIGTERM);
	/* the pid file is out of reach, and emptied */
	WAIT_FOR(*contents(scratch("pid")) == '\0', 5000);
	backend_stop(&back);
}
END_TEST

static int
listen_as_daemon(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	(void)unlink(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* A /dev of the test's own with a log daemon in it, whose socket is returned;
 * -1 where mounts cannot be private. */
static int
private_log_daemon(void)
{
	return mounts_devices() ? listen_as_daemon("/dev/log") : -1;
}

/* Whether the daemon hears of `what` within the test's time. */
static bool
daemon_hears(int fd, const char *what)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char line[2048];
	ssize_t n;

	while (poll(&p, 1, 5000) == 1 &&
	    (n = recv(fd, line, sizeof(line) - 1, 0)) > 0) {
		line[n] = '\0';
		if (strstr(line, what) != NULL)
			return true;
	}
	return false;
}

START_TEST(syslog_from_a_new_root)
{
	const char *jail = scratch("jail_logs");
	pid_t pid;
	int fd = private_log_daemon();

	if (fd < 0)
		SKIP("needs Linux, and the right to mount");
	prepare();
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	pen_without_leak_checker();
	pid = start_in_background("-j", jail);
	kill(pid, SIGUSR1);
	ck_assert(daemon_hears(fd, text("pen[%ld]: ", (long)pid)));
	kill(pid, SIGTERM);
	WAIT_FOR(!endpoint_is_listening(&front), 5000);
	backend_stop(&back);
	close(fd);
}
END_TEST

/* The connection from before is over. Where the path leads to no daemon, lines
 * are counted. */
START_TEST(syslog_starts_again)
{
	const char *jail = scratch("jail_again");
	struct endpoint ctl;
	pid_t pid;
	int fd = private_log_daemon(), inside;

	if (fd < 0)
		SKIP("needs Linux, and the right to mount");
	prepare();
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	ck_assert_int_eq(mkdir(text("%s/dev", jail), 0755), 0);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_without_leak_checker();
	pid = start_in_background(
	    text("--chroot=%s", jail), text("--control=%s", ctl.text));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "statistics\n"), "\nlog_lines_lost 0\n"));
	close(fd);
	fd = listen_as_daemon("/dev/log");
	kill(pid, SIGUSR1);
	WAIT_FOR(report_number(endpoint_ask(&ctl, "statistics\n"),
		     "\nlog_lines_lost ") > 0,
	    5000);
	inside = listen_as_daemon(text("%s/dev/log", jail));
	kill(pid, SIGUSR1);
	ck_assert(daemon_hears(inside, "log lines lost count="));
	kill(pid, SIGTERM);
	WAIT_FOR(!endpoint_is_listening(&front), 5000);
	backend_stop(&back);
	close(inside);
	close(fd);
}
END_TEST

/* What the new root says about users counts for nothing: who may write there
 * would choose the groups, or by nsswitch.conf code that runs as root. */
START_TEST(new_root_says_no_groups)
{
	const char *jail = scratch("jail_groups");
	struct pen pen;

	if (geteuid() != 0 || getpwnam("nobody") == NULL)
		SKIP("needs root and the user nobody");
	prepare();
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	ck_assert_int_eq(mkdir(text("%s/etc", jail), 0755), 0);
	write_file(text("%s/etc/group", jail), "made_up:x:54321:nobody\n");
	pen_without_leak_checker();
	pen_up(&pen, &front, "-u", "nobody", "-j", jail, "-r", front.text,
	    back.at.text, NULL);
#ifdef __linux__
	ck_assert_ptr_null(
	    strstr(child_status_line(pen.child.pid, "Groups"), "54321"));
#endif
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* Started with its standard files closed, it must not take the first sockets
 * and the pid file for them. */
START_TEST(closed_standard_files)
{
	const char *pid_file = scratch("pid");
	const char *line[] = { "/bin/sh", "-c", NULL, NULL };
	struct endpoint other;
	struct child sh;
	pid_t pid;

	if (getenv("PEN_TEST_WRAPPER") != NULL)
		SKIP("valgrind needs its standard files");
	prepare();
	line[2] = text("%s -p %s -r %s %s <&- >&- 2>&-", getenv("PEN"),
	    pid_file, front.text, back.at.text);
	child_start(&sh, line);
	ck_assert_int_eq(child_wait(&sh, 10000), 0);
	pid = pid_in(pid_file);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	endpoint_new(&other, ENDPOINT_TCP4);
	pen_expect_failure("already running", "-f", "-p", pid_file, other.text,
	    back.at.text, NULL);
	stop_in_background(pid);
	backend_stop(&back);
}
END_TEST

/* Where somebody else may write, a link must not choose which file root
 * fills. */
START_TEST(links_of_others_are_refused)
{
	const struct passwd *nobody = getpwnam("nobody");
	const char *target = scratch("precious"), *link = scratch("link");

	if (geteuid() != 0 || nobody == NULL)
		SKIP("needs root and the user nobody");
	prepare();
	write_file(target, "precious");
	ck_assert_int_eq(symlink(target, link), 0);
	ck_assert_int_eq(lchown(link, nobody->pw_uid, nobody->pw_gid), 0);
	pen_expect_failure("symbolic link of another user", "-p", link, "-r",
	    front.text, back.at.text, NULL);
	pen_expect_failure("symbolic link of another user", "-l", link, "-r",
	    front.text, back.at.text, NULL);
	ck_assert_str_eq(contents(target), "precious");
	backend_stop(&back);
}
END_TEST

START_TEST(runs_as_another_user)
{
	const struct passwd *nobody = getpwnam("nobody");
	struct pen pen;

	if (geteuid() != 0 || nobody == NULL)
		SKIP("needs root and the user nobody");
	prepare();
	pen_up(
	    &pen, &front, "-u", "nobody", "-r", front.text, back.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "served");
#ifdef __linux__
	ck_assert_str_eq(child_status_line(pen.child.pid, "Uid"),
	    text("%u\t%u\t%u\t%u", nobody->pw_uid, nobody->pw_uid,
		nobody->pw_uid, nobody->pw_uid));
	ck_assert_str_eq(child_status_line(pen.child.pid, "Gid"),
	    text("%u\t%u\t%u\t%u", nobody->pw_gid, nobody->pw_gid,
		nobody->pw_gid, nobody->pw_gid));
#endif
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

START_TEST(debug_lines_have_a_time)
{
	struct pen pen;
	const char *err, *at;

	prepare();
	pen_up(&pen, &front, "-d", "-d", "-r", front.text, back.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	WAIT_FOR(child_has_said(&pen.child, "reason=done"), 5000);
	err = child_err(&pen.child);
	at = strstr(err, "session closed reason=done");
	ck_assert_ptr_nonnull(at);
	while (at > err && at[-1] != '\n')
		at--;
	/* YYYY-MM-DD HH:MM:SS: */
	ck_assert_int_eq((int)strspn(at, "0123456789"), 4);
	ck_assert_int_eq(at[4], '-');
	ck_assert_int_eq(at[10], ' ');
	ck_assert_int_eq(at[13], ':');
	ck_assert_int_eq(strncmp(at + 19, ": ", 2), 0);
	ck_assert_ptr_nonnull(strstr(at, text("server=%s", back.at.text)));
	ck_assert_ptr_nonnull(strstr(at, "down=6"));
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* -dd dumps data, in hex or with -a as it is. */
START_TEST(data_dumps)
{
	struct pen pen;

	prepare();
	back.serve = backend_sink;
	pen_up(&pen, &front, "-dd", "-r", front.text, back.at.text, NULL);
	ck_assert_str_eq(endpoint_ask(&front, "Dumped"), "received 6\n");
	WAIT_FOR(child_has_said(&pen.child, "44 75 6d 70 65 64") ||
		child_has_said(&pen.child, "44756d706564"),
	    5000);
	pen_down(&pen);
	pen_up(&pen, &front, "-dd", "-a", "-r", front.text, back.at.text, NULL);
	ck_assert_str_eq(endpoint_ask(&front, "Dumped"), "received 6\n");
	WAIT_FOR(child_has_said(&pen.child, "Dumped"), 5000);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* A reload adds a port below 1024, and so does one after an upgrade. */
START_TEST(another_user_adds_low_ports)
{
	struct endpoint ctl;
	struct pen pen;
	const char *conf;
	pid_t new;

	NEED_PROGRAM("ip");
	NEED_UPGRADES(upgrading_install());
	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0 ||
	    system("ip link set lo up") != 0)
		SKIP("needs root and a network namespace");
	prepare();
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	write_file(conf,
	    text("listen %s\nserver add %s\n", front.text, back.at.text));
	ck_assert_int_eq(chmod(conf, 0644), 0);
	ck_assert_int_eq(chmod(text("%.*s", (int)(strrchr(conf, '/') - conf),
				   conf),
			     0777),
	    0);
	pen_start(&pen, "-f", "-u", "nobody", "-C", ctl.text, "-F",
	    conf, NULL);
	pen_wait_ready(&pen, &front);
	write_file(conf,
	    text("listen %s,127.0.0.1:81\nserver add %s\n", front.text,
		back.at.text));
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	pen_answers(&ctl, "reload", "");
	ck_assert_str_eq(endpoint_ask(&ctl, "listen\n"),
	    text("%s,127.0.0.1:81\n", front.text));
	new = upgrading_go(&ctl, pen.child.pid);
	write_file(conf,
	    text("listen %s,127.0.0.1:81,127.0.0.1:82\nserver add %s\n",
		front.text, back.at.text));
	pen_answers(&ctl, "reload", "");
	ck_assert_str_eq(endpoint_ask(&ctl, "listen\n"),
	    text("%s,127.0.0.1:81,127.0.0.1:82\n", front.text));
	upgrading_end(new);
	backend_stop(&back);
}
END_TEST

SUITE(test_process)
{
	Suite *s = suite_create("process");

	SUITE_ADD(s, background_when_ready, 15);
	SUITE_ADD(s, background_fails_in_front, 15);
	SUITE_ADD(s, pid_file_is_locked, 15);
	SUITE_ADD(s, lost_pid_file_is_reported, 30);
	SUITE_ADD(s, signals_that_end, 15);
	SUITE_ADD(s, signals_that_a_parent_ignored, 30);
	SUITE_ADD(s, signals_that_a_parent_blocked, 30);
	SUITE_ADD(s, hangup_and_broken_pipe_do_not_end, 15);
	SUITE_ADD(s, changes_root, 15);
	SUITE_ADD(s, background_in_a_new_root, 15);
	SUITE_ADD(s, syslog_from_a_new_root, 30);
	SUITE_ADD(s, syslog_starts_again, 30);
	SUITE_ADD(s, new_root_says_no_groups, 15);
	SUITE_ADD(s, closed_standard_files, 15);
	SUITE_ADD(s, links_of_others_are_refused, 15);
	SUITE_ADD(s, runs_as_another_user, 15);
	SUITE_ADD(s, another_user_adds_low_ports, 60);
	SUITE_ADD(s, debug_lines_have_a_time, 15);
	SUITE_ADD(s, data_dumps, 15);
	return s;
}
