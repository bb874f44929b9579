/* test_unresolved.c: with start_unresolved servers may wait for addresses. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nameserver.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

#define NAME  "web.test"
#define OTHER "other.test"

enum { SOON = 20000 };

static struct nameserver names;
static struct backend one, two;
static struct endpoint front, ctl;
static struct pen pen;

/* Two servers with the same port, at 127.0.0.1 and 127.0.0.2; the names have no
 * addresses. */
static void
begin(void)
{
	struct endpoint at;

	nameserver_start(&names);
	nameserver_set(&names, NAME, NULL);
	nameserver_set(&names, OTHER, NULL);
	backend_start(&one, ENDPOINT_TCP4, backend_say, "one");
	endpoint_at_host(&at, &one.at, "127.0.0.2");
	backend_start_at(&two, &at, backend_say, "two");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static void
start_pen(const char *commands, const char *first, const char *second)
{
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--resolver", names.text,
	    "--start-unresolved", "-O", commands, front.text,
	    text("%s:%d", first, one.at.port),
	    second != NULL ? text("%s:%d", second, one.at.port) : NULL, NULL);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&one);
	backend_stop(&two);
	nameserver_stop(&names);
}

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

static bool
says(const char *command, const char *what)
{
	return strstr(ask(command), what) != NULL;
}

static int
lines(const char *what)
{
	return count_in(child_err(&pen.child), what);
}

static void
expect_nobody(void)
{
	int fd = endpoint_connect(&front);

	endpoint_expect_reset(fd);
	close(fd);
}

static bool
is_served_by(const char *who)
{
	return strcmp(endpoint_hear(&front), who) == 0;
}

/* It is there, and down, until its name has an address: long before the next
 * lookup would be due. */
START_TEST(starts_without_an_address)
{
	begin();
	start_pen("check connect; check_interval 0.1", NAME, "127.0.0.2");
	ck_assert(is_served_by("two"));
	ck_assert(is_served_by("two"));
	ck_assert(says("servers", "0 addr 0.0.0.0 port 0 conn 0 "));
	ck_assert(says("servers long", "0 name " NAME " state down since "));
	ck_assert(says("servers long", " reason \"no address\" changes 0 "));
#ifdef HAVE_JANSSON
	ck_assert(says("servers json", "\"reason\":\"no address\""));
#endif
	ck_assert(says("explain 127.0.0.1", "down"));
	ck_assert_int_eq(lines("name lookup failed, server has no address yet "
			       "server=0 name=" NAME " error="),
	    1);
	nameserver_set(&names, NAME, "127.0.0.1", NULL);
	WAIT_FOR(is_served_by("one"), SOON);
	ck_assert_int_eq(lines("server up server=0 name=" NAME " reason="
			       "\"addresses of its name\" prev=down"),
	    1);
	WAIT_FOR(says("checks", "0 check connect state up result ok"), SOON);
	ck_assert_int_eq(lines("server has no address yet"), 1);
	end();
}
END_TEST

/* Nobody is there to serve; what the operator says meanwhile holds. */
START_TEST(nobody_has_an_address)
{
	begin();
	start_pen("resolve_interval 0.1; server 0 weight 2", NAME, OTHER);
	expect_nobody();
	ck_assert_str_eq(ask("server 1 drain; server 0 weight 3"), "");
	ck_assert(says("servers long", "1 name " OTHER " state drain"));
	ck_assert_int_eq(lines("server has no address yet"), 2);
	nameserver_set(&names, OTHER, "127.0.0.2", NULL);
	WAIT_FOR(says("servers", "1 addr 127.0.0.2"), SOON);
	ck_assert(says("servers long", "1 name " OTHER " state drain"));
	expect_nobody();
	nameserver_set(&names, NAME, "127.0.0.1", NULL);
	WAIT_FOR(says("servers", "0 addr 127.0.0.1"), SOON);
	ck_assert(is_served_by("one"));
	ck_assert(is_served_by("one"));
	ck_assert_str_eq(ask("server 1 up; server 0 remove"), "");
	ck_assert(says("servers", "1 addr 127.0.0.2"));
	end();
}
END_TEST

/* One that waits is removed, and its number is free for another. */
START_TEST(one_that_waits_is_removed)
{
	begin();
	start_pen("resolve_interval 0.1", NAME, "127.0.0.2");
	ck_assert_str_eq(ask("server " NAME " remove"), "");
	ck_assert(!says("servers long", NAME));
	ck_assert_str_eq(
	    ask(text("server 0 address 127.0.0.1 port %d", one.at.port)), "");
	WAIT_FOR(is_served_by("one"), SOON);
	end();
}
END_TEST

/* So are all addresses of a name. */
START_TEST(all_addresses_come_later)
{
	begin();
	start_pen("resolve_interval 0.1", NAME "*", NULL);
	expect_nobody();
	nameserver_set(&names, NAME, "127.0.0.1", "127.0.0.2", NULL);
	WAIT_FOR(says("servers", "1 addr 127.0.0.2"), SOON);
	ck_assert(says("servers", "0 addr 127.0.0.1"));
	ck_assert(is_served_by("one"));
	ck_assert(is_served_by("two"));
	end();
}
END_TEST

static const char *
file_of(const char *server)
{
	const char *path = scratch("conf");

	write_file(path,
	    text("start_unresolved\nserver 0 address %s port %d\n", server,
		one.at.port));
	return path;
}

/* A file that is read again, and one that is included: the server goes to
 * another host, whose address is not known yet. */
START_TEST(file_read_again)
{
	begin();
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--resolver", names.text,
	    "-F", file_of("127.0.0.1"), front.text, NULL);
	ck_assert(is_served_by("one"));
	(void)file_of(NAME);
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(child_has_said(&pen.child, "reloaded"), SOON);
	expect_nobody();
	ck_assert_int_eq(
	    lines("server down server=0 name=" NAME " reason=\"no address\""),
	    1);
	ck_assert_str_eq(ask(text("include %s", file_of(OTHER))), "");
	nameserver_set(&names, OTHER, "127.0.0.2", NULL);
	WAIT_FOR(says("servers", "0 addr 127.0.0.2"), SOON);
	ck_assert(is_served_by("two"));
	end();
}
END_TEST

/* One of a service that a reload adds waits no longer than others do. */
START_TEST(of_a_new_service)
{
	const char *conf = scratch("conf");
	struct endpoint more;

	begin();
	endpoint_new(&more, ENDPOINT_TCP4);
	write_file(conf, "");
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--resolver", names.text,
	    "--resolve-interval", "1000", "-F", conf, front.text, one.at.text,
	    NULL);
	write_file(conf,
	    text("service more\nlisten %s\nstart_unresolved\n"
		 "server 0 address " NAME " port %d\n",
		more.text, one.at.port));
	ck_assert_str_eq(ask("reload"), "");
	nameserver_set(&names, NAME, "127.0.0.1", NULL);
	WAIT_FOR(says("service more servers", "0 addr 127.0.0.1"), SOON);
	ck_assert_str_eq(endpoint_hear(&more), "one");
	end();
}
END_TEST

/* Sessions end in their own time, as those of a server that is removed. */
START_TEST(sessions_go_on)
{
	struct backend echo;
	int fd;

	begin();
	backend_start(&echo, ENDPOINT_TCP4, backend_echo, NULL);
	start_pen("roundrobin", "127.0.0.1", NULL);
	ck_assert_str_eq(ask(text("server 0 port %d", echo.at.port)), "");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "before");
	ck_assert_str_eq(ask("server 0 address " NAME), "");
	endpoint_expect_echo(fd, "after");
	expect_nobody();
	close(fd);
	WAIT_FOR(says("servers", "0 addr 0.0.0.0 port 0 conn 0 "), SOON);
	nameserver_set(&names, NAME, "127.0.0.1", NULL);
	WAIT_FOR(says("servers", "0 addr 127.0.0.1"), SOON);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "again");
	close(fd);
	end();
	backend_stop(&echo);
}
END_TEST

/* The old process knows the address. */
START_TEST(upgrade_needs_addresses)
{
	NEED_UPGRADES(upgrading_install());
	begin();
	nameserver_set(&names, NAME, "127.0.0.1", NULL);
	start_pen("resolve_interval 0", NAME, NULL);
	ck_assert(is_served_by("one"));
	nameserver_set(&names, NAME, NULL);
	ck_assert(says("upgrade", "error: "));
	ck_assert_int_eq(upgrading_pid(&ctl), pen.child.pid);
	ck_assert(is_served_by("one"));
	end();
}
END_TEST

START_TEST(check_warns)
{
	const char *server = NAME ":80";

	nameserver_start(&names);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_start(&pen, "--check", "--start-unresolved", "--resolver",
	    names.text, front.text, server, NULL);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	ck_assert_int_eq(lines("name lookup failed, server has no address yet "
			       "server=0 name=" NAME),
	    1);
	pen_expect_failure("server \"" NAME "\": ", "--check", "--resolver",
	    names.text, front.text, server, NULL);
	nameserver_stop(&names);
}
END_TEST

SUITE(test_unresolved)
{
	Suite *s = suite_create("unresolved");

	SUITE_ADD(s, starts_without_an_address, 60);
	SUITE_ADD(s, nobody_has_an_address, 60);
	SUITE_ADD(s, one_that_waits_is_removed, 60);
	SUITE_ADD(s, all_addresses_come_later, 60);
	SUITE_ADD(s, file_read_again, 60);
	SUITE_ADD(s, of_a_new_service, 60);
	SUITE_ADD(s, sessions_go_on, 60);
	SUITE_ADD(s, upgrade_needs_addresses, 60);
	SUITE_ADD(s, check_warns, 60);
	return s;
}
