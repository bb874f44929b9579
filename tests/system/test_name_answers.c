/* test_name_answers.c: what pen makes of answers about names: half of one, the
 * names of those that it leads to, none at the start. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/mounts.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/names_fixture.h"

static struct names_fixture fixture;

/* ---- half an answer ---- */

static bool
has_asked_again(int questions)
{
	return fixture.names.questions > questions + 12;
}

/* While the question for one family fails, its addresses stay, and those of the
 * other one are followed; that is told once. */
START_TEST(one_family_fails)
{
	int asked;

	names_fixture_begin(&fixture);
	nameserver_set(
	    &fixture.names, NAME, "127.0.0.1", "127.0.0.2", "::1", NULL);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    fixture.front.text, names_fixture_all(&fixture), NULL);
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", "::1"));
	nameserver_fail(&fixture.names, NAME, "A");
	WAIT_FOR(names_fixture_said(
		     &fixture, "name lookups failed, keeping addresses") == 1,
	    20000);
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "first=" NAME " error=\"A: "), 1);
	asked = fixture.names.questions;
	WAIT_FOR(has_asked_again(asked), 60000);
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", "::1"));
	ck_assert_int_eq(names_fixture_said(&fixture, "lookups failed"), 1);
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(names_fixture_has(&fixture, "127.0.0.2", NULL, NULL), 20000);
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "names resolved again"), 1);
	names_fixture_end(&fixture);
}
END_TEST

/* The same of a server that has all addresses of its name. */
START_TEST(one_family_of_one_server_fails)
{
	int asked;

	names_fixture_begin(&fixture);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "::1", NULL);
	names_fixture_start(&fixture, "0.05");
	nameserver_fail(&fixture.names, NAME, "A");
	WAIT_FOR(names_fixture_said(
		     &fixture, "name lookups failed, keeping addresses") == 1,
	    20000);
	asked = fixture.names.questions;
	WAIT_FOR(has_asked_again(asked), 60000);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "server addresses changed"), 0);
	names_fixture_end(&fixture);
}
END_TEST

/* A target that fails keeps its servers, one that has no address any more does
 * not. */
START_TEST(one_target_fails)
{
	struct nameserver_target to[] = { { "one.test", 0, 10, 3 },
		{ "two.test", 0, 10, 3 } };
	int asked;

	names_fixture_begin(&fixture);
	to[0].port = to[1].port = fixture.one.at.port;
	nameserver_set(&fixture.names, "one.test", "127.0.0.1", NULL);
	nameserver_set(&fixture.names, "two.test", "127.0.0.2", NULL);
	nameserver_set_service(&fixture.names, "_web._tcp.test", to, 2);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    fixture.front.text, "_web._tcp.test", NULL);
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", NULL));
	nameserver_fail(&fixture.names, "two.test", "A");
	WAIT_FOR(names_fixture_said(
		     &fixture, "name lookups failed, keeping addresses") == 1,
	    20000);
	ck_assert_int_eq(
	    names_fixture_said(&fixture, "error=\"two.test A: "), 1);
	asked = fixture.names.questions;
	WAIT_FOR(has_asked_again(asked), 60000);
	ck_assert(names_fixture_has(&fixture, "127.0.0.1", "127.0.0.2", NULL));
	nameserver_set(&fixture.names, "two.test", NULL);
	WAIT_FOR(names_fixture_has(&fixture, "127.0.0.1", NULL, NULL), 20000);
	names_fixture_end(&fixture);
}
END_TEST

/* Half an answer to a start is used, and said. */
START_TEST(half_an_answer_at_the_start)
{
	names_fixture_begin(&fixture);
	nameserver_fail(&fixture.names, NAME, "AAAA");
	names_fixture_start(&fixture, "0.05");
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	ck_assert_int_eq(
	    names_fixture_said(&fixture,
		"name resolved only in part name=" NAME " error=\"AAAA: "),
	    1);
	names_fixture_end(&fixture);
}
END_TEST

/* ---- answers that lead to pen itself ---- */

/* It holds back no other name: a server keeps its addresses, and one for the
 * new address alone has none. */
START_TEST(control_socket_of_one_name)
{
	const char *refused = "address of a name refused server=";
	struct endpoint tcp;
	const char *other;

	names_fixture_begin(&fixture);
	nameserver_set(&fixture.names, "other.test", "127.0.0.1", NULL);
	other = text("other.test:%d", fixture.one.at.port);
	endpoint_at_host(&tcp, &fixture.one.at, "127.0.0.3");
	pen_up(&fixture.pen, &fixture.front, "-r", names_fixture_user(), "-C",
	    fixture.ctl.text, "-C", tcp.text, "--resolver", fixture.names.text,
	    "--resolve-interval", "0.05", fixture.front.text,
	    names_fixture_all(&fixture), names_fixture_server(&fixture), other,
	    NULL);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.0.0.3", NULL);
	WAIT_FOR(names_fixture_said(&fixture, text("%s1 ", refused)) > 0 &&
		names_fixture_said(&fixture, text("%s0 ", refused)) > 0,
	    20000);
	nameserver_set(&fixture.names, "other.test", "127.0.0.2", NULL);
	WAIT_FOR(
	    names_fixture_has(&fixture, "127.0.0.1", "127.0.0.1", "127.0.0.2"),
	    20000);
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "check_port 1\n"), "1\n");
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(
	    names_fixture_has(&fixture, "127.0.0.2", "127.0.0.2", "127.0.0.2"),
	    20000);
	names_fixture_end(&fixture);
}
END_TEST

/* ---- what servers are called ---- */

static char asked_host[200];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
note_host(struct backend *b, int fd)
{
	char got[1024], *at;
	ssize_t n = recv(fd, got, sizeof(got) - 1, 0);

	(void)b;
	got[n > 0 ? n : 0] = '\0';
	at = strstr(got, "Host: ");
	if (at == NULL)
		return;
	at[strcspn(at, "\r")] = '\0';
	pthread_mutex_lock(&lock);
	snprintf(asked_host, sizeof(asked_host), "%s", at);
	pthread_mutex_unlock(&lock);
}

static bool
host_was(const char *host)
{
	bool was;

	pthread_mutex_lock(&lock);
	was = strcmp(asked_host,
		  text("Host: %s:%d", host, fixture.one.at.port)) == 0;
	pthread_mutex_unlock(&lock);
	return was;
}

/* The name without its star, and a target's own name. */
START_TEST(checks_name_the_host)
{
	struct nameserver_target to = { "one.test", 0, 10, 3 };

	nameserver_start(&fixture.names);
	backend_start(&fixture.one, ENDPOINT_TCP4, note_host, NULL);
	to.port = fixture.one.at.port;
	nameserver_set(&fixture.names, NAME, "127.0.0.1", NULL);
	nameserver_set(&fixture.names, "one.test", "127.0.0.1", NULL);
	nameserver_set_service(&fixture.names, "_web._tcp.test", &to, 1);
	endpoint_new(&fixture.front, ENDPOINT_TCP4);
	pen_up(&fixture.pen, &fixture.front, "-r", "--resolver",
	    fixture.names.text, "-O", "check http /; check_interval 50ms",
	    fixture.front.text, names_fixture_all(&fixture), NULL);
	WAIT_FOR(host_was(NAME), 20000);
	pen_down(&fixture.pen);
	endpoint_new(&fixture.front, ENDPOINT_TCP4);
	pen_up(&fixture.pen, &fixture.front, "-r", "--resolver",
	    fixture.names.text, "-O", "check http /; check_interval 50ms",
	    fixture.front.text, "_web._tcp.test", NULL);
	WAIT_FOR(host_was("one.test"), 20000);
	pen_down(&fixture.pen);
	backend_stop(&fixture.one);
	nameserver_stop(&fixture.names);
}
END_TEST

/* ---- when they are asked for again ---- */

/* An address expires, however long the interval is: one that was found at the
 * start, too. */
START_TEST(time_to_live_counts_at_once)
{
	names_fixture_begin(&fixture);
	names_fixture_start(&fixture, "3600");
	nameserver_set(&fixture.names, NAME, "127.0.0.2", NULL);
	WAIT_FOR(names_fixture_said(&fixture, "server addresses changed") == 1,
	    20000);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "two");
	names_fixture_end(&fixture);
}
END_TEST

static void
use_name_server(const struct nameserver *n)
{
	write_file("/etc/resolv.conf", text("nameserver %s\n", n->host));
}

/* The host has another name server from now on. */
START_TEST(resolv_conf_is_followed)
{
	struct nameserver first, other;

	if (!mounts_private() || !mounts_empty("/etc", "64k"))
		SKIP("cannot mount here");
	if (!nameserver_start_usual(&first) || !nameserver_start_usual(&other))
		SKIP("no name server can be at port 53 here");
	names_fixture_begin(&fixture);
	nameserver_set(&first, NAME, "127.0.0.1", NULL);
	nameserver_set(&other, NAME, "127.0.0.2", NULL);
	use_name_server(&first);
	pen_up(&fixture.pen, &fixture.front, "-r", "-C", fixture.ctl.text,
	    "--resolve-interval", "0.05", fixture.front.text,
	    fixture.one.at.text, NULL);
	ck_assert_str_eq(endpoint_ask(&fixture.ctl,
			     text("server 0 address " NAME " port %d\n",
				 fixture.one.at.port)),
	    "");
	ck_assert_str_eq(endpoint_hear(&fixture.front), "one");
	use_name_server(&other);
	WAIT_FOR(names_fixture_said(&fixture, "server addresses changed") == 1,
	    20000);
	ck_assert_str_eq(endpoint_hear(&fixture.front), "two");
	nameserver_stop(&first);
	nameserver_stop(&other);
	names_fixture_end(&fixture);
}
END_TEST

SUITE(test_name_answers)
{
	Suite *s = suite_create("name answers");

	SUITE_ADD(s, one_family_fails, 120);
	SUITE_ADD(s, one_family_of_one_server_fails, 120);
	SUITE_ADD(s, one_target_fails, 120);
	SUITE_ADD(s, control_socket_of_one_name, 60);
	SUITE_ADD(s, half_an_answer_at_the_start, 60);
	SUITE_ADD(s, checks_name_the_host, 60);
	SUITE_ADD(s, time_to_live_counts_at_once, 60);
	SUITE_ADD(s, resolv_conf_is_followed, 60);
	return s;
}
