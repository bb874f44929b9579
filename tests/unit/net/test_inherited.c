/* test_inherited.c: which sockets are taken for which address. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/inherited.h"
#include "net/socket_set.h"
#include "net/sock.h"
#include "support/suite.h"

static struct inherited in;
static struct socket_set set;
static struct error e;

static struct addr
ip(const char *host, uint16_t port)
{
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, host, port), 0);
	return a;
}

/* Opens a socket there, and adds it; returns where it is. */
static struct addr
add(struct addr at, bool datagram, bool v6_only, int *fd)
{
	struct sock_listen_options o = { .backlog = 8,
		.datagram = datagram,
		.v6_only = v6_only };

	*fd = sock_listen(&at, &o, NULL, &e);
	ck_assert_msg(*fd >= 0, "%s", e.text);
	ck_assert_int_eq(sock_local_addr(*fd, &at), 0);
	ck_assert_int_eq(inherited_add(&in, *fd, false, &e), 0);
	return at;
}

static int
take(const struct addr *at, bool datagram, bool v6_only)
{
	bool ours = true;
	int fd = inherited_take(&in, at, datagram, v6_only, &ours);

	ck_assert(fd < 0 || !ours);
	return fd;
}

START_TEST(taken_once_by_address_and_kind)
{
	struct addr tcp, udp, other = ip("127.0.0.1", 9);
	int tcp_fd, udp_fd;

	tcp = add(ip("127.0.0.1", 0), false, false, &tcp_fd);
	udp = add(ip("127.0.0.1", 0), true, false, &udp_fd);
	ck_assert_int_eq(take(&other, false, false), -1);
	ck_assert_int_eq(take(&tcp, true, false), -1);
	ck_assert_int_eq(take(&udp, false, false), -1);
	ck_assert_int_eq(take(&tcp, false, false), tcp_fd);
	ck_assert_int_eq(take(&tcp, false, false), -1);
	ck_assert_int_eq(take(&udp, true, false), udp_fd);
	inherited_fini(&in);
	/* they are the taker's */
	ck_assert_int_ne(fcntl(tcp_fd, F_GETFD), -1);
	ck_assert_int_eq(inherited_take(NULL, &tcp, false, false, NULL), -1);
}
END_TEST

START_TEST(wildcards_with_and_without_ip4)
{
	struct addr at;
	int fd;

	at = add(ip("::", 0), false, true, &fd);
	ck_assert_int_eq(take(&at, false, false), -1);
	ck_assert_int_eq(take(&at, false, true), fd);
	inherited_fini(&in);
	close(fd);
	/* of one host it does not matter */
	at = add(ip("::1", 0), false, true, &fd);
	ck_assert_int_eq(take(&at, false, false), fd);
	inherited_fini(&in);
	close(fd);
}
END_TEST

START_TEST(what_is_no_listening_socket)
{
	struct addr at = ip("127.0.0.1", 9);
	int file = open("/dev/null", O_RDONLY), client = sock_datagram(AF_INET),
	    idle = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(connect(client, &at.u.sa, at.len), 0);
	ck_assert_int_eq(inherited_add(&in, file, false, &e), -1);
	ck_assert_int_eq(inherited_add(&in, client, false, &e), -1);
	ck_assert_int_eq(inherited_add(&in, idle, false, &e), -1);
	ck_assert_str_eq(e.text, "not a listening socket");
	ck_assert_int_eq(inherited_add(&in, 1000000, false, &e), -1);
	ck_assert_uint_eq(in.count, 0);
	ck_assert_int_ne(fcntl(file, F_GETFD), -1);
	close(file);
	close(client);
	close(idle);
}
END_TEST

/* A listener is one of those: with the flags of ours, and the file stays when
 * it is somebody else's, or may be yet. */
START_TEST(listens_there)
{
	struct addr at;
	struct sock_listen_options o = { .backlog = 8, .sockets = &set };
	struct sock_file file = { .inode = 0 };
	const char *path = scratch("s");
	int fd;

	socket_set_init(&set);
	ck_assert_int_eq(addr_parse_unix(&at, path), 0);
	fd = sock_listen(&at, &o, NULL, &e);
	fcntl(fd, F_SETFL, 0);
	fcntl(fd, F_SETFD, 0);
	ck_assert_int_eq(inherited_add(&set.inherited, fd, false, &e), 0);
	ck_assert_int_eq(sock_listen(&at, &o, &file, &e), fd);
	ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	sock_file_remove(&file, &at);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(inherited_add(&set.inherited, fd, true, &e), 0);
	ck_assert_int_eq(sock_listen(&at, &o, &file, &e), fd);
	sock_file_remove(&file, &at);
	ck_assert_int_eq(access(path, F_OK), 0);
	file.shared = false;
	sock_file_remove(&file, &at);
	ck_assert_int_ne(access(path, F_OK), 0);
	close(fd);
	socket_set_fini(&set);
}
END_TEST

START_TEST(the_rest_is_closed)
{
	int fd[2];

	add(ip("127.0.0.1", 0), false, false, &fd[0]);
	add(ip("127.0.0.1", 0), true, false, &fd[1]);
	inherited_close_rest(&in);
	ck_assert_int_eq(fcntl(fd[0], F_GETFD), -1);
	ck_assert_int_eq(fcntl(fd[1], F_GETFD), -1);
	ck_assert_uint_eq(in.count, 0);
}
END_TEST

SUITE(test_inherited)
{
	Suite *s = suite_create("inherited");

	SUITE_ADD(s, taken_once_by_address_and_kind, 10);
	SUITE_ADD(s, wildcards_with_and_without_ip4, 10);
	SUITE_ADD(s, what_is_no_listening_socket, 10);
	SUITE_ADD(s, listens_there, 10);
	SUITE_ADD(s, the_rest_is_closed, 10);
	return s;
}
