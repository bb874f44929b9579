/* test_output.c: terminals and pipes of others, which nobody reads. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/output.h"
#include "support/suite.h"

enum { MUCH = 4 << 20 };

/* A terminal; *other is the end that would show what is written. */
static int
terminal(int *other)
{
	int fd;

	*other = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ge(*other, 0);
	ck_assert_int_eq(grantpt(*other), 0);
	ck_assert_int_eq(unlockpt(*other), 0);
	fd = open(ptsname(*other), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static void
two_ends(int kind, int end[2])
{
	if (kind == 0)
		end[1] = terminal(&end[0]);
	else if (kind == 1)
		ck_assert_int_eq(pipe(end), 0);
	else
		ck_assert_int_eq(
		    socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
}

/* Writes until no more fits. */
static void
fill(int fd)
{
	static const char line[] = "one line of many\n";
	size_t all = 0;
	ssize_t n;

	while ((n = output_write(fd, line, sizeof(line) - 1)) > 0 && all < MUCH)
		all += (size_t)n;
	ck_assert_int_eq(n, -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_uint_gt(all, 1000);
}

static bool
blocks(int fd)
{
	return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

/* Others who have it see no flag of ours. */
START_TEST(full_and_our_own)
{
	int end[2], given;

	two_ends(_i, end);
	given = dup(end[1]);
	output_own(given);
	ck_assert(blocks(given) == (_i == 2)); /* sockets have no name */
	fill(given);
	ck_assert(blocks(end[1]));
	close(given);
	close(end[0]);
	close(end[1]);
}
END_TEST

START_TEST(full_and_not_our_own)
{
	int end[2];

	two_ends(_i, end);
	fill(end[1]);
	ck_assert(blocks(end[1]));
	close(end[0]);
	close(end[1]);
}
END_TEST

/* Where each writer has its own position, the one would overwrite what the
 * other wrote. */
START_TEST(a_file_stays_what_it_is)
{
	const char *path = scratch("file");
	int fd = open(path, O_WRONLY | O_CREAT, 0600), given = dup(fd);

	output_own(given);
	ck_assert_int_eq(output_write(given, "one\n", 4), 4);
	ck_assert_int_eq(output_write(fd, "two\n", 4), 4);
	ck_assert_str_eq(contents(path), "one\ntwo\n");
	close(given);
	close(fd);
}
END_TEST

SUITE(test_output)
{
	Suite *s = suite_create("output");

	SUITE_ADD_LOOP(s, full_and_our_own, 10, 3);
	SUITE_ADD_LOOP(s, full_and_not_our_own, 10, 3);
	SUITE_ADD(s, a_file_stays_what_it_is, 10);
	return s;
}
