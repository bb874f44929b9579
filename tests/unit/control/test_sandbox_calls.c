/* test_sandbox_calls.c: a process with a list of calls still serves. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/life/sandbox_calls.h"
#include "support/suite.h"

enum { NO_SECCOMP = 77 };

/* What is refused of what the files of the process have no rules for. */
static bool
limits_arguments(void)
{
	char path[] = "/tmp/pen-calls-XXXXXX";
	int fd = mkstemp(path), n, pair[2];
	bool good;

	if (fd < 0)
		return false;
	good = fchmod(fd, 0640) == 0 && fchmod(fd, 04755) < 0 &&
	    chmod(path, 0600) < 0 &&
	    chown(path, getuid(), getgid()) < 0 &&
	    fchown(fd, getuid(), getgid()) == 0 && ioctl(fd, FIONREAD, &n) == 0;
	(void)unlink(path);
	good = good && open(path, O_WRONLY | O_CREAT, 04755) < 0 &&
	    access(path, F_OK) < 0;
	errno = 0;
	good = good && ioctl(fd, TIOCSTI, "x") < 0 && errno == ENOSYS &&
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0;
	close(fd);
	return good;
}

static int
try_socket(int family, int type)
{
	int fd = socket(family, type, 0);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* In a process of its own, with these needs. Returns the number of the first
 * that is not so. */
static int
limited(unsigned needs)
{
	struct timespec now;
	struct error e;
	int fd[2];

	if (sandbox_calls_enter(false, needs, &e) < 0)
		return NO_SECCOMP;
	if (!limits_arguments())
		return 6;
	if (try_socket(AF_INET, SOCK_STREAM) != 0 ||
	    try_socket(AF_INET, SOCK_DGRAM) != 0 ||
	    (try_socket(AF_UNIX, SOCK_STREAM) == 0) !=
		((needs & SANDBOX_UNIX) != 0) ||
	    try_socket(AF_UNIX, SOCK_DGRAM) != 0)
		return 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0 ||
	    send(fd[0], "x", 1, 0) != 1 || poll(NULL, 0, 1) != 0)
		return 2;
	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		return 3;
#if defined(AF_NETLINK) && !defined(SYS_socketcall)
	if (try_socket(AF_INET, SOCK_RAW) == 0 ||
	    try_socket(AF_NETLINK, SOCK_RAW) != EAFNOSUPPORT)
		return 4;
#endif
	return fork() < 0 && errno == EPERM ? 0 : 5;
}

static void
expect_limits(unsigned needs)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(limited(needs));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SECCOMP)
		SKIP("no seccomp");
	ck_assert_int_eq(status, 0);
}

START_TEST(still_serves)
{
	expect_limits(0);
	expect_limits(SANDBOX_UNIX);
}
END_TEST

SUITE(test_sandbox_calls)
{
	Suite *s = suite_create("sandbox_calls");

	SUITE_ADD(s, still_serves, 20);
	return s;
}
