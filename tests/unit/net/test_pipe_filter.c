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

SUITE(test_pipe_filter)
{
	Suite *s = suite_create("pipe_filter");

	SUITE_ADD(s, what_is_held_back_delays_nothing, 10);
	SUITE_ADD(s, nor_does_it_behind_what_was_kept, 10);
	return s;
}
