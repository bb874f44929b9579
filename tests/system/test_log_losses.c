/* test_log_losses.c: the session log when nobody takes its lines: a disk that
 * is full, a pipe whose reader stops. Each session has a whole line, or is
 * counted, and no client waits. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem() */
#endif
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/mounts.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/terminal.h"

enum { SOON = 20000 };

static struct backend back;
static struct endpoint front, ctl, web;
static struct pen pen;
static long visits;

static void
up(const char *log)
{
	visits = 0;
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&web, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-O",
	    text("session_log %s; log_format jsonl", log), "-O",
	    text("web %s", web.text), front.text, back.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

static void
visit(int times)
{
	visits += times;
	while (times-- > 0)
		ck_assert_str_eq(endpoint_hear(&front), "served");
}

static long
lost(void)
{
	return report_number(
	    endpoint_ask(&ctl, "statistics\n"), "\nsession_lines_lost ");
}

static int
said(const char *what)
{
	return count_in(child_err(&pen.child), what);
}

/* Each line is whole, and all of one session. Returns how many they are. */
static long
whole_lines(const char *text_)
{
	const char *end;
	long n = 0;

	for (; *text_ != '\0'; text_ = end + 1, n++) {
		end = strchr(text_, '\n');
		ck_assert_msg(end != NULL, "half a line: %s", text_);
		ck_assert_msg(strncmp(text_, "{\"time\":\"20", 11) == 0 &&
			end[-1] == '}' &&
			memmem(text_ + 1, (size_t)(end - text_ - 1), "{",
			    1) == NULL,
		    "%.*s", (int)(end - text_), text_);
	}
	return n;
}

/* ---- a disk ---- */

static void
fill(const char *path)
{
	static const char much[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	ck_assert_int_ge(fd, 0);
	while (write(fd, much, sizeof(much)) > 0)
		;
	ck_assert_int_eq(errno, ENOSPC);
	close(fd);
}

START_TEST(disk_is_full)
{
	const char *at = scratch("disk"), *log = text("%s/sessions", at);
	const char *ballast = text("%s/ballast", at);
	long before;

	ck_assert_int_eq(mkdir(at, 0700), 0);
	if (!mounts_private() || !mounts_empty(at, "64k"))
		SKIP("no mounts of one's own here");
	up(log);
	visit(5);
	WAIT_FOR(file_has(log, "done"), SOON);
	fill(ballast);
	WAIT_FOR((visit(10), lost() > 0), SOON);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&web, "GET /metrics HTTP/1.0\r\n\r\n"),
		text("\npen_log_lines_lost_total{log=\"sessions\"} %ld\n",
		    lost())));
	visit(10);
	before = lost();
	WAIT_FOR((visit(10), lost() > before), SOON);
	ck_assert_int_eq(said(" session log lines dropped count="), 1);
	ck_assert_int_eq(said("No space left on device"), 1);

	ck_assert_int_eq(unlink(ballast), 0);
	WAIT_FOR((visit(1), said(" session log resumed dropped=") == 1), SOON);
	before = lost();
	visit(20);
	WAIT_FOR(whole_lines(contents(log)) == visits - before, SOON);
	ck_assert_int_eq(lost(), before);
	down();
}
END_TEST

/* A limit of the process (ulimit -f) is as a full disk: writing beyond it would
 * send a signal that ends processes. */
START_TEST(file_may_not_grow)
{
	const char *log = scratch("sessions");
	long before;

	child_limit_files(8192);
	up(log);
	child_limit_files(RLIM_INFINITY);
	WAIT_FOR((visit(10), lost() > 0), SOON);
	before = lost();
	WAIT_FOR((visit(10), lost() > before), SOON);
	ck_assert_int_eq(said(" session log lines dropped count="), 1);
	ck_assert_int_eq(said("File too large"), 1);
	down();
}
END_TEST

/* ---- a pipe ---- */

static char heard[4 << 20];

/* What the pipe has, behind what was heard before. */
static void
hear(int fd)
{
	size_t n = strlen(heard);
	ssize_t got;

	while ((got = read(fd, heard + n, sizeof(heard) - 1 - n)) > 0)
		n += (size_t)got;
	heard[n] = '\0';
}

START_TEST(reader_stops)
{
	const char *path = scratch("fifo");
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
#ifdef F_SETPIPE_SZ
	ck_assert_int_eq(fcntl(fd, F_SETPIPE_SZ, 4096), 4096);
#endif
	heard[0] = '\0';
	up(path);
	WAIT_FOR((visit(10), lost() > 0), SOON);
	WAIT_FOR((hear(fd), visit(1), said("log resumed") == 1), SOON);
	WAIT_FOR((hear(fd), heard[strlen(heard) - 1] == '\n') &&
		whole_lines(heard) + lost() == visits,
	    SOON);
	close(fd);
	down();
}
END_TEST

/* The one that comes next may get what that one has left, and the end of a line
 * that it has begun: all behind are whole. */
START_TEST(another_reader)
{
	const char *path = scratch("fifo");
	int fd[2];
	long before;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd[0] = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd[0], 0);
	up(path);
	visit(1);
	close(fd[0]);
	WAIT_FOR((visit(1), lost() > 0), SOON);
	ck_assert_int_eq(said("error=\"Broken pipe\""), 1);
	before = lost();
	fd[1] = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd[1], 0);
	heard[0] = '\0';
	WAIT_FOR((visit(1), hear(fd[1]), strchr(heard, '\n') != NULL), SOON);
	WAIT_FOR((visit(1), hear(fd[1]), said("log resumed") == 1), SOON);
	ck_assert_int_ge(lost(), before);
	whole_lines(strchr(heard, '\n') + 1);
	close(fd[1]);
	down();
}
END_TEST

/* Beside the file that is named there is none: HUP makes one. */
START_TEST(directory_goes)
{
	const char *at = scratch("logs"), *log = text("%s/sessions", at);

	ck_assert_int_eq(mkdir(at, 0700), 0);
	up(log);
	visit(1);
	ck_assert_int_eq(unlink(log), 0);
	ck_assert_int_eq(rmdir(at), 0);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(said("session log not reopened error=") == 1, SOON);
	ck_assert_int_eq(mkdir(at, 0700), 0);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(access(log, F_OK) == 0, SOON);
	visit(1);
	WAIT_FOR(whole_lines(contents(log)) == 1, SOON);
	ck_assert_int_le(lost(), 1); /* its file may have been gone already */
	down();
}
END_TEST

/* Who reads a file that was removed? Nobody. */
START_TEST(file_is_removed)
{
	const char *log = scratch("removed");

	up(log);
	visit(1);
	WAIT_FOR(file_has(log, "done"), SOON);
	ck_assert_int_eq(unlink(log), 0);
	WAIT_FOR((visit(1), lost() > 0), SOON);
	ck_assert_int_eq(said(" session log lines dropped count="), 1);
	down();
}
END_TEST

static uid_t
owner_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_uid : (uid_t)-1;
}

/* As logrotate does it by default: the new one is like the old one. */
START_TEST(root_gives_its_logs_away)
{
	const char *at = scratch("rotated"), *log = text("%s/sessions", at);
	const char *requests = text("%s/requests", at);
	struct stat st;
	int fd;

	if (geteuid() != 0 || getenv("PEN_TEST_WRAPPER") != NULL)
		SKIP("needs root");
	ck_assert_int_eq(mkdir(at, 0755), 0);
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
	visits = 0;
	pen_up(&pen, &front, "-r", "-u", "nobody", "-l", requests, "-O",
	    text("session_log %s; log_format jsonl", log), front.text,
	    back.at.text, NULL);
	WAIT_FOR(owner_of(log) != 0, SOON);
	ck_assert_uint_eq(owner_of(requests), owner_of(log));
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777 & ~0640u, 0);
	ck_assert_int_eq(rename(log, text("%s.1", log)), 0);
	fd = open(log, O_WRONLY | O_CREAT | O_EXCL, 0640);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchown(fd, st.st_uid, st.st_gid), 0);
	close(fd);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR((visit(1), file_has(log, "done")), SOON);
	down();
}
END_TEST

/* ---- a terminal ---- */

static struct terminal screen;

static void
up_at_a_terminal(const char *option, const char *log)
{
	visits = 0;
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	terminal_start(&screen,
	    (const char *const[]){ getenv("PEN"), option, "-r", "-C", ctl.text,
		"-O", text("session_log %s", log), front.text, back.at.text,
		NULL });
	WAIT_FOR(endpoint_is_listening(&ctl), SOON);
}

/* Each command is a line of the log. The last answer comes, and so does what
 * clients ask for, and what was lost is said when somebody reads again. */
static void
nobody_reads_it(const char *option, const char *log)
{
	int i;

	up_at_a_terminal(option, log);
	for (i = 0; i < 1000; i++)
		ck_assert_str_eq(endpoint_ask(&ctl, "timeout 5\n"), "5\n");
	visit(1000);
	WAIT_FOR(strcmp(log, "auto") == 0 || lost() > 0, SOON);
	WAIT_FOR((visit(1), terminal_clear(&screen),
		     terminal_shows(&screen, "lines lost count=")),
	    SOON);
	child_stop(&screen.child, SIGTERM);
	close(screen.fd);
	backend_stop(&back);
}

START_TEST(nobody_reads_the_terminal)
{
	static const char *const options[] = { "-f", "-fd", "-fdd" };

	nobody_reads_it(options[_i], "auto");
}
END_TEST

START_TEST(nobody_reads_its_sessions)
{
	static const char *const logs[] = { "stdout", "stderr" };

	nobody_reads_it("-f", logs[_i]);
}
END_TEST

SUITE(test_log_losses)
{
	Suite *s = suite_create("log_losses");

	SUITE_ADD(s, disk_is_full, 60);
	SUITE_ADD(s, file_may_not_grow, 60);
	SUITE_ADD(s, reader_stops, 60);
	SUITE_ADD(s, another_reader, 60);
	SUITE_ADD(s, directory_goes, 60);
	SUITE_ADD(s, file_is_removed, 60);
	SUITE_ADD(s, root_gives_its_logs_away, 60);
	SUITE_ADD_LOOP(s, nobody_reads_the_terminal, 60, 3);
	SUITE_ADD_LOOP(s, nobody_reads_its_sessions, 60, 2);
	return s;
}
