/* test_drain.c: a frontend that takes no new clients any more, in a real loop:
 * what becomes of each kind of those that are there. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/rig.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/udprig.h"

#define REQUEST "GET / HTTP/1.1\r\n\r\n"

START_TEST(known_flows_go_on)
{
	struct spot at;
	int server, known, new;

	udprig_begin(false);
	server = udprig_server(0, &at);
	udprig_front();
	known = udp_client(&rig.front);
	new = udp_client(&rig.front);
	udprig_ask(known);
	udprig_arrives(server);
	frontend_drain(rig.frontend);
	udprig_answer(server, known);
	udprig_ask(new);
	RUN_UNTIL(rig_stats()->datagrams.no_server == 1);
	udprig_ask(known);
	udprig_arrives(server);
	udprig_answer(server, known);
	ck_assert_uint_eq(rig_stats()->flows.opened, 1);
	ck_assert_uint_eq(frontend_left(rig.frontend), 1);
	ck_assert(!rig_tells(new));
	close(known);
	close(new);
	close(server);
	rig_end();
}
END_TEST

/* What had come before is answered, what comes later is not read. */
START_TEST(queries_are_answered)
{
	struct spot at;
	int server, early, late;

	udprig_begin(true);
	server = udprig_server(0, &at);
	udprig_front();
	early = udp_client(&rig.front);
	late = udp_client(&rig.front);
	udprig_ask(early);
	frontend_drain(rig.frontend);
	ck_assert_uint_eq(frontend_left(rig.frontend), 1);
	udprig_arrives(server);
	udprig_ask(late);
	udprig_answer(server, early);
	RUN_UNTIL(frontend_left(rig.frontend) == 0);
	ck_assert_uint_eq(rig_stats()->dns.queries, 1);
	close(early);
	close(late);
	close(server);
	rig_end();
}
END_TEST

START_TEST(connections_opened_in_advance_are_closed)
{
	rig_begin();
	rig.options.preopened = 2;
	rig_with(backend_echo, NULL);
	RUN_UNTIL(frontend_preopened(rig.frontend) == 2);
	frontend_drain(rig.frontend);
	ck_assert_uint_eq(frontend_preopened(rig.frontend), 0);
	RUN_UNTIL(atomic_load(&rig.backend.open) == 0);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

/* One that is kept ends; the answer to one that comes is its last. */
START_TEST(dummy_ends_kept_connections)
{
	char answer[1000] = "";
	int kept, asks;

	rig_begin();
	rig.options.dummy = true;
	rig.options.end.quiet_ms = 500;
	rig_front();
	kept = spot_connect(&rig.front);
	asks = spot_connect(&rig.front);
	spot_send(kept, REQUEST, strlen(REQUEST));
	RUN_UNTIL(rig_tells(kept));
	ck_assert_int_gt(recv(kept, answer, sizeof(answer) - 1, 0), 0);
	ck_assert_ptr_nonnull(strstr(answer, "keep-alive"));
	RUN_UNTIL(rig_stats()->sessions == 2);
	frontend_drain(rig.frontend);
	spot_send(asks, REQUEST, strlen(REQUEST));
	RUN_UNTIL(rig_stats()->reasons[REASON_IDLE_TIMEOUT] >= 1);
	spot_expect_end(kept);
	ck_assert_ptr_nonnull(
	    strstr(spot_recv_all(asks), "Connection: close"));
	close(kept);
	close(asks);
	RUN_UNTIL(frontend_left(rig.frontend) == 0);
	rig_end();
}
END_TEST

/* A server that is silent about a request is waited for, but no longer than
 * without the drain. */
START_TEST(idle_timeout_still_counts)
{
	int fd;

	rig_begin();
	rig.options.end.quiet_ms = 50;
	rig.options.idle_timeout_ms = 1000;
	rig_with(backend_hang, NULL);
	fd = spot_connect(&rig.front);
	spot_send(fd, REQUEST, strlen(REQUEST));
	RUN_UNTIL(atomic_load(&rig.backend.accepted) == 1);
	frontend_drain(rig.frontend);
	rig_ended(REASON_IDLE_TIMEOUT, 1);
	close(fd);
	rig_end();
	backend_stop(&rig.backend);
}
END_TEST

/* Bytes that are here but were not read yet put the end off. */
START_TEST(unread_bytes_are_no_quiet_moment)
{
	char answer[sizeof(REQUEST)] = "";
	long long end;
	int fd;

	rig_begin();
	rig.options.end.quiet_ms = 200;
	rig_with(backend_echo, NULL);
	fd = spot_connect(&rig.front);
	spot_send(fd, REQUEST, strlen(REQUEST));
	RUN_UNTIL(rig_tells(fd));
	spot_recv(fd, answer, sizeof(REQUEST) - 1);
	frontend_drain(rig.frontend);
	/* the loop sleeps meanwhile: both come at its next wake-up */
	for (end = wait_now_ms() + 400; wait_now_ms() < end;)
		wait_nap();
	spot_send(fd, REQUEST, strlen(REQUEST));
	RUN_UNTIL(rig_stats()->sessions == 0);
	spot_recv(fd, answer, sizeof(REQUEST) - 1);
	ck_assert_str_eq(answer, REQUEST);
	spot_expect_end(fd);
	rig_ended(REASON_QUIET_END, 1);
	close(fd);
	rig_end();
	backend_stop(&rig.backend);
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
