/* test_pipe.c: one direction over socket pairs, without a loop. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/hash.h"
#include "net/pipe.h"
#include "net/sock.h"
#include "support/suite.h"

/* The pipe moves bytes from in[1] to out[0]; the test writes in[0] and reads
 * out[1]. */
static struct pipe_share share;
static char scratch_bytes[PIPE_SCRATCH];
static struct pipe pipe_;
static struct stream from, to;
static int in[2], out[2];
static uint64_t sent, got;

static void
begin(bool read_ahead, bool splice)
{
	pipe_share_init(&share, scratch_bytes);
	share.splice = splice;
	share.kernel_pipes_max = 8;
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, in), 0);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, out), 0);
	stream_open_plain(&from, in[1], false);
	stream_open_plain(&to, out[0], false);
	pipe_init(&pipe_, read_ahead);
	sent = got = 0;
}

static void
end(void)
{
	pipe_fini(&pipe_, &share);
	pipe_share_fini(&share);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

static char
pattern(uint64_t i)
{
	return (char)(hash_mix(i / 8) >> (i % 8 * 8));
}

/* Sends up to n bytes of the pattern; returns how many were taken. */
static size_t
feed(size_t n)
{
	static char bytes[1 << 18];
	ssize_t rc;
	size_t i;

	n = n < sizeof(bytes) ? n : sizeof(bytes);
	for (i = 0; i < n; i++)
		bytes[i] = pattern(sent + i);
	rc = send(in[0], bytes, n, MSG_NOSIGNAL);
	n = rc > 0 ? (size_t)rc : 0;
	sent += n;
	from.flags |= STREAM_READABLE;
	return n;
}

/* Takes up to n bytes and checks them; returns how many came. */
static size_t
drain(size_t n)
{
	static char bytes[1 << 18];
	ssize_t rc =
	    recv(out[1], bytes, n < sizeof(bytes) ? n : sizeof(bytes), 0);
	ssize_t i, wrong = 0;

	for (i = 0; i < rc; i++)
		wrong += bytes[i] != pattern(got + (uint64_t)i);
	ck_assert_int_eq(wrong, 0);
	got += rc > 0 ? (uint64_t)rc : 0;
	to.flags |= STREAM_WRITABLE;
	return rc > 0 ? (size_t)rc : 0;
}

static struct pipe_stop last;

static enum pipe_verdict
pump(void)
{
	last = pipe_pump(&pipe_, &from, &to, &share);
	return last.verdict;
}

START_TEST(small_bytes_pass)
{
	begin(false, true);
	ck_assert_int_eq(pump(), PIPE_STARVED);
	ck_assert_int_eq(from.flags & STREAM_READABLE, 0);
	feed(100);
	ck_assert_int_eq(pump(), PIPE_STARVED);
	ck_assert_uint_eq(pipe_.bytes, 100);
	ck_assert_uint_eq(drain(1000), 100);
	ck_assert_ptr_null(pipe_.more);
	end();
}
END_TEST

/* A stream that has taken bytes which it could not send, as TLS does, gets
 * little more. */
START_TEST(little_is_read_for_a_full_stream)
{
	begin(false, false);
	ck_assert_uint_gt(feed(60000), 16384);
	to.flags = (to.flags | STREAM_UNSENT) & ~(unsigned)STREAM_WRITABLE;
	ck_assert_int_eq(pump(), PIPE_BLOCKED);
	ck_assert_uint_eq(pipe_pending(&pipe_), 16384);
	end();
}
END_TEST

START_TEST(the_end_is_seen)
{
	int hint;

	for (hint = 0; hint < 2; hint++) {
		begin(false, true);
		feed(10);
		shutdown(in[0], SHUT_WR);
		if (hint)
			from.flags |= STREAM_AT_EOF;
		if (!hint) {
			ck_assert_int_eq(pump(), PIPE_STARVED);
			from.flags |= STREAM_READABLE;
		}
		ck_assert_int_eq(pump(), PIPE_DONE);
		ck_assert_int_eq(pump(), PIPE_DONE);
		ck_assert_uint_eq(drain(100), 10);
		end();
	}
}
END_TEST

static void
feed_until_blocked(void)
{
	do {
		feed(1 << 16);
	} while (pump() != PIPE_BLOCKED);
}

/* What was sent arrives, and the pipe owns nothing. */
static void
expect_all(void)
{
	while (got < sent) {
		drain(1 << 18);
		pump();
	}
	ck_assert_ptr_null(pipe_.more);
}

/* What the far side refuses is kept, in order, and nothing more is read. */
START_TEST(back_pressure)
{
	int i;

	begin(false, false);
	feed_until_blocked();
	ck_assert_uint_gt(pipe_pending(&pipe_), 0);
	ck_assert_uint_le(pipe_pending(&pipe_), PIPE_SCRATCH);
	for (i = 0; i < 5; i++) {
		feed(1 << 16);
		ck_assert_int_eq(pump(), PIPE_BLOCKED);
	}
	ck_assert_uint_le(pipe_pending(&pipe_), PIPE_SCRATCH);
	expect_all();
	end();
}
END_TEST

/* Less is read for one that has refused bytes before. */
START_TEST(little_is_kept_for_a_slow_reader)
{
	enum { LITTLE = 16 * 1024 };
	int i;

	begin(false, false);
	feed_until_blocked();
	for (i = 0; i < 100; i++) {
		feed(1 << 16);
		drain(24 * 1024);
		pump();
		if (i >= 5)
			ck_assert_uint_le(pipe_pending(&pipe_), LITTLE);
	}
	ck_assert_int_eq(last.verdict, PIPE_BLOCKED);
	expect_all();
	end();
}
END_TEST

START_TEST(reading_ahead_has_a_limit)
{
	int i;

	begin(true, false);
	share.keep_max = 1 << 20;
	for (i = 0; i < 200; i++) {
		feed(1 << 16);
		pump();
	}
	ck_assert_uint_eq(pipe_pending(&pipe_), 1 << 20);
	shutdown(in[0], SHUT_WR);
	while (got < sent || !pipe_.ended) {
		drain(1 << 18);
		pump();
		from.flags |= STREAM_READABLE;
	}
	ck_assert_int_eq(pump(), PIPE_DONE);
	ck_assert_ptr_null(pipe_.more);
	end();
}
END_TEST

#ifdef HAVE_SPLICE
/* The kernel takes over after two full reads and leaves a short flow again. */
START_TEST(splice_comes_and_goes)
{
	int size = 1 << 20, i;
	bool spliced = false;

	begin(false, true);
	for (i = 0; i < 2; i++) {
		setsockopt(in[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		setsockopt(out[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	}
	for (i = 0; i < 100; i++) {
		feed(1 << 18);
		pump();
		spliced |= pipe_.full_reads >= 2;
		while (drain(1 << 18) > 0)
			pump();
	}
	ck_assert(spliced);
	ck_assert_uint_gt(share.kernel_pipes, 0);
	while (got < sent) {
		pump();
		drain(1 << 18);
	}
	pump();
	ck_assert_ptr_null(pipe_.more);
	for (i = 0; i < 3; i++) {
		feed(10);
		pump();
		ck_assert_uint_eq(drain(100), 10);
	}
	ck_assert_uint_eq(pipe_.full_reads, 0);
	end();
}
END_TEST

/* Without kernel pipes to have, bytes are copied. */
START_TEST(no_kernel_pipe_left)
{
	int i;

	begin(false, true);
	share.kernel_pipes_max = 0;
	for (i = 0; i < 100; i++) {
		feed(1 << 18);
		pump();
		drain(1 << 18);
	}
	while (got < sent) {
		pump();
		drain(1 << 18);
	}
	ck_assert_uint_eq(share.kernel_pipes, 0);
	end();
}
END_TEST
#endif

/* Random sizes on both sides, every byte compared. */
START_TEST(random_sizes)
{
	uint64_t amount = (uint64_t)suite_amount(50, 5) << 20, x;
	bool splice;
	int round;

	for (round = 0; round < 2; round++) {
		splice = round == 1;
		begin(false, splice);
		for (x = 1; got < amount; x = hash_mix(x + 1)) {
			if (sent < amount)
				feed((x & 3) == 0 ? x >> 8 & 0x3ffff
						  : x >> 8 & 0x3ff);
			pump();
			if (x & 12)
				drain(x >> 32 & 0x3ffff);
		}
		end();
	}
}
END_TEST

/* A dead far side: what was read is kept for somebody else; dropped, the input
 * is swallowed to its end. */
START_TEST(write_failure_and_drop)
{
	begin(false, true);
	close(out[1]);
	out[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	feed(1000);
	ck_assert_int_eq(pump(), PIPE_WRITE_FAILED);
	ck_assert_int_eq(last.cause, EPIPE);
	ck_assert_uint_eq(pipe_pending(&pipe_), 1000);
	pipe_drop(&pipe_, &share);
	ck_assert_uint_eq(pipe_pending(&pipe_), 0);
	ck_assert(!pipe_.dropped);
	feed(1000);
	ck_assert_int_eq(pump(), PIPE_STARVED);
	ck_assert(pipe_.dropped);
	shutdown(in[0], SHUT_WR);
	from.flags |= STREAM_READABLE;
	ck_assert_int_eq(pump(), PIPE_DONE);
	end();
}
END_TEST

#ifdef HAVE_SPLICE
/* A kernel pipe that still holds bytes is never handed on. */
START_TEST(next_client_sees_nothing)
{
	int i;

	begin(false, true);
	for (i = 0; i < 100; i++) {
		feed(1 << 18);
		pump();
	}
	pipe_fini(&pipe_, &share);
	ck_assert_ptr_null(share.spare);
	ck_assert_uint_eq(share.kernel_pipes, 0);
	pipe_init(&pipe_, false);
	end();
}
END_TEST
#endif

static int
descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Full or empty, copied or spliced: all descriptors are given back (memory is
 * the leak checker's), and only empty kernel pipes are spared. */
START_TEST(all_is_given_back)
{
	int before = descriptors(), kind, i;

	for (kind = 0; kind < 8; kind++) {
		begin(kind & 1, kind & 2);
		share.keep_max = kind & 1 ? 1 << 20 : 0;
		for (i = 0; i < 50; i++) {
			feed(1 << 18);
			pump();
			if (kind & 4)
				drain(1 << 18);
		}
#ifdef HAVE_SPLICE
		if (kind == 2)
			ck_assert_uint_gt(share.kernel_pipes, 0);
#endif
		while (kind & 4 && got < sent) {
			pump();
			drain(1 << 18);
		}
		end();
		ck_assert_int_eq(descriptors(), before);
	}
}
END_TEST

/* A reset is a failure to read, and what was read before it still arrives. */
START_TEST(read_failure)
{
	struct addr at;
	struct sock_listen_options o = { .backlog = 1 };
	struct sock_connect_options c = { .sources = NULL };
	struct error e;
	struct peer who;
	int server, client;
	struct pollfd p = { .events = POLLIN };

	begin(false, true);
	ck_assert_int_eq(addr_parse_ip(&at, "127.0.0.1", 0), 0);
	server = sock_listen(&at, &o, NULL, &e);
	ck_assert_int_eq(sock_local_addr(server, &at), 0);
	client = sock_connect(&at, &c);
	p.fd = server;
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	close(in[1]);
	in[1] = sock_accept(server, &who);
	stream_open_plain(&from, in[1], false);
	close(in[0]);
	in[0] = client;
	feed(10);
	p.fd = in[1];
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	ck_assert_int_eq(pump(), PIPE_STARVED);
	in[0] = dup(0);
	sock_close_reset(client);
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	from.flags |= STREAM_READABLE;
	ck_assert_int_eq(pump(), PIPE_READ_FAILED);
	ck_assert_int_eq(last.cause, ECONNRESET);
	ck_assert_uint_eq(drain(100), 10);
	close(server);
	end();
}
END_TEST

static void
count_tap(void *arg, const struct stream *s, const char *bytes, size_t n)
{
	(void)s;
	(void)bytes;
	*(uint64_t *)arg += n;
}

START_TEST(tap_sees_every_byte)
{
	uint64_t seen = 0;
	int i;

	begin(true, true);
	share.tap = count_tap;
	share.tap_arg = &seen;
	share.keep_max = 300000;
	for (i = 0; i < 20; i++) {
		feed(1 << 17);
		pump();
		drain(50000);
	}
	while (got < sent) {
		pump();
		drain(1 << 18);
	}
	ck_assert_uint_eq(seen, sent);
	ck_assert_uint_eq(share.kernel_pipes, 0);
	end();
}
END_TEST

#ifdef HAVE_SPLICE
static uint64_t reported;

static void
count_read(struct pipe *p, const char *bytes, size_t n)
{
	(void)p;
	(void)bytes;
	reported += n;
}

/* The middle of a long flow moves unseen; what follows a pause is reported. */
START_TEST(what_follows_a_pause_is_reported)
{
	uint64_t before;
	int i;

	begin(false, true);
	reported = 0;
	share.on_read = count_read;
	pipe_.reported = true;
	for (i = 0; i < 4; i++) {
		before = reported;
		ck_assert_uint_gt(feed(1 << 18), 2 * PIPE_SCRATCH + (1 << 15));
		while (got < sent) {
			pump();
			drain(1 << 18);
		}
		ck_assert_int_eq(pump(), PIPE_STARVED);
		ck_assert_uint_ge(reported, before + PIPE_SCRATCH);
		ck_assert_uint_lt(reported, sent);
		before = reported;
		feed(10);
		pump();
		ck_assert_uint_eq(reported, before + 10);
		ck_assert_uint_eq(drain(100), 10);
	}
	end();
}
END_TEST
#endif

/* First bytes wait until there is somebody for them, up to a limit. */
START_TEST(gathered_bytes_go_first)
{
	begin(false, false);
	from.flags |= STREAM_READABLE;
	ck_assert_int_eq(
	    pipe_gather(&pipe_, &from, 100, &share).verdict, PIPE_STARVED);
	ck_assert_uint_eq(pipe_pending(&pipe_), 0);
	feed(60);
	ck_assert_int_eq(
	    pipe_gather(&pipe_, &from, 100, &share).verdict, PIPE_STARVED);
	ck_assert_uint_eq(pipe_pending(&pipe_), 60);
	feed(60);
	ck_assert_int_eq(
	    pipe_gather(&pipe_, &from, 100, &share).verdict, PIPE_BLOCKED);
	ck_assert_uint_eq(pipe_pending(&pipe_), 100);
	ck_assert_uint_eq(pipe_.bytes, 0);
	ck_assert_int_eq(
	    pipe_pump(&pipe_, &from, &to, &share).verdict, PIPE_STARVED);
	ck_assert_uint_eq(drain(200), 120);
	feed(10);
	shutdown(in[0], SHUT_WR);
	ck_assert_int_eq(
	    pipe_gather(&pipe_, &from, 100, &share).verdict, PIPE_STARVED);
	from.flags |= STREAM_READABLE;
	ck_assert_int_eq(
	    pipe_gather(&pipe_, &from, 100, &share).verdict, PIPE_DONE);
	ck_assert_int_eq(
	    pipe_pump(&pipe_, &from, &to, &share).verdict, PIPE_DONE);
	ck_assert_uint_eq(drain(200), 10);
	end();
}
END_TEST

/* Another stream gets what the first one did, and what it has not taken is
 * forgotten. */
START_TEST(begins_again)
{
	static const char first[] = "first";
	char bytes[16];

	begin(false, false);
	feed(sizeof(first));
	ck_assert_int_eq(pump(), PIPE_STARVED);
	drain(sizeof(first));
	to.flags &= ~(unsigned)STREAM_WRITABLE;
	feed(10);
	ck_assert_int_eq(pump(), PIPE_BLOCKED);
	pipe_drop(&pipe_, &share);
	ck_assert_int_eq(pipe_restart(&pipe_, first, sizeof(first), &share), 0);
	ck_assert_uint_eq(pipe_.bytes, 0);
	ck_assert_uint_eq(pipe_pending(&pipe_), sizeof(first));
	to.flags |= STREAM_WRITABLE;
	ck_assert_int_eq(pump(), PIPE_STARVED);
	ck_assert_int_eq(recv(out[1], bytes, sizeof(bytes), 0), sizeof(first));
	ck_assert_mem_eq(bytes, first, sizeof(first));
	ck_assert_uint_eq(pipe_.bytes, sizeof(first));
	end();
}
END_TEST

SUITE(test_pipe)
{
	Suite *s = suite_create("pipe");

	SUITE_ADD(s, gathered_bytes_go_first, 10);
	SUITE_ADD(s, small_bytes_pass, 10);
	SUITE_ADD(s, little_is_read_for_a_full_stream, 10);
	SUITE_ADD(s, the_end_is_seen, 10);
	SUITE_ADD(s, back_pressure, 10);
	SUITE_ADD(s, little_is_kept_for_a_slow_reader, 10);
	SUITE_ADD(s, reading_ahead_has_a_limit, 10);
#ifdef HAVE_SPLICE
	SUITE_ADD(s, splice_comes_and_goes, 20);
	SUITE_ADD(s, no_kernel_pipe_left, 20);
	SUITE_ADD(s, next_client_sees_nothing, 10);
#endif
	SUITE_ADD(s, random_sizes, 60);
	SUITE_ADD(s, write_failure_and_drop, 10);
	SUITE_ADD(s, all_is_given_back, 30);
	SUITE_ADD(s, read_failure, 20);
	SUITE_ADD(s, tap_sees_every_byte, 10);
#ifdef HAVE_SPLICE
	SUITE_ADD(s, what_follows_a_pause_is_reported, 10);
#endif
	SUITE_ADD(s, begins_again, 10);
	return s;
}
