/* test_states.c: what becomes of servers is a log line each, and no more. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct spot front, ctl;
static struct backend b[2];
static struct pen pen;

static void
up(const char *options)
{
	int i;

	for (i = 0; i < 2; i++)
		backend_start(&b[i], SPOT_TCP4, backend_say, i ? "b" : "a");
	spot_new(&front, SPOT_TCP4);
	spot_new(&ctl, SPOT_UNIX);
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
	return spot_ask(&ctl, text("%s\n", line));
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
	const char *s = child_err(&pen.child);
	int n = 0;

	while ((s = strstr(s, what)) != NULL) {
		n++;
		s += strlen(what);
	}
	return n;
}

static void
ask(int clients)
{
	while (clients-- > 0)
		(void)spot_hear(&front);
}

static void
are_reset(int clients)
{
	while (clients-- > 0) {
		int fd = spot_connect(&front);

		spot_expect_reset(fd);
		close(fd);
	}
}

static void
is_back(void)
{
	struct spot at = b[0].at;

	backend_start_at(&b[0], &at, backend_say, "a");
}

/* A server that refuses, is found out by many clients, and comes back. */
START_TEST(refusals)
{
	const char *gone, *back;

	up("blacklist 60");
	gone = text("server blacklisted server=0 name=127.0.0.1 "
		    "reason=\"Connection refused\" was=up for_s=");
	back = "server up server=0 name=127.0.0.1 "
	       "reason=\"blacklist time over\" was=blacklisted for_s=";
	ask(4);
	ck_assert_int_eq(lines("server blacklisted"), 0);
	backend_stop(&b[0]);
	ask(10);
	ck_assert_int_eq(lines(gone), 1);
	ck_assert_int_eq(lines("server failed"), 0);
	is_back();
	/* nobody comes: its time ends all the same */
	WAIT_FOR(has_said(back), SOON);
	ck_assert_int_eq(lines("server=0"), 2);
	ck_assert_int_eq(lines("server=1"), 0);
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
	ck_assert_str_eq(spot_hear(&front), "a");
	ck_assert_int_eq(lines("server=0 name=127.0.0.1 reason=\"answered\" "
			       "was=blacklisted"),
	    1);
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
				    "was=up for_s=",
			     who)),
	    1);
	ck_assert_str_eq(command("server 1 drain; server 1 weight 3"), "");
	ck_assert_str_eq(command("server 1 down"), "");
	ck_assert_int_eq(lines(text("server maint server=1 name=127.0.0.1 %s "
				    "was=drain",
			     who)),
	    1);
	ck_assert_str_eq(command("server 1 maint; server 1 up"), "");
	ck_assert_int_eq(
	    lines(text("server up server=1 name=127.0.0.1 %s was=maint", who)),
	    1);
	ck_assert_str_eq(command("server 1 blacklist 50"), "");
	ck_assert_int_eq(lines(text("server blacklisted server=1 "
				    "name=127.0.0.1 %s was=up",
			     who)),
	    1);
	ck_assert_str_eq(command("server 1 remove"), "");
	ck_assert_int_eq(lines(text("server removed server=1 name=127.0.0.1 "
				    "%s was=blacklisted",
			     who)),
	    1);
	ck_assert_int_eq(lines("server=1"), 5);
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
	ck_assert(told("changes") == 1);
	WAIT_FOR(told("for_s") >= 1 || told("changes") > 1, SOON);
	is_back();
	down();
}
END_TEST

SUITE(test_states)
{
	Suite *s = suite_create("states");

	SUITE_ADD(s, refusals, 60);
	SUITE_ADD(s, the_last_one, 60);
	SUITE_ADD(s, no_blacklist, 60);
	SUITE_ADD(s, by_the_operator, 60);
	SUITE_ADD(s, latency, 60);
	SUITE_ADD(s, latency_by_the_clock, 60);
	SUITE_ADD(s, rate_and_failures, 60);
	return s;
}
