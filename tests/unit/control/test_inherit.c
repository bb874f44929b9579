/* test_inherit.c: which descriptors the environment passes. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/life/process.h"
#include "control/pen.h"
#include "control/upgrade/inherit.h"
#include "control/upgrade/takeover.h"
#include "net/sock.h"
#include "support/child.h"
#include "support/suite.h"

static struct inherited in;

/* Descriptor 3 is a listening socket, 4 a file; nothing else is there. */
static void
prepare(void)
{
	struct sock_listen_options o = { .backlog = 8 };
	struct error e;
	struct addr at;
	int fd;

	ck_assert_int_eq(addr_parse_ip(&at, "127.0.0.1", 0), 0);
	fd = sock_listen(&at, &o, NULL, &e);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, 3), 3);
	child_close_from(4);
	ck_assert_int_eq(open("/dev/null", O_RDONLY), 4);
}

/* In a child of the test: who fails reports through a pipe of check's. */
static unsigned
inherits(const char *pid, const char *fds)
{
	pid_t child = child_fork();
	int status = 0;

	if (child == 0) {
		prepare();
		setenv("LISTEN_PID",
		    pid != NULL ? pid : text("%ld", (long)getpid()), 1);
		setenv("LISTEN_FDS", fds, 1);
		setenv("LISTEN_FDNAMES", "web:odd", 1);
		setenv("LISTEN_PIDFDID", "1", 1);
		inherit_sockets(&in);
		if (getenv("LISTEN_PID") != NULL ||
		    getenv("LISTEN_FDS") != NULL ||
		    getenv("LISTEN_FDNAMES") != NULL ||
		    getenv("LISTEN_PIDFDID") != NULL)
			_exit(100);
		_exit((int)in.count + (fcntl(4, F_GETFD) < 0 ? 10 : 0));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return (unsigned)WEXITSTATUS(status);
}

START_TEST(sockets_from_three_on)
{
	ck_assert_uint_eq(inherits(NULL, "1"), 1);
	/* what is none is closed, and what is not there is no obstacle */
	ck_assert_uint_eq(inherits(NULL, "2"), 11);
	ck_assert_uint_eq(inherits(NULL, "9"), 11);
}
END_TEST

/* The same of an upgrade. */
START_TEST(sockets_of_an_upgrade)
{
	struct process process;
	struct pen *pen = pen_new();
	int fd = open("/dev/null", O_RDONLY);

	process_init(&process);
	setenv("PEN_UPGRADE", text("version=1 sockets=%d-,", fd), 1);
	takeover_begin(pen, &process);
	ck_assert_uint_eq(pen->sockets.inherited.count, 0);
	ck_assert_int_lt(fcntl(fd, F_GETFD), 0);
	ck_assert_ptr_null(getenv("PEN_UPGRADE"));
	pen_free(pen);
}
END_TEST

START_TEST(none_that_are_for_others)
{
	ck_assert_uint_eq(inherits("1", "1"), 0);
	ck_assert_uint_eq(inherits("", "1"), 0);
	ck_assert_uint_eq(inherits(NULL, ""), 0);
	ck_assert_uint_eq(inherits(NULL, "-1"), 0);
	ck_assert_uint_eq(inherits(NULL, "99999999"), 0);
}
END_TEST

SUITE(test_inherit)
{
	Suite *s = suite_create("inherit");

	SUITE_ADD(s, sockets_from_three_on, 10);
	SUITE_ADD(s, sockets_of_an_upgrade, 10);
	SUITE_ADD(s, none_that_are_for_others, 10);
	return s;
}
