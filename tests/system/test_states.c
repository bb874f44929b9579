/* test_states.c: what becomes of servers is a log line each, and no more. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct endpoint front, ctl;
static struct backend b[2];
static struct pen pen;

static void
up(const char *options)
{
	int i;

	for (i = 0; i < 2; i++)
		backend_start(&b[i], ENDPOINT_TCP4, backend_say, i ? "b" : "a");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "--retry", "0", "-O", options,
	    front.text, b[0].at.text, b[1].at.text, NULL);
}

static void
down(void)
{
	int i;

	pen_down(&pen);
	for (i = 0; i < 2; i++)
		backend_stop(&b[i]);
}

static const char *
command(const char *line)
{
	return endpoint_ask(&ctl, text("%s\n", line));
}

static bool
has_said(const char *what)
{
	return child_has_said(&pen.child, what);
}

/* How many log lines contain it. */
static int
lines(const char *what)
{
	return count_in(child_err(&pen.child), what);
}

static void
ask(int clients)
{
	while (clients-- > 0)
		(void)endpoint_hear(&front);
}

static void
are_reset(int clients)
{
	while (clients-- > 0) {
		int fd = endpoint_connect(&front);

		endpoint_expect_reset(fd);
		close(fd);
	}
}

static void
is_back(void)
{
	struct endpoint at = b[0].at;

	backend_start_at(&b[0], &at, backend_say, "a");
}

/* A server that refuses, is found out by many clients, and comes back. */
START_TEST(refusals)
{
	const char *gone, *back;

	up("blacklist 60");
	gone = text("server blacklisted server=0 name=127.0.0.1 "
		    "reason=\"Connection refused\" prev=up prev_s=");
	back = "server up server=0 name=127.0.0.1 "
	       "reason=\"blacklist time expired\" prev=blacklisted prev_s=";
	ask(4);
	ck_assert_int_eq(lines("server blacklisted"), 0);
	backend_stop(&b[0]);
	ask(10);
	ck_assert_int_eq(lines(gone), 1);
	ck_assert_int_eq(lines("server failed"), 0);
	is_back();
	/* nobody comes: its time ends all the same */
	WAIT_FOR(has_said(back), SOON);
	ck_assert_int_eq(lines("server=0 "), 2);
	ck_assert_int_eq(lines("server=1 "), 0);
	down();
}
END_TEST

/* The only server left is tried by each client while it refuses: that is no
 * news. That it answers is. */
START_TEST(the_last_one)
{
	up("blacklist 60");
	command("server 1 remove");
	backend_stop(&b[0]);
	are_reset(20);
	ck_assert_int_eq(lines("server blacklisted server=0"), 1);
	is_back();
	ck_assert_str_eq(endpoint_hear(&front), "a");
	WAIT_FOR(lines("server=0 name=127.0.0.1 reason=\"answered\" "
		       "prev=blacklisted") == 1,
	    SOON);
	down();
}
END_TEST

/* Failures that blacklist nobody are still told. */
START_TEST(no_blacklist)
{
	up("blacklist 0");
	backend_stop(&b[0]);
	ask(2);
	WAIT_FOR(has_said("server failed server=0 name=127.0.0.1 "
			  "error=\"Connection refused\""),
	    SOON);
	ck_assert_int_eq(lines("server blacklisted"), 0);
	is_back();
	down();
}
END_TEST

/* What the operator does has a name on it. */
START_TEST(by_the_operator)
{
	const char *who = text(
	    "reason=\"by uid=%ld pid=%ld\"", (long)getuid(), (long)getpid());

	up("blacklist 60");
	ck_assert_str_eq(command("server 1 drain"), "");
	ck_assert_int_eq(lines(text("server drain server=1 name=127.0.0.1 %s "
				    "prev=up prev_s=",
			     who)),
	    1);
	ck_assert_str_eq(command("server 1 drain; server 1 weight 3"), "");
	ck_assert_str_eq(command("server 1 down"), "");
	ck_assert_int_eq(lines(text("server maint server=1 name=127.0.0.1 %s "
				    "prev=drain",
			     who)),
	    1);
	ck_assert_str_eq(command("server 1 maint; server 1 up"), "");
	ck_assert_int_eq(
	    lines(text("server up server=1 name=127.0.0.1 %s prev=maint", who)),
	    1);
	ck_assert_str_eq(command("server 1 blacklist 50"), "");
	ck_assert_int_eq(lines(text("server blacklisted server=1 "
				    "name=127.0.0.1 %s prev=up",
			     who)),
	    1);
	ck_assert_str_eq(command("server 1 remove"), "");
	ck_assert_int_eq(lines(text("server removed server=1 name=127.0.0.1 "
				    "%s prev=blacklisted",
			     who)),
	    1);
	ck_assert_int_eq(lines("server=1 "), 5);
	down();
}
END_TEST

/* Who did what, but not who asked what, nor what was refused. */
START_TEST(commands)
{
	const char *who =
	    text("by uid=%ld pid=%ld", (long)getuid(), (long)getpid());

	up("blacklist 60");
	/* said once it listens */
	WAIT_FOR(has_said(": started version="), 10000);
	command("server 1 drain ;mode; server 1 up");
	command("acl 1 permit \"10.0.0.0/8\"; timeout");
	command("clear counters; server 7 drain; server 1 maint");
	ck_assert_int_eq(
	    lines(text("command \"server 1 drain\" %s\n", who)), 1);
	ck_assert_int_eq(lines(text("command \"server 1 up\" %s\n", who)), 1);
	ck_assert_int_eq(
	    lines(text("command \"acl 1 permit '10.0.0.0/8'\" %s\n", who)), 1);
	ck_assert_int_eq(
	    lines(text("command \"clear counters\" %s\n", who)), 1);
	ck_assert_int_eq(lines("command \""), 4);
	ck_assert_int_eq(child_stop(&pen.child, SIGTERM), 0);
	ck_assert(has_said(": stopped reason="));
	backend_stop(&b[0]);
	backend_stop(&b[1]);
}
END_TEST

/* Of a client that comes by TCP the address is known. */
START_TEST(commands_from_afar)
{
	/* a TCP control socket is not for root */
	const char *user = geteuid() == 0 ? "--user=nobody" : "-r";

	up("blacklist 60");
	pen_down(&pen);
	endpoint_new(&ctl, ENDPOINT_TCP4);
	pen_up(
	    &pen, &ctl, user, "-C", ctl.text, front.text, b[0].at.text, NULL);
	command("timeout 7");
	ck_assert_int_eq(lines("command \"timeout 7\" by 127.0.0.1:"), 1);
	down();
}
END_TEST

/* ---- told at length ---- */

/* The number behind the word in the line of server 0; -1 when it has none. */
static double
told(const char *word)
{
	const char *line = command("servers long"), *at, *end;

	end = strchr(line, '\n');
	at = strstr(line, text(" %s ", word));
	ck_assert_ptr_nonnull(end);
	return at != NULL && at < end ? atof(at + strlen(word) + 2) : -1;
}

/* Connects are timed without a clock of their own; "clear" forgets them. */
static void
expect_latency(const char *balance)
{
	up(balance);
	ck_assert(told("connect_p50_us") < 0);
	ask(20);
	ck_assert(told("connect_p50_us") >= 0);
	ck_assert(told("connect_p50_us") <= told("connect_p99_us"));
	ck_assert(told("connect_p99_us") < 1e6 * wait_scaled(1));
	command("clear counters");
	ck_assert(told("connect_p50_us") < 0);
	down();
}

START_TEST(latency)
{
	expect_latency("balance roundrobin");
}
END_TEST

START_TEST(latency_by_the_clock)
{
	expect_latency("balance least_time");
}
END_TEST

START_TEST(rate_and_failures)
{
	up("blacklist 60");
	ask(40);
	ck_assert(told("rate") > 0.5);
	WAIT_FOR(told("rate") < 0.5, 20000);
	backend_stop(&b[0]);
	ask(2);
	ck_assert(told("failures") == 1);
	WAIT_FOR(told("changes") == 1, SOON);
	WAIT_FOR(told("age_s") >= 1 || told("changes") > 1, SOON);
	is_back();
	down();
}
END_TEST

/* ---- drain ---- */

enum { SESSIONS = 200 };
static int sessions[SESSIONS];

static void
up_echo(const char *options)
{
	int i;

	for (i = 0; i < 2; i++)
		backend_start(&b[i], ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "-O", options, front.text,
	    b[0].at.text, b[1].at.text, NULL);
}

/* Sessions at both servers; returns how many are at server 0. */
static int
begin_sessions(void)
{
	int i;

	for (i = 0; i < SESSIONS; i++) {
		sessions[i] = endpoint_connect(&front);
		endpoint_expect_echo(sessions[i], "hello");
	}
	return b[0].open;
}

/* A control client that asks, and need not be answered yet. */
static int
ask_slowly(const char *line)
{
	int fd = endpoint_connect(&ctl);

	endpoint_send(fd, line, strlen(line));
	return fd;
}

/* None is cut, none is new, be clients remembered or not; and who waits for the
 * last one is told when it goes, while others are answered. */
static void
expect_drained(const char *options)
{
	int at0, waits, i, new;

	up_echo(options);
	at0 = begin_sessions();
	ck_assert_int_gt(at0, 0);
	waits = ask_slowly(text("server %s drain wait\n", b[0].at.text));
	WAIT_FOR(
	    strstr(command("servers long"), " state drain ") != NULL, SOON);
	for (i = 0; i < 10; i++) {
		new = endpoint_connect(&front);
		endpoint_expect_echo(new, "new");
		close(new);
	}
	ck_assert_int_eq(b[0].accepted, at0);
	for (i = 0; i < SESSIONS; i++)
		endpoint_expect_echo(sessions[i], "still here");
	for (i = 0; i < SESSIONS; i++)
		close(sessions[i]);
	ck_assert_str_eq(
	    strstr(endpoint_recv_all(waits), "server 0: no connections left"),
	    "server 0: no connections left\n");
	ck_assert_int_eq(b[0].open, 0);
	close(waits);
	down();
}

START_TEST(drained)
{
	expect_drained("roundrobin");
}
END_TEST

/* A client that is remembered goes elsewhere with its next connection. */
START_TEST(drained_of_clients_that_return)
{
	expect_drained("no roundrobin; tracking 0");
}
END_TEST

/* Who waits is told from time to time, and why it is over when it is taken
 * back; one who goes away is forgotten. */
START_TEST(waiting_ends)
{
	char line[64];
	int waits, gone;

	up_echo("roundrobin");
	ck_assert_int_gt(begin_sessions(), 0);
	gone = ask_slowly("server 0 drain wait\n");
	waits = ask_slowly("server 0 drain wait 500\n");
	WAIT_FOR(
	    strstr(command("servers long"), " state drain ") != NULL, SOON);
	close(gone);
	endpoint_recv(waits, line, strlen("server 0: "));
	ck_assert_int_eq(strncmp(line, "server 0: ", 10), 0);
	command("server 0 up");
	ck_assert_ptr_nonnull(strstr(endpoint_recv_all(waits),
	    "\nerror: server 0: is up again and no longer drains\n"));
	close(waits);
	pen_expect_rest(&pen);
	for (gone = 0; gone < SESSIONS; gone++)
		close(sessions[gone]);
	down();
}
END_TEST

/* A client of datagrams stays with its server until it has been silent for long
 * enough: then none is left. */
START_TEST(drained_of_datagrams)
{
	struct udp_server u[2];
	const char *server;
	int fd, i;

	for (i = 0; i < 2; i++)
		udp_server_start(&u[i], ENDPOINT_TCP4, i == 0 ? "0" : "1");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, "-O", "udp_timeout 60",
	    front.text, u[0].at.text, u[1].at.text, NULL);
	fd = udp_client(&front);
	server = text("%.1s", udp_ask(fd, "x", SOON));
	ck_assert_str_eq(command(text("server %s drain wait 0.1", server)),
	    text("error: server %s: 1 connection left after 100 ms\n", server));
	ck_assert_str_eq(udp_ask(fd, "y", SOON), text("%sy", server));
	command("udp_timeout 0.1");
	ck_assert_str_eq(command(text("server %s drain wait 9", server)),
	    text("server %s: no connections left\n", server));
	close(fd);
	pen_down(&pen);
	for (i = 0; i < 2; i++)
		udp_server_stop(&u[i]);
}
END_TEST

SUITE(test_states)
{
	Suite *s = suite_create("states");

	SUITE_ADD(s, refusals, 60);
	SUITE_ADD(s, the_last_one, 60);
	SUITE_ADD(s, no_blacklist, 60);
	SUITE_ADD(s, by_the_operator, 60);
	SUITE_ADD(s, commands, 60);
	SUITE_ADD(s, commands_from_afar, 60);
	SUITE_ADD(s, latency, 60);
	SUITE_ADD(s, latency_by_the_clock, 60);
	SUITE_ADD(s, rate_and_failures, 60);
	SUITE_ADD(s, drained, 60);
	SUITE_ADD(s, drained_of_clients_that_return, 60);
	SUITE_ADD(s, waiting_ends, 60);
	SUITE_ADD(s, drained_of_datagrams, 60);
	return s;
}
