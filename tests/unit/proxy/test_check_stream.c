/* test_check_stream.c: connections of checks that are not made at once. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock.h"
#include "support/check_fixture.h"
#include "support/suite.h"

enum { LONG = 600000, SHORT = 300, QUEUE = 16, LATER_MS = 60 };

static struct endpoint at;
static struct timer later;
static int fd, queue[QUEUE], queued;

/* A listener that accepts nobody yet, and whose backlog is full. */
static void
begin(uint64_t timeout_ms)
{
	struct addr a;
	struct sock_connect_options o = { .port = 0 };

	endpoint_new(&at, ENDPOINT_UNIX);
	check_fixture_begin(&at);
	check_fixture_front(timeout_ms);
	fd = endpoint_listen(&at, 0);
	a = pool_server(fixture.pool, 0)->addrs.addr[0];
	for (queued = 0; (queue[queued] = sock_connect(&a, &o)) >= 0;)
		ck_assert_int_lt(++queued, QUEUE);
	if (errno != EAGAIN)
		SKIP("a full backlog refuses here");
}

static void
finish(void)
{
	while (queued > 0)
		close(queue[--queued]);
	close(fd);
	check_fixture_end();
}

static void
accept_one(struct timer *t)
{
	(void)t;
	close(accept(fd, NULL, NULL));
}

START_TEST(full_backlog_is_tried_again)
{
	begin(LONG);
	timer_init(&later, accept_one);
	ck_assert_int_eq(timer_start(fixture.loop, &later, LATER_MS), 0);
	check_fixture_good("connect", "connected");
	timer_fini(&later);
	finish();
}
END_TEST

START_TEST(backlog_that_stays_full)
{
	begin(SHORT);
	check_fixture_bad("connect", "timed out waiting for the connection");
	finish();
}
END_TEST

SUITE(test_check_stream)
{
	Suite *s = suite_create("check_stream");

	SUITE_ADD(s, full_backlog_is_tried_again, 20);
	SUITE_ADD(s, backlog_that_stays_full, 20);
	return s;
}
