/* test_names.c: traffic follows the names of servers; while the name server
 * fails, nothing changes. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/wait.h"
#include "system/names_fixture.h"

static struct names_fixture fixture;

static bool
is_served_by(const char *who)
{
	return strcmp(endpoint_hear(&fixture.front), who) == 0;
}

/* Every client is served, whatever the name has just then. */
START_TEST(traffic_follows_the_name)
{
	int i;

	names_fixture_begin(&fixture);
	names_fixture_start(&fixture, "0.05");
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	for (i = 0; i < 6; i++) {
		const char *who = i % 2 == 0 ? "two" : "one";

		nameserver_set(&fixture.names, NAME,
		    i % 2 == 0 ? "127.0.0.2" : "127.0.0.1", NULL);
		WAIT_FOR(is_served_by(who), 10000);
	}
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "server addresses changed server=0"),
	    6);
	ck_assert_int_eq(names_fixture_said(&fixture, "failed"), 0);
	names_fixture_end(&fixture);
}
END_TEST

/* An open connection stays where it is. */
START_TEST(sessions_stay)
{
	struct backend echo;
	struct endpoint at;
	int fd;

	names_fixture_begin(&fixture);
	backend_stop(&fixture.one);
	backend_start_at(&echo, &fixture.one.at, backend_echo, NULL);
	names_fixture_start(&fixture, "0.05");
	fd = endpoint_connect(&fixture.front);
	endpoint_expect_echo(fd, "before");
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(names_fixture_said(&fixture, "server addresses changed") > 0,
	    10000);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "two");
	endpoint_expect_echo(fd, "after");
	close(fd);
	at = echo.at;
	backend_stop(&echo);
	backend_start_at(&fixture.one, &at, backend_say, "one");
	names_fixture_end(&fixture);
}
END_TEST

/* It keeps a server draining: a wait for the end of it does not end before. */
START_TEST(drain_goes_on_at_other_addresses)
{
	const char *left = "server 0: 1 left\n";
	struct backend echo;
	char got[64];
	int fd, waits;

	nameserver_start(&fixture.names);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", NULL);
	backend_start(&echo, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&fixture.front, ENDPOINT_TCP4);
	endpoint_new(&fixture.ctl, ENDPOINT_UNIX);
	fixture.one.at = echo.at;
	names_fixture_start(&fixture, "0.05");
	fd = endpoint_connect(&fixture.front);
	endpoint_expect_echo(fd, "before");
	waits = endpoint_connect(&fixture.ctl);
	endpoint_send(waits, "server 0 drain wait 60\n", 23);
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(names_fixture_said(&fixture, "server addresses changed") > 0,
	    10000);
	endpoint_recv(waits, got, strlen(left));
	ck_assert_mem_eq(got, left, strlen(left));
	close(fd);
	ck_assert_ptr_nonnull(strstr(
	    endpoint_recv_all(waits), "server 0: no connections left\n"));
	close(waits);
	pen_down(&fixture.pen);
	backend_stop(&echo);
	nameserver_stop(&fixture.names);
}
END_TEST

/* The last good answer stays, and is told once, not each time. */
START_TEST(name_server_fails)
{
	int asked;

	names_fixture_begin(&fixture);
	names_fixture_start(&fixture, "0.05");
	nameserver_set_mode(&fixture.names, NAMESERVER_FAILS);
	WAIT_FOR(names_fixture_said(&fixture,
		     "name lookups failed, keeping "
		     "addresses") > 0,
	    20000);
	asked = fixture.names.questions;
	WAIT_FOR(fixture.names.questions > asked + 4, 60000);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	ck_assert_int_eq(names_fixture_said(&fixture, "lookups failed"), 1);
	nameserver_set_mode(&fixture.names, NAMESERVER_ANSWERS);
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(is_served_by("two"), 60000);
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "names resolved again"), 1);
	names_fixture_end(&fixture);
}
END_TEST

/* A name that has no address any more keeps those it had. */
START_TEST(name_is_gone)
{
	names_fixture_begin(&fixture);
	names_fixture_start(&fixture, "0.05");
	nameserver_set(&fixture.names, NAME, NULL);
	WAIT_FOR(names_fixture_said(&fixture,
		     "name lookups failed, keeping "
		     "addresses") > 0,
	    20000);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	names_fixture_end(&fixture);
}
END_TEST

/* A server has some of ten addresses, and goes on with these in whatever order
 * the name server tells of all. */
START_TEST(order_of_many)
{
	int asked;

	names_fixture_begin(&fixture);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.1.0.2",
	    "127.1.0.3", "127.1.0.4", "127.1.0.5", "127.1.0.6", "127.1.0.7",
	    "127.1.0.8", "127.1.0.9", "127.1.0.10", NULL);
	names_fixture_start(&fixture, "0.05");
	nameserver_set(&fixture.names, NAME, "127.1.0.10", "127.1.0.9",
	    "127.1.0.8", "127.1.0.7", "127.1.0.6", "127.1.0.5", "127.1.0.4",
	    "127.1.0.3", "127.1.0.2", "127.0.0.1", NULL);
	asked = fixture.names.questions;
	WAIT_FOR(fixture.names.questions > asked + 8, 60000);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "server addresses changed"), 0);
	names_fixture_end(&fixture);
}
END_TEST

/* A resolver library may keep answers for their time to live. */
START_TEST(interval_is_shorter_than_time_to_live)
{
	names_fixture_begin(&fixture);
	fixture.names.ttl = 3600;
	nameserver_set(&fixture.names, NAME, "127.0.0.1", NULL);
	names_fixture_start(&fixture, "0.05");
	WAIT_FOR(fixture.names.questions > 10, 10000);
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(is_served_by("two"), 10000);
	names_fixture_end(&fixture);
}
END_TEST

static bool
has_state(const char *state)
{
	return strstr(endpoint_ask(&fixture.ctl, "servers long\n"),
		   text("state %s", state)) != NULL;
}

/* Other addresses bring no server back that the operator or checks keep out. */
START_TEST(kept_out_at_other_addresses)
{
	static const char changed[] = "server addresses changed server=0";

	names_fixture_begin(&fixture);
	names_fixture_start(&fixture, "0.05");
	endpoint_ask(&fixture.ctl, "server 0 blacklist 600\n");
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.1.0.2", NULL);
	WAIT_FOR(names_fixture_said(&fixture, changed) == 1, 10000);
	ck_assert(has_state("blacklisted"));
	backend_stop(&fixture.one);
	endpoint_ask(
	    &fixture.ctl, "check_interval 50ms; check_fall 1; check connect\n");
	WAIT_FOR(has_state("down"), 10000);
	nameserver_set(&fixture.names, NAME, "127.1.0.2", "127.1.0.3", NULL);
	WAIT_FOR(names_fixture_said(&fixture, changed) == 2, 10000);
	ck_assert(has_state("down"));
	pen_down(&fixture.pen);
	backend_stop(&fixture.two);
	nameserver_stop(&fixture.names);
}
END_TEST

/* With 0 a name is looked up when it is set; an interval may come later. */
START_TEST(interval_set_anew)
{
	int asked;

	names_fixture_begin(&fixture);
	names_fixture_start(&fixture, "0");
	asked = fixture.names.questions;
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	ck_assert_int_eq(fixture.names.questions, asked);
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "resolve_interval 0.05\n"), "0.050\n");
	WAIT_FOR(is_served_by("two"), 10000);
	names_fixture_end(&fixture);
}
END_TEST

START_TEST(no_such_name_at_the_start)
{
	nameserver_start(&fixture.names);
	endpoint_new(&fixture.front, ENDPOINT_TCP4);
	pen_expect_failure("server \"" NAME "\": ", "-f", "--resolver",
	    fixture.names.text, fixture.front.text, NAME ":80", NULL);
	ck_assert_int_gt(fixture.names.questions, 0);
	nameserver_stop(&fixture.names);
	pen_expect_failure("\"nobody\" is not an IP address", "-f",
	    "--resolver", "nobody", fixture.front.text, NAME ":80", NULL);
}
END_TEST

/* One that cannot be asked for is refused at once, not waited for. */
START_TEST(malformed_name)
{
	nameserver_start(&fixture.names);
	endpoint_new(&fixture.front, ENDPOINT_TCP4);
	pen_expect_failure("server \"a..test\": ", "-f", "--resolver",
	    fixture.names.text, fixture.front.text, "a..test:80", NULL);
	nameserver_stop(&fixture.names);
}
END_TEST

/* Nor one whose name gets that address later: clients would have pen's
 * access. */
START_TEST(control_socket_is_no_server)
{
	struct endpoint tcp;
	char refused[64];

	nameserver_start(&fixture.names);
	nameserver_set(&fixture.names, NAME, "127.0.0.9", NULL);
	endpoint_new(&fixture.front, ENDPOINT_TCP4);
	endpoint_new(&tcp, ENDPOINT_TCP4);
	pen_up(&fixture.pen, &fixture.front, names_fixture_user(), "-C",
	    tcp.text, "--resolver", fixture.names.text,
	    "--resolve-interval", "0.05", fixture.front.text,
	    text(NAME ":%d", tcp.port), NULL);
	snprintf(refused, sizeof(refused),
	    "server 0 is pen's own control socket 127.0.0.1:%d", tcp.port);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", NULL);
	WAIT_FOR(names_fixture_said(&fixture, refused) > 0, 20000);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&tcp, "servers\n"), "addr 127.0.0.9 "));
	pen_down(&fixture.pen);
	nameserver_stop(&fixture.names);
}
END_TEST

/* ---- all addresses of a name ---- */

/* With `interval` "0" only what the test says looks the name up again. */
static void
begin_with_all(const char *interval, const char *first, const char *second)
{
	names_fixture_begin(&fixture);
	nameserver_set(&fixture.names, NAME, first, second, NULL);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", interval,
	    fixture.front.text, names_fixture_all(&fixture), NULL);
}

/* Each address gets its share; those that come and go are followed, and a
 * server keeps its number as long as its address is there. */
START_TEST(each_address_is_a_server)
{
	int i, got_one = 0;

	begin_with_all("0.05", "127.0.0.1", "127.0.0.2");
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", NULL));
	for (i = 0; i < 10; i++)
		got_one += is_served_by("one");
	ck_assert_int_eq(got_one, 5);
	nameserver_set(
	    &fixture.names, NAME, "127.0.0.3", "127.0.0.2", "127.0.0.1", NULL);
	WAIT_FOR(
	    names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", "127.0.0.3"),
	    10000);
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(names_fixture_has(&fixture, "127.0.0.2", NULL, NULL), 10000);
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(endpoint_hear(&fixture.front), "two");
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.0.0.2", NULL);
	WAIT_FOR(
	    names_fixture_has(&fixture, "127.0.0.2", "127.0.0.1", NULL), 10000);
	names_fixture_end(&fixture);
}
END_TEST

/* Servers whose names are looked up in different portions, far from each other,
 * with many others between them. */
enum { FAR = 600 };

static const char *
long_list(void)
{
	const char *path = scratch("long.conf");
	FILE *f = fopen(path, "w");
	int i;

	ck_assert_ptr_nonnull(f);
	fprintf(f, "server 0 address " NAME "* port %d\n", fixture.one.at.port);
	for (i = 1; i < FAR; i++)
		fprintf(f, "server %d address 10.0.%d.%d port 1 maint\n", i,
		    i >> 8, i & 255);
	fprintf(f, "server %d address far.test* port %d\n", FAR,
	    fixture.one.at.port);
	fclose(f);
	return path;
}

/* Whether this server, and no other, has the address. */
static bool
has_far(int number, const char *address)
{
	return strstr(endpoint_ask(&fixture.ctl, "servers\n"),
		   text("\n%d addr %s port %d conn", number, address,
		       fixture.one.at.port)) != NULL;
}

static bool
asked_again(int questions)
{
	return fixture.names.questions >= questions + 12;
}

/* All names are followed, and what came from a name stays while others are
 * looked up. */
START_TEST(names_of_a_long_list_follow)
{
	int questions;

	names_fixture_begin(&fixture);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.0.0.2", NULL);
	nameserver_set(&fixture.names, "far.test", "127.0.0.3", NULL);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    "-F", long_list(), fixture.front.text, NULL);
	ck_assert(has_far(FAR, "127.0.0.3"));
	ck_assert(has_far(FAR + 1, "127.0.0.2"));
	questions = fixture.names.questions;
	WAIT_FOR(asked_again(questions), 20000);
	ck_assert_int_eq(names_fixture_said(&fixture, "server address"), 0);
	nameserver_set(&fixture.names, "far.test", "127.0.0.4", NULL);
	WAIT_FOR(has_far(FAR, "127.0.0.4"), 20000);
	ck_assert(has_far(FAR + 1, "127.0.0.2"));
	nameserver_set(&fixture.names, NAME, "127.0.0.2", "127.0.0.5", NULL);
	WAIT_FOR(has_far(FAR + 1, "127.0.0.2"), 20000);
	WAIT_FOR(strstr(endpoint_ask(&fixture.ctl, "servers\n"),
		     "0 addr 127.0.0.5") != NULL,
	    20000);
	names_fixture_end(&fixture);
}
END_TEST

/* What a name has when pen starts is no change of it. */
START_TEST(nothing_is_said_at_the_start)
{
	begin_with_all("0", "127.0.0.1", "127.0.0.2");
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", NULL));
	ck_assert_int_eq(names_fixture_said(&fixture, "server address"), 0);
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "resolve_interval 0.05\n"), "0.050\n");
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.0.0.3", NULL);
	WAIT_FOR(
	    names_fixture_said(&fixture, "server address added") == 1, 10000);
	names_fixture_end(&fixture);
}
END_TEST

/* While clients come all the time and the name changes all the time, all are
 * served. */
START_TEST(clients_while_addresses_change)
{
	int i, changes;

	begin_with_all("0.01", "127.0.0.1", "127.0.0.2");
	for (i = 0; i < 400; i++) {
		const char *who;

		if (i % 20 == 0)
			nameserver_set(&fixture.names, NAME,
			    i % 40 == 0 ? "127.0.0.2" : "127.0.0.1",
			    i % 60 == 0 ? "127.0.0.1" : NULL, NULL);
		who = endpoint_hear(&fixture.front);
		ck_assert_msg(
		    strcmp(who, "one") == 0 || strcmp(who, "two") == 0,
		    "client %d: \"%s\"", i, who);
	}
	changes = names_fixture_said(&fixture, "server address");
	ck_assert_int_gt(changes, 0);
	ck_assert_int_eq(names_fixture_said(&fixture, "server suspect"), 0);
	names_fixture_end(&fixture);
}
END_TEST

/* What the operator did to one of them stays through a lookup and a reload; the
 * settings of all are those of the operator's server. */
START_TEST(operator_and_addresses)
{
	begin_with_all("0", "127.0.0.1", "127.0.0.2");
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "server 1 drain\n"), "");
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "server 1 weight 4\n"),
	    "error: server 1 is an address of " NAME
	    "*: set server 0\n");
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "server 0 max 7\n"), "");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&fixture.ctl, "servers\n"), "127.0.0.2 port"));
	ck_assert_ptr_nonnull(
	    strstr(strstr(endpoint_ask(&fixture.ctl, "servers\n"), "127.0.0.2"),
		" max 7 "));
	nameserver_set(
	    &fixture.names, NAME, "127.0.0.3", "127.0.0.2", "127.0.0.1", NULL);
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "resolve_interval 0.05\n"), "0.050\n");
	WAIT_FOR(
	    names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", "127.0.0.3"),
	    10000);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&fixture.ctl, "explain 127.0.0.1\n"),
		"1 name " NAME "* obstacle drain"));
	names_fixture_end(&fixture);
}
END_TEST

/* The operator's server has lost its address, and has that of another one now,
 * which gets clients, or gets none, as before. */
START_TEST(drained_is_one_address)
{
	begin_with_all("0.05", "127.0.0.1", "127.0.0.2");
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "server 0 drain\n"), "");
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(names_fixture_has(&fixture, "127.0.0.2", NULL, NULL), 10000);
	ck_assert(is_served_by("two"));
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.0.0.2", NULL);
	WAIT_FOR(
	    names_fixture_has(&fixture, "127.0.0.2", "127.0.0.1", NULL), 10000);
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "server 1 drain\n"), "");
	nameserver_set(&fixture.names, NAME, "127.0.0.1", NULL);
	WAIT_FOR(names_fixture_has(&fixture, "127.0.0.1", NULL, NULL), 10000);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&fixture.ctl, "explain 127.0.0.1\n"),
		"0 name " NAME "* obstacle drain"));
	names_fixture_end(&fixture);
}
END_TEST

/* So long that it is read while clients are served. */
static const char *
long_acl(void)
{
	const char *path = scratch("acl");
	FILE *f = fopen(path, "w");
	int i;

	ck_assert_ptr_nonnull(f);
	fprintf(f, "10.0.0.1/8\n");
	for (i = 0; i < 20000; i++)
		fprintf(f, "permit 192.168.%d.%d\n", i >> 8, i & 255);
	fclose(f);
	return path;
}

static void
reload_with(const char *more)
{
	const char *conf = scratch("pen.conf"), *server;

	names_fixture_begin(&fixture);
	server =
	    text("server 0 address " NAME " port %d\n", fixture.one.at.port);
	write_file(conf, server);
	pen_up(&fixture.pen, &fixture.front, "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "-F", conf, fixture.front.text,
	    NULL);
	write_file(conf, text("%s%s", server, more));
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "reload\n"), "");
}

/* A reload that waits for names reads the file twice. */
START_TEST(a_reload_warns_once)
{
	reload_with("timeout 5\ntimeout 6\n");
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "timeout was set in line 2 already"),
	    1);
	names_fixture_end(&fixture);
}
END_TEST

/* It waits for the list first. */
START_TEST(a_list_warns_once)
{
	reload_with(text("acl 1 file %s\n", long_acl()));
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "acl: addresses have host bits set"),
	    1);
	names_fixture_end(&fixture);
}
END_TEST

static bool
is_not_in_route(const char *sni, unsigned server)
{
	return strstr(endpoint_ask(
			  &fixture.ctl, text("explain 10.0.0.1 sni %s\n", sni)),
		   text("\n%u name %s obstacle route", server,
		       server == 9 ? "127.0.0.9" : NAME "*")) != NULL;
}

/* A route to the name, or to its number, is one to all its addresses. */
START_TEST(routes_follow_addresses)
{
	unsigned i;

	begin_with_all("0.05", "127.0.0.1", "127.0.0.2");
	endpoint_ask(&fixture.ctl, "server 9 address 127.0.0.9 port 80\n");
	endpoint_ask(
	    &fixture.ctl, "route sni a.test 0; route sni b.test " NAME "*\n");
	endpoint_ask(&fixture.ctl, "route sni c.test 1\n");
	nameserver_set(
	    &fixture.names, NAME, "127.0.0.3", "127.0.0.2", "127.0.0.1", NULL);
	WAIT_FOR(
	    names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", "127.0.0.3"),
	    10000);
	for (i = 0; i < 3; i++) {
		ck_assert(!is_not_in_route("a.test", i));
		ck_assert(!is_not_in_route("b.test", i));
		ck_assert_int_eq(is_not_in_route("c.test", i), i != 1);
	}
	ck_assert(is_not_in_route("a.test", 9));
	ck_assert(is_not_in_route("b.test", 9));
	names_fixture_end(&fixture);
}
END_TEST

/* "blacklist" takes out the server that is named, not all of its name. */
START_TEST(blacklisted_is_one_address)
{
	begin_with_all("0", "127.0.0.1", "127.0.0.2");
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "server 0 blacklist 60\n"), "");
	ck_assert_ptr_nonnull(strstr(
	    endpoint_ask(&fixture.ctl, "servers long\n"), "state blacklisted"));
	ck_assert_str_eq(endpoint_hear(&fixture.front), "two");
	ck_assert_str_eq(endpoint_hear(&fixture.front), "two");
	names_fixture_end(&fixture);
}
END_TEST

/* A file is written with the name, and read back gives the same servers. */
START_TEST(written_as_the_name)
{
	const char *file = scratch("pen.conf"), *answer;

	begin_with_all("0", "127.0.0.1", "127.0.0.2");
	ck_assert_str_eq(endpoint_ask(&fixture.ctl, "server 1 drain\n"), "");
	answer = endpoint_ask(
	    &fixture.ctl, text("write %s; include %s\n", file, file));
	ck_assert_msg(strstr(answer, "error") == NULL, "%s", answer);
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", NULL));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&fixture.ctl, "explain 127.0.0.1\n"),
		"obstacle drain"));
	answer = contents(file);
	ck_assert_ptr_nonnull(strstr(answer, "server 0 address " NAME "* "));
	ck_assert_ptr_null(strstr(answer, "server 1 "));
	names_fixture_end(&fixture);
}
END_TEST

START_TEST(other_host_instead)
{
	begin_with_all("0", "127.0.0.1", "127.0.0.2");
	ck_assert_str_eq(endpoint_ask(&fixture.ctl,
			     text("server 0 address 127.0.0.2 port %d\n",
				 fixture.one.at.port)),
	    "");
	ck_assert(names_fixture_has(&fixture, "127.0.0.2", NULL, NULL));
	ck_assert_ptr_nonnull(strstr(
	    endpoint_ask(&fixture.ctl, "emergency " NAME "*:80\n"),
	    "only a numbered server can stand for all addresses of a name"));
	ck_assert_ptr_nonnull(strstr(
	    endpoint_ask(&fixture.ctl, "server 5 address none.test* port 80\n"),
	    "error: "));
	names_fixture_end(&fixture);
}
END_TEST

/* ---- services ---- */

static bool
servers_say(const char *what)
{
	return strstr(endpoint_ask(&fixture.ctl, "servers\n"), what) != NULL;
}

/* Each target is a server with the port, priority and weight of its record, and
 * is looked up again when its time to live is over, whatever the interval. */
START_TEST(service)
{
	struct nameserver_target to[] = { { "one.test", 0, 10, 3 },
		{ "two.test", 0, 20, 1 } };

	names_fixture_begin(&fixture);
	to[0].port = to[1].port = fixture.one.at.port;
	nameserver_set(&fixture.names, "one.test", "127.0.0.1", NULL);
	nameserver_set(&fixture.names, "two.test", "127.0.0.2", NULL);
	nameserver_set_service(&fixture.names, "_web._tcp.test", to, 2);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "3600",
	    fixture.front.text, "_web._tcp.test", NULL);
	ck_assert(servers_say(text("0 addr 127.0.0.1 port %d conn 0 max 0 "
				   "hard 0 weight 3 prio 10",
	    fixture.one.at.port)));
	ck_assert(servers_say(text("1 addr 127.0.0.2 port %d conn 0 max 0 "
				   "hard 0 weight 1 prio 20",
	    fixture.one.at.port)));
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	ck_assert_str_eq(endpoint_hear(&fixture.front), "two");
	nameserver_set_service(&fixture.names, "_web._tcp.test", to + 1, 1);
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "resolve_interval 0.1\n"), "0.100\n");
	WAIT_FOR(names_fixture_has(&fixture, "127.0.0.2", NULL, NULL), 20000);
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "resolve_interval 3600\n"), "3600\n");
	to[1].weight = 0;
	nameserver_set_service(&fixture.names, "_web._tcp.test", to, 2);
	WAIT_FOR(servers_say(" weight 1 prio 10") || servers_say(" weight 3 "),
	    20000);
	names_fixture_end(&fixture);
}
END_TEST

/* The targets of the lowest priority share the clients by their weights. */
START_TEST(service_by_priority)
{
	struct nameserver_target to[] = { { "a.test", 0, 10, 3 },
		{ "b.test", 0, 10, 1 }, { "b.test", 9, 20, 9 } };
	int i, got_one = 0, got_two = 0;

	names_fixture_begin(&fixture);
	to[0].port = to[1].port = fixture.one.at.port;
	nameserver_set(&fixture.names, "a.test", "127.0.0.1", NULL);
	nameserver_set(&fixture.names, "b.test", "127.0.0.2", NULL);
	nameserver_set_service(&fixture.names, "_web._tcp.test", to, 3);
	pen_up(&fixture.pen, &fixture.front, "-r", "-O", "prio", "--resolver",
	    fixture.names.text, fixture.front.text, "_web._tcp.test", NULL);
	for (i = 0; i < 8; i++) {
		const char *who = endpoint_hear(&fixture.front);

		got_one += strcmp(who, "one") == 0;
		got_two += strcmp(who, "two") == 0;
	}
	ck_assert_int_eq(got_one, 6);
	ck_assert_int_eq(got_two, 2);
	names_fixture_end(&fixture);
}
END_TEST

SUITE(test_names)
{
	Suite *s = suite_create("names");

	SUITE_ADD(s, traffic_follows_the_name, 60);
	SUITE_ADD(s, sessions_stay, 60);
	SUITE_ADD(s, drain_goes_on_at_other_addresses, 60);
	SUITE_ADD(s, name_server_fails, 120);
	SUITE_ADD(s, name_is_gone, 60);
	SUITE_ADD(s, order_of_many, 120);
	SUITE_ADD(s, interval_is_shorter_than_time_to_live, 60);
	SUITE_ADD(s, kept_out_at_other_addresses, 60);
	SUITE_ADD(s, interval_set_anew, 60);
	SUITE_ADD(s, no_such_name_at_the_start, 60);
	SUITE_ADD(s, control_socket_is_no_server, 40);
	SUITE_ADD(s, malformed_name, 30);
	SUITE_ADD(s, each_address_is_a_server, 60);
	SUITE_ADD(s, names_of_a_long_list_follow, 120);
	SUITE_ADD(s, nothing_is_said_at_the_start, 60);
	SUITE_ADD(s, clients_while_addresses_change, 60);
	SUITE_ADD(s, drained_is_one_address, 60);
	SUITE_ADD(s, a_reload_warns_once, 60);
	SUITE_ADD(s, a_list_warns_once, 60);
	SUITE_ADD(s, operator_and_addresses, 60);
	SUITE_ADD(s, routes_follow_addresses, 60);
	SUITE_ADD(s, blacklisted_is_one_address, 60);
	SUITE_ADD(s, written_as_the_name, 60);
	SUITE_ADD(s, other_host_instead, 60);
	SUITE_ADD(s, service, 60);
	SUITE_ADD(s, service_by_priority, 60);
	return s;
}
