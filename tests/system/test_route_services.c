/* test_route_services.c: routes that lead to a service: from there on its
 * servers, algorithm, limits, queue, TLS and logs apply. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"
#include "support/identity.h"
#include "support/tlspeer.h"

enum { SOON = 10000, SERVERS = 6 };

static struct backend servers[SERVERS];
static struct endpoint front, ctl;
static struct pen pen;
static const char *conf;

/* ---- what there is ---- */

/* The request is whole, and so is its body, where it has one. */
static bool
is_whole(const char *seen)
{
	const char *body = strstr(seen, "\r\n\r\n");

	return body != NULL && (strncmp(seen, "POST", 4) != 0 || body[4] != 0);
}

/* Reads a request, and says its letter. */
static void
say_letter(struct backend *b, int fd)
{
	char seen[4096] = "";
	size_t n = 0;
	ssize_t got;

	while (!is_whole(seen) && n + 1 < sizeof(seen)) {
		got = read(fd, seen + n, sizeof(seen) - 1 - n);
		if (got <= 0)
			return;
		n += (size_t)got;
		seen[n] = '\0';
	}
	(void)backend_send(
	    fd, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", 38);
	(void)backend_send(fd, b->arg, 1);
}

/* Servers a, b, c and so on. */
static void
begin(backend_fn *serve)
{
	static const char *const letters[] = { "a", "b", "c", "d", "e", "f" };
	int i;

	for (i = 0; i < SERVERS; i++)
		backend_start(&servers[i], ENDPOINT_TCP4, serve, letters[i]);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
}

static void
end(void)
{
	int i;

	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		backend_stop(&servers[i]);
}

/* Lines for servers `first` to `last`, numbered from 0 on. */
static const char *
list(int first, int last)
{
	const char *lines = "";
	int i;

	for (i = first; i <= last; i++)
		lines = text("%sserver %d address 127.0.0.1 port %d\n", lines,
		    i - first, servers[i].at.port);
	return lines;
}

static void
up(const char *file)
{
	write_file(conf, file);
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
}

static const char *
ask(const char *line)
{
	return pen_ask(&ctl, line);
}

static void
answers(const char *line, const char *what)
{
	pen_answers(&ctl, line, what);
}

/* A client may see its end before it is counted. */
static void
counts(const char *line, const char *what)
{
	WAIT_FOR(strstr(ask(line), what) != NULL, SOON);
}

static const char *
request(const char *host)
{
	return text("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
}

/* A client whose server waits for the rest. */
static int
connect_slowly(const char *host)
{
	const char *begin = text("POST / HTTP/1.1\r\nHost: %s\r\n"
				 "Content-Length: 1\r\n\r\n",
	    host);
	int fd = endpoint_connect(&front);

	endpoint_send(fd, begin, strlen(begin));
	return fd;
}

/* What becomes of a client that asks. */
static int
connect_asking(const char *host)
{
	int fd = endpoint_connect(&front);

	endpoint_send(fd, request(host), strlen(request(host)));
	return fd;
}

/* The letter that a client of that host hears, or all that it hears if that is
 * no letter. */
static const char *
letter(const char *host)
{
	const char *said = endpoint_ask(&front, request(host)),
		   *body = strstr(said, "\r\n\r\n");

	return body != NULL && strncmp(said, "HTTP/1.1 200", 12) == 0 ? body + 4
								      : said;
}

static const char *
letters(const char *host, int times)
{
	const char *said = "";

	while (times-- > 0)
		said = text("%s%s", said, letter(host));
	return said;
}

static const char *
three_services(void)
{
	return text("listen %s\nroute host *.shop.test service shop\n"
		    "route host mail.test service mail\n"
		    "route default service rest\n"
		    "service shop\nroundrobin\nno sticky\n%s"
		    "service mail\nclient_acl 0\n%s"
		    "service rest\nqueue 10\n%sserver 0 max 1 hard 1\n",
	    front.text, list(0, 1), list(2, 3), list(4, 4));
}

/* ---- each is what it is ---- */

START_TEST(three_algorithms_behind_one_port)
{
	const char *mail;
	int held, waits;
	char byte;

	begin(say_letter);
	up(three_services());
	ck_assert_str_eq(letters("a.shop.test", 4), "abab");
	mail = letter("mail.test");
	ck_assert_str_eq(letters("mail.test", 3),
	    text("%s%s%s", mail, mail, mail)); /* it comes back */
	/* the only server of the rest is busy: the next one waits */
	held = connect_slowly("x.test");
	WAIT_FOR(strstr(ask("service rest statistics"), "sessions 1\n") != NULL,
	    SOON);
	waits = connect_asking("y.test");
	WAIT_FOR(
	    strstr(ask("service rest statistics"), "queued 1\n") != NULL, SOON);
	endpoint_send(held, "x", 1);
	(void)endpoint_recv_all(held);
	close(held);
	endpoint_recv(waits, &byte, 1);
	ck_assert_int_eq(byte, 'H');
	close(waits);
	WAIT_FOR(strstr(ask("services"), "sessions 1") == NULL &&
		strstr(ask("services"), "sessions 2") == NULL,
	    SOON);
	answers("services",
	    text("default state up listen %s up 0 servers 0 sessions 0 flows 0 "
		 "accepted 10 rate ",
		front.text));
	answers("services",
	    "shop state up up 2 servers 2 sessions 0 flows 0 accepted 4 rate ");
	answers("services",
	    "mail state up up 2 servers 2 sessions 0 flows 0 accepted 4 rate ");
	answers("services",
	    "rest state up up 1 servers 1 sessions 0 flows 0 accepted 2 rate ");
	answers("route json",
	    "\"pattern\":\"*.shop.test\",\"service\":\"shop\",\"clients\":4");
	counts("service shop statistics", "closed_done 4\n");
	answers("statistics", "closed_done 0\n");
	end();
}
END_TEST

/* A client passes through three services, each by what it reads for itself. */
START_TEST(from_service_to_service)
{
	begin(say_letter);
	up(text("listen %s\nroute protocol http service web\n%s"
		"service web\nroute host a.test service one\n%s"
		"service one\nhttp\n%s",
	    front.text, list(0, 0), list(1, 1), list(2, 2)));
	ck_assert_str_eq(letters("a.test", 2), "cc");
	ck_assert_str_eq(letters("b.test", 2), "bb");
	answers("explain 192.0.2.1 protocol http host a.test",
	    "route \"protocol http service web, host a.test service one\"\n");
	answers("explain 192.0.2.1 protocol http host a.test",
	    text("address %s\n", servers[2].at.text));
	answers("explain 192.0.2.1 protocol http",
	    "route \"protocol http service web\"\n");
	answers("explain 192.0.2.1", "route \"none\"\n");
	end();
}
END_TEST

/* What it logs, counts and refuses is that of the service. */
START_TEST(limits_and_logs_are_of_the_service)
{
	int first, second;

	begin(say_letter);
	write_file(conf,
	    text("listen %s\nroute host shop.test service shop\n%s"
		 "service shop\nconn_max 1\nhttp_status\n%s",
		front.text, list(0, 0), list(1, 1)));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, "-O",
	    text("session_log %s", scratch("log")), NULL);
	first = connect_slowly("shop.test");
	WAIT_FOR(strstr(ask("service shop statistics"), "sessions 1\n") != NULL,
	    SOON);
	/* it has a session, and may have one: others are not concerned */
	ck_assert_str_eq(letter("other.test"), "a");
	second = connect_asking("shop.test");
	endpoint_expect_reset(second);
	close(second);
	WAIT_FOR(
	    strstr(ask("statistics"), "closed_service_full 1\n") != NULL, SOON);
	close(first);
	WAIT_FOR(strstr(ask("service shop statistics"), "sessions 0\n") != NULL,
	    SOON);
	ck_assert_str_eq(letter("shop.test"), "b");
	counts("service shop statistics", "accepted 2\n");
	WAIT_FOR(strstr(run_program(SOON, "cat", scratch("log"), NULL),
		     " service=shop") != NULL,
	    SOON);
	end();
}
END_TEST

/* Sources are limited by the service that serves them. */
START_TEST(limits_of_a_client_are_of_the_service)
{
	int first, second;

	begin(say_letter);
	up(text("listen %s\nclient_conns 10\n"
		"route host shop.test service shop\n%s"
		"service shop\nclient_conns 1\nclient_limit_action refuse\n%s",
	    front.text, list(0, 0), list(1, 1)));
	first = connect_slowly("shop.test");
	WAIT_FOR(strstr(ask("service shop statistics"), "sessions 1\n") != NULL,
	    SOON);
	second = connect_asking("shop.test");
	endpoint_expect_reset(second);
	counts("service shop statistics", "closed_client_conns 1\n");
	answers("statistics", "closed_client_conns 0\n");
	ck_assert_str_eq(letter("other.test"), "a");
	close(first);
	close(second);
	end();
}
END_TEST

/* A service that only redirects needs neither server nor route. */
START_TEST(a_service_that_redirects)
{
	begin(say_letter);
	up(text(
	    "service web\nlisten %s\nhttp\nredirect_https 443\n", front.text));
	ck_assert_ptr_nonnull(
	    strstr(letter("shop.test"), "\r\nLocation: https://shop.test/"));
	answers("services", "web state up");
	end();
}
END_TEST

static const char *
two_lists(const char *front_list, const char *shop_list)
{
	return text("acl 1 deny 127.0.0.1\nlisten %s\n%s"
		    "route host shop.test service shop\n%s"
		    "service shop\n%s%s",
	    front.text, front_list, list(0, 0), shop_list, list(1, 1));
}

/* The access lists of both apply. */
START_TEST(both_access_lists_apply)
{
	int fd;

	begin(say_letter);
	up(two_lists("", "client_acl 1\n"));
	ck_assert_str_eq(letter("other.test"), "a");
	fd = connect_asking("shop.test");
	endpoint_expect_reset(fd);
	close(fd);
	counts("service shop statistics", "closed_denied 1\n");
	answers("explain 127.0.0.1 host shop.test", "permitted no\n");
	write_file(conf, two_lists("client_acl 1\n", ""));
	ck_assert_str_eq(ask("reload"), "");
	fd = connect_asking("shop.test");
	endpoint_expect_reset(fd);
	close(fd);
	counts("statistics", "closed_denied 1\n");
	answers("explain 127.0.0.1 host shop.test", "permitted no\n");
	end();
}
END_TEST

/* A client beyond the limits of the service in front gets its abuse server,
 * whatever its route is. */
START_TEST(an_abuser_is_not_passed_on)
{
	int held;

	begin(say_letter);
	up(text("listen %s\nclient_conns 1\nclient_limit_action abuse\n"
		"abuse %s\nroute host shop.test service shop\n"
		"route default 0\n%sservice shop\n%s",
	    front.text, servers[2].at.text, list(0, 0), list(1, 1)));
	held = connect_slowly("other.test");
	WAIT_FOR(strstr(ask("statistics"), "sessions 1\n") != NULL, SOON);
	ck_assert_str_eq(letter("shop.test"), "c");
	ck_assert_str_eq(letter("other.test"), "c");
	close(held);
	WAIT_FOR(strstr(ask("statistics"), "sessions 0\n") != NULL, SOON);
	ck_assert_str_eq(letter("shop.test"), "b");
	end();
}
END_TEST

/* ---- changes ---- */

static const char *
fill(void)
{
	return text(
	    "listen %s\nhttp_status\nroute host shop.test service shop\n"
	    "%sservice shop\nhttp_status\n%s",
	    front.text, list(0, 0), list(1, 2));
}

/* Its sessions go on; new clients are told, and come back when it does. */
START_TEST(a_service_is_drained)
{
	char answer[39];
	int fd;

	begin(say_letter);
	up(fill());
	fd = connect_slowly("shop.test");
	WAIT_FOR(strstr(ask("service shop statistics"), "sessions 1\n") != NULL,
	    SOON);
	ck_assert_str_eq(ask("service shop drain"), "");
	answers("services", "shop state drain ");
	ck_assert_ptr_nonnull(
	    strstr(letter("shop.test"), "503 Service Unavailable"));
	ck_assert_str_eq(letter("other.test"), "a");
	endpoint_send(fd, "x", 1);
	endpoint_recv(fd, answer, sizeof(answer));
	ck_assert_int_eq(memcmp(answer, "HTTP/1.1 200", 12), 0);
	close(fd);
	ck_assert_str_eq(ask("service shop maint"), "");
	answers("services", "shop state maint ");
	ck_assert_str_eq(ask("service shop; server all up"), "");
	WAIT_FOR(
	    child_has_said(&pen.child, "command \"server all up\" by "), SOON);
	ck_assert_int_eq(strncmp(strchr(strstr(child_err(&pen.child),
					    "command \"server all up\" by "),
				     '\n') -
				 13,
			     " service=shop", 13),
	    0);
	ck_assert_ptr_nonnull(strpbrk(letter("shop.test"), "bc"));
	end();
}
END_TEST

/* Each request is answered, by the service or by the servers in front of it,
 * whichever the routes say at that moment. */
START_TEST(a_route_is_removed_under_load)
{
	int i, changes = (int)suite_amount(400, 100);
	const char *said;

	begin(say_letter);
	up(fill());
	for (i = 0; i < changes; i++) {
		int fd = endpoint_connect(&front);

		endpoint_send(fd, "GET / HTTP/1.1\r\nHost: sh", 24);
		said = ask(i % 2 == 0 ? "no route host shop.test"
				      : "route host shop.test service shop");
		ck_assert_str_eq(said, "");
		endpoint_send(fd, "op.test\r\n\r\n", 11);
		shutdown(fd, SHUT_WR);
		said = endpoint_recv_all(fd);
		ck_assert_msg(
		    strncmp(said, "HTTP/1.1 200", 12) == 0, "%s", said);
		close(fd);
	}
	ck_assert_str_eq(ask("no route"), "");
	ck_assert_str_eq(ask("service shop remove"), "");
	ck_assert_str_eq(letter("shop.test"), "a");
	end();
}
END_TEST

/* Both are removed while a client of the first has not said all of its first
 * bytes: the second is there for it until then. */
START_TEST(both_are_removed_before_the_first_bytes)
{
	char answer[39];
	int fd;

	begin(say_letter);
	up(text("service edge\nlisten %s\nroute host shop.test service shop\n"
		"service shop\n%sroute host x.test service spare\n"
		"service spare\n%s",
	    front.text, list(0, 0), list(1, 1)));
	ck_assert_str_eq(letter("shop.test"), "a");
	fd = endpoint_connect(&front);
	endpoint_send(fd, "GET / HTTP/1.1\r\nHost: sh", 24);
	WAIT_FOR(strstr(ask("service edge statistics"), "sessions 1\n") != NULL,
	    SOON);
	ck_assert_str_eq(ask("service edge remove"), "");
	ck_assert_str_eq(ask("service shop no route"), "");
	ck_assert_str_eq(ask("service shop remove"), "");
	ck_assert_str_eq(ask("service spare remove"), "");
	/* it would have ended after the other */
	WAIT_FOR(strstr(ask("services"), "spare") == NULL, SOON);
	answers("services", "shop state leaving");
	endpoint_send(fd, "op.test\r\n\r\n", 11);
	endpoint_recv(fd, answer, sizeof(answer));
	ck_assert_int_eq(answer[38], 'a');
	close(fd);
	WAIT_FOR(strstr(ask("services"), "leaving") == NULL, SOON);
	end();
}
END_TEST

/* A client that waits passes the list that it came by, although that list is
 * removed with its service, and another one gets its number. */
START_TEST(a_list_stays_for_those_that_wait)
{
	struct endpoint other;
	const char *rest;
	int held, waits;
	char byte;

	begin(say_letter);
	endpoint_new(&other, ENDPOINT_TCP4);
	rest = text("listen %s\n%s", other.text, list(0, 0));
	up(text("acl good permit 127.0.0.0/8\n%s"
		"service x\nlisten %s\nclient_acl good\nqueue 20\n%s"
		"server 0 max 1 hard 1\n",
	    rest, front.text, list(1, 1)));
	held = connect_slowly("x.test");
	WAIT_FOR(
	    strstr(ask("service x statistics"), "sessions 1\n") != NULL, SOON);
	waits = connect_asking("x.test");
	WAIT_FOR(
	    strstr(ask("service x statistics"), "queued 1\n") != NULL, SOON);
	write_file(conf, rest);
	ck_assert_str_eq(ask("reload"), "");
	write_file(conf, text("acl bad deny 127.0.0.0/8\n%s", rest));
	ck_assert_str_eq(ask("reload"), "");
	endpoint_send(held, "x", 1);
	(void)endpoint_recv_all(held);
	close(held);
	endpoint_recv(waits, &byte, 1);
	ck_assert_int_eq(byte, 'H');
	close(waits);
	end();
}
END_TEST

START_TEST(routes_that_lead_nowhere_are_refused)
{
	struct endpoint other;

	endpoint_new(&other, ENDPOINT_TCP4);
	begin(say_letter);
	up(text("listen %s\n%sroute host shop.test service shop\n"
		"service shop\n%sservice mail\nlisten %s\n%s",
	    front.text, list(0, 0), list(1, 1), other.text, list(2, 2)));
	ck_assert_str_eq(ask("route host x.test service nobody"),
	    "error: route: route host x.test service nobody: there is no such "
	    "service\n");
	ck_assert_str_eq(ask("service shop remove"),
	    "error: service: a route of service default leads to shop\n");
	answers("service shop route default service default",
	    "routes lead in a circle");
	answers("route default service default", "routes lead in a circle");
	ck_assert_str_eq(letter("shop.test"), "b");
	answers("route", "route host shop.test service shop\n");
	/* nor to one that has no sessions */
	answers("service shop dummy",
	    "service shop: that service has udp, dsr_if or dummy");
	write_file(conf,
	    text("listen %s\nroute default service log\n"
		 "service log\nudp\n%s",
		front.text, list(1, 1)));
	answers("reload", "service log: that service has udp");
	/* one that nothing leads to needs an address */
	write_file(conf,
	    text("listen %s\n%sservice shop\n%s", front.text, list(0, 0),
		list(1, 1)));
	answers("reload",
	    "service shop: no listening address, and no route "
	    "leads to it");
	end();
}
END_TEST

START_TEST(no_more_than_eight_in_a_row)
{
	const char *file;
	int i;

	begin(say_letter);
	file = text(
	    "listen %s\n%sroute default service s1\n", front.text, list(0, 0));
	for (i = 1; i < 8; i++)
		file = text("%sservice s%d\nroute default service s%d\n", file,
		    i, i + 1);
	file = text("%sservice s8\n%s", file, list(1, 1));
	up(file);
	ck_assert_str_eq(letter("any.test"), "b");
	write_file(conf,
	    text("%sroute default service s9\nservice s9\n%s", file,
		list(2, 2)));
	answers("reload", "through too many services");
	ck_assert_str_eq(letter("any.test"), "b");
	end();
}
END_TEST

/* ---- TLS ---- */

static struct identity shop_id, mail_id, edge_id;

static struct tls_peer *
hello(const char *name, const char *ca)
{
	struct tls_wish wish = { .sni = name, .ca = ca, .verify = name };
	struct tls_peer *p = tls_peer_open(endpoint_connect(&front), &wish);

	ck_assert_msg(p != NULL, "%s: %s", name, tls_peer_error());
	return p;
}

static void
echoes(const char *name, const char *ca)
{
	struct tls_peer *p = hello(name, ca);

	tls_peer_expect_echo(p, name);
	tls_peer_close(p);
}

/* The one in front reads the name and goes no further: each service has a
 * certificate of its own, and one leaves TLS to its server. */
START_TEST(each_service_has_its_certificate)
{
	struct tls_echo direct;

	begin(backend_echo);
	identity_new(&shop_id, "a.shop.test,b.shop.test");
	identity_new(&mail_id, "mail.test");
	identity_new(&edge_id, "direct.test");
	tls_echo_start(&direct, edge_id.ec, edge_id.ec, NULL);
	up(text("listen %s\nroute sni *.shop.test service shop\n"
		"route sni mail.test service mail\n"
		"route sni direct.test service direct\n"
		"service shop\nssl_cert %s\n%s"
		"service mail\nssl_cert %s\n%s"
		"service direct\nserver 0 address 127.0.0.1 port %d\n",
	    front.text, shop_id.ec, list(0, 0), mail_id.ec, list(1, 1),
	    direct.backend.at.port));
	echoes("a.shop.test", shop_id.ca);
	echoes("b.shop.test", shop_id.ca);
	echoes("mail.test", mail_id.ca);
	echoes("direct.test", edge_id.ca);
	ck_assert_int_eq(servers[0].accepted, 2);
	ck_assert_int_eq(servers[1].accepted, 1);
	counts("service shop statistics", "tls_handshakes 2\n");
	answers("statistics", "tls_handshakes 0\n");
	tls_echo_stop(&direct);
	end();
}
END_TEST

/* TLS ends at the one in front, whose certificate is for all names; the service
 * behind it goes on with the session when that one is removed. */
START_TEST(sessions_outlive_the_service_in_front)
{
	struct endpoint other;
	struct tls_peer *p;

	begin(backend_echo);
	endpoint_new(&other, ENDPOINT_TCP4);
	identity_new(&edge_id, "shop.test,mail.test");
	up(text("service edge\nlisten %s\nssl_cert %s\n"
		"route sni shop.test service shop\n%s"
		"service shop\nlisten %s\n%s",
	    front.text, edge_id.ec, list(0, 0), other.text, list(1, 1)));
	echoes("mail.test", edge_id.ca);
	p = hello("shop.test", edge_id.ca);
	tls_peer_expect_echo(p, "before");
	ck_assert_int_eq(servers[0].accepted, 1);
	ck_assert_int_eq(servers[1].accepted, 1);
	ck_assert_str_eq(ask("service edge remove"), "");
	WAIT_FOR(strstr(ask("services"), "edge") == NULL, SOON);
	tls_peer_expect_echo(p, "after");
	counts("service shop statistics", "sessions 1\n");
	tls_peer_close(p);
	end();
}
END_TEST

SUITE(test_route_services)
{
	Suite *s = suite_create("route services");

	SUITE_ADD(s, three_algorithms_behind_one_port, 60);
	SUITE_ADD(s, from_service_to_service, 60);
	SUITE_ADD(s, limits_and_logs_are_of_the_service, 60);
	SUITE_ADD(s, limits_of_a_client_are_of_the_service, 60);
	SUITE_ADD(s, a_service_that_redirects, 60);
	SUITE_ADD(s, both_access_lists_apply, 60);
	SUITE_ADD(s, an_abuser_is_not_passed_on, 60);
	SUITE_ADD(s, a_service_is_drained, 60);
	SUITE_ADD(s, a_route_is_removed_under_load, 120);
	SUITE_ADD(s, both_are_removed_before_the_first_bytes, 60);
	SUITE_ADD(s, a_list_stays_for_those_that_wait, 60);
	SUITE_ADD(s, routes_that_lead_nowhere_are_refused, 60);
	SUITE_ADD(s, no_more_than_eight_in_a_row, 60);
	SUITE_ADD(s, each_service_has_its_certificate, 60);
	SUITE_ADD(s, sessions_outlive_the_service_in_front, 60);
	return s;
}
