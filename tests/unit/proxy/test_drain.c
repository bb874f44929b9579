/* test_drain.c: a frontend that takes no new clients any more, in a real loop:
 * what becomes of each kind of those that are there. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/fixture.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/udp_fixture.h"

#define REQUEST "GET / HTTP/1.1\r\n\r\n"

START_TEST(known_flows_go_on)
{
	struct endpoint at;
	int server, known, new;

	udp_fixture_begin(false);
	server = udp_fixture_server(0, &at);
	udp_fixture_front();
	known = udp_client(&fixture.front);
	new = udp_client(&fixture.front);
	udp_fixture_ask(known);
	udp_fixture_arrives(server);
	frontend_drain(fixture.frontend);
	udp_fixture_answer(server, known);
	udp_fixture_ask(new);
	RUN_UNTIL(fixture_stats()->datagrams.no_server == 1);
	udp_fixture_ask(known);
	udp_fixture_arrives(server);
	udp_fixture_answer(server, known);
	ck_assert_uint_eq(fixture_stats()->flows.opened, 1);
	ck_assert_uint_eq(frontend_left(fixture.frontend), 1);
	ck_assert(!fixture_tells(new));
	close(known);
	close(new);
	close(server);
	fixture_end();
}
END_TEST

/* What had come before is answered, what comes later is not read. */
START_TEST(queries_are_answered)
{
	struct endpoint at;
	int server, early, late;

	udp_fixture_begin(true);
	server = udp_fixture_server(0, &at);
	udp_fixture_front();
	early = udp_client(&fixture.front);
	late = udp_client(&fixture.front);
	udp_fixture_ask(early);
	frontend_drain(fixture.frontend);
	ck_assert_uint_eq(frontend_left(fixture.frontend), 1);
	udp_fixture_arrives(server);
	udp_fixture_ask(late);
	udp_fixture_answer(server, early);
	RUN_UNTIL(frontend_left(fixture.frontend) == 0);
	ck_assert_uint_eq(fixture_stats()->dns.queries, 1);
	close(early);
	close(late);
	close(server);
	fixture_end();
}
END_TEST

START_TEST(connections_opened_in_advance_are_closed)
{
	fixture_begin();
	fixture.options.preopened = 2;
	fixture_with(backend_echo, NULL);
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 2);
	frontend_drain(fixture.frontend);
	ck_assert_uint_eq(frontend_preopened(fixture.frontend), 0);
	RUN_UNTIL(atomic_load(&fixture.backend.open) == 0);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* One that is kept ends; the answer to one that comes is its last. */
START_TEST(dummy_ends_kept_connections)
{
	char answer[1000] = "";
	int kept, asks;

	fixture_begin();
	fixture.options.dummy = true;
	fixture.options.end.quiet_ms = 500;
	fixture_front();
	kept = endpoint_connect(&fixture.front);
	asks = endpoint_connect(&fixture.front);
	endpoint_send(kept, REQUEST, strlen(REQUEST));
	RUN_UNTIL(fixture_tells(kept));
	ck_assert_int_gt(recv(kept, answer, sizeof(answer) - 1, 0), 0);
	ck_assert_ptr_nonnull(strstr(answer, "keep-alive"));
	RUN_UNTIL(fixture_stats()->sessions == 2);
	frontend_drain(fixture.frontend);
	endpoint_send(asks, REQUEST, strlen(REQUEST));
	RUN_UNTIL(fixture_stats()->reasons[REASON_IDLE_TIMEOUT] >= 1);
	endpoint_expect_end(kept);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_recv_all(asks), "Connection: close"));
	close(kept);
	close(asks);
	RUN_UNTIL(frontend_left(fixture.frontend) == 0);
	fixture_end();
}
END_TEST

/* A server that is silent about a request is waited for, but no longer than
 * without the drain. */
START_TEST(idle_timeout_still_counts)
{
	int fd;

	fixture_begin();
	fixture.options.end.quiet_ms = 50;
	fixture.options.idle_timeout_ms = 1000;
	fixture_with(backend_hang, NULL);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, REQUEST, strlen(REQUEST));
	RUN_UNTIL(atomic_load(&fixture.backend.accepted) == 1);
	frontend_drain(fixture.frontend);
	fixture_ended(REASON_IDLE_TIMEOUT, 1);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* Bytes that are here but were not read yet put the end off. */
START_TEST(unread_bytes_are_no_quiet_moment)
{
	char answer[sizeof(REQUEST)] = "";
	long long end;
	int fd;

	fixture_begin();
	fixture.options.end.quiet_ms = 200;
	fixture_with(backend_echo, NULL);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, REQUEST, strlen(REQUEST));
	RUN_UNTIL(fixture_tells(fd));
	endpoint_recv(fd, answer, sizeof(REQUEST) - 1);
	frontend_drain(fixture.frontend);
	/* the loop sleeps meanwhile: both come at its next wake-up */
	for (end = wait_now_ms() + 400; wait_now_ms() < end;)
		wait_nap();
	endpoint_send(fd, REQUEST, strlen(REQUEST));
	RUN_UNTIL(fixture_stats()->sessions == 0);
	endpoint_recv(fd, answer, sizeof(REQUEST) - 1);
	ck_assert_str_eq(answer, REQUEST);
	endpoint_expect_end(fd);
	fixture_ended(REASON_QUIET_END, 1);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

SUITE(test_drain)
{
	Suite *s = suite_create("drain");

	SUITE_ADD(s, known_flows_go_on, 20);
	SUITE_ADD(s, queries_are_answered, 20);
	SUITE_ADD(s, connections_opened_in_advance_are_closed, 20);
	SUITE_ADD(s, dummy_ends_kept_connections, 30);
	SUITE_ADD(s, idle_timeout_still_counts, 20);
	SUITE_ADD(s, unread_bytes_are_no_quiet_moment, 20);
	return s;
}
