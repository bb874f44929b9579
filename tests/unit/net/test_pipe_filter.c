/* test_pipe_filter.c: a pipe with a filter that holds bytes back. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/pipe.h"
#include "support/suite.h"

static struct pipe_share share;
static char scratch_bytes[PIPE_SCRATCH];
static struct pipe pipe_;
static struct stream from, to;
static struct stream_inside noting;
static struct pipe_filter filter;
static int in[2], out[2];

/* Lets "a" go on and holds the rest back until it is called again. */
static int
hold(struct pipe_filter *f, const char *bytes, size_t n, const char **on,
    size_t *on_n)
{
	(void)bytes;
	f->waits = n > 1;
	*on = n > 0 ? "a" : "b";
	*on_n = 1;
	return 0;
}

/* ---- a stream that notes what it is told ---- */

static bool told_last;

static ssize_t
write_noting(struct stream *s, const void *bytes, size_t n, bool last)
{
	told_last = last;
	return send(s->fd, bytes, n, MSG_NOSIGNAL);
}

static void
begin(struct stream_ops *ops)
{
	pipe_share_init(&share, scratch_bytes);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, in), 0);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, out), 0);
	stream_open_plain(&from, in[1], false);
	stream_open_plain(&to, out[0], false);
	*ops = *stream_ops(&to);
	ops->write = write_noting;
	noting.ops = ops;
	to.inside = &noting;
	pipe_init(&pipe_, false);
	filter = (struct pipe_filter){ .take = hold };
	ck_assert_int_eq(pipe_set_filter(&pipe_, &filter), 0);
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

static enum pipe_verdict
pump(void)
{
	return pipe_pump(&pipe_, &from, &to, &share).verdict;
}

/* Bytes of which others follow wait for those in the kernel. */
START_TEST(what_is_held_back_delays_nothing)
{
	struct stream_ops ops;

	begin(&ops);
	ck_assert_int_eq(send(in[0], "ab", 2, 0), 2);
	shutdown(in[0], SHUT_WR);
	from.flags |= STREAM_AT_EOF;
	ck_assert_int_eq(pump(), PIPE_WAITS);
	ck_assert(pipe_.ended && !told_last);
	filter.waits = false;
	filter.due = true;
	ck_assert_int_eq(pump(), PIPE_DONE);
	ck_assert(told_last);
	end();
}
END_TEST

/* The same of bytes that could not be written at first. */
START_TEST(nor_does_it_behind_what_was_kept)
{
	struct stream_ops ops;

	begin(&ops);
	ck_assert_int_eq(send(in[0], "ab", 2, 0), 2);
	shutdown(in[0], SHUT_WR);
	from.flags |= STREAM_AT_EOF;
	to.flags &= ~(unsigned)STREAM_WRITABLE;
	ck_assert_int_eq(pump(), PIPE_BLOCKED);
	told_last = true;
	to.flags |= STREAM_WRITABLE;
	ck_assert_int_eq(pump(), PIPE_WAITS);
	ck_assert(!told_last);
	end();
}
END_TEST

static size_t seen;

static int
pass(struct pipe_filter *f, const char *bytes, size_t n, const char **on,
    size_t *on_n)
{
	f->due = false;
	*on = bytes;
	*on_n = n;
	seen += n;
	return 0;
}

/* Returns how many bytes the far side had. */
static size_t
take(size_t room)
{
	static char bytes[1 << 18];
	ssize_t n = recv(out[1], bytes, room, 0);

	to.flags |= STREAM_WRITABLE;
	return n > 0 ? (size_t)n : 0;
}

static size_t
fill(void)
{
	static const char bytes[1 << 16];
	ssize_t n = send(in[0], bytes, sizeof(bytes), MSG_NOSIGNAL);

	from.flags |= STREAM_READABLE;
	return n > 0 ? (size_t)n : 0;
}

/* Bytes that go on as they are stay in the server's socket while a slow client
 * has no room, up to the one that is the filter's. */
START_TEST(a_slow_client_leaves_what_is_clear)
{
	enum { CLEAR = 300000 };
	struct stream_ops ops;
	size_t sent = 0, got = 0, before;

	begin(&ops);
	pipe_fini(&pipe_, &share);
	pipe_init(&pipe_, true);
	share.splice = false;
	seen = 0;
	filter = (struct pipe_filter){ .take = pass };
	ck_assert_int_eq(pipe_set_filter(&pipe_, &filter), 0);
	do
		sent += fill();
	while (pump() != PIPE_BLOCKED);
	ck_assert_uint_gt(pipe_.more->slow, 0);
	while (pipe_pending(&pipe_) > 0) {
		got += take(4096);
		(void)pump();
	}
	before = seen;
	filter.clear = CLEAR;
	while (filter.clear > 0) {
		ck_assert_uint_eq(seen, before);
		ck_assert_uint_eq(pipe_pending(&pipe_), 0);
		sent += fill();
		got += take(30000);
		(void)pump();
	}
	while (got < sent) {
		got += take(1 << 18);
		(void)pump();
	}
	ck_assert_uint_eq(seen, sent - CLEAR);
	end();
}
END_TEST

SUITE(test_pipe_filter)
{
	Suite *s = suite_create("pipe_filter");

	SUITE_ADD(s, what_is_held_back_delays_nothing, 10);
	SUITE_ADD(s, nor_does_it_behind_what_was_kept, 10);
	SUITE_ADD(s, a_slow_client_leaves_what_is_clear, 10);
	return s;
}
