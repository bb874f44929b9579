/* test_process.c: pen as a process: background, pid file, signals, users. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend back;
static struct spot front;

static void
prepare(void)
{
	backend_start(&back, SPOT_TCP4, backend_say, "served");
	spot_new(&front, SPOT_TCP4);
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
	ck_assert(spot_is_listening(&front));
	ck_assert_str_eq(spot_hear(&front), "served");
#ifdef __linux__
	ck_assert_int_eq(getsid(pid), pid);
	ck_assert_str_eq(child_link(pid, "fd/0"), "/dev/null");
#endif
	ck_assert_int_ne(getpgid(pid), getpgid(0));
	stop_in_background(pid);
	WAIT_FOR(!spot_is_listening(&front), 5000);
	backend_stop(&back);
}
END_TEST

START_TEST(background_fails_in_front)
{
	const char *pid = scratch("pid");
	int fd;

	prepare();
	fd = spot_listen(&front, 1);
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
	struct spot other;
	struct pen pen;
	pid_t pid;

	prepare();
	spot_new(&other, SPOT_TCP4);
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

START_TEST(signals_that_end)
{
	struct pen pen;
	struct spot path;
	const char *pid_file = scratch("pid");
	static const int signals[] = { SIGTERM, SIGINT };
	int i, fd;

	prepare();
	spot_new(&path, SPOT_UNIX);
	for (i = 0; i < 2; i++) {
		pen_up(&pen, &path, "-p", pid_file, "-r", path.text,
		    back.at.text, NULL);
		ck_assert_str_eq(spot_hear(&path), "served");
		fd = spot_connect(&path); /* an open session is no obstacle */
		ck_assert_int_eq(child_stop(&pen.child, signals[i]), 0);
		close(fd);
		ck_assert_int_ne(access(path.text, F_OK), 0);
		ck_assert_int_ne(access(pid_file, F_OK), 0);
	}
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
	ck_assert_str_eq(spot_hear(&front), "served");
	ck_assert_str_eq(spot_hear(&front), "served");
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
	/* the leak checker of a sanitizer build needs /proc */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	pen_up(&pen, &front, "-p", pid_file, "-j", jail, "-r", front.text,
	    back.at.text, NULL);
	ck_assert_str_eq(spot_hear(&front), "served");
	root = text("/proc/%ld/root/.", (long)pen.child.pid);
	if (stat(root, &have) == 0) {
		ck_assert_int_eq(stat(jail, &want), 0);
		ck_assert(want.st_ino == have.st_ino);
	}
	pen_down(&pen);
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
	ck_assert_str_eq(spot_hear(&front), "served");
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
	ck_assert_str_eq(spot_hear(&front), "served");
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
	ck_assert_str_eq(spot_ask(&front, "Dumped"), "received 6\n");
	WAIT_FOR(child_has_said(&pen.child, "44 75 6d 70 65 64") ||
		child_has_said(&pen.child, "44756d706564"),
	    5000);
	pen_down(&pen);
	pen_up(&pen, &front, "-dd", "-a", "-r", front.text, back.at.text, NULL);
	ck_assert_str_eq(spot_ask(&front, "Dumped"), "received 6\n");
	WAIT_FOR(child_has_said(&pen.child, "Dumped"), 5000);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("process");

	SUITE_ADD(s, background_when_ready, 15);
	SUITE_ADD(s, background_fails_in_front, 15);
	SUITE_ADD(s, pid_file_is_locked, 15);
	SUITE_ADD(s, signals_that_end, 15);
	SUITE_ADD(s, hangup_and_broken_pipe_do_not_end, 15);
	SUITE_ADD(s, changes_root, 15);
	SUITE_ADD(s, runs_as_another_user, 15);
	SUITE_ADD(s, debug_lines_have_a_time, 15);
	SUITE_ADD(s, data_dumps, 15);
	return suite_main(s);
}
