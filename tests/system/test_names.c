/* test_names.c: traffic follows the names of servers; while the name server
 * fails, nothing changes. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nameserver.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

#define NAME "web.test"

static struct nameserver names;
static struct backend one, two;
static struct spot front, ctl;
static struct pen pen;

/* Two servers with the same port, at 127.0.0.1 and 127.0.0.2. */
static void
begin(void)
{
	struct spot at;

	nameserver_start(&names);
	nameserver_set(&names, NAME, "127.0.0.1", NULL);
	backend_start(&one, SPOT_TCP4, backend_say, "one");
	spot_at_host(&at, &one.at, "127.0.0.2");
	backend_start_at(&two, &at, backend_say, "two");
	spot_new(&front, SPOT_TCP4);
	spot_new(&ctl, SPOT_UNIX);
}

static const char *
server(void)
{
	static char text[64];

	snprintf(text, sizeof(text), NAME ":%d", one.at.port);
	return text;
}

static void
start_pen(const char *interval)
{
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--resolver", names.text,
	    "--resolve-interval", interval, front.text, server(), NULL);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&one);
	backend_stop(&two);
	nameserver_stop(&names);
}

static bool
is_served_by(const char *who)
{
	return strcmp(spot_hear(&front), who) == 0;
}

static int
count_said(const char *what)
{
	const char *at = child_err(&pen.child);
	int n = 0;

	for (; (at = strstr(at, what)) != NULL; at++)
		n++;
	return n;
}

/* Every client is served, whatever the name has just then. */
START_TEST(traffic_follows_the_name)
{
	int i;

	begin();
	start_pen("0.05");
	ck_assert_str_eq(spot_hear(&front), "one");
	for (i = 0; i < 6; i++) {
		const char *who = i % 2 == 0 ? "two" : "one";

		nameserver_set(&names, NAME,
		    i % 2 == 0 ? "127.0.0.2" : "127.0.0.1", NULL);
		WAIT_FOR(is_served_by(who), 10000);
	}
	ck_assert_int_eq(count_said("name has other addresses server=0"), 6);
	ck_assert_int_eq(count_said("failed"), 0);
	end();
}
END_TEST

/* An open connection stays where it is. */
START_TEST(sessions_stay)
{
	struct backend echo;
	struct spot at;
	int fd;

	begin();
	backend_stop(&one);
	backend_start_at(&echo, &one.at, backend_echo, NULL);
	start_pen("0.05");
	fd = spot_connect(&front);
	spot_expect_echo(fd, "before");
	nameserver_set(&names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(count_said("name has other addresses") > 0, 10000);
	ck_assert_str_eq(spot_hear(&front), "two");
	spot_expect_echo(fd, "after");
	close(fd);
	at = echo.at;
	backend_stop(&echo);
	backend_start_at(&one, &at, backend_say, "one");
	end();
}
END_TEST

/* The last good answer stays, and is told once, not each time. */
START_TEST(name_server_fails)
{
	int asked;

	begin();
	start_pen("0.05");
	nameserver_set_mode(&names, NAMESERVER_FAILS);
	WAIT_FOR(count_said("names not resolved, addresses kept") > 0, 20000);
	asked = names.questions;
	WAIT_FOR(names.questions > asked + 4, 60000);
	ck_assert_str_eq(spot_hear(&front), "one");
	ck_assert_int_eq(count_said("not resolved"), 1);
	nameserver_set_mode(&names, NAMESERVER_ANSWERS);
	nameserver_set(&names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(is_served_by("two"), 60000);
	ck_assert_int_eq(count_said("names resolved again"), 1);
	end();
}
END_TEST

/* A name that has no address any more keeps those it had. */
START_TEST(name_is_gone)
{
	begin();
	start_pen("0.05");
	nameserver_set(&names, NAME, NULL);
	WAIT_FOR(count_said("names not resolved, addresses kept") > 0, 20000);
	ck_assert_str_eq(spot_hear(&front), "one");
	end();
}
END_TEST

/* With 0 a name is looked up when it is set; an interval may come later. */
START_TEST(interval_set_anew)
{
	int asked;

	begin();
	start_pen("0");
	asked = names.questions;
	nameserver_set(&names, NAME, "127.0.0.2", NULL);
	ck_assert_str_eq(spot_hear(&front), "one");
	ck_assert_int_eq(names.questions, asked);
	ck_assert_str_eq(spot_ask(&ctl, "resolve_interval 0.05\n"), "0.050\n");
	WAIT_FOR(is_served_by("two"), 10000);
	end();
}
END_TEST

START_TEST(no_such_name_at_the_start)
{
	nameserver_start(&names);
	spot_new(&front, SPOT_TCP4);
	pen_expect_failure("server \"" NAME "\": ", "-f", "--resolver",
	    names.text, front.text, NAME ":80", NULL);
	ck_assert_int_gt(names.questions, 0);
	nameserver_stop(&names);
	pen_expect_failure("\"nobody\" is not an IP address", "-f",
	    "--resolver", "nobody", front.text, NAME ":80", NULL);
}
END_TEST

SUITE(test_names)
{
	Suite *s = suite_create("names");

	SUITE_ADD(s, traffic_follows_the_name, 60);
	SUITE_ADD(s, sessions_stay, 60);
	SUITE_ADD(s, name_server_fails, 120);
	SUITE_ADD(s, name_is_gone, 60);
	SUITE_ADD(s, interval_set_anew, 60);
	SUITE_ADD(s, no_such_name_at_the_start, 60);
	return s;
}
