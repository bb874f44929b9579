/* test_file.c: reading whole files and putting new ones in their place. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/mounts.h"
#include "support/suite.h"

static struct error e;

static int
replace(const char *path, const char *with)
{
	struct buffer b;
	int rc;

	buffer_init(&b);
	ck_assert_int_eq(buffer_append(&b, with, strlen(with)), 0);
	rc = file_replace(path, &b, true, &e);
	buffer_fini(&b);
	return rc;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static int
entries_in(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;
}

START_TEST(reads_all)
{
	struct buffer b;

	write_file(scratch("f"), "some text");
	buffer_init(&b);
	ck_assert_int_eq(file_read(scratch("f"), 9, true, &b, &e), 0);
	ck_assert_uint_eq(buffer_length(&b), 9);
	ck_assert_int_eq(memcmp(buffer_bytes(&b), "some text", 9), 0);
	buffer_fini(&b);
	ck_assert_int_eq(file_read(scratch("f"), 8, true, &b, &e), -1);
	ck_assert_str_eq(e.text, "File too large");
	buffer_fini(&b);
	ck_assert_int_eq(file_read(scratch("none"), 8, true, &b, &e), -1);
	ck_assert_str_eq(e.text, "No such file or directory");
	ck_assert_int_eq(file_read(scratch(""), 8, true, &b, &e), -1);
	buffer_fini(&b);
}
END_TEST

/* Another process appends to it all the time. */
START_TEST(changing_file_is_refused)
{
	const char *path = scratch("grows");
	struct buffer b;
	pid_t pid;
	int fd, rc;

	buffer_init(&b);
	write_file(path, "");
	ck_assert_int_eq(truncate(path, 4 * 1024 * 1024), 0);
	pid = fork();
	if (pid == 0) {
		fd = open(path, O_WRONLY | O_APPEND);
		while (getppid() != 1 && write(fd, "x", 1) == 1)
			if (lseek(fd, 0, SEEK_END) > 8 * 1024 * 1024)
				(void)!ftruncate(fd, 4 * 1024 * 1024);
		_exit(0);
	}
	do {
		buffer_fini(&b);
		rc = file_read(path, SIZE_MAX, false, &b, &e);
	} while (rc == 0);
	ck_assert_str_eq(e.text, "was changed while it was read");
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	buffer_fini(&b);
	ck_assert_int_eq(file_read(path, SIZE_MAX, false, &b, &e), 0);
	buffer_fini(&b);
}
END_TEST

START_TEST(replaces_all)
{
	const char *dir = scratch("dir"), *path = scratch("dir/f");
	const char *link_ = scratch("link");
	char to[256];
	mode_t old = umask(027);

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(replace(path, "one"), 0);
	ck_assert_str_eq(contents(path), "one");
	ck_assert_int_eq(mode_of(path), 0640);
	ck_assert_int_eq(chmod(path, 0604), 0);
	ck_assert_int_eq(replace(path, "two"), 0);
	ck_assert_str_eq(contents(path), "two");
	ck_assert_int_eq(mode_of(path), 0604);
	/* a link stays one */
	ck_assert_int_eq(symlink(path, link_), 0);
	ck_assert_int_eq(replace(link_, "three"), 0);
	ck_assert_str_eq(contents(path), "three");
	ck_assert_int_eq(readlink(link_, to, sizeof(to)), (int)strlen(path));
	ck_assert_int_eq(mode_of(path), 0604);
	ck_assert_int_eq(entries_in(dir), 1);
	umask(old);
}
END_TEST

static int
replace_kept(const char *path, const char *was, const char *new)
{
	struct buffer old, text;
	int rc;

	buffer_init(&old);
	buffer_init(&text);
	ck_assert_int_eq(buffer_append(&text, new, strlen(new)), 0);
	if (was != NULL)
		ck_assert_int_eq(buffer_append(&old, was, strlen(was)), 0);
	rc =
	    file_replace_kept(path, was != NULL ? &old : NULL, &text, 0640, &e);
	buffer_fini(&old);
	buffer_fini(&text);
	return rc;
}

/* What was there is beside it; a file that stays the same is left alone. */
START_TEST(the_old_one_is_kept)
{
	const char *dir = scratch("kept"), *path = scratch("kept/f");
	const char *old = scratch("kept/f~"), *link_ = scratch("kept/l");
	struct stat before, after;

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(replace_kept(path, NULL, "one"), 0);
	ck_assert_int_eq(mode_of(path), 0640);
	ck_assert_int_eq(chmod(path, 0604), 0);
	ck_assert_int_eq(stat(path, &before), 0);
	ck_assert_int_eq(replace_kept(path, "one", "one"), 0);
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(entries_in(dir), 1);
	ck_assert_int_eq(symlink(path, link_), 0);
	ck_assert_int_eq(replace_kept(link_, "one", "two"), 0);
	ck_assert_str_eq(contents(path), "two");
	ck_assert_str_eq(contents(old), "one");
	ck_assert_int_eq(mode_of(path), 0604);
	ck_assert_int_eq(mode_of(old), 0604);
	ck_assert_int_eq(replace_kept(path, "two", "three"), 0);
	ck_assert_str_eq(contents(old), "two");
	ck_assert_int_eq(entries_in(dir), 3);
	ck_assert_int_eq(replace_kept(scratch("kept/no"), "a", "b"), -1);
	ck_assert_str_eq(e.text, "No such file or directory");
}
END_TEST

enum { NOBODY = 65534, OTHER = 65533 };

/* As a child of that user does it, which is in that group alone. */
static const char *
replaced_by(uid_t uid, gid_t gid, const char *path)
{
	const char *result = scratch("result");
	int status;
	pid_t pid;

	write_file(result, "");
	ck_assert_int_eq(chmod(result, 0666), 0);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) < 0 || setgid(gid) < 0 ||
		    setuid(uid) < 0)
			_exit(1);
		umask(0);
		write_file(result,
		    replace_kept(path, "one", "two") == 0 ? "done" : e.text);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return contents(result);
}

static void
begin_owned(const char *dir, const char *path, uid_t uid, gid_t gid)
{
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(chown(dir, NOBODY, NOBODY), 0);
	write_file(path, "one");
	ck_assert_int_eq(chown(path, uid, gid), 0);
	ck_assert_int_eq(chmod(path, 0640), 0);
}

/* The user of a service has the right to read root's file by its group. */
START_TEST(group_of_roots_file_is_kept)
{
	const char *dir = scratch("o"), *path = scratch("o/f");
	struct stat st;

	if (geteuid() != 0)
		SKIP("needs root");
	ck_assert_int_eq(chmod(scratch(""), 0755), 0);
	begin_owned(dir, path, 0, NOBODY);
	ck_assert_str_eq(replaced_by(NOBODY, NOBODY, path), "done");
	ck_assert_str_eq(contents(path), "two");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_uid, NOBODY);
	ck_assert_uint_eq(st.st_gid, NOBODY);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
}
END_TEST

START_TEST(owner_that_cannot_be_kept_is_reported)
{
	const char *dir = scratch(text("p%d", _i));
	const char *path = text("%s/f", dir);

	if (geteuid() != 0)
		SKIP("needs root");
	ck_assert_int_eq(chmod(scratch(""), 0755), 0);
	begin_owned(dir, path, _i > 0 ? 0 : OTHER, _i > 0 ? OTHER : NOBODY);
	ck_assert_str_eq(replaced_by(NOBODY, NOBODY, path),
	    text("belongs to uid %d, gid %d, which this process (uid %d) "
		 "cannot keep: chown it to uid %d and a group of that user",
		_i > 0 ? 0 : OTHER, _i > 0 ? OTHER : NOBODY, NOBODY, NOBODY));
	ck_assert_str_eq(contents(path), "one");
	ck_assert_int_eq(entries_in(dir), 1);
}
END_TEST

/* As a container may have it. */
START_TEST(mounted_file_is_not_replaced)
{
	const char *dir = scratch("m"), *path = scratch("m/f");
	const char *from = scratch("from");

	if (suite_is_in_valgrind() || !mounts_private())
		SKIP("needs root and a process of its own");
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	write_file(from, "one");
	if (!mounts_file(from, path))
		SKIP("needs bind mounts");
	ck_assert_int_eq(replace_kept(path, "one", "two"), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "mount its directory"));
	ck_assert_int_eq(entries_in(dir), 1);
	ck_assert_int_eq(replace(path, "two"), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "mount its directory"));
	ck_assert_str_eq(contents(path), "one");
	ck_assert_int_eq(entries_in(dir), 1);
}
END_TEST

START_TEST(failure_leaves_the_old_one)
{
	const char *dir = scratch("closed"), *path = scratch("closed/f");

	ck_assert_int_eq(replace(scratch("no/such/dir"), "x"), -1);
	ck_assert_str_eq(e.text, "No such file or directory");
	ck_assert_int_eq(replace("/dev/full", "x"), -1);
	ck_assert_str_eq(e.text, "No space left on device");
	if (geteuid() == 0)
		SKIP("root may write anywhere");
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	write_file(path, "old");
	ck_assert_int_eq(chmod(dir, 0555), 0);
	ck_assert_int_eq(replace(path, "new"), -1);
	ck_assert_str_eq(contents(path), "old");
	ck_assert_int_eq(entries_in(dir), 1);
	chmod(dir, 0755);
}
END_TEST

/* A link to a file that is not there yet stays one too. */
START_TEST(link_to_nothing)
{
	const char *dir = scratch("links"), *path = scratch("links/f");
	const char *link_ = scratch("dangling");
	char to[256];

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(symlink(path, link_), 0);
	ck_assert_msg(replace(link_, "new") == 0, "%s", e.text);
	ck_assert_int_eq(readlink(link_, to, sizeof(to)), (int)strlen(path));
	ck_assert_str_eq(contents(path), "new");
	ck_assert_int_eq(entries_in(dir), 1);
	/* not one that leads to itself */
	ck_assert_int_eq(unlink(link_), 0);
	ck_assert_int_eq(symlink(link_, link_), 0);
	ck_assert_int_eq(replace(link_, "new"), -1);
	ck_assert_int_eq(readlink(link_, to, sizeof(to)), (int)strlen(link_));
}
END_TEST

/* A file that cannot be filled leaves nothing beside the old one. */
START_TEST(half_written)
{
	const char *dir = scratch("half"), *path = scratch("half/f");
	struct rlimit old, small = { .rlim_cur = 4096 };
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	char big[10000];
	int rc;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	write_file(path, "old");
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc = replace(path, big);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, before);
	ck_assert_int_eq(rc, -1);
	ck_assert_str_eq(e.text, "File too large");
	ck_assert_str_eq(contents(path), "old");
	ck_assert_int_eq(entries_in(dir), 1);
	ck_assert_int_eq(replace(path, big), 0);
	ck_assert_str_eq(contents(path), big);
	ck_assert_int_eq(entries_in(dir), 1);
	/* a directory is not replaced */
	ck_assert_int_eq(replace(dir, "x"), -1);
	ck_assert_str_eq(e.text, "Is a directory");
	ck_assert_int_eq(entries_in(dir), 1);
}
END_TEST

/* What is no file is written to as it is. */
START_TEST(pipes)
{
	const char *path = scratch("pipe");
	char got[8] = "";
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(replace(path, "through"), 0);
	ck_assert_int_eq(read(fd, got, 7), 7);
	ck_assert_str_eq(got, "through");
	close(fd);
	/* nobody reads: an error, not a process that hangs */
	ck_assert_int_eq(replace(path, "x"), -1);
	ck_assert_str_eq(e.text,
	    "it is a socket, a pipe without a reader, or a device that is not "
	    "there");
}
END_TEST

/* What a pipe holds when it is asked to, and what it does not. */
enum { MUCH = 1 << 18, TOO_MUCH = 1 << 22 };

/* Writes so much to a pipe; `fd`: its other end. */
static int
write_much(const char *path, int *fd, size_t n)
{
	struct buffer b;
	char *room;
	int rc;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	*fd = open(path, O_RDWR | O_NONBLOCK);
	ck_assert_int_ge(*fd, 0);
	buffer_init(&b);
	room = calloc(1, n);
	ck_assert_ptr_nonnull(room);
	ck_assert_int_eq(buffer_append(&b, room, n), 0);
	free(room);
	rc = file_replace(path, &b, false, &e);
	buffer_fini(&b);
	return rc;
}

/* Somebody has it open, and does not read: an error, too, at once. */
START_TEST(a_pipe_whose_reader_stalls)
{
	int fd;

	ck_assert_int_eq(write_much(scratch("stalled"), &fd, TOO_MUCH), -1);
	ck_assert_str_eq(e.text, "full: its reader is too slow");
	close(fd);
}
END_TEST

/* All of it waits for who reads later. */
START_TEST(a_pipe_with_a_reader)
{
	static char room[65536];
	size_t all = 0;
	ssize_t n;
	int fd;

#ifndef F_SETPIPE_SZ
	SKIP("pipes have one size here");
#endif
	ck_assert_int_eq(write_much(scratch("read"), &fd, MUCH), 0);
	while ((n = read(fd, room, sizeof(room))) > 0)
		all += (size_t)n;
	ck_assert_uint_eq(all, MUCH);
	close(fd);
}
END_TEST

/* One is waited for only where that does no harm. */
START_TEST(reads_pipes)
{
	const char *path = scratch("quiet_pipe");
	struct buffer b;
	int fd;

	buffer_init(&b);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(file_read(path, 8, false, &b, &e), -1);
	ck_assert_str_eq(e.text, "is a pipe");
	fd = open(path, O_RDWR | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "some more", 9), 9);
	ck_assert_int_eq(file_read(path, 8, false, &b, &e), -1);
	ck_assert_str_eq(e.text, "is a pipe");
	ck_assert_int_eq(file_read(path, 8, true, &b, &e), -1);
	ck_assert_str_eq(e.text, "File too large");
	close(fd);
	buffer_fini(&b);
	ck_assert_int_eq(file_read("/dev/null", 8, false, &b, &e), 0);
	ck_assert_uint_eq(buffer_length(&b), 0);
	buffer_fini(&b);
}
END_TEST

/* Two links to the same file: one of nobody's, one of root's. */
static void
make_links(const char *target, const char *others, const char *own)
{
	const struct passwd *nobody = getpwnam("nobody");

	if (geteuid() != 0 || nobody == NULL)
		SKIP("needs root and the user nobody");
	ck_assert_int_eq(symlink(target, others), 0);
	ck_assert_int_eq(lchown(others, nobody->pw_uid, nobody->pw_gid), 0);
	ck_assert_int_eq(symlink(target, own), 0);
}

/* In a directory that others may write, a link would choose the file for
 * root. */
START_TEST(links_of_others)
{
	static const char says[] = "is a symbolic link of another user";
	const char *target = scratch("target"), *others = scratch("others");
	const char *own = scratch("own"), *first = scratch("first");
	int fd;

	make_links(target, others, own);
	ck_assert_int_eq(symlink("others", first), 0);
	ck_assert_int_eq(replace(others, "x"), -1);
	ck_assert_str_eq(e.text, says);
	ck_assert_int_eq(
	    file_open_own(others, O_WRONLY | O_CREAT, 0600, &e), -1);
	ck_assert_str_eq(e.text, says);
	ck_assert_int_ne(access(target, F_OK), 0);
	write_file(target, "old");
	ck_assert_int_eq(replace(others, "x"), -1);
	ck_assert_int_eq(replace(first, "x"), -1);
	ck_assert_str_eq(e.text, says);
	ck_assert_str_eq(contents(target), "old");
	ck_assert_int_eq(replace(own, "new"), 0);
	ck_assert_str_eq(contents(target), "new");
	fd = file_open_own(own, O_WRONLY | O_APPEND, 0, &e);
	ck_assert_msg(fd >= 0, "%s", e.text);
	ck_assert_int_eq(write(fd, "er", 2), 2);
	close(fd);
	ck_assert_str_eq(contents(target), "newer");
}
END_TEST

/* What somebody else marked as set-user-ID is not made so as root's file. */
START_TEST(permissions_alone_are_kept)
{
	const char *path = scratch("setuid");

	write_file(path, "old");
	ck_assert_int_eq(chmod(path, 04711), 0);
	ck_assert_int_eq(replace(path, "new"), 0);
	ck_assert_uint_eq(mode_of(path), 0711);
}
END_TEST

/* "/dev/stdout" leads to a link that only the kernel can follow. */
START_TEST(standard_output)
{
	int out = dup(STDOUT_FILENO), end[2], fd;
	char got[8] = "";

	if (access("/dev/stdout", F_OK) != 0)
		SKIP("there is no /dev/stdout");
	ck_assert_int_eq(pipe(end), 0);
	ck_assert_int_eq(dup2(end[1], STDOUT_FILENO), STDOUT_FILENO);
	fd = file_open_own(
	    "/dev/stdout", O_WRONLY | O_CREAT | O_APPEND, 0644, &e);
	ck_assert_int_eq(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
	ck_assert_msg(fd >= 0, "%s", e.text);
	ck_assert_int_eq(write(fd, "said", 4), 4);
	ck_assert_int_eq(read(end[0], got, 7), 4);
	ck_assert_str_eq(got, "said");
	close(fd);
	close(out);
	close(end[0]);
	close(end[1]);
}
END_TEST

SUITE(test_file)
{
	Suite *s = suite_create("file");

	SUITE_ADD(s, reads_all, 10);
	SUITE_ADD(s, changing_file_is_refused, 30);
	SUITE_ADD(s, replaces_all, 10);
	SUITE_ADD(s, the_old_one_is_kept, 10);
	SUITE_ADD(s, group_of_roots_file_is_kept, 10);
	SUITE_ADD_LOOP(s, owner_that_cannot_be_kept_is_reported, 10, 2);
	SUITE_ADD(s, mounted_file_is_not_replaced, 10);
	SUITE_ADD(s, failure_leaves_the_old_one, 10);
	SUITE_ADD(s, link_to_nothing, 10);
	SUITE_ADD(s, links_of_others, 10);
	SUITE_ADD(s, permissions_alone_are_kept, 10);
	SUITE_ADD(s, standard_output, 10);
	SUITE_ADD(s, half_written, 10);
	SUITE_ADD(s, a_pipe_whose_reader_stalls, 10);
	SUITE_ADD(s, a_pipe_with_a_reader, 20);
	SUITE_ADD(s, pipes, 10);
	SUITE_ADD(s, reads_pipes, 10);
	return s;
}
