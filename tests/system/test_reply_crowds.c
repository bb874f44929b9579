/* test_reply_crowds.c: crowds that ask for long answers at once, of control and
 * of the pages: clients of the traffic have their turns between the pieces. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum {
	SERVERS = 1500,
	CROWD = 60, /* less than the pages' clients at a time */
	PIECE = 16 * 1024,
	ROUNDS = 10
};

static int crowd[CROWD];
static int alone; /* descriptors of pen without them */

/* They are in, and have said nothing. */
static void
gather(const struct endpoint *at)
{
	int i;

	for (i = 0; i < CROWD; i++)
		crowd[i] = endpoint_connect(at);
	WAIT_FOR(pen_fds(&web_fixture.pen) >= alone + CROWD, 10000);
}

static void
leave(void)
{
	int i;

	for (i = 0; i < CROWD; i++)
		close(crowd[i]);
	WAIT_FOR(pen_fds(&web_fixture.pen) <= alone, 60000);
}

static void
stop_pen(void)
{
	int status;

	pen_freeze(&web_fixture.pen);
	ck_assert_int_eq(waitpid(web_fixture.pen.child.pid, &status, WUNTRACED),
	    web_fixture.pen.child.pid);
	ck_assert(WIFSTOPPED(status));
}

/* What the crowd has been sent, in bytes. */
static long
sent_to_crowd(void)
{
	long all = 0;
	int i, n;

	for (i = 0; i < CROWD; i++) {
		ck_assert_int_eq(ioctl(crowd[i], FIONREAD, &n), 0);
		all += n;
	}
	return all;
}

/* The whole crowd asks in the moment in which a client of the traffic comes.
 * Returns how much it was sent until that one and another had their answers. */
static long
sent_meanwhile(const struct endpoint *at, const char *line)
{
	long sent;
	int i, fd;

	gather(at);
	stop_pen();
	for (i = 0; i < CROWD; i++)
		endpoint_send(crowd[i], line, strlen(line));
	fd = endpoint_connect(&web_fixture.front);
	pen_thaw(&web_fixture.pen);
	ck_assert_str_eq(endpoint_recv_all(fd), "served");
	ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	stop_pen();
	sent = sent_to_crowd();
	pen_thaw(&web_fixture.pen);
	close(fd);
	leave();
	return sent;
}

/* Clients of the traffic need some turns of the loop. If all of the crowd had a
 * piece in one of them, they would have to wait for as many; on a busy machine
 * the crowd gets on while the server, or this test, waits. */
static void
expect_turns(const struct endpoint *at, const char *line)
{
	long sent = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		sent = sent_meanwhile(at, line);
		if (sent < (long)CROWD * PIECE * 3 / 4)
			return;
	}
	ck_abort_msg("%ld bytes to the crowd before the answers", sent);
}

/* The traffic goes to server 0. */
static void
begin(void)
{
	int i;

	web_fixture_begin("prio", "");
	for (i = 1; i < SERVERS; i++)
		web_fixture_command(
		    text("server %d address 127.0.0.1 port %d prio 9", i, i));
	(void)web_fixture_get("/healthz");
	pen_expect_rest(&web_fixture.pen);
	alone = pen_fds(&web_fixture.pen);
}

START_TEST(crowd_of_control)
{
	NEEDS_MORE_THAN_SELECT();
	begin();
	expect_turns(&web_fixture.ctl, "servers\n");
	web_fixture_end();
}
END_TEST

START_TEST(crowd_of_the_pages)
{
	begin();
	expect_turns(&web_fixture.web,
	    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
	web_fixture_end();
}
END_TEST

SUITE(test_reply_crowds)
{
	Suite *s = suite_create("reply_crowds");

	SUITE_ADD(s, crowd_of_control, 60);
	SUITE_ADD(s, crowd_of_the_pages, 60);
	return s;
}
