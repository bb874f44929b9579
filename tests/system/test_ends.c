/* test_ends.c: how connections end: FIN becomes FIN, RST becomes RST, last
 * words arrive whole. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/pattern.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

struct chain {
	struct backend back;
	struct endpoint front;
	struct pen pen;
};

static void
chain_up(struct chain *c, enum endpoint_kind in, enum endpoint_kind out,
    backend_fn *serve, const char *setting)
{
	backend_start(&c->back, out, serve, NULL);
	endpoint_new(&c->front, in);
	pen_up(&c->pen, &c->front, "-r", "-O",
	    setting != NULL ? setting : "tcp_nodelay", c->front.text,
	    c->back.at.text, NULL);
}

static void
chain_down(struct chain *c)
{
	pen_down(&c->pen);
	backend_stop(&c->back);
}

/* What a server saw, for the tests to ask: set by the serving thread. */
static atomic_int saw;
enum { NOTHING, SAW_END, SAW_RESET, SAW_DATA };

static int
see_next(int fd)
{
	char c;
	ssize_t k = recv(fd, &c, 1, 0);

	if (k == 0)
		return SAW_END;
	if (k > 0)
		return SAW_DATA;
	return errno == ECONNRESET ? SAW_RESET : NOTHING;
}

/* ---- half-close ---- */

START_TEST(client_ends_first)
{
	struct chain c;
	int fd;

	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, backend_sink, NULL);
	ck_assert_str_eq(endpoint_ask(&c.front, "12345"), "received 5\n");
	/* long after the answer could have come */
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "123", 3);
	WAIT_FOR(c.back.received == 8, 5000);
	ck_assert_int_eq(c.back.open, 1);
	shutdown(fd, SHUT_WR);
	ck_assert_str_eq(endpoint_recv_all(fd), "received 3\n");
	close(fd);
	/* before pen has even connected */
	ck_assert_str_eq(endpoint_ask(&c.front, ""), "received 0\n");
	chain_down(&c);
}
END_TEST

/* Ends at once and then listens. */
static void
end_then_listen(struct backend *b, int fd)
{
	char buf[4096];
	ssize_t k;

	backend_send(fd, "hello", 5);
	shutdown(fd, SHUT_WR);
	while ((k = recv(fd, buf, sizeof(buf), 0)) > 0)
		atomic_fetch_add(&b->received, k);
	saw = k == 0 ? SAW_END : SAW_RESET;
}

START_TEST(server_ends_first)
{
	struct chain c;
	int fd, kind;

	for (kind = 0; kind < ENDPOINT_KINDS; kind++) {
		if (!endpoint_has_kind(kind))
			continue;
		saw = NOTHING;
		chain_up(&c, kind, kind, end_then_listen, NULL);
		fd = endpoint_connect(&c.front);
		ck_assert_str_eq(endpoint_recv_all(fd), "hello");
		endpoint_send(fd, "one", 3);
		WAIT_FOR(c.back.received == 3, 5000);
		endpoint_send(fd, "two", 3);
		WAIT_FOR(c.back.received == 6, 5000);
		ck_assert_int_eq(saw, NOTHING);
		close(fd);
		WAIT_FOR(saw != NOTHING, 5000);
		ck_assert_int_eq(saw, SAW_END);
		chain_down(&c);
	}
}
END_TEST

START_TEST(fastclose_opts_out)
{
	struct chain c;
	int fd;

	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, backend_sink,
	    "tcp_fastclose both");
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "x", 1);
	WAIT_FOR(c.back.received == 1, 5000);
	shutdown(fd, SHUT_WR);
	/* nothing but the end, or a reset: not the sink's answer */
	ck_assert_int_le(recv(fd, &(char){ 0 }, 1, 0), 0);
	close(fd);
	WAIT_FOR(c.back.open == 0, 5000);
	chain_down(&c);
}
END_TEST

/* Answers at length, and sees what comes then. */
static void
answer_and_see(struct backend *b, int fd)
{
	static const char answer[300000];

	(void)b;
	(void)see_next(fd);
	backend_send(fd, answer, sizeof(answer));
	shutdown(fd, SHUT_WR);
	saw = see_next(fd);
}

START_TEST(fastclose_keeps_answer_of_talker)
{
	struct chain c;
	char bytes[10000];
	int fd, i, room = 16384;

	saw = NOTHING;
	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, answer_and_see,
	    "tcp_fastclose up");
	fd = endpoint_connect(&c.front);
	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
	endpoint_send(fd, "x", 1);
	WAIT_FOR(saw == SAW_END, 5000);
	endpoint_send(fd, "more", 4);
	for (i = 0; i < 30; i++)
		endpoint_recv(fd, bytes, sizeof(bytes));
	endpoint_expect_end(fd);
	close(fd);
	WAIT_FOR(child_has_said(&c.pen.child, "reason=fastclose"), 5000);
	chain_down(&c);
}
END_TEST

/* ---- resets ---- */

static void
wait_and_see(struct backend *b, int fd)
{
	char c;

	if (recv(fd, &c, 1, 0) == 1)
		atomic_fetch_add(&b->received, 1);
	saw = see_next(fd);
}

START_TEST(client_reset_reaches_server)
{
	struct chain c;
	int fd;

	saw = NOTHING;
	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, wait_and_see, NULL);
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "x", 1);
	WAIT_FOR(c.back.received == 1, 5000);
	endpoint_reset(fd);
	WAIT_FOR(saw != NOTHING, 5000);
	ck_assert_int_eq(saw, SAW_RESET);
	chain_down(&c);
}
END_TEST

static void
hear_and_reset(struct backend *b, int fd)
{
	char c;

	if (recv(fd, &c, 1, 0) == 1)
		backend_reset(b, fd);
}

START_TEST(server_reset_reaches_client)
{
	struct chain c;
	int fd;

	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, hear_and_reset, NULL);
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "x", 1);
	endpoint_expect_reset(fd);
	close(fd);
	chain_down(&c);
}
END_TEST

/* The client has ended; what it is told and the reset come together. */
static void
say_and_reset(struct backend *b, int fd)
{
	char c;

	while (recv(fd, &c, 1, 0) > 0)
		;
	backend_send(fd, "part", 4);
	backend_reset(b, fd);
}

START_TEST(server_reset_with_last_words)
{
	struct chain c;
	char part[4];
	int fd, i;

	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, say_and_reset, NULL);
	for (i = 0; i < 20; i++) {
		fd = endpoint_connect(&c.front);
		endpoint_send(fd, "x", 1);
		shutdown(fd, SHUT_WR);
		endpoint_recv(fd, part, sizeof(part));
		endpoint_expect_reset(fd);
		close(fd);
	}
	chain_down(&c);
}
END_TEST

/* ---- last words ---- */

static size_t answer_bytes;

static bool
send_pattern(int fd, uint64_t seed, size_t bytes)
{
	char buf[16384];
	size_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < sizeof(buf) ? bytes - at : sizeof(buf);
		pattern_fill(seed, at, buf, n);
		if (!backend_send(fd, buf, n))
			return false;
	}
	return true;
}

/* Reads `bytes` bytes of a stream, beginning with the one at `from`, and
 * compares; at most `rate` bytes a second,
 * 0 is as fast as can be. */
static void
check_pattern(int fd, uint64_t seed, size_t from, size_t bytes, size_t rate)
{
	char buf[16384];
	size_t at, n, end = from + bytes;
	long long began = wait_now_ms();
	ssize_t k;

	for (at = from; at < end; at += (size_t)k) {
		n = end - at < sizeof(buf) ? end - at : sizeof(buf);
		while (rate > 0 &&
		    (long long)((at - from) * 1000 / rate) >
			wait_now_ms() - began)
			wait_nap();
		k = recv(fd, buf, n, 0);
		ck_assert_msg(k > 0, "after %zu bytes: %s", at,
		    k == 0 ? "the end" : strerror(errno));
		pattern_check(seed, at, buf, (size_t)k);
	}
}

/* As many bytes as go; a broken connection is no failure. */
static size_t
send_as_much(int fd, size_t bytes)
{
	static const char zeros[65536];
	size_t at = 0;
	ssize_t k;

	while (at < bytes &&
	    (k = send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL)) > 0)
		at += (size_t)k;
	return at;
}

/* Answers in one piece, lest its kernel keep a rest to itself, and closes
 * without reading a byte: its kernel resets. */
static void
answer_and_close(struct backend *b, int fd)
{
	char answer[40000];

	(void)b;
	pattern_fill(7, 0, answer, sizeof(answer));
	backend_send(fd, answer, sizeof(answer));
}

START_TEST(answer_during_upload_server_closes)
{
	struct chain c;
	int fd, i;

	answer_bytes = 40000;
	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, answer_and_close, NULL);
	for (i = 0; i < 10; i++) {
		fd = endpoint_connect(&c.front);
		send_as_much(fd, (size_t)suite_amount(100, 10) << 20);
		check_pattern(fd, 7, 0, answer_bytes, 0);
		endpoint_expect_end(fd);
		close(fd);
		WAIT_FOR(c.back.open == 0, 5000);
	}
	chain_down(&c);
}
END_TEST

static void
answer_and_swallow(struct backend *b, int fd)
{
	(void)b;
	send_pattern(fd, 7, answer_bytes);
	shutdown(fd, SHUT_WR);
	backend_sink(b, fd);
}

START_TEST(answer_during_upload_server_reads_on)
{
	struct chain c;
	size_t bytes = (size_t)suite_amount(100, 10) << 20;
	int fd;

	answer_bytes = 300000;
	chain_up(&c, ENDPOINT_TCP4, ENDPOINT_TCP4, answer_and_swallow, NULL);
	fd = endpoint_connect(&c.front);
	ck_assert_uint_eq(send_as_much(fd, bytes), bytes);
	check_pattern(fd, 7, 0, answer_bytes, 0);
	endpoint_expect_end(fd);
	close(fd);
	WAIT_FOR(c.back.open == 0, 5000);
	ck_assert_int_eq(c.back.received, (long long)bytes);
	chain_down(&c);
}
END_TEST

static atomic_llong server_free_ms;

/* How long after its last byte is this server free? */
static void
answer_and_clock(struct backend *b, int fd)
{
	long long began;
	char c;

	(void)b;
	send_pattern(fd, 9, answer_bytes);
	shutdown(fd, SHUT_WR);
	began = wait_now_ms();
	while (recv(fd, &c, 1, 0) > 0)
		;
	server_free_ms = 1 + wait_now_ms() - began;
}

/* A 3 MB answer to a client that reads 50 kB/s: the server is free within a
 * second, and the client gets every byte. */
START_TEST(slow_client_through_a_buffer)
{
	struct chain c;
	size_t tasted = 150000;
	int fd, small = 32768;

	answer_bytes = 3 << 20;
	server_free_ms = 0;
	chain_up(
	    &c, ENDPOINT_TCP4, ENDPOINT_TCP4, answer_and_clock, "buffer 4m");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	endpoint_set_deadline(fd, 10000);
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&c.front.addr, c.front.len), 0);
	check_pattern(fd, 9, 0, tasted, 50000);
	ck_assert_int_gt(server_free_ms, 0);
	ck_assert_int_lt(server_free_ms, wait_scaled(1000));
	ck_assert_ptr_nonnull(strstr(pen_stats(&c.pen), " conn 0 "));
	/* the rest at full speed: the test need not take a minute */
	check_pattern(fd, 9, tasted, answer_bytes - tasted, 0);
	endpoint_expect_end(fd);
	close(fd);
	chain_down(&c);
}
END_TEST

SUITE(test_ends)
{
	Suite *s = suite_create("ends");

	SUITE_ADD(s, client_ends_first, 20);
	SUITE_ADD(s, server_ends_first, 20);
	SUITE_ADD(s, fastclose_opts_out, 20);
	SUITE_ADD(s, fastclose_keeps_answer_of_talker, 20);
	SUITE_ADD(s, client_reset_reaches_server, 20);
	SUITE_ADD(s, server_reset_reaches_client, 20);
	SUITE_ADD(s, server_reset_with_last_words, 20);
	SUITE_ADD(s, answer_during_upload_server_closes, 30);
	SUITE_ADD(s, answer_during_upload_server_reads_on, 30);
	SUITE_ADD(s, slow_client_through_a_buffer, 30);
	return s;
}
