/* test_channel.c: messages of any length, in order, with descriptors. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "control/workers/channel.h"
#include "support/suite.h"

enum { LONG = 3 * 1000 * 1000, MS = 10000 };

static struct channel a, b;

static void
begin(void)
{
	ck_assert_int_eq(channel_open_pair(&a, &b), 0);
}

static void
end(void)
{
	channel_close(&a);
	channel_close(&b);
}

static void
has(struct message *m, unsigned type, const char *what)
{
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(m->type, type);
	ck_assert_str_eq(m->bytes, what);
	ck_assert_uint_eq(m->length, strlen(what));
	free(m);
}

START_TEST(in_order)
{
	begin();
	ck_assert_int_eq(channel_post(&a, 1, "one", 3), 0);
	ck_assert_int_eq(channel_post(&a, 2, NULL, 0), 0);
	ck_assert_int_eq(channel_post(&a, 3, "three", 5), 0);
	ck_assert_int_eq(channel_read(&b), 0);
	has(channel_next(&b), 1, "one");
	has(channel_next(&b), 2, "");
	has(channel_next(&b), 3, "three");
	ck_assert_ptr_null(channel_next(&b));
	end();
}
END_TEST

/* What there is no room for is kept, and follows in order; nothing waits. */
START_TEST(what_is_posted_does_not_wait)
{
	char *bytes = calloc(1, LONG);
	struct message *m;
	size_t left;

	begin();
	ck_assert_int_eq(channel_post(&a, 1, bytes, LONG), 0);
	ck_assert_int_eq(channel_post(&a, 2, "two", 3), 0);
	left = channel_flush(&a);
	ck_assert_uint_gt(left, 0);
	while (channel_flush(&a) > 0)
		ck_assert_int_eq(channel_read(&b), 0);
	ck_assert_int_eq(channel_read(&b), 0);
	m = channel_next(&b);
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(m->length, LONG);
	free(m);
	has(channel_next(&b), 2, "two");
	channel_empty(&a, MS);
	ck_assert_int_eq(channel_post(&a, 1, bytes, LONG), 0);
	channel_close(&b);
	ck_assert_uint_eq(channel_flush(&a), 0);
	free(bytes);
	end();
}
END_TEST

/* Those of one message are no other's. */
START_TEST(descriptors_are_of_a_message)
{
	struct message *first, *second;

	begin();
	channel_post_fd(&a, 0);
	channel_post(&a, 1, "one", 3);
	channel_post_fd(&a, 0);
	channel_post_fd(&a, 0);
	channel_post(&a, 2, "two", 3);
	ck_assert_int_eq(channel_read(&b), 0);
	ck_assert_uint_eq(b.passed.count, 3);
	first = channel_next(&b);
	second = channel_next(&b);
	ck_assert_uint_eq(channel_fds(&b, first), 1);
	ck_assert_uint_eq(channel_fds(&b, second), 3);
	channel_drop_fds(&b, first);
	ck_assert_uint_eq(channel_fds(&b, first), 0);
	ck_assert_uint_eq(channel_fds(&b, second), 2);
	channel_drop_fds(&b, second);
	ck_assert_uint_eq(b.passed.count, 0);
	free(first);
	free(second);
	end();
}
END_TEST

/* No end may make the other keep as much as it wants. */
START_TEST(too_long_is_the_end)
{
	const uint32_t header[2] = { 1, CHANNEL_MAX + 1 };

	begin();
	ck_assert_int_eq(write(a.fd, header, sizeof(header)), sizeof(header));
	ck_assert_int_lt(channel_read(&b), 0);
	ck_assert_ptr_null(channel_next(&b));
	end();
}
END_TEST

/* What is not awaited stays, in order. */
START_TEST(one_is_awaited)
{
	begin();
	channel_post(&a, 1, "one", 3);
	channel_post(&a, 2, "two", 3);
	channel_post(&a, 3, "three", 5);
	has(channel_wait(&b, 9, 2, MS), 2, "two");
	ck_assert_ptr_null(channel_wait(&b, 9, 8, 10));
	has(channel_next(&b), 1, "one");
	has(channel_next(&b), 3, "three");
	end();
}
END_TEST

/* Posts more than a socket holds, and receives as much. */
static void *
talk(void *arg)
{
	char *bytes = malloc(LONG);
	struct message *m;
	bool good;

	memset(bytes, 'x', LONG);
	good = channel_post(arg, 7, bytes, LONG) == 0;
	m = channel_wait(arg, 7, 7, MS);
	channel_empty(arg, MS);
	good = good && m != NULL && m->length == LONG &&
	    memcmp(m->bytes, bytes, LONG) == 0;
	free(m);
	free(bytes);
	return good ? arg : NULL;
}

/* Neither waits for the other to read. */
START_TEST(both_talk)
{
	pthread_t thread;
	void *good;

	begin();
	ck_assert_int_eq(pthread_create(&thread, NULL, talk, &a), 0);
	ck_assert_ptr_nonnull(talk(&b));
	ck_assert_int_eq(pthread_join(thread, &good), 0);
	ck_assert_ptr_nonnull(good);
	end();
}
END_TEST

START_TEST(descriptors_come_first)
{
	int fd[2], i;
	char c;

	begin();
	ck_assert_int_eq(pipe(fd), 0);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(channel_post_fd(&a, fd[1]), 0);
	channel_post(&a, 1, "one", 3);
	has(channel_wait(&b, 1, 1, MS), 1, "one");
	ck_assert_uint_eq(b.passed.count, 100);
	ck_assert_int_eq(write(b.passed.fd[99], "y", 1), 1);
	ck_assert_int_eq(read(fd[0], &c, 1), 1);
	passed_drop(&b.passed);
	ck_assert_uint_eq(b.passed.count, 0);
	close(fd[0]);
	close(fd[1]);
	end();
}
END_TEST

/* Descriptors wait for room, too, with the message that they go with, and are
 * sent when the process that had them has closed them. */
START_TEST(descriptors_are_kept)
{
	char *bytes = calloc(1, LONG), c;
	struct message *m;
	int fd[2];

	begin();
	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(channel_post(&a, 1, bytes, LONG), 0);
	ck_assert_int_eq(channel_post_fd(&a, fd[1]), 0);
	ck_assert_int_eq(channel_post_fd(&a, 0), 0);
	ck_assert_int_eq(channel_post(&a, 2, "two", 3), 0);
	close(fd[1]);
	while (channel_flush(&a) > 0)
		ck_assert_int_eq(channel_read(&b), 0);
	ck_assert_int_eq(channel_read(&b), 0);
	m = channel_next(&b);
	ck_assert_uint_eq(m->length, LONG);
	ck_assert_uint_eq(channel_fds(&b, m), 0);
	free(m);
	m = channel_next(&b);
	ck_assert_uint_eq(channel_fds(&b, m), 2);
	ck_assert_int_eq(write(b.passed.fd[0], "y", 1), 1);
	ck_assert_int_eq(read(fd[0], &c, 1), 1);
	has(m, 2, "two");
	passed_drop(&b.passed);
	ck_assert_int_eq(read(fd[0], &c, 1), 0); /* no other one is left */
	close(fd[0]);
	free(bytes);
	end();
}
END_TEST

/* They are closed when the other end will not read them. */
START_TEST(kept_descriptors_end_with_it)
{
	char *bytes = calloc(1, LONG), c;
	int fd[2];

	begin();
	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(channel_post(&a, 1, bytes, LONG), 0);
	ck_assert_int_eq(channel_post_fd(&a, fd[1]), 0);
	close(fd[1]);
	if (_i == 0)
		channel_close(&a);
	else
		channel_close(&b);
	ck_assert_uint_eq(_i == 0 ? 0 : channel_flush(&a), 0);
	ck_assert_int_eq(read(fd[0], &c, 1), 0);
	close(fd[0]);
	free(bytes);
	end();
}
END_TEST

/* One that the system did not take is none of the messages behind it. */
START_TEST(a_descriptor_that_is_lost)
{
	const uint32_t lost[2] = { UINT32_MAX, 0 };
	struct message *m;

	begin();
	ck_assert_int_eq(channel_post_fd(&a, 0), 0);
	ck_assert_int_eq(write(a.fd, lost, sizeof(lost)), sizeof(lost));
	ck_assert_int_eq(channel_post(&a, 1, "one", 3), 0);
	ck_assert_int_eq(channel_read(&b), 0);
	m = channel_next(&b);
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(channel_fds(&b, m), 1);
	has(m, 1, "one");
	end();
}
END_TEST

START_TEST(no_descriptor_is_left)
{
	struct rlimit all, none;

	begin();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = all;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_lt(channel_post_fd(&a, 0), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
	ck_assert_int_eq(channel_post(&a, 1, "one", 3), 0);
	ck_assert_int_eq(channel_read(&b), 0);
	ck_assert_uint_eq(b.passed.count, 0);
	has(channel_next(&b), 1, "one");
	end();
}
END_TEST

/* What one said before it went is heard. */
START_TEST(the_other_is_gone)
{
	begin();
	channel_post(&a, 1, "last", 4);
	channel_close(&a);
	ck_assert_int_lt(channel_read(&b), 0);
	has(channel_next(&b), 1, "last");
	ck_assert_int_eq(channel_post(&b, 1, "x", 1), 0);
	ck_assert_uint_eq(channel_flush(&b), 0);
	ck_assert_ptr_null(channel_wait(&b, 1, 1, MS));
	end();
}
END_TEST

SUITE(test_channel)
{
	Suite *s = suite_create("channel");

	SUITE_ADD(s, in_order, 10);
	SUITE_ADD(s, one_is_awaited, 10);
	SUITE_ADD(s, what_is_posted_does_not_wait, 20);
	SUITE_ADD(s, descriptors_are_of_a_message, 10);
	SUITE_ADD(s, too_long_is_the_end, 10);
	SUITE_ADD(s, both_talk, 20);
	SUITE_ADD(s, descriptors_come_first, 10);
	SUITE_ADD(s, descriptors_are_kept, 20);
	SUITE_ADD_LOOP(s, kept_descriptors_end_with_it, 20, 2);
	SUITE_ADD(s, a_descriptor_that_is_lost, 10);
	SUITE_ADD(s, no_descriptor_is_left, 10);
	SUITE_ADD(s, the_other_is_gone, 10);
	return s;
}
