/* test_failover.c: servers that refuse, hang, die and come back. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(next_server_takes_over)
{
	struct backend b;
	struct endpoint front, dead1, dead2;
	struct pen pen;
	int i;

	endpoint_new(&dead1, ENDPOINT_TCP4);
	endpoint_new(&dead2, ENDPOINT_UNIX);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "alive");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, dead1.text, dead2.text,
	    b.at.text, NULL);
	for (i = 0; i < 10; i++)
		ck_assert_str_eq(endpoint_hear(&front), "alive");
	ck_assert_int_eq(b.accepted, 10);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* The two others serve as many clients each, whichever it is that refuses. */
START_TEST(others_share_the_clients_of_one_that_refuses)
{
	struct backend a, b;
	struct endpoint front, dead;
	struct pen pen;
	int i;

	endpoint_new(&dead, ENDPOINT_TCP4);
	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "b");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-b", "0", "-r", front.text, a.at.text, dead.text,
	    b.at.text, NULL);
	for (i = 0; i < 30; i++)
		(void)endpoint_hear(&front);
	ck_assert_int_eq(a.accepted, 15);
	ck_assert_int_eq(b.accepted, 15);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* Data that came before the second server was found is not lost. */
START_TEST(first_bytes_survive_the_retry)
{
	struct backend b;
	struct endpoint front, dead;
	struct pen pen;
	int i;

	endpoint_new(&dead, ENDPOINT_TCP4);
	backend_start(&b, ENDPOINT_TCP4, backend_sink, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-b", "0", "-r", front.text, dead.text, b.at.text,
	    NULL);
	for (i = 0; i < 6; i++)
		ck_assert_str_eq(endpoint_ask(&front, "hello"), "received 5\n");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

START_TEST(dead_server_comes_back)
{
	struct backend a, b;
	struct endpoint front, at;
	struct pen pen;
	long long began;

	endpoint_new(&at, ENDPOINT_TCP4);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "b");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-b", "1", "-r", front.text, at.text, b.at.text,
	    NULL);
	began = wait_now_ms();
	ck_assert_str_eq(endpoint_hear(&front), "b");
	ck_assert_str_eq(endpoint_hear(&front), "b");
	backend_start_at(&a, &at, backend_say, "a");
	while (strcmp(endpoint_hear(&front), "b") == 0) {
		ck_assert_int_lt(wait_now_ms() - began, wait_scaled(5000));
		wait_nap();
	}
	/* not before the blacklist time was over, which began after BEGAN */
	ck_assert_int_ge(wait_now_ms() - began, 1000);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* A server whose queue of connections is full neither accepts nor refuses. */
static int
fill_queue(const struct endpoint *at, int fds[], int n)
{
	struct pollfd p = { .events = POLLOUT };
	int i, listener = endpoint_listen(at, 0);

	for (i = 0; i < n; i++) {
		fds[i] = socket(at->addr.ss_family, SOCK_STREAM, 0);
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
		connect(fds[i], (const struct sockaddr *)&at->addr, at->len);
		p.fd = fds[i];
		poll(&p, 1, 50);
	}
	return listener;
}

START_TEST(silent_server_times_out)
{
	struct backend b;
	struct endpoint front, silent;
	struct pen pen;
	long long began, ms;
	int i, fds[4], listener;

	endpoint_new(&silent, ENDPOINT_TCP4);
	listener = fill_queue(&silent, fds, 4);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "alive");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-t", "1", "-r", front.text, silent.text,
	    b.at.text, NULL);
	began = wait_now_ms();
	for (i = 0; i < 10; i++)
		ck_assert_str_eq(endpoint_hear(&front), "alive");
	ms = wait_now_ms() - began;
	ck_assert_int_ge(ms, 900);
	ck_assert_int_lt(ms, wait_scaled(2500));
	pen_down(&pen);
	for (i = 0; i < 4; i++)
		close(fds[i]);
	close(listener);
	backend_stop(&b);
}
END_TEST

/* The client speaks and ends while the first server is silent; the next one has
 * connected before its turn of the loop is over. */
START_TEST(end_passed_on_after_retry)
{
	struct backend b;
	struct endpoint front, silent;
	struct pen pen;
	int fds[4], listener, i;

	endpoint_new(&silent, ENDPOINT_TCP4);
	listener = fill_queue(&silent, fds, 4);
	backend_start(&b, ENDPOINT_TCP4, backend_sink, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-t", "1", "-r", front.text, silent.text,
	    b.at.text, NULL);
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "received 5\n");
	pen_down(&pen);
	for (i = 0; i < 4; i++)
		close(fds[i]);
	close(listener);
	backend_stop(&b);
}
END_TEST

/* A connect that is under way ends by the time that is set meanwhile. */
START_TEST(timeout_set_anew_reaches_connects)
{
	struct backend b;
	struct endpoint front, silent, ctl;
	struct pen pen;
	int i, fds[4], listener, client, c;

	endpoint_new(&silent, ENDPOINT_TCP4);
	listener = fill_queue(&silent, fds, 4);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "alive");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-t", "600", "-r", "-C", ctl.text, front.text,
	    silent.text, b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	client = endpoint_connect(&front);
	do {
		c = endpoint_connect(&ctl);
		endpoint_send(c, "connections\n", 12);
	} while (strstr(endpoint_recv_all(c), "connecting") == NULL);
	c = endpoint_connect(&ctl);
	endpoint_send(c, "timeout 1\n", 10);
	ck_assert_str_eq(endpoint_recv_all(c), "1\n");
	ck_assert_str_eq(endpoint_recv_all(client), "alive");
	pen_down(&pen);
	for (i = 0; i < 4; i++)
		close(fds[i]);
	close(listener);
	backend_stop(&b);
}
END_TEST

/* The only server's queue has room again a moment later. */
START_TEST(end_passed_on_after_a_busy_server)
{
	struct endpoint front, at, ctl;
	struct pen pen;
	int fds[2], listener, client, server, i;
	char heard[5];

	endpoint_new(&at, ENDPOINT_UNIX);
	listener = fill_queue(&at, fds, 2);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-C", ctl.text, front.text, at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	client = endpoint_connect(&front);
	endpoint_send(client, "hello", 5);
	shutdown(client, SHUT_WR);
	WAIT_FOR(
	    strstr(endpoint_ask(&ctl, "connections\n"), "pending_up 5") != NULL,
	    5000);
	for (i = 0; i < 2; i++)
		close(fds[i]);
	do {
		server = accept(listener, NULL, NULL);
		ck_assert_int_ge(server, 0);
		endpoint_set_deadline(server, 10000);
	} while (
	    recv(server, heard, sizeof(heard), 0) == 0 && close(server) == 0);
	ck_assert_mem_eq(heard, "hello", 5);
	endpoint_expect_end(server);
	close(server);
	close(client);
	close(listener);
	pen_down(&pen);
}
END_TEST

/* Back at once, it is left alone all the same, until nobody else is left. */
START_TEST(silent_server_is_left_alone)
{
	struct backend a, b;
	struct endpoint front, silent;
	struct pen pen;
	int i, fds[4], listener;

	endpoint_new(&silent, ENDPOINT_TCP4);
	listener = fill_queue(&silent, fds, 4);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "b");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-t", "1", "-r", front.text, silent.text,
	    b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "b");
	for (i = 0; i < 4; i++)
		close(fds[i]);
	close(listener);
	backend_start_at(&a, &silent, backend_say, "a");
	for (i = 0; i < 10; i++)
		ck_assert_str_eq(endpoint_hear(&front), "b");
	backend_stop(&b);
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(endpoint_hear(&front), "a");
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

START_TEST(emergency_server)
{
	struct backend a, e;
	struct endpoint front, at;
	struct pen pen;

	endpoint_new(&at, ENDPOINT_TCP4);
	backend_start(&e, ENDPOINT_TCP4, backend_say, "sorry");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-b", "1", "-e", e.at.text, "-r", front.text,
	    at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "sorry");
	ck_assert_str_eq(endpoint_hear(&front), "sorry");
	backend_start_at(&a, &at, backend_say, "regular");
	WAIT_FOR(strcmp(endpoint_hear(&front), "regular") == 0, 5000);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&e);
}
END_TEST

/* Two are tried, not a third, and nobody waits for them. */
START_TEST(tries_limit_servers)
{
	struct backend b;
	struct endpoint front, dead1, dead2, ctl;
	struct pen pen;
	int fd, i;

	endpoint_new(&dead1, ENDPOINT_TCP4);
	endpoint_new(&dead2, ENDPOINT_TCP4);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "alive");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-b", "0", "--tries", "2", "--retry", "600", "-C",
	    ctl.text, "-r", front.text, dead1.text, dead2.text, b.at.text,
	    NULL);
	for (i = 0; i < 3; i++) {
		fd = endpoint_connect(&front);
		endpoint_expect_reset(fd);
		close(fd);
		ck_assert_str_eq(endpoint_hear(&front), "alive");
	}
	ck_assert_str_eq(endpoint_ask(&ctl, "tries 3\n"), "3\n");
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(endpoint_hear(&front), "alive");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* The only server may be tried again, but not for ever. */
START_TEST(tries_limit_waiting)
{
	struct endpoint front, dead, ctl;
	struct pen pen;
	int fd;

	endpoint_new(&dead, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "--tries", "2", "--retry", "600", "-C", ctl.text,
	    front.text, dead.text, NULL);
	fd = endpoint_connect(&front);
	endpoint_expect_reset(fd);
	close(fd);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "statistics\n"), "retries 1\n"));
	pen_down(&pen);
}
END_TEST

START_TEST(nobody_left_is_a_reset)
{
	struct endpoint front, dead1, dead2;
	struct pen pen;
	int fd, i;

	endpoint_new(&dead1, ENDPOINT_TCP4);
	endpoint_new(&dead2, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "--retry", "0", "-r", front.text, dead1.text,
	    dead2.text, NULL);
	for (i = 0; i < 4; i++) {
		fd = endpoint_connect(&front);
		endpoint_expect_reset(fd);
		close(fd);
	}
	pen_down(&pen);
}
END_TEST

/* With -s the first choice is the only one. */
START_TEST(stubborn_does_not_fail_over)
{
	struct backend b;
	struct endpoint front, dead;
	struct pen pen;
	int i, fd, closed = 0;
	char c;

	endpoint_new(&dead, ENDPOINT_TCP4);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "x");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-b", "0", "-s", "-r", front.text, dead.text,
	    b.at.text, NULL);
	for (i = 0; i < 10; i++) {
		fd = endpoint_connect(&front);
		closed += recv(fd, &c, 1, 0) != 1;
		close(fd);
	}
	ck_assert_int_eq(closed, 5);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* A server that accepts and dies breaks only its own connections. */
START_TEST(death_breaks_only_its_own)
{
	struct backend a, b;
	struct endpoint front;
	struct pen pen;
	int fds[10], i, broken = 0;
	char c;

	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, a.at.text, b.at.text, NULL);
	for (i = 0; i < 10; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_expect_echo(fds[i], "hello");
	}
	ck_assert_int_eq(a.open, 5);
	backend_stop(&a);
	for (i = 0; i < 10; i++) {
		endpoint_send(fds[i], "x", 1);
		broken += recv(fds[i], &c, 1, 0) != 1;
	}
	ck_assert_int_eq(broken, 5);
	for (i = 0; i < 10; i++)
		close(fds[i]);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_failover)
{
	Suite *s = suite_create("failover");

	SUITE_ADD(s, next_server_takes_over, 10);
	SUITE_ADD(s, others_share_the_clients_of_one_that_refuses, 10);
	SUITE_ADD(s, first_bytes_survive_the_retry, 10);
	SUITE_ADD(s, dead_server_comes_back, 20);
	SUITE_ADD(s, silent_server_times_out, 20);
	SUITE_ADD(s, end_passed_on_after_retry, 20);
	SUITE_ADD(s, end_passed_on_after_a_busy_server, 20);
	SUITE_ADD(s, silent_server_is_left_alone, 20);
	SUITE_ADD(s, timeout_set_anew_reaches_connects, 20);
	SUITE_ADD(s, emergency_server, 20);
	SUITE_ADD(s, tries_limit_servers, 10);
	SUITE_ADD(s, tries_limit_waiting, 10);
	SUITE_ADD(s, nobody_left_is_a_reset, 10);
	SUITE_ADD(s, stubborn_does_not_fail_over, 10);
	SUITE_ADD(s, death_breaks_only_its_own, 10);
	return s;
}
