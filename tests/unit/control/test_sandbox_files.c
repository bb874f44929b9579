/* test_sandbox_files.c: which files a process can open that has rules. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/life/sandbox_files.h"
#include "support/suite.h"

static int
try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* In a process of its own. Returns the number of the first that is not so. */
static int
limited(const char *read, const char *write, int rules)
{
	sandbox_files_add(rules, read, SANDBOX_READ);
	sandbox_files_add(rules, write, SANDBOX_WRITE);
	sandbox_files_add(rules, "/nonexistent/x", SANDBOX_READ);
	if (sandbox_files_enter(rules) < 0)
		return 1;
	if (chdir(read) < 0 || try_open("there", O_RDONLY) != 0)
		return 2;
	if (try_open("there", O_WRONLY) != EACCES ||
	    try_open("new", O_WRONLY | O_CREAT) != EACCES)
		return 3;
	if (unlink("there") == 0 || truncate("there", 0) == 0)
		return 4;
	if (chdir(write) < 0 || try_open("new", O_WRONLY | O_CREAT) != 0 ||
	    try_open("new", O_RDONLY | O_TRUNC) != 0)
		return 5;
	if (rename("new", "newer") < 0 || unlink("newer") < 0)
		return 6;
	if (try_open("/usr/bin/env", O_RDONLY) != EACCES)
		return 7;
	if (execl("/bin/true", "true", (char *)NULL) == 0 || errno != EACCES)
		return 8;
	return 0;
}

START_TEST(no_others)
{
	const char *read = scratch("r"), *write = scratch("w");
	int rules = sandbox_files_new(), status;
	pid_t pid;

	if (rules < 0)
		SKIP("no Landlock in this kernel");
	ck_assert_int_eq(mkdir(read, 0700), 0);
	ck_assert_int_eq(mkdir(write, 0700), 0);
	write_file(text("%s/there", read), "text");
	pid = fork();
	if (pid == 0)
		_exit(limited(read, write, rules));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(rules);
}
END_TEST

SUITE(test_sandbox_files)
{
	Suite *s = suite_create("sandbox_files");

	SUITE_ADD(s, no_others, 20);
	return s;
}
