/* test_relay.c: bytes between clients and servers of every kind, in turn. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(round_robin)
{
	struct backend a, b, c;
	struct endpoint front;
	struct pen pen;
	int i, first;

	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "b");
	backend_start(&c, ENDPOINT_TCP4, backend_say, "c");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, a.at.text, b.at.text, c.at.text,
	    NULL);
	first = *endpoint_hear(&front) - 'a';
	for (i = 1; i < 30; i++)
		ck_assert_int_eq(*endpoint_hear(&front) - 'a', (first + i) % 3);
	pen_down(&pen);
	ck_assert_int_eq(a.accepted, 10);
	ck_assert_int_eq(b.accepted, 10);
	ck_assert_int_eq(c.accepted, 10);
	backend_stop(&a);
	backend_stop(&b);
	backend_stop(&c);
}
END_TEST

/* One front, one back; `i` says which kinds. */
static void
try_pair(enum endpoint_kind in, enum endpoint_kind out)
{
	struct backend b;
	struct endpoint front;
	struct pen pen;
	int one, two;

	backend_start(&b, out, backend_echo, NULL);
	endpoint_new(&front, in);
	pen_up(&pen, &front, "-r", front.text, b.at.text, NULL);
	one = endpoint_connect(&front);
	two = endpoint_connect(&front);
	endpoint_expect_echo(one, "first");
	endpoint_expect_echo(two, "second");
	endpoint_expect_echo(one, "third");
	shutdown(one, SHUT_WR);
	endpoint_expect_end(one);
	endpoint_expect_echo(two, "fourth");
	close(one);
	close(two);
	WAIT_FOR(b.open == 0, 5000);
	pen_down(&pen);
	if (in == ENDPOINT_UNIX)
		ck_assert_int_ne(access(front.text, F_OK), 0);
	backend_stop(&b);
}

START_TEST(every_kind_in_front_of_every_other)
{
	int in, out;

	for (in = 0; in < ENDPOINT_KINDS; in++)
		for (out = 0; out < ENDPOINT_KINDS; out++)
			if (endpoint_has_kind(in) && endpoint_has_kind(out))
				try_pair(in, out);
}
END_TEST

START_TEST(several_listeners)
{
	struct backend b;
	struct endpoint four, six, path;
	struct pen pen;
	const char *all;

	if (!endpoint_has_kind(ENDPOINT_TCP6))
		SKIP("no IPv6 here");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "here");
	endpoint_new(&four, ENDPOINT_TCP4);
	endpoint_at_host(&six, &four, "::1");
	endpoint_new(&path, ENDPOINT_UNIX);
	/* the same port for both families, as in 0.0.0.0:80,[::]:80 */
	all = text("0.0.0.0:%d,[::]:%d,%s", four.port, four.port, path.text);
	pen_up(&pen, &path, "-r", all, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&four), "here");
	ck_assert_str_eq(endpoint_hear(&six), "here");
	ck_assert_str_eq(endpoint_hear(&path), "here");
	pen_down(&pen);
	ck_assert_int_ne(access(path.text, F_OK), 0);
	backend_stop(&b);
}
END_TEST

START_TEST(colons_take_both_families)
{
	struct backend b;
	struct endpoint four, six;
	struct pen pen;

	if (!endpoint_has_kind(ENDPOINT_TCP6))
		SKIP("no IPv6 here");
	backend_start(&b, ENDPOINT_TCP6, backend_say, "here");
	endpoint_new(&four, ENDPOINT_TCP4);
	endpoint_at_host(&six, &four, "::1");
	pen_up(&pen, &four, "-r", text(":::%d", four.port), b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&four), "here");
	ck_assert_str_eq(endpoint_hear(&six), "here");
	pen_down(&pen);
	pen_up(&pen, &six, "-r", text("::1:%d", six.port), b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&six), "here");
	ck_assert_int_lt(endpoint_try_connect(&four), 0);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* A server without a port takes the listening one; a bare port listens on
 * every address. */
START_TEST(port_of_the_listener)
{
	struct backend b;
	struct endpoint front, back;
	struct pen pen;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_at_host(&back, &front, "127.0.0.9");
	backend_start_at(&b, &back, backend_say, "same port");
	pen_up(&pen, &front, "-r", front.text, "127.0.0.9", NULL);
	ck_assert_str_eq(endpoint_hear(&front), "same port");
	pen_down(&pen);
	backend_stop(&b);

	backend_start(&b, ENDPOINT_TCP4, backend_say, "other port");
	pen_up(&pen, &front, "-r", text("%d", front.port), b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "other port");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* ---- counters ---- */

static bool
says(const struct endpoint *ctl, const char *line, const char *what)
{
	char answer[8192];
	int fd = endpoint_connect(ctl);
	size_t n = 0;
	ssize_t k;

	endpoint_send(fd, line, strlen(line));
	while ((k = recv(fd, answer + n, sizeof(answer) - 1 - n, 0)) > 0)
		n += (size_t)k;
	answer[n] = '\0';
	close(fd);
	return strstr(answer, what) != NULL;
}

/* Everybody who counts has the bytes of connections that go on; each once. A
 * worker counts them after the client has them. */
START_TEST(counters_move_while_a_connection_lives)
{
	struct endpoint front, ctl;
	struct backend b;
	struct pen pen;
	int fd;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-C", ctl.text, front.text, b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "twelve bytes");
	WAIT_FOR(says(&ctl, "servers\n", " sx 12 rx 12"), 5000);
	WAIT_FOR(says(&ctl, "recent\n", " sx 12 rx 12"), 5000);
#ifdef HAVE_JANSSON
	WAIT_FOR(says(&ctl, "servers json\n", "\"sx\":12,\"rx\":12"), 5000);
#endif
	WAIT_FOR(says(&ctl, "statistics\n", "\nbytes_up 12\n"), 5000);
	endpoint_expect_echo(fd, "8 bytes.");
	WAIT_FOR(says(&ctl, "servers\n", " sx 20 rx 20"), 5000);
	endpoint_expect_echo(fd, "more");
	close(fd);
	WAIT_FOR(says(&ctl, "statistics\n", "sessions 0\n"), 5000);
	WAIT_FOR(says(&ctl, "servers\n", " sx 24 rx 24"), 5000);
	WAIT_FOR(says(&ctl, "recent\n", " sx 24 rx 24"), 5000);
	WAIT_FOR(says(&ctl, "statistics\n", "\nbytes_down 24\n"), 5000);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* ---- urgent data ---- */

static size_t before_urgent;

/* So many bytes, an urgent one, and some more; then the end, if it is
 * wanted. */
static void
send_urgently(int fd, bool end)
{
	char *much = calloc(1, before_urgent);

	memset(much, 'a', before_urgent);
	endpoint_send(fd, much, before_urgent);
	free(much);
	ck_assert_int_eq(send(fd, "X", 1, MSG_OOB), 1);
	endpoint_send(fd, "def", 3);
	if (end)
		shutdown(fd, SHUT_WR);
}

static void
expect_urgently(int fd, bool end)
{
	char some[16384];
	size_t at, n;

	for (at = 0; at < before_urgent; at += n) {
		n = before_urgent - at < sizeof(some) ? before_urgent - at
						      : sizeof(some);
		endpoint_recv(fd, some, n);
	}
	endpoint_recv(fd, some, 4);
	ck_assert_mem_eq(some, "Xdef", 4);
	if (end)
		endpoint_expect_end(fd);
}

/* One way, then the other, with and without an end behind it: all arrives, in
 * order. */
static void
try_urgent(size_t before, const char *option)
{
	struct endpoint front, at;
	struct pen pen;
	int listener, client, server, i, end;

	before_urgent = before;
	endpoint_new(&at, ENDPOINT_TCP4);
	listener = endpoint_listen(&at, 8);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-O", option, front.text, at.text, NULL);
	for (end = 0; end < 2; end++) {
		client = endpoint_connect(&front);
		server = accept(listener, NULL, NULL);
		endpoint_set_deadline(server, 10000);
		for (i = 0; i < 3; i++) {
			send_urgently(client, end && i == 2);
			expect_urgently(server, end && i == 2);
			send_urgently(server, end && i == 2);
			expect_urgently(client, end && i == 2);
		}
		close(client);
		close(server);
	}
	pen_down(&pen);
	close(listener);
}

START_TEST(urgent_data_is_passed_on)
{
	try_urgent(3, "tcp_nodelay");
}
END_TEST

/* Where the kernel moves what comes before it. */
START_TEST(urgent_data_in_a_long_flow)
{
	try_urgent(400000, "tcp_nodelay");
	try_urgent(400000, "buffer 1m");
}
END_TEST

/* Each urgent byte comes before pen has read the one before it, which the
 * kernel drops unless it is in line. */
static void
try_several_urgent(const char *option)
{
	struct endpoint front, at;
	struct pen pen;
	int listener, client, server, i;
	char some[2];

	endpoint_new(&at, ENDPOINT_TCP4);
	listener = endpoint_listen(&at, 8);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-O", option, front.text, at.text, NULL);
	client = endpoint_connect(&front);
	endpoint_send(client, "?", 1);
	server = accept(listener, NULL, NULL);
	endpoint_send(server, "ab", 2);
	endpoint_recv(client, some, 2);
	pen_freeze(&pen);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(send(server, &"XYZ"[i], 1, MSG_OOB), 1);
	endpoint_send(server, "def", 3);
	shutdown(server, SHUT_WR);
	pen_thaw(&pen);
	ck_assert_str_eq(endpoint_recv_all(client), "XYZdef");
	close(client);
	close(server);
	pen_down(&pen);
	close(listener);
}

START_TEST(several_urgent_bytes)
{
	try_several_urgent("tcp_nodelay");
	try_several_urgent("poll");
}
END_TEST

/* The first read of a client is made before any event. Unix sockets of older
 * kernels have no urgent data. */
static void
try_urgent_first(enum endpoint_kind kind)
{
	struct endpoint front;
	struct backend b;
	struct pen pen;
	int fd;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, kind);
	pen_up(&pen, &front, front.text, b.at.text, NULL);
	pen_freeze(&pen);
	fd = endpoint_connect(&front);
	if (send(fd, "X", 1, MSG_OOB) == 1)
		endpoint_send(fd, "def", 3);
	else
		endpoint_send(fd, "Xdef", 4);
	shutdown(fd, SHUT_WR);
	pen_thaw(&pen);
	ck_assert_str_eq(endpoint_recv_all(fd), "Xdef");
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}

START_TEST(urgent_byte_is_the_first)
{
	try_urgent_first(ENDPOINT_TCP4);
	try_urgent_first(ENDPOINT_UNIX);
}
END_TEST

/* A client sends a descriptor along, which nobody gets, and bytes behind it:
 * all there when pen looks. */
START_TEST(bytes_behind_a_descriptor)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec abc = { .iov_base = (char[]){ "abc" }, .iov_len = 3 };
	struct msghdr m = { .msg_iov = &abc,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	struct endpoint front;
	struct backend b;
	struct pen pen;
	int fd;

	backend_start(&b, ENDPOINT_UNIX, backend_sink, NULL);
	endpoint_new(&front, ENDPOINT_UNIX);
	pen_up(&pen, &front, front.text, b.at.text, NULL);
	fd = endpoint_connect(&front);
	endpoint_send(fd, "12", 2);
	WAIT_FOR(b.received == 2, 5000);
	pen_freeze(&pen);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	ck_assert_int_eq(sendmsg(fd, &m, 0), 3);
	endpoint_send(fd, "def", 3);
	shutdown(fd, SHUT_WR);
	pen_thaw(&pen);
	ck_assert_str_eq(endpoint_recv_all(fd), "received 8\n");
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_relay)
{
	Suite *s = suite_create("relay");

	SUITE_ADD(s, round_robin, 10);
	SUITE_ADD(s, every_kind_in_front_of_every_other, 20);
	SUITE_ADD(s, several_listeners, 10);
	SUITE_ADD(s, colons_take_both_families, 10);
	SUITE_ADD(s, port_of_the_listener, 10);
	SUITE_ADD(s, counters_move_while_a_connection_lives, 20);
	SUITE_ADD(s, urgent_data_is_passed_on, 20);
	SUITE_ADD(s, urgent_data_in_a_long_flow, 20);
	SUITE_ADD(s, several_urgent_bytes, 20);
	SUITE_ADD(s, urgent_byte_is_the_first, 20);
	SUITE_ADD(s, bytes_behind_a_descriptor, 20);
	return s;
}
