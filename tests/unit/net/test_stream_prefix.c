/* test_stream_prefix.c: bytes in front of a stream: first, once, whole, and not
 * counted as its owner's. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/stream_prefix.h"
#include "support/suite.h"

static struct loop *loop;
static struct stream s;
static int far;
static char bytes[1 << 20];

static void
begin(void)
{
	struct error e;
	int fd[2];

	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	stream_open_plain(&s, fd[0], false);
	far = fd[1];
	ck_assert_int_eq(stream_prefix(&s, "prefix:", 7), 0);
	ck_assert(s.flags & STREAM_PREFIXED);
	ck_assert(!stream_ops(&s)->in_kernel);
}

static void
end(void)
{
	stream_close(loop, &s, false);
	close(far);
	loop_free(loop);
}

static void
hears(const char *what)
{
	char got[100];
	ssize_t n = recv(far, got, sizeof(got), 0);

	ck_assert_int_eq(n, (ssize_t)strlen(what));
	ck_assert_int_eq(memcmp(got, what, strlen(what)), 0);
}

static void
is_plain(void)
{
	ck_assert(!(s.flags & (STREAM_PREFIXED | STREAM_UNSENT)));
	ck_assert(stream_ops(&s)->in_kernel);
	ck_assert_ptr_null(s.inside);
}

START_TEST(with_the_first_bytes)
{
	begin();
	ck_assert_int_eq(stream_write(&s, "hello", 5, false), 5);
	is_plain();
	hears("prefix:hello");
	ck_assert_int_eq(stream_write(&s, "again", 5, false), 5);
	hears("again");
	end();
	/* all was taken, of what is longer than it: more may be written */
	begin();
	ck_assert_int_eq(stream_write(&s, "hello, world", 12, false), 12);
	ck_assert(s.flags & STREAM_WRITABLE);
	hears("prefix:hello, world");
	end();
}
END_TEST

START_TEST(alone)
{
	begin();
	ck_assert_int_eq(stream_prefix_alone(&s), 0);
	is_plain();
	hears("prefix:");
	end();
	/* as soon as it can be sent */
	begin();
	s.flags &= ~(unsigned)STREAM_WRITABLE;
	ck_assert_int_eq(stream_prefix_alone(&s), 0);
	ck_assert(stream_is_unsent(&s));
	stream_note_ready(&s, READY_WRITE);
	is_plain();
	hears("prefix:");
	end();
	/* bytes have come meanwhile */
	begin();
	s.flags &= ~(unsigned)STREAM_WRITABLE;
	ck_assert_int_eq(stream_prefix_alone(&s), 0);
	stream_prefix_waits(&s);
	stream_note_ready(&s, READY_WRITE);
	ck_assert_int_eq(stream_write(&s, "x", 1, false), 1);
	is_plain();
	hears("prefix:x");
	end();
}
END_TEST

START_TEST(then_the_end)
{
	char byte;

	begin();
	s.flags &= ~(unsigned)STREAM_WRITABLE;
	stream_shutdown(&s);
	ck_assert(stream_is_unsent(&s));
	stream_note_ready(&s, READY_WRITE);
	is_plain();
	hears("prefix:");
	ck_assert_int_eq(recv(far, &byte, 1, 0), 0);
	end();
	/* at once if it can be sent: no event would report that again */
	begin();
	stream_shutdown(&s);
	is_plain();
	hears("prefix:");
	ck_assert_int_eq(recv(far, &byte, 1, 0), 0);
	end();
}
END_TEST

/* It is longer than what the socket takes. */
START_TEST(in_pieces)
{
	static char got[sizeof(bytes) + 16];
	size_t n = 0;
	ssize_t k;
	int tries;

	begin();
	ck_assert_int_eq(stream_write(&s, "", 0, false), 0);
	hears("prefix:");
	memset(bytes, 'p', sizeof(bytes));
	ck_assert_int_eq(stream_prefix(&s, bytes, sizeof(bytes)), 0);
	for (tries = 0; s.flags & STREAM_PREFIXED && tries < 100; tries++) {
		k = stream_write(&s, "end", 3, false);
		ck_assert(k == 3 || (k == -1 && errno == EAGAIN) || k >= 0);
		ck_assert(
		    k == 3 || !(s.flags & STREAM_WRITABLE) || k == -1);
		while ((k = recv(far, got + n, sizeof(got) - n, 0)) > 0)
			n += (size_t)k;
		s.flags |= STREAM_WRITABLE;
	}
	is_plain();
	ck_assert_uint_ge(n, sizeof(bytes));
	ck_assert_int_eq(memcmp(got, bytes, sizeof(bytes)), 0);
	end();
}
END_TEST

START_TEST(nobody_there)
{
	begin();
	close(far);
	ck_assert_int_eq(stream_prefix_alone(&s), -1);
	ck_assert_int_eq(errno, EPIPE);
	far = dup(s.fd);
	end();
}
END_TEST

SUITE(test_stream_prefix)
{
	Suite *suite = suite_create("stream_prefix");

	SUITE_ADD(suite, with_the_first_bytes, 10);
	SUITE_ADD(suite, alone, 10);
	SUITE_ADD(suite, then_the_end, 10);
	SUITE_ADD(suite, in_pieces, 10);
	SUITE_ADD(suite, nobody_there, 10);
	return suite;
}
