/* test_passed.c: descriptors that come along. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/passed.h"
#include "net/sock.h"
#include "support/suite.h"

static int ends[2];

static void
pass(const char *byte, const int *fd, unsigned n)
{
	union {
		char bytes[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { .iov_base = (void *)(uintptr_t)byte,
		.iov_len = 1 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	if (n > 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fd, n * sizeof(int));
	}
	ck_assert_int_eq(sendmsg(ends[0], &m, 0), 1);
}

static char
receive(struct passed *p)
{
	char byte = '\0';
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };

	ck_assert_int_eq(passed_receive(p, ends[1], &part, 1), 1);
	return byte;
}

START_TEST(in_order)
{
	struct passed p = { .fd = NULL };
	int fd[2], i;
	char byte;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(pipe(fd), 0);
	pass("a", fd, 2);
	pass("b", NULL, 0);
	pass("c", fd + 1, 1);
	ck_assert_int_eq(receive(&p), 'a');
	ck_assert_uint_eq(p.count, 2);
	ck_assert_int_eq(receive(&p), 'b');
	ck_assert_int_eq(receive(&p), 'c');
	ck_assert_uint_eq(p.count, 3);
	ck_assert(!p.incomplete);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(fcntl(p.fd[i], F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(write(p.fd[2], "x", 1), 1);
	ck_assert_int_eq(read(p.fd[0], &byte, 1), 1);
	i = p.fd[2];
	p.fd[2] = -1; /* taken */
	passed_drop(&p);
	ck_assert_uint_eq(p.count, 0);
	ck_assert_int_eq(fcntl(i, F_GETFD), FD_CLOEXEC);
	close(i);
	close(ends[0]);
	ck_assert_int_eq(
	    passed_receive(&p, ends[1],
		&(struct iovec){ .iov_base = &byte, .iov_len = 1 }, 1),
	    0);
	close(ends[1]);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(no_numbers_left)
{
	struct passed p = { .fd = NULL };
	struct rlimit before, few;
	int fd[2];

	if (suite_is_in_valgrind())
		SKIP("valgrind lowers no limits");
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(pipe(fd), 0);
	pass("a", fd, 2);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)fd[1] + 2;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(receive(&p), 'a');
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert(p.incomplete);
	ck_assert_uint_lt(p.count, 2);
	passed_drop(&p);
	ck_assert(!p.incomplete);
}
END_TEST

/* They go with the first byte, and each is found by its number, once. */
START_TEST(sockets_by_number)
{
	struct passed out = { .fd = NULL }, in = out;
	uint64_t inode[3];
	char bytes[8];
	int i, fd;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	for (i = 0; i < 3; i++) {
		fd = socket(AF_INET, SOCK_DGRAM, 0);
		inode[i] = sock_inode(fd);
		passed_add(&out, fd);
	}
	ck_assert_int_eq(passed_send(&out, ends[0], "abc", 3), 3);
	passed_drop(&out);
	ck_assert_int_eq(receive(&in), 'a');
	ck_assert_uint_eq(in.count, 3);
	fd = passed_take_socket(&in, inode[1]);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(sock_inode(fd), inode[1]);
	ck_assert_int_eq(passed_take_socket(&in, inode[1]), -1);
	ck_assert_int_eq(recv(ends[1], bytes, 8, 0), 2);
	passed_drop(&in);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

SUITE(test_passed)
{
	Suite *s = suite_create("passed");

	SUITE_ADD(s, in_order, 10);
	SUITE_ADD(s, sockets_by_number, 10);
	SUITE_ADD(s, no_numbers_left, 10);
	return s;
}
