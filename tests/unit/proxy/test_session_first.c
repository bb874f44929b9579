/* test_session_first.c: clients that get a server when their first bytes are
 * there. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/pattern.h"
#include "support/rig.h"
#include "support/suite.h"

static void
begin(backend_fn *serve, const void *arg, uint64_t wait_ms, uint64_t hello_ms)
{
	rig_begin();
	rig.options.peek = true;
	rig.options.peek_wait_ms = wait_ms;
	rig.options.hello_ms = hello_ms;
	backend_start(&rig.backend, SPOT_TCP4, serve, arg);
	rig_add_server(0, &rig.backend.at);
	rig_front();
}

static void
end(void)
{
	rig_end();
	backend_stop(&rig.backend);
}

/* Who says nothing has no server, and others are served. */
START_TEST(no_server_before_the_first_byte)
{
	int silent, other;

	begin(backend_echo, NULL, 0, 0);
	silent = spot_connect(&rig.front);
	RUN_UNTIL(rig_stats()->sessions == 1);
	other = rig_talks();
	ck_assert_int_eq(rig.backend.accepted, 1);
	spot_send(silent, "hi", 2);
	RUN_UNTIL(rig_tells(silent));
	rig_hears(silent, "hi");
	ck_assert_int_eq(rig.backend.accepted, 2);
	close(silent);
	close(other);
	rig_ended(REASON_DONE, 2);
	end();
}
END_TEST

START_TEST(silence_ends)
{
	int fd;

	begin(backend_echo, NULL, 0, 50);
	fd = spot_connect(&rig.front);
	RUN_UNTIL(rig_tells(fd));
	spot_expect_end(fd);
	close(fd);
	rig_ended(REASON_HELLO_TIMEOUT, 1);
	ck_assert_int_eq(rig.backend.accepted, 0);
	end();
}
END_TEST

/* After peek_wait the server speaks first. */
START_TEST(servers_that_speak_first)
{
	int fd;

	begin(backend_say, "220 hello", 50, 10000);
	fd = spot_connect(&rig.front);
	RUN_UNTIL(rig_tells(fd));
	rig_hears(fd, "220 hello");
	close(fd);
	rig_ended(REASON_DONE, 1);
	end();
}
END_TEST

/* Nothing more will come of a client that ends: it gets its server at once. */
START_TEST(end_without_a_byte)
{
	int fd;

	begin(backend_sink, NULL, 0, 0);
	fd = spot_connect(&rig.front);
	shutdown(fd, SHUT_WR);
	RUN_UNTIL(rig_tells(fd));
	rig_hears(fd, "received 0");
	close(fd);
	rig_ended(REASON_DONE, 1);
	end();
}
END_TEST

START_TEST(reset_without_a_byte)
{
	begin(backend_echo, NULL, 0, 0);
	spot_reset(spot_connect(&rig.front));
	rig_ended(REASON_CLIENT_RESET, 1);
	end();
}
END_TEST

/* More at once than is read before the decision. */
START_TEST(much_at_once)
{
	enum { MUCH = 100000 };
	static char bytes[MUCH], back[MUCH];
	size_t got = 0;
	ssize_t n;
	int fd;

	begin(backend_echo, NULL, 0, 0);
	pattern_fill(1, 0, bytes, MUCH);
	fd = spot_connect(&rig.front);
	spot_send(fd, bytes, MUCH);
	shutdown(fd, SHUT_WR);
	while (got < MUCH) {
		RUN_UNTIL(rig_tells(fd));
		n = recv(fd, back + got, MUCH - got, MSG_DONTWAIT);
		ck_assert_int_gt(n, 0);
		got += (size_t)n;
	}
	ck_assert_mem_eq(bytes, back, MUCH);
	close(fd);
	rig_ended(REASON_DONE, 1);
	end();
}
END_TEST

SUITE(test_session_first)
{
	Suite *s = suite_create("session_first");

	SUITE_ADD(s, no_server_before_the_first_byte, 20);
	SUITE_ADD(s, silence_ends, 20);
	SUITE_ADD(s, servers_that_speak_first, 20);
	SUITE_ADD(s, end_without_a_byte, 20);
	SUITE_ADD(s, reset_without_a_byte, 20);
	SUITE_ADD(s, much_at_once, 20);
	return s;
}
