/* test_stream.c: what one end remembers of what it can do. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/shortcuts.h"
#include "net/sock.h"
#include "net/stream.h"
#include "support/endpoint.h"
#include "support/suite.h"
#include "support/wait.h"

static struct loop *loop;
static struct stream s;
static int far;
static char bytes[1 << 16];

static void
begin_loop(void)
{
	struct error e;

	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
}

static void
begin(void)
{
	int fd[2];

	begin_loop();
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	stream_open_plain(&s, fd[0], false);
	far = fd[1];
	ck_assert(stream_is_open(&s));
	ck_assert_uint_eq(s.flags & (STREAM_READABLE | STREAM_WRITABLE),
	    STREAM_READABLE | STREAM_WRITABLE);
}

static void
end(void)
{
	stream_close(loop, &s, false);
	close(far);
	loop_free(loop);
}

START_TEST(closed_ones)
{
	begin_loop();
	stream_init(&s);
	ck_assert(!stream_is_open(&s));
	ck_assert_uint_eq(s.flags, 0);
	stream_close(loop, &s, true);
	ck_assert(!stream_is_open(&s));
	loop_free(loop);
}
END_TEST

START_TEST(readable_until_it_is_not)
{
	begin();
	ck_assert_int_eq(stream_read(&s, bytes, 10), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_uint_eq(s.flags & STREAM_READABLE, 0);
	ck_assert_int_eq(write(far, "0123456789", 10), 10);
	stream_note_ready(&s, READY_READ);
	/* a full read may have left something */
	ck_assert_int_eq(stream_read(&s, bytes, 5), 5);
	ck_assert_uint_ne(s.flags & STREAM_READABLE, 0);
	/* a short one has not */
	ck_assert_int_eq(stream_read(&s, bytes, 50), 5);
	ck_assert_uint_eq(s.flags & STREAM_READABLE, 0);
	end();
}
END_TEST

/* With the FIN here there is no more news to wait for: it stays readable. */
START_TEST(end_after_a_short_read)
{
	begin();
	ck_assert_int_eq(write(far, "last", 4), 4);
	shutdown(far, SHUT_WR);
	stream_note_ready(&s, READY_READ | READY_EOF);
	ck_assert_int_eq(stream_read(&s, bytes, 50), 4);
	ck_assert_uint_ne(s.flags & STREAM_READABLE, 0);
	ck_assert_int_eq(stream_read(&s, bytes, 50), 0);
	end();
}
END_TEST

/* As sessions connect: urgent data is in line. */
static int
connect_to(const struct endpoint *endpoint)
{
	struct sock_connect_options c = { .sources = NULL };
	struct addr at = { .len = endpoint->len };
	int fd;

	memcpy(&at.u, &endpoint->addr, endpoint->len);
	fd = sock_connect(&at, &c);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* The read ends before urgent data, and the next one comes before its event. */
START_TEST(urgent_byte_behind_a_full_read)
{
	struct endpoint endpoint;
	int server, peer;

	begin_loop();
	endpoint_new(&endpoint, ENDPOINT_TCP4);
	server = endpoint_listen(&endpoint, 4);
	stream_open_plain(&s, connect_to(&endpoint), false);
	peer = accept(server, NULL, NULL);
	endpoint_send(peer, "0123456789", 10);
	ck_assert_int_eq(send(peer, "X", 1, MSG_OOB), 1);
	endpoint_send(peer, "def", 3);
	shutdown(peer, SHUT_WR);
	WAIT_FOR(sock_has_ended(s.fd), 5000);
	ck_assert_int_eq(stream_read(&s, bytes, 10), 10);
	ck_assert_int_eq(stream_read(&s, bytes, 50), 4);
	ck_assert_mem_eq(bytes, "Xdef", 4);
	stream_close(loop, &s, false);
	close(peer);
	close(server);
	loop_free(loop);
}
END_TEST

/* A write finds the reset that no event has reported, nor the urgent data that
 * came before it. */
START_TEST(urgent_byte_before_a_reset)
{
	struct endpoint endpoint;
	int server, peer;

	begin_loop();
	endpoint_new(&endpoint, ENDPOINT_TCP4);
	server = endpoint_listen(&endpoint, 4);
	stream_open_plain(&s, connect_to(&endpoint), false);
	peer = accept(server, NULL, NULL);
	endpoint_send(peer, "0123456789", 10);
	ck_assert_int_eq(send(peer, "X", 1, MSG_OOB), 1);
	endpoint_send(peer, "def", 3);
	endpoint_reset(peer);
	WAIT_FOR(stream_write(&s, "?", 1, false) < 0, 5000);
	ck_assert_uint_ne(s.flags & STREAM_RESET, 0);
	ck_assert_int_eq(stream_read(&s, bytes, 50), 10);
	ck_assert_int_eq(stream_read(&s, bytes, 50), 4);
	ck_assert_mem_eq(bytes, "Xdef", 4);
	ck_assert_int_eq(stream_read(&s, bytes, 50), -1);
	ck_assert_int_eq(errno, ECONNRESET);
	stream_close(loop, &s, false);
	close(server);
	loop_free(loop);
}
END_TEST

/* A reset looks like an end too, until it is read. */
START_TEST(no_end_before_a_reset)
{
	begin();
	ck_assert_int_eq(write(far, "last", 4), 4);
	stream_note_ready(&s, READY_READ | READY_EOF | READY_ERROR);
	ck_assert_int_eq(stream_read(&s, bytes, 50), 4);
	ck_assert_uint_ne(s.flags & STREAM_READABLE, 0);
	ck_assert_uint_eq(s.flags & STREAM_AT_EOF, 0);
	end();
}
END_TEST

START_TEST(writable_until_it_is_not)
{
	ssize_t n;

	begin();
	do {
		ck_assert_uint_ne(s.flags & STREAM_WRITABLE, 0);
		n = stream_write(&s, bytes, sizeof(bytes), false);
	} while (n == (ssize_t)sizeof(bytes));
	ck_assert(n > 0 || errno == EAGAIN);
	ck_assert_uint_eq(s.flags & STREAM_WRITABLE, 0);
	stream_note_ready(&s, READY_WRITE);
	ck_assert_uint_ne(s.flags & STREAM_WRITABLE, 0);
	stream_shutdown(&s);
	ck_assert_int_eq(stream_write(&s, "x", 1, false), -1);
	ck_assert_int_eq(errno, EPIPE);
	while (read(far, bytes, sizeof(bytes)) > 0)
		continue;
	ck_assert_int_eq(read(far, bytes, 1), 0);
	end();
}
END_TEST

static bool
has_nodelay(void)
{
	int on = 0;
	socklen_t len = sizeof(on);

	ck_assert_int_eq(
	    getsockopt(s.fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
	return on != 0;
}

/* Nagle's delay goes with the second write, or stays for ever. */
START_TEST(nodelay)
{
	struct endpoint endpoint;
	int server, on;

	begin_loop();
	endpoint_new(&endpoint, ENDPOINT_TCP4);
	server = endpoint_listen(&endpoint, 4);
	for (on = 0; on < 2; on++) {
		stream_open_plain(&s, endpoint_connect(&endpoint), on);
		ck_assert_int_eq(stream_write(&s, "x", 1, false), 1);
		ck_assert_int_eq(has_nodelay(), on && !SHORTCUT_LATE_NODELAY);
		ck_assert_int_eq(stream_write(&s, "x", 1, false), 1);
		ck_assert_int_eq(has_nodelay(), on);
		stream_close(loop, &s, false);
	}
	close(server);
	loop_free(loop);
}
END_TEST

/* An end, or a reset: the far side can tell. */
START_TEST(ways_to_close)
{
	struct endpoint endpoint;
	struct peer who;
	int server, client, reset;

	begin_loop();
	endpoint_new(&endpoint, ENDPOINT_TCP4);
	server = endpoint_listen(&endpoint, 4);
	for (reset = 0; reset < 2; reset++) {
		client = endpoint_connect(&endpoint);
		stream_open_plain(&s, sock_accept(server, &who), false);
		stream_close(loop, &s, reset);
		ck_assert(!stream_is_open(&s));
		if (reset)
			endpoint_expect_reset(client);
		else
			endpoint_expect_end(client);
		close(client);
	}
	close(server);
	loop_free(loop);
}
END_TEST

SUITE(test_stream)
{
	Suite *suite = suite_create("stream");

	SUITE_ADD(suite, closed_ones, 10);
	SUITE_ADD(suite, readable_until_it_is_not, 10);
	SUITE_ADD(suite, end_after_a_short_read, 10);
	SUITE_ADD(suite, urgent_byte_behind_a_full_read, 10);
	SUITE_ADD(suite, urgent_byte_before_a_reset, 10);
	SUITE_ADD(suite, no_end_before_a_reset, 10);
	SUITE_ADD(suite, writable_until_it_is_not, 10);
	SUITE_ADD(suite, nodelay, 20);
	SUITE_ADD(suite, ways_to_close, 20);
	return suite;
}
