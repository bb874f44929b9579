/* test_starter.c: what is permitted, and what the process does that starts
 * programs. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/program/starter.h"
#include "net/program/starter_private.h"
#include "support/suite.h"

#ifdef __linux__

static struct starter *starter;
static pid_t process;

/* The words of `line`, separated by blanks. */
static char **
words(char *line)
{
	static char *list[8];
	int n = 0;

	while ((list[n] = strsep(&line, " ")) != NULL && n < 6)
		n++;
	list[n + (list[n] != NULL)] = NULL;
	return list;
}

static void
permit(const char *line)
{
	char *copy = strdup(line);

	ck_assert_int_eq(starter_permit(starter, words(copy)), 0);
	free(copy);
}

static bool
permits(const char *line)
{
	char *copy = strdup(line);
	bool yes = starter_permits(starter, words(copy));

	free(copy);
	return yes;
}

START_TEST(fits)
{
	starter = starter_new(NULL, NULL, false);
	permit("/a");
	permit("/b -h {address} -p {port}");
	permit("/c {address}:{port} {address}{port}");
	permit("/d x{address}y");
	ck_assert(permits("/a") && !permits("/a x") && !permits("/"));
	ck_assert(starter_has(starter, "/b") && !starter_has(starter, "b"));
	ck_assert(permits("/b -h 10.0.0.1 -p 80"));
	ck_assert(permits("/b -h /run/x.sock -p "));
	ck_assert(!permits("/b -h 10.0.0.1 -p"));
	ck_assert(!permits("/b -h -c -p 80"));
	ck_assert(!permits("/b -h a;b -p 80") && !permits("/b -h $(x) -p 1"));
	ck_assert(!permits("/b -h a -p 80 more") && !permits("/b -x a -p 80"));
	ck_assert(permits("/c [::1]:80 ::180") == false);
	ck_assert(permits("/c fe80::1%eth0:80 1.2.3.480"));
	ck_assert(permits("/d x1y") && permits("/d xyy") && permits("/d xy"));
	ck_assert(!permits("/d x1") && !permits("/d x1yz"));
	starter_free(starter);
}
END_TEST

/* ---- the process ---- */

static void
begin(bool tries)
{
	static char program[] = "/bin/sh", option[] = "-c",
		    line[] = "echo $PEN_UPGRADE $(readlink /proc/self/fd/3)"
			     " >&2";
	static char *argv[] = { program, option, line, NULL };

	starter = starter_new(program, argv, tries);
	permit("/bin/echo {address}");
	process = starter_fork(starter);
	if (process == 0)
		_exit(starter_serve(starter));
	ck_assert_int_gt(process, 0);
}

/* It ends by itself once its other end is closed. */
static void
end(void)
{
	int status;

	starter_free(starter);
	ck_assert_int_eq(waitpid(process, &status, 0), process);
	ck_assert_int_eq(status, 0);
}

/* Runs it to its end; returns what execution failed with. `said` has 64
 * bytes. */
static int
run(const char *line, char *said)
{
	char *copy = strdup(line), *env[] = { NULL };
	int fd[2], error = 0, status;
	struct program_exec x = { .argv = words(copy), .env = env };
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	x.null = open("/dev/null", O_RDWR | O_CLOEXEC);
	x.out = fd[1];
	pid = starter_exec(starter, &x, &error);
	free(copy);
	close(fd[1]);
	close(x.null);
	n = read(fd[0], said, 63);
	said[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	if (pid > 0)
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return pid < 0 ? -1 : error;
}

/* No error comes back from a copy of the memory. */
#define NO_VALGRIND()                                                        \
	do {                                                                 \
		if (suite_is_in_valgrind())                                  \
			SKIP("valgrind makes fork() of what shares memory"); \
	} while (0)

START_TEST(starts_what_is_permitted)
{
	char said[64];

	begin(false);
	ck_assert_int_eq(run("/bin/echo hello", said), 0);
	ck_assert_str_eq(said, "hello\n");
	ck_assert_int_eq(run("/bin/echo two words", said), EPERM);
	ck_assert_int_eq(run("/bin/true", said), EPERM);
	/* signals to all processes of a terminal do not end it */
	ck_assert_int_eq(kill(process, SIGTERM), 0);
	ck_assert_int_eq(kill(process, SIGINT), 0);
	ck_assert_int_eq(run("/bin/echo again", said), 0);
	ck_assert_str_eq(said, "again\n");
	end();
}
END_TEST

START_TEST(starts_all_on_trial)
{
	char said[64];

	NO_VALGRIND();
	begin(true);
	ck_assert_int_eq(run("/bin/echo two words", said), 0);
	ck_assert_str_eq(said, "two words\n");
	ck_assert_int_eq(run("/nonexistent/x", said), ENOENT);
	end();
}
END_TEST

/* It is a child of this process, with the descriptors in their order, of which
 * there may be more than fit into a message. */
START_TEST(successor)
{
	enum { COUNT = 600 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd[2], list[COUNT], i,
	    status;
	char said[64] = "";
	pid_t pid;

	NO_VALGRIND();
	begin(false);
	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	for (i = 0; i < COUNT; i++)
		list[i] = null;
	ck_assert_int_eq(
	    starter_succeed(starter, list, 1, fd[1], "LD_PRELOAD=x"), -1);
	ck_assert_int_eq(errno, EPERM);
	pid = starter_succeed(starter, list, COUNT, fd[1], "PEN_UPGRADE=x");
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_gt(read(fd[0], said, sizeof(said) - 1), 0);
	ck_assert_str_eq(said, "x /dev/null\n");
	close(null);
	close(fd[0]);
	close(fd[1]);
	end();
}
END_TEST

/* The numbers of those that come would not be theirs. */
START_TEST(successor_lacks_descriptors)
{
	struct rlimit before, few;
	int fd[2], list[64], i;

	NO_VALGRIND();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 50;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	begin(false);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	for (i = 0; i < 64; i++)
		list[i] = fd[0];
	ck_assert_int_eq(
	    starter_succeed(starter, list, 64, fd[1], "PEN_UPGRADE=x"), -1);
	ck_assert_int_eq(errno, EMFILE);
	close(fd[0]);
	close(fd[1]);
	end();
}
END_TEST

/* Nothing waits for it, and no program is blamed. */
START_TEST(it_is_gone)
{
	char said[64];
	int status;

	begin(false);
	ck_assert_int_eq(kill(process, SIGKILL), 0);
	ck_assert_int_eq(waitpid(process, &status, 0), process);
	errno = 0;
	ck_assert_int_eq(run("/bin/echo x", said), -1);
	ck_assert_int_eq(run("/bin/echo x", said), -1);
	starter_free(starter);
}
END_TEST

/* A starter that is killed after it started its spare: that one has the
 * descriptor that came with the request, and nobody answers. */
static void
start_a_spare_and_die(void)
{
	char bytes[sizeof(struct starter_head)];
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	struct msghdr m = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(starter->fd, &m, 0) < 0 || CMSG_FIRSTHDR(&m) == NULL)
		_exit(1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	if (fork() == 0) {
		close(starter->fd);
		(void)!read(fd, bytes, 1); /* until pen closes its end */
	}
	_exit(0);
}

START_TEST(killed_before_its_spare_is_reported)
{
	int status;

	starter = starter_new(NULL, NULL, false);
	process = starter_fork(starter);
	if (process == 0)
		start_a_spare_and_die();
	starter_mend(starter);
	ck_assert(!starter_has_ended(starter));
	ck_assert_int_eq(waitpid(process, &status, 0), process);
	ck_assert_int_eq(status, 0);
	starter_free(starter);
}
END_TEST

#endif

SUITE(test_starter)
{
	Suite *s = suite_create("starter");

#ifdef __linux__
	SUITE_ADD(s, fits, 10);
	SUITE_ADD(s, starts_what_is_permitted, 20);
	SUITE_ADD(s, starts_all_on_trial, 20);
	SUITE_ADD(s, successor, 20);
	SUITE_ADD(s, successor_lacks_descriptors, 20);
	SUITE_ADD(s, it_is_gone, 20);
	SUITE_ADD(s, killed_before_its_spare_is_reported, 20);
#endif
	return s;
}
