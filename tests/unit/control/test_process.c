/* test_process.c: the pid file, the background and privileges. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/life/process.h"
#include "support/suite.h"
#include "support/wait.h"

static struct process proc;
static struct error e;

/* Runs `story` in a child and returns how that exited. Stories must not use
 * ck_assert: they return the number of the step that went wrong, or 0. */
static int
in_child(int (*story)(const char *path), const char *path)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(story(path));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- pid file ---- */

START_TEST(pid_is_written)
{
	const char *path = scratch("pid");

	write_file(path, "999999999999 something old and longer\n");
	process_init(&proc);
	ck_assert_int_eq(process_lock_pid_file(&proc, path, false, &e), 0);
	ck_assert_int_eq(process_ready(&proc, &e), 0);
	ck_assert_str_eq(contents(path), text("%ld\n", (long)getpid()));
	process_fini(&proc);
	ck_assert_int_eq(access(path, F_OK), -1);
	process_fini(&proc);
}
END_TEST

/* Another process is told who holds it. */
static int
finds_it_locked(const char *path)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "already running as pid %ld ",
	    (long)getppid());
	process_init(&proc);
	if (process_lock_pid_file(&proc, path, false, &e) != -1)
		return 1;
	if (strncmp(e.text, wanted, strlen(wanted)) != 0)
		return 2;
	if (strstr(e.text, path) == NULL)
		return 3;
	process_fini(&proc);
	return access(path, F_OK) == 0 ? 0 : 4;
}

static int
gets_it(const char *path)
{
	process_init(&proc);
	if (process_lock_pid_file(&proc, path, false, &e) < 0)
		return 1;
	if (process_ready(&proc, &e) < 0)
		return 2;
	process_fini(&proc);
	return access(path, F_OK) == 0 ? 3 : 0;
}

START_TEST(pid_file_is_locked)
{
	const char *path = scratch("pid");

	process_init(&proc);
	ck_assert_int_eq(process_lock_pid_file(&proc, path, false, &e), 0);
	ck_assert_int_eq(process_ready(&proc, &e), 0);
	ck_assert_int_eq(in_child(finds_it_locked, path), 0);
	ck_assert_str_eq(contents(path), text("%ld\n", (long)getpid()));
	process_fini(&proc);
	/* one left behind by a crash is nobody's */
	write_file(path, "1\n");
	ck_assert_int_eq(in_child(gets_it, path), 0);
}
END_TEST

START_TEST(bad_pid_files)
{
	const char *const bad[] = { scratch("no/such/directory"), scratch("."),
		"" };
	unsigned i;

	for (i = 0; i < 3; i++) {
		process_init(&proc);
		ck_assert_int_eq(
		    process_lock_pid_file(&proc, bad[i], false, &e), -1);
		ck_assert_ptr_nonnull(
		    strstr(e.text, text("pid file \"%s\": ", bad[i])));
		process_fini(&proc);
	}
}
END_TEST

/* A start that fails leaves what is not its own. */
START_TEST(pid_file_of_others_stays)
{
	const char *path = scratch("pid"), *pipe = scratch("fifo");

	write_file(path, "precious\n");
	process_init(&proc);
	ck_assert_int_eq(process_lock_pid_file(&proc, path, false, &e), 0);
	process_fini(&proc);
	ck_assert_str_eq(contents(path), "precious\n");
	ck_assert_int_eq(mkfifo(pipe, 0600), 0);
	ck_assert_int_eq(process_lock_pid_file(&proc, pipe, false, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "is not a regular file"));
	ck_assert_int_eq(process_try_pid_file(pipe, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "is not a regular file"));
	process_fini(&proc);
	ck_assert_int_eq(access(pipe, F_OK), 0);
}
END_TEST

/* What one process removes while another opens it, that one does not take. */
static int
gets_it_again_and_again(const char *path)
{
	struct stat there, ours;
	int i, got;

	process_init(&proc);
	for (i = got = 0; i < 20000; i++) {
		if (process_lock_pid_file(&proc, path, false, &e) < 0)
			continue;
		got++;
		if (stat(path, &there) < 0 || fstat(proc.pid_fd, &ours) < 0 ||
		    there.st_ino != ours.st_ino)
			return 1;
		process_fini(&proc);
	}
	return got > 0 ? 0 : 2;
}

static int
both_get_it(const char *path)
{
	pid_t other = fork();
	int status, mine;

	if (other == 0)
		_exit(gets_it_again_and_again(path));
	mine = gets_it_again_and_again(path);
	if (other < 0 || waitpid(other, &status, 0) < 0)
		return 3;
	return mine != 0 || status == 0 ? mine : 4;
}

START_TEST(removed_pid_file_is_not_taken)
{
	ck_assert_int_eq(in_child(both_get_it, scratch("pid")), 0);
}
END_TEST

/* ---- background ---- */

/* What the child does after the fork. */
enum { CHILD_READY, CHILD_FAILS, CHILD_DIES, CHILD_IS_MUTE };

/* The starter's view: the status it is to end with. The ready child leaves its
 * pid in `path` and lives on until the test is over. */
static int
background(int what, const char *path)
{
	int status;

	process_init(&proc);
	status = process_background(&proc, &e);
	if (status != -1)
		return status;
	if (what == CHILD_FAILS)
		_exit(7);
	if (what == CHILD_DIES)
		raise(SIGKILL);
	if (what == CHILD_IS_MUTE)
		(void)!dup2(open("/dev/null", O_RDONLY), proc.ready_fd);
	if (process_lock_pid_file(&proc, path, false, &e) < 0 ||
	    process_ready(&proc, &e) < 0) {
		dprintf(STDERR_FILENO, "%s", e.text);
		_exit(9);
	}
	for (;;)
		poll(NULL, 0, -1);
}

START_TEST(status_of_the_child)
{
	const char *path = scratch("pid");
	struct stat null, own;
	long child;
	int fd;

	ck_assert_int_eq(background(CHILD_FAILS, path), 7);
	ck_assert_int_eq(background(CHILD_DIES, path), 1);
	ck_assert_int_eq(background(CHILD_READY, path), 0);
	child = strtol(contents(path), NULL, 10);
	ck_assert_int_gt(child, 1);
	ck_assert_int_eq(kill((pid_t)child, 0), 0);
	/* it has left the terminal */
	ck_assert_int_ne(getsid((pid_t)child), getsid(0));
	ck_assert_int_eq(stat("/dev/null", &null), 0);
	for (fd = 0; fd <= 2; fd++)
		WAIT_FOR(stat(text("/proc/%ld/fd/%d", child, fd), &own) < 0 ||
			own.st_rdev == null.st_rdev,
		    5000);
	ck_assert_int_eq(kill((pid_t)child, SIGKILL), 0);
}
END_TEST

/* Its last words reach the caller's standard error. */
START_TEST(child_cannot_report)
{
	const char *path = scratch("error");
	int fd = open(path, O_WRONLY | O_CREAT, 0600), own = dup(STDERR_FILENO);

	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	ck_assert_int_eq(background(CHILD_IS_MUTE, scratch("pid")), 9);
	ck_assert_int_ge(dup2(own, STDERR_FILENO), 0);
	ck_assert_str_eq(
	    contents(path), "pipe of the parent process: Bad file descriptor");
}
END_TEST

/* ---- privileges ---- */

START_TEST(bad_privileges)
{
	struct process_options o = { .user =
					 (char *)(uintptr_t) "no-such-user" };

	ck_assert_int_eq(process_drop_privileges(&o, &e), -1);
	ck_assert_str_eq(e.text, "user \"no-such-user\": unknown");
	o = (struct process_options){
		.directory = (char *)(uintptr_t) "/no/such/directory"
	};
	ck_assert_int_eq(process_drop_privileges(&o, &e), -1);
	ck_assert_ptr_nonnull(
	    strstr(e.text, "directory \"/no/such/directory\": "));
	o = (struct process_options){ .foreground = true };
	ck_assert_int_eq(process_drop_privileges(&o, &e), 0);
}
END_TEST

/* As another user the file cannot be removed: it is emptied. */
static int
becomes_nobody(const char *path)
{
	struct process_options o = { .user = (char *)(uintptr_t) "nobody" };
	const struct passwd *pw = getpwnam("nobody");
	gid_t groups[64], extra[] = { 0, 1, 2 };
	int n, i;

	process_init(&proc);
	if (pw == NULL || setgroups(3, extra) < 0)
		return 1;
	if (process_lock_pid_file(&proc, path, false, &e) < 0)
		return 2;
	if (process_drop_privileges(&o, &e) < 0)
		return 3;
	if (getuid() != pw->pw_uid || geteuid() != pw->pw_uid ||
	    getgid() != pw->pw_gid || getegid() != pw->pw_gid)
		return 4;
	n = getgroups(64, groups);
	for (i = 0; i < n; i++)
		if (groups[i] <= 2)
			return 5;
	if (setuid(0) == 0)
		return 6;
	if (process_ready(&proc, &e) < 0)
		return 7;
	process_fini(&proc);
	return access(path, F_OK) == 0 ? 0 : 8;
}

START_TEST(another_user)
{
	const char *path = scratch("pid");

	if (getuid() != 0)
		SKIP("needs root");
	if (getpwnam("nobody") == NULL)
		SKIP("there is no user nobody");
	ck_assert_int_eq(in_child(becomes_nobody, path), 0);
	ck_assert_str_eq(contents(path), "");
	ck_assert_int_eq(in_child(gets_it, path), 0);
}
END_TEST

/* A number is that of a user, or of none that has a name. */
static int
becomes_number(const char *number)
{
	struct process_options o = { .user = (char *)(uintptr_t)number };
	gid_t groups[2], extra[] = { 0, 1, 2 };
	unsigned n = (unsigned)atoi(number);

	if (setgroups(3, extra) < 0 || process_drop_privileges(&o, &e) < 0)
		return 1;
	if (getuid() != n || getgid() != n || setuid(0) == 0 ||
	    !process_is_user(number))
		return 2;
	return getgroups(2, groups) == 1 && groups[0] == n ? 0 : 3;
}

START_TEST(another_number)
{
	const struct passwd *pw;
	struct passwd found;
	int n = 54321;

	if (getuid() != 0)
		SKIP("needs root");
	while (getpwuid((uid_t)n) != NULL)
		n++;
	ck_assert_int_eq(in_child(becomes_number, text("%d", n)), 0);
	ck_assert_int_eq(process_find_user("4294967294", &found, &e), 0);
	ck_assert_int_eq(process_find_user("4294967295", &found, &e), -1);
	ck_assert_str_eq(e.text, "user \"4294967295\": unknown");
	ck_assert_int_eq(process_find_user("-1", &found, &e), -1);
	ck_assert_int_eq(process_find_user("", &found, &e), -1);
	pw = getpwnam("nobody");
	if (pw == NULL)
		return;
	n = (int)pw->pw_gid;
	ck_assert_int_eq(
	    process_find_user(text("%d", (int)pw->pw_uid), &found, &e), 0);
	ck_assert_str_eq(found.pw_name, "nobody");
	ck_assert_int_eq((int)found.pw_gid, n);
}
END_TEST

static int
changes_root(const char *path)
{
	struct process_options o = { .directory = (char *)(uintptr_t)path };
	char now[16];

	if (process_drop_privileges(&o, &e) < 0)
		return 1;
	if (getcwd(now, sizeof(now)) == NULL || strcmp(now, "/") != 0)
		return 2;
	return access("/inside", F_OK) == 0 ? 0 : 3;
}

START_TEST(another_root)
{
	const char *path = scratch("root");

	if (getuid() != 0)
		SKIP("needs root");
	ck_assert_int_eq(mkdir(path, 0755), 0);
	write_file(text("%s/inside", path), "x");
	ck_assert_int_eq(in_child(changes_root, path), 0);
}
END_TEST

SUITE(test_process)
{
	Suite *s = suite_create("process");

	SUITE_ADD(s, pid_is_written, 10);
	SUITE_ADD(s, pid_file_is_locked, 10);
	SUITE_ADD(s, bad_pid_files, 10);
	SUITE_ADD(s, pid_file_of_others_stays, 10);
	SUITE_ADD(s, removed_pid_file_is_not_taken, 30);
	SUITE_ADD(s, status_of_the_child, 30);
	SUITE_ADD(s, child_cannot_report, 10);
	SUITE_ADD(s, bad_privileges, 10);
	SUITE_ADD(s, another_number, 10);
	SUITE_ADD(s, another_user, 10);
	SUITE_ADD(s, another_root, 10);
	return s;
}
