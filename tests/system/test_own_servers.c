/* test_own_servers.c: no server is pen itself: neither at the start, nor by a
 * name that has such an address later, nor by a circle of services. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "system/names_fixture.h"

enum { SOON = 20000 };

static struct names_fixture fixture;

#define REFUSED "address of a name refused server="

/* Pen at the port of the servers, on another address. */
static void
begin(const char *host)
{
	names_fixture_begin(&fixture);
	endpoint_at_host(&fixture.front, &fixture.one.at, host);
}

static const char *
at_port(const char *name)
{
	return text("%s:%d", name, fixture.one.at.port);
}

static bool
is_served_by(const char *who)
{
	return strcmp(endpoint_hear(&fixture.front), who) == 0;
}

static bool
has_looked_up(int since)
{
	return fixture.names.questions > since + 8;
}

static void
wait_for_lookups(void)
{
	int since = fixture.names.questions;

	WAIT_FOR(has_looked_up(since), SOON);
}

/* ---- names ---- */

/* It keeps what it has, has what else there is, and follows the name again;
 * each time is one line. */
static void
name_leads_to_pen(const char *server)
{
	int i;

	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    fixture.front.text, server, NULL);
	for (i = 1; i <= 2; i++) {
		nameserver_set(&fixture.names, NAME, "127.0.0.3", NULL);
		WAIT_FOR(names_fixture_said(&fixture, REFUSED "0") == i, SOON);
		wait_for_lookups();
		ck_assert_int_eq(names_fixture_said(&fixture, REFUSED), i);
		ck_assert(is_served_by("one"));
		nameserver_set(
		    &fixture.names, NAME, "127.0.0.3", "127.0.0.2", NULL);
		WAIT_FOR(is_served_by("two"), SOON);
		wait_for_lookups();
		ck_assert(is_served_by("two"));
		nameserver_set(&fixture.names, NAME, "127.0.0.1", NULL);
		WAIT_FOR(is_served_by("one"), SOON);
		wait_for_lookups();
	}
	ck_assert_int_eq(names_fixture_said(&fixture, REFUSED), 2);
	names_fixture_end(&fixture);
}

START_TEST(name_of_a_server_leads_to_pen)
{
	begin("127.0.0.3");
	name_leads_to_pen(names_fixture_server(&fixture));
}
END_TEST

START_TEST(name_of_all_its_addresses_leads_to_pen)
{
	begin("127.0.0.3");
	name_leads_to_pen(names_fixture_all(&fixture));
}
END_TEST

/* The targets of a service have ports of their own. */
START_TEST(service_record_leads_to_pen)
{
	struct nameserver_target to[] = { { "one.test", 0, 10, 3 },
		{ "pen.test", 0, 10, 3 } };

	begin("127.0.0.3");
	to[0].port = to[1].port = fixture.one.at.port;
	nameserver_set(&fixture.names, "one.test", "127.0.0.1", NULL);
	nameserver_set(&fixture.names, "pen.test", "127.0.0.3", NULL);
	nameserver_set_service(&fixture.names, "_web._tcp.test", to, 1);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    fixture.front.text, "_web._tcp.test", NULL);
	nameserver_set_service(&fixture.names, "_web._tcp.test", to, 2);
	WAIT_FOR(names_fixture_said(&fixture, REFUSED "0") == 1, SOON);
	wait_for_lookups();
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", NULL, NULL));
	to[0].port++; /* only the port is another */
	to[1].port++;
	nameserver_set_service(&fixture.names, "_web._tcp.test", to, 2);
	WAIT_FOR(strstr(endpoint_ask(&fixture.ctl, "servers\n"),
		     text("addr 127.0.0.3 port %d", to[1].port)) != NULL,
	    SOON);
	names_fixture_end(&fixture);
}
END_TEST

/* The emergency and the abuse server are servers, too. */
START_TEST(special_servers_lead_to_pen)
{
	static const char *const options[] = { "-e", "-B" };
	int i;

	for (i = 0; i < 2; i++) {
		begin("127.0.0.3");
		pen_up(&fixture.pen, &fixture.front, "-r", "-C",
		    fixture.ctl.text, "--resolver", fixture.names.text,
		    "--resolve-interval", "0.05", options[i],
		    names_fixture_server(&fixture), fixture.front.text,
		    at_port("127.0.0.2"), NULL);
		nameserver_set(&fixture.names, NAME, "127.0.0.3", NULL);
		WAIT_FOR(names_fixture_said(&fixture, REFUSED) == 1, SOON);
		ck_assert(strstr(endpoint_ask(&fixture.ctl, "servers long\n"),
			      "addr 127.0.0.3") == NULL);
		names_fixture_end(&fixture);
	}
}
END_TEST

/* Each address of this host is one of a wildcard address. */
START_TEST(listening_on_all_addresses)
{
	names_fixture_begin(&fixture);
	nameserver_set(&fixture.names, NAME, "192.0.2.1", NULL);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    text("0.0.0.0:%d", fixture.front.port),
	    text(NAME ":%d", fixture.front.port), NULL);
	nameserver_set(&fixture.names, NAME, "127.0.0.77", NULL);
	WAIT_FOR(names_fixture_said(&fixture, REFUSED "0") == 1, SOON);
	ck_assert_ptr_nonnull(strstr(
	    endpoint_ask(&fixture.ctl, "servers\n"), "addr 192.0.2.1 "));
	names_fixture_end(&fixture);
}
END_TEST

/* A datagram would come again and again, too. */
START_TEST(datagrams)
{
	begin("127.0.0.3");
	pen_up(&fixture.pen, &fixture.ctl, "-U", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    fixture.front.text, names_fixture_server(&fixture), NULL);
	nameserver_set(&fixture.names, NAME, "127.0.0.3", NULL);
	WAIT_FOR(names_fixture_said(&fixture, REFUSED "0") == 1, SOON);
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", NULL, NULL));
	names_fixture_end(&fixture);
}
END_TEST

/* Workers do as their leader, and one that begins later, too. */
START_TEST(workers_keep_it)
{
	begin("127.0.0.3");
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--workers", "2", "--resolver", fixture.names.text,
	    "--resolve-interval", "0.05", fixture.front.text,
	    names_fixture_server(&fixture), NULL);
	nameserver_set(&fixture.names, NAME, "127.0.0.3", NULL);
	WAIT_FOR(names_fixture_said(&fixture, REFUSED) == 1, SOON);
	wait_for_lookups();
	ck_assert(is_served_by("one"));
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "workers 3\n"), "3\n");
	ck_assert(is_served_by("one"));
	ck_assert_int_eq(names_fixture_said(&fixture, REFUSED), 1);
	names_fixture_end(&fixture);
}
END_TEST

/* What a command or a file names is refused while the name leads to pen; a
 * change of something else is not, nor a reload. */
START_TEST(commands_while_a_name_leads_to_pen)
{
	const char *conf = scratch("conf"), *file;

	begin("127.0.0.3");
	file = text("resolver %s\nresolve_interval 0.05\nroundrobin\n"
		    "listen %s\nserver 0 address " NAME " port %d\n",
	    fixture.names.text, fixture.front.text, fixture.one.at.port);
	write_file(conf, file);
	pen_up(&fixture.pen, &fixture.front, "-C", fixture.ctl.text, "-F", conf,
	    NULL);
	nameserver_set(&fixture.names, NAME, "127.0.0.3", NULL);
	WAIT_FOR(names_fixture_said(&fixture, REFUSED "0") == 1, SOON);
	pen_answers(&fixture.ctl,
	    text("server 1 address " NAME " port %d", fixture.one.at.port),
	    "server 1 is pen's own listening address");
	pen_answers(&fixture.ctl, "server 0 weight 3", "");
	pen_answers(&fixture.ctl,
	    text("listen %s,127.0.0.4:%d", fixture.front.text,
		fixture.one.at.port),
	    "");
	write_file(conf, text("%sidle_timeout 77\n", file));
	ck_assert_ptr_null(strstr(pen_ask(&fixture.ctl, "reload"), "error"));
	pen_answers(&fixture.ctl, "idle_timeout", "77");
	ck_assert(is_served_by("one"));
	pen_answers(&fixture.ctl,
	    text("listen %s,127.0.0.1:%d", fixture.front.text,
		fixture.one.at.port),
	    "server 0 is pen's own listening address");
	names_fixture_end(&fixture);
}
END_TEST

/* ---- circles of services ---- */

static struct endpoint a, b, c, ctl;

static void
new_services(void)
{
	endpoint_new(&a, ENDPOINT_TCP4);
	endpoint_new(&b, ENDPOINT_TCP4);
	endpoint_new(&c, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static const char *
section(const char *name, const struct endpoint *at, const char *more)
{
	return text("service %s\nlisten %s\n%s", name, at->text, more);
}

static const char *
to(const struct endpoint *at)
{
	return text("server 0 address 127.0.0.1 port %d\n", at->port);
}

static void
check(const char *file, const char *says)
{
	const char *conf = scratch("conf");
	const char *argv[] = { getenv("PEN"), "--check", "-F", conf, NULL };
	struct child one;

	write_file(conf, file);
	if (says != NULL) {
		pen_expect_failure(says, "--check", "-F", conf, NULL);
		pen_expect_failure(says, "-f", "-F", conf, NULL);
		return;
	}
	child_start(&one, argv);
	ck_assert_msg(
	    child_wait(&one, SOON) == 0, "%s: %s", file, child_err(&one));
}

/* Of two, of three, by a route, of the emergency server, through a wildcard
 * address; not of services of other protocols, and no chain. */
START_TEST(circles_are_refused)
{
	const char *back = "leads back to this one", *last, *path;

	new_services();
	check(text("%s%s", section("a", &a, to(&b)), section("b", &b, to(&a))),
	    back);
	check(text("%s%s%s", section("a", &a, to(&b)),
		  section("b", &b, to(&c)), section("c", &c, to(&a))),
	    back);
	last = section("c", &c, "server 0 address 127.0.0.1 port 9\n");
	check(text("%s%s%s", section("a", &a, to(&b)),
		  section("b", &b, to(&c)), last),
	    NULL);
	check(text("%s%s", section("a", &a, "route default service b\n"),
		  section("b", &b, to(&a))),
	    "to this one");
	check(text("%s%s", section("a", &a, to(&b)),
		  section("b", &b,
		      text("emergency 127.0.0.1:%d\n%s", a.port,
			  "server 0 address 127.0.0.1 port 9\n"))),
	    back);
	check(text("service a\nlisten 0.0.0.0:%d\n%s%s", a.port, to(&b),
		  section("b", &b,
		      text("server 0 address 127.0.0.77 port %d\n", a.port))),
	    back);
	check(text("%s%s",
		  section("a", &a, text("udp\n%s", to(&b))),
		  section("b", &b, text("udp\n%s", to(&a)))),
	    back);
	check(text("%s%s", section("a", &a, text("udp\n%s", to(&b))),
		  section("b", &b, to(&a))),
	    NULL);
	path = scratch("s");
	check(text("service a\nlisten %s\n%s%s", path, to(&b),
		  section("b", &b, text("server 0 address %s\n", path))),
	    back);
}
END_TEST

static void
up(const char *file)
{
	write_file(scratch("conf"), file);
	pen_up(&fixture.pen, &ctl, "-C", ctl.text, "-F", scratch("conf"), NULL);
}

/* By a command, a new service, an address that moves, and a reload that turns
 * it round. */
START_TEST(circles_by_changes)
{
	const char *back = "leads back to this one", *file;

	new_services();
	up(text("%s%s", section("a", &a, to(&b)),
	    section("b", &b, "server 0 address 127.0.0.1 port 9\n")));
	pen_answers(&ctl,
	    text("service b server 0 address 127.0.0.1 port %d", a.port), back);
	pen_answers(&ctl, text("service b listen %s", c.text), "");
	pen_answers(&ctl,
	    text("service b server 0 address 127.0.0.1 port %d", a.port), "");
	pen_answers(
	    &ctl, text("service b listen %s,%s", b.text, c.text), back);
	file = text("%s%s", section("a", &a, to(&c)), section("b", &b, to(&a)));
	write_file(scratch("conf"), text("%s%s", file,
				       section("c", &c, to(&a))));
	pen_answers(&ctl, "reload", back);
	write_file(scratch("conf"), file);
	ck_assert_ptr_null(strstr(pen_ask(&ctl, "reload"), "error"));
	write_file(scratch("conf"),
	    text("%s%s",
		section("a", &a, "server 0 address 127.0.0.1 port 9\n"),
		section("b", &b, to(&a))));
	ck_assert_ptr_null(strstr(pen_ask(&ctl, "reload"), "error"));
	write_file(scratch("conf"),
	    text("%s%s", section("a", &a, to(&b)),
		section("b", &b, "server 0 address 127.0.0.1 port 9\n")));
	ck_assert_ptr_null(strstr(pen_ask(&ctl, "reload"), "error"));
	pen_down(&fixture.pen);
}
END_TEST

/* A name leads to another service, which leads back; that of a chain may. */
START_TEST(circles_by_names)
{
	struct endpoint at;

	names_fixture_begin(&fixture);
	new_services();
	endpoint_at_host(&at, &fixture.one.at, "127.0.0.3");
	ctl = fixture.ctl;
	write_file(scratch("conf"),
	    text("resolver %s\nresolve_interval 0.05\n%s%s%s",
		fixture.names.text,
		section("a", &a,
		    text("server 0 address " NAME " port %d\n", at.port)),
		section("b", &at, to(&a)),
		section("c", &c,
		    text("server 0 address " NAME " port %d\n", at.port))));
	pen_up(&fixture.pen, &a, "-C", ctl.text, "-F", scratch("conf"), NULL);
	ck_assert_str_eq(endpoint_hear(&c), "one");
	nameserver_set(&fixture.names, NAME, "127.0.0.3", NULL);
	WAIT_FOR(names_fixture_said(&fixture, REFUSED "0") == 1 &&
		names_fixture_said(&fixture, "addresses changed") == 1,
	    SOON);
	ck_assert_int_eq(
	    names_fixture_said(
		&fixture, "addresses=1 service=c"),
	    1);
	wait_for_lookups();
	ck_assert_int_eq(names_fixture_said(&fixture, REFUSED), 1);
	ck_assert_str_eq(endpoint_hear(&c), "one");
	names_fixture_end(&fixture);
}
END_TEST

SUITE(test_own_servers)
{
	Suite *s = suite_create("own servers");

	SUITE_ADD(s, name_of_a_server_leads_to_pen, 120);
	SUITE_ADD(s, name_of_all_its_addresses_leads_to_pen, 120);
	SUITE_ADD(s, service_record_leads_to_pen, 60);
	SUITE_ADD(s, special_servers_lead_to_pen, 60);
	SUITE_ADD(s, listening_on_all_addresses, 60);
	SUITE_ADD(s, datagrams, 60);
	SUITE_ADD(s, workers_keep_it, 60);
	SUITE_ADD(s, commands_while_a_name_leads_to_pen, 60);
	SUITE_ADD(s, circles_are_refused, 60);
	SUITE_ADD(s, circles_by_changes, 60);
	SUITE_ADD(s, circles_by_names, 60);
	return s;
}
