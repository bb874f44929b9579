/* test_sandbox_calls.c: a process with a list of calls still serves. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/life/sandbox_calls.h"
#include "support/suite.h"

enum { NO_SECCOMP = 77 };

static int
try_socket(int family, int type)
{
	int fd = socket(family, type, 0);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* In a process of its own. Returns the number of the first that is not so. */
static int
limited(void)
{
	struct timespec now;
	struct error e;
	int fd[2];

	if (sandbox_calls_enter(false, 0, &e) < 0)
		return NO_SECCOMP;
	if (try_socket(AF_INET, SOCK_STREAM) != 0 ||
	    try_socket(AF_INET, SOCK_DGRAM) != 0 ||
	    try_socket(AF_UNIX, SOCK_STREAM) != 0)
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

START_TEST(still_serves)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(limited());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SECCOMP)
		SKIP("no seccomp");
	ck_assert_int_eq(status, 0);
}
END_TEST

SUITE(test_sandbox_calls)
{
	Suite *s = suite_create("sandbox_calls");

	SUITE_ADD(s, still_serves, 20);
	return s;
}
