/* test_client_limits.c: what becomes of clients beyond client_conns and
 * client_rate, of those that are not, and of all with conn_rate. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct endpoint front, ctl;
static struct backend b;
static struct pen pen;

/* ---- what pen says ---- */

static long
counter(const char *name)
{
	return report_number(text("\n%s", endpoint_ask(&ctl, "statistics\n")),
	    text("\n%s ", name));
}

static void
command(const char *line)
{
	ck_assert_ptr_null(
	    strstr(endpoint_ask(&ctl, text("%s\n", line)), "error"));
}

static void
up(const char *limits, const char *more)
{
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "-r", "-O", limits, "-O", more,
	    front.text, b.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&b);
}

/* ---- clients ---- */

static int
served(const char *host)
{
	int fd = host != NULL ? endpoint_connect_from(&front, host)
			      : endpoint_connect(&front);

	endpoint_expect_echo(fd, "served");
	return fd;
}

/* Comes, to be reset: -1 when that was sooner than the return of connect(2),
 * as on a busy machine. */
static int
doomed(void)
{
	int fd = endpoint_try_connect(&front);

	ck_assert_msg(
	    fd >= 0 || errno == ECONNRESET, "connect: %s", strerror(errno));
	return fd;
}

static void
refused(void)
{
	int fd = doomed();

	if (fd < 0)
		return;
	endpoint_expect_reset(fd);
	close(fd);
}

/* ---- too many ---- */

/* Beyond the limit a client is reset, others are served; one that goes makes
 * way for another; the log has one line of all that. */
START_TEST(refuse_conns)
{
	int fds[3], other, i;

	up("client_conns 3", "debug 0");
	for (i = 0; i < 3; i++)
		fds[i] = served(NULL);
	for (i = 0; i < 20; i++)
		refused();
	/* a worker counts a client after it has closed it */
	WAIT_FOR(counter("limit_refused") == 20, SOON);
	WAIT_FOR(counter("closed_client_conns") == 20, SOON);
	other = served("127.0.0.2");
	close(fds[0]);
	WAIT_FOR(counter("sessions") == 3, SOON);
	fds[0] = served(NULL);
	refused();
	/* another limit counts for those that are there */
	command("client_conns 4");
	close(served(NULL));
	WAIT_FOR(counter("sessions") == 4, SOON);
	command("client_conns 2");
	close(fds[0]);
	WAIT_FOR(counter("sessions") == 3, SOON);
	refused();
	command("client_conns 0");
	close(served(NULL));
	ck_assert(child_has_said(&pen.child,
	    "client over limit client=127.0.0.1 limit=client_conns conns=3 "
	    "allowed=3 limited=1"));
	ck_assert(!child_has_said(&pen.child, "limited=2"));
	for (i = 0; i < 3; i++)
		close(fds[i]);
	close(other);
	down();
}
END_TEST

/* One that came often comes again when time has passed; one that is exempt as
 * often as it likes. */
START_TEST(refuse_rate)
{
	int i;

	up("client_rate 3/1000", "acl 4 permit 127.0.0.7");
	command("client_exempt_acl 4");
	for (i = 0; i < 3; i++)
		close(served(NULL));
	refused();
	WAIT_FOR(counter("closed_client_rate") == 1, SOON);
	for (i = 0; i < 10; i++)
		close(served("127.0.0.7"));
	close(served("127.0.0.2"));
	command("client_rate 1/0.05");
	WAIT_FOR(strstr(endpoint_ask(&ctl, "explain 127.0.0.1\n"),
		     "rule limit") == NULL,
	    SOON);
	close(served(NULL));
	down();
}
END_TEST

/* A network counts as one client. */
START_TEST(prefix)
{
	int fd;

	up("client_conns 1", "client_prefix4 24");
	fd = served("127.0.0.9");
	refused();
	close(served("127.0.1.1"));
	WAIT_FOR(strstr(endpoint_ask(&ctl, "top clients 1\n"),
		     "127.0.0.0/24 conns 1 ") != NULL,
	    SOON);
	close(fd);
	down();
}
END_TEST

static int
through_proxy(const char *client)
{
	int fd = endpoint_connect(&front);
	const char *header =
	    text("PROXY TCP4 %s 198.51.100.1 1000 80\r\n", client);

	endpoint_send(fd, header, strlen(header));
	return fd;
}

/* Behind a proxy the client is whom it names, and the proxy is not limited. */
START_TEST(behind_a_proxy)
{
	int first, second, other;

	up("client_conns 1", "acl 6 permit 127.0.0.1; accept_proxy 6");
	first = through_proxy("192.0.2.1");
	endpoint_expect_echo(first, "served");
	second = through_proxy("192.0.2.1");
	endpoint_expect_reset(second);
	other = through_proxy("192.0.2.2");
	endpoint_expect_echo(other, "served");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "top clients\n"), "192.0.2.2 conns 1 "));
	ck_assert_ptr_null(
	    strstr(endpoint_ask(&ctl, "top clients\n"), "127.0.0.1"));
	close(second);
	/* one that waits goes on with what it says behind the header */
	command("client_limit_action delay; client_limit_time 600");
	second = through_proxy("192.0.2.1");
	endpoint_send(second, "later", 5);
	WAIT_FOR(counter("limit_waiting") == 1, SOON);
	close(first);
	endpoint_recv(second, (char[5]){ 0 }, 5);
	close(second);
	close(other);
	down();
}
END_TEST

/* ---- waits ---- */

/* Those beyond the limit wait in turn, and each is served when one before it
 * has gone. What they said meanwhile is not lost. */
START_TEST(delay_conns)
{
	int first, waiting[3], i;

	up("client_conns 1", "client_limit_action delay");
	command("client_limit_time 600");
	first = served(NULL);
	for (i = 0; i < 3; i++) {
		waiting[i] = endpoint_connect(&front);
		endpoint_send(waiting[i], "served", 6);
		WAIT_FOR(counter("limit_waiting") == i + 1, SOON);
	}
	ck_assert_int_eq(counter("limit_delayed"), 3);
	ck_assert_int_eq(b.accepted, 1);
	/* one gives up, and another address is served */
	close(waiting[0]);
	close(served("127.0.0.2"));
	pen_expect_rest(&pen);
	close(first);
	for (i = 1; i < 3; i++) {
		char answer[6];

		endpoint_recv(waiting[i], answer, sizeof(answer));
		ck_assert_mem_eq(answer, "served", sizeof(answer));
		close(waiting[i]);
	}
	WAIT_FOR(counter("sessions") == 0, SOON);
	ck_assert_int_eq(counter("limit_waiting"), 0);
	ck_assert_int_eq(counter("limit_refused"), 0);
	close(served(NULL));
	down();
}
END_TEST

/* What is set while clients wait: another action, which are exempt, by another
 * list or by more in it, or what a source is. */
static const struct {
	const char *before, *now;
	int served; /* of two that wait */
} changes[] = {
	{ "debug 0", "client_limit_action refuse", 0 },
	{ "debug 0", "acl 4 permit 127.0.0.1; client_exempt_acl 4", 2 },
	{ "acl 4 permit 127.0.0.9; client_exempt_acl 4",
	    "acl 4 permit 127.0.0.1", 2 },
	{ "debug 0", "client_prefix4 24", 1 },
};

START_TEST(delayed_and_set_anew)
{
	int first, waiting[2], i;

	up("client_conns 1", "client_limit_action delay");
	command(changes[_i].before);
	command("client_limit_time 600");
	first = served(NULL);
	for (i = 0; i < 2; i++) {
		waiting[i] = endpoint_connect(&front);
		WAIT_FOR(counter("limit_waiting") == i + 1, SOON);
	}
	command(changes[_i].now);
	for (i = 0; i < changes[_i].served; i++)
		endpoint_expect_echo(waiting[i], "served");
	if (changes[_i].served == 0)
		endpoint_expect_reset(waiting[0]);
	WAIT_FOR(counter("limit_waiting") == changes[_i].served % 2, SOON);
	for (i = 0; i < 2; i++)
		close(waiting[i]);
	close(first);
	down();
}
END_TEST

/* A source that comes too often gets its connections by and by, at the rate
 * that it may have. */
START_TEST(delay_rate)
{
	struct timespec began, now;
	int fds[6], i;
	long ms;

	up("client_rate 2/0.4", "client_limit_action delay");
	command("client_limit_time 600");
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (i = 0; i < 6; i++)
		fds[i] = endpoint_connect(&front);
	for (i = 0; i < 6; i++)
		endpoint_expect_echo(fds[i], "served");
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - began.tv_sec) * 1000 +
	    (now.tv_nsec - began.tv_nsec) / 1000000;
	/* two at once, four more each 200 ms after the other */
	ck_assert_int_ge(ms, 750);
	ck_assert_int_eq(counter("limit_delayed"), 4);
	for (i = 0; i < 6; i++)
		close(fds[i]);
	down();
}
END_TEST

/* Nobody waits for longer than client_limit_time, nor more than
 * client_limit_max. Another setting lets those in that wait. */
START_TEST(delay_is_bounded)
{
	int first, waiting[3], i;

	NEEDS_ONE_WORKER("each worker has its part of client_limit_max");
	up("client_conns 1", "client_limit_action delay");
	command("client_limit_time 600; client_limit_max 2");
	first = served(NULL);
	for (i = 0; i < 2; i++)
		waiting[i] = endpoint_connect(&front);
	WAIT_FOR(counter("limit_waiting") == 2, SOON);
	refused();
	command("client_limit_time 0.2");
	for (i = 0; i < 2; i++) {
		endpoint_expect_reset(waiting[i]);
		close(waiting[i]);
	}
	ck_assert_int_eq(counter("limit_waiting"), 0);
	WAIT_FOR(counter("closed_client_conns") == 3, SOON);
	command("client_limit_time 600");
	for (i = 0; i < 2; i++)
		waiting[i] = endpoint_connect(&front);
	WAIT_FOR(counter("limit_waiting") == 2, SOON);
	command("client_conns 0");
	for (i = 0; i < 2; i++) {
		endpoint_expect_echo(waiting[i], "served");
		close(waiting[i]);
	}
	close(first);
	down();
}
END_TEST

/* A tarpitted client hears nothing, costs nothing, and is reset in the end; it
 * is not among those that count. */
START_TEST(tarpit)
{
	int first, stuck[5], i;

	NEEDS_ONE_WORKER("each worker has its part of client_limit_max");
	up("client_conns 1", "client_limit_action tarpit");
	command("client_limit_time 600; client_limit_max 4");
	first = served(NULL);
	for (i = 0; i < 4; i++) {
		stuck[i] = endpoint_connect(&front);
		endpoint_send(stuck[i], "hello?", 6);
	}
	WAIT_FOR(counter("limit_waiting") == 4, SOON);
	refused();
	pen_expect_rest(&pen);
	ck_assert_int_eq(b.accepted, 1);
	close(stuck[0]); /* with data unread at its end or not */
	close(first);
	WAIT_FOR(counter("sessions") <= 4, SOON);
	/* its source has no connection now */
	close(served(NULL));
	command("client_limit_time 0.1");
	for (i = 1; i < 4; i++) {
		endpoint_expect_reset(stuck[i]);
		close(stuck[i]);
	}
	WAIT_FOR(counter("sessions") == 0, SOON);
	ck_assert_int_eq(counter("limit_waiting"), 0);
	ck_assert_int_ge(counter("closed_tarpit"), 3);
	down();
}
END_TEST

/* A graceful stop does not wait for clients in the tarpit. */
START_TEST(tarpit_is_left)
{
	int first, stuck;

	up("client_conns 1", "client_limit_action tarpit");
	command("client_limit_time 600");
	first = served(NULL);
	stuck = endpoint_connect(&front);
	WAIT_FOR(counter("limit_waiting") == 1, SOON);
	kill(pen.child.pid, SIGQUIT);
	endpoint_expect_reset(stuck);
	endpoint_expect_echo(first, "served to the end");
	close(stuck);
	close(first);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	backend_stop(&b);
}
END_TEST

static void
say_abuse(struct backend *w, int fd)
{
	(void)w;
	backend_send(fd, "abuse", 5);
}

/* The abuse server has them, or, if there is none, they are refused. */
START_TEST(abuse)
{
	struct backend w;
	int first, fd;

	backend_start(&w, ENDPOINT_TCP4, say_abuse, NULL);
	up("client_conns 1", "client_limit_action abuse");
	first = served(NULL);
	refused();
	command(text("abuse %s", w.at.text));
	fd = endpoint_connect(&front);
	ck_assert_str_eq(endpoint_recv_all(fd), "abuse");
	close(fd);
	close(served("127.0.0.2"));
	close(first);
	WAIT_FOR(counter("sessions") == 0, SOON);
	close(served(NULL));
	ck_assert_int_eq(counter("limit_abuse"), 1);
	down();
	backend_stop(&w);
}
END_TEST

/* ---- many ---- */

/* One address comes a thousand times while it may have five connections: others
 * are served all the while. */
START_TEST(others_are_served)
{
	int fds[5], i;

	up("client_conns 5", "debug 0");
	for (i = 0; i < 5; i++)
		fds[i] = served(NULL);
	for (i = 0; i < 1000; i++) {
		int fd = doomed();

		if (i % 50 == 0)
			close(served(text("127.0.0.%d", 2 + i / 50)));
		if (fd >= 0)
			close(fd);
	}
	WAIT_FOR(counter("limit_refused") == 1000, SOON);
	ck_assert(strstr(endpoint_ask(&ctl, "top clients 1\n"),
		      "127.0.0.1 conns 5 ") != NULL);
	for (i = 0; i < 5; i++) {
		endpoint_expect_echo(fds[i], "still here");
		close(fds[i]);
	}
	WAIT_FOR(counter("sessions") == 0, SOON);
	down();
}
END_TEST

/* conn_rate: all are served, at that rate, and pen does nothing in between. */
START_TEST(rate_of_all)
{
	struct timespec began, now;
	int fds[8], i;
	long ms;

	up("conn_rate 4/1", "debug 0");
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (i = 0; i < 8; i++)
		fds[i] = endpoint_connect(&front);
	for (i = 0; i < 8; i++)
		endpoint_expect_echo(fds[i], "served");
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - began.tv_sec) * 1000 +
	    (now.tv_nsec - began.tv_nsec) / 1000000;
	ck_assert_int_ge(ms, 950);
	ck_assert_int_ge(counter("conn_rate_pauses"), 2);
	for (i = 0; i < 8; i++)
		close(fds[i]);
	/* without it those that wait come in at once */
	command("conn_rate 1/3600");
	close(served(NULL));
	fds[0] = endpoint_connect(&front);
	pen_expect_rest(&pen);
	command("conn_rate 0");
	endpoint_expect_echo(fds[0], "served");
	close(fds[0]);
	down();
}
END_TEST

/* ---- datagrams ---- */

static struct udp_server u;

static void
udp_up(const char *mode, const char *limits)
{
	udp_server_start(&u, ENDPOINT_TCP4, "");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, mode, "-O", limits, front.text,
	    u.at.text, NULL);
}

static void
udp_down(void)
{
	pen_down(&pen);
	udp_server_stop(&u);
}

/* Beyond client_rate datagrams get no answer, of whatever kind; nor does a
 * flow beyond client_conns. */
START_TEST(datagrams)
{
	int fds[3], i;

	udp_up("-U", "client_rate 5/1000");
	fds[0] = udp_client(&front);
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(udp_ask(fds[0], "x", SOON), "x");
	ck_assert_str_eq(udp_try(fds[0], "x", 200), "");
	ck_assert_int_ge(counter("dropped_limit"), 1);
	ck_assert_int_eq(u.received, 5);
	close(fds[0]);
	command("client_rate 0; client_conns 2; udp_timeout 0.1");
	WAIT_FOR(counter("flows") == 0, SOON);
	command("udp_timeout 600");
	for (i = 0; i < 2; i++) {
		fds[i] = udp_client(&front);
		ck_assert_str_eq(udp_ask(fds[i], "y", SOON), "y");
	}
	fds[2] = udp_client(&front);
	ck_assert_str_eq(udp_try(fds[2], "y", 200), "");
	ck_assert_str_eq(udp_ask(fds[1], "z", SOON), "z");
	command("udp_timeout 0.1");
	WAIT_FOR(counter("flows") == 0, SOON);
	ck_assert_str_eq(udp_ask(fds[2], "y", SOON), "y");
	for (i = 0; i < 3; i++)
		close(fds[i]);
	udp_down();
}
END_TEST

/* Each query counts, of whatever port. */
START_TEST(dns_queries)
{
	/* a question for the root's name servers */
	static const char query[] = "\1\1\1\0\0\1\0\0\0\0\0\0\0\0\2\0\1";
	int fd, i;

	udp_up("--dns", "client_rate 3/1000");
	for (i = 0; i < 5; i++) {
		fd = udp_client(&front);
		ck_assert_int_eq(send(fd, query, sizeof(query) - 1, 0),
		    (int)sizeof(query) - 1);
		if (i < 3)
			WAIT_FOR(u.received == i + 1, SOON);
		close(fd);
	}
	WAIT_FOR(counter("dropped_limit") == 2, SOON);
	ck_assert_int_eq(u.received, 3);
	udp_down();
}
END_TEST

/* Made-up senders take no more memory than the table may have, and are served
 * as they are without limits. */
START_TEST(made_up_senders)
{
	struct udp_flood flood;
	int fd;

	udp_up("-U", "client_rate 5/1");
	command("client_limit_table 100; udp_timeout 0.2");
	udp_flood_start(&flood, &front, 1, 2000);
	udp_flood_stop(&flood);
	WAIT_FOR(counter("flows") == 0, SOON);
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "x");
	close(fd);
	udp_down();
}
END_TEST

SUITE(test_client_limits)
{
	Suite *s = suite_create("client_limits");

	SUITE_ADD(s, refuse_conns, 30);
	SUITE_ADD(s, refuse_rate, 30);
	SUITE_ADD(s, prefix, 30);
	SUITE_ADD(s, behind_a_proxy, 30);
	SUITE_ADD(s, delay_conns, 30);
	SUITE_ADD_LOOP(s, delayed_and_set_anew, 30,
	    sizeof(changes) / sizeof(*changes));
	SUITE_ADD(s, delay_rate, 30);
	SUITE_ADD(s, delay_is_bounded, 30);
	SUITE_ADD(s, tarpit, 30);
	SUITE_ADD(s, tarpit_is_left, 30);
	SUITE_ADD(s, abuse, 30);
	SUITE_ADD(s, others_are_served, 30);
	SUITE_ADD(s, rate_of_all, 30);
	SUITE_ADD(s, datagrams, 30);
	SUITE_ADD(s, dns_queries, 30);
	SUITE_ADD(s, made_up_senders, 30);
	return s;
}
