/* test_check_services.c: services as they are in use, each checked as those who
 * run it would: well, gone, and back. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "support/identity.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "system/mail.h"
#include "system/nameserver.h"
#include "system/postgres.h"

enum { SOON = 30000 };

static struct pen pen;
static struct endpoint front, ctl, at;
static struct child service;

/* ---- pen ---- */

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

/* In the words of "checks", about server 0. */
static void
becomes(const char *what)
{
	WAIT_FOR(strstr(ask("checks"), what) != NULL, SOON);
}

static void
check_with(const char *check)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "-b", "0", "-O",
	    "check_interval 0.2", "-O", "check_timeout 5", "-O", "check_fall 2",
	    "-O", text("check %s", check), front.text, at.text, NULL);
	becomes("state up result ok");
}

/* Well and gone; the caller ends the service in between. */
static void
is_gone(const char *reason)
{
	becomes("state down result failed");
	WAIT_FOR(
	    child_has_said(&pen.child, text("reason=\"check %s\"", reason)),
	    SOON);
}

static void
is_back(void)
{
	becomes("state up result ok");
	WAIT_FOR(child_has_said(&pen.child, "server up server=0"), SOON);
}

/* The service runs at `at`. */
static void
await(void)
{
	WAIT_FOR(child_has_ended(&service) || endpoint_is_listening(&at), SOON);
	ck_assert_msg(service.running, "%s", child_err(&service));
}

/* ---- services ---- */

START_TEST(postgresql)
{
	const char *lacks = postgres_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	NEED_PROGRAM("pg_isready");
	endpoint_new(&at, ENDPOINT_TCP4);
	postgres_up(&at, "host all all 127.0.0.1/32 trust\n", NULL);
	check_with(
	    text("exec %s -h {address} -p {port}", child_find("pg_isready")));
	ck_assert_ptr_nonnull(strstr(ask("checks"), "accepting connections"));
	postgres_down("immediate");
	is_gone(text("exec: 127.0.0.1:%d - no response", at.port));
	postgres_again();
	is_back();
	pen_down(&pen);
	postgres_down("fast");
}
END_TEST

static void
redis_up(void)
{
	child_start(&service,
	    (const char *[]){ "redis-server", "--port", text("%d", at.port),
		"--bind", "127.0.0.1", "--save", "", "--dir", scratch("."),
		NULL });
	await();
}

START_TEST(redis)
{
	NEED_PROGRAM("redis-server");
	endpoint_new(&at, ENDPOINT_TCP4);
	redis_up();
	check_with("send 'PING\\r\\n' expect '+PONG\\r\\n'");
	child_stop(&service, SIGTERM);
	is_gone("send: Connection refused");
	redis_up();
	is_back();
	/* it listens, and serves nobody: only the answer tells */
	kill(service.pid, SIGSTOP);
	is_gone("send: timed out waiting for an answer");
	kill(service.pid, SIGCONT);
	becomes("state up result ok");
	pen_down(&pen);
	child_stop(&service, SIGTERM);
}
END_TEST

static void
slapd_up(void)
{
	child_start(&service,
	    (const char *[]){ child_find("slapd"), "-d", "0", "-f",
		scratch("slapd.conf"), "-h", text("ldap://%s", at.text),
		NULL });
	await();
}

/* An anonymous bind, and that it succeeded (RFC 4511, 4.2): in BER. */
START_TEST(ldap)
{
	NEED_PROGRAM("slapd");
	endpoint_new(&at, ENDPOINT_TCP4);
	write_file(
	    scratch("slapd.conf"), text("pidfile %s\n", scratch("slapd.pid")));
	slapd_up();
	check_with("send '\\x30\\x0c\\x02\\x01\\x01\\x60\\x07\\x02\\x01\\x03"
		   "\\x04\\x00\\x80\\x00' expect '\\x61\\x07\\x0a\\x01\\x00'");
	child_stop(&service, SIGTERM);
	is_gone("send: Connection refused");
	slapd_up();
	is_back();
	pen_down(&pen);
	child_stop(&service, SIGTERM);
}
END_TEST

/* ---- mail ---- */

START_TEST(smtp)
{
	const char *lacks = postfix_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	endpoint_new(&at, ENDPOINT_TCP4);
	postfix_up(&service, &at, "");
	check_with("expect '220 mail.test ESMTP'");
	ask("check send 'EHLO pen\\r\\n' expect '250 CHUNKING\\r\\n'");
	becomes("check send state up result ok");
	postfix_down(&service, &at);
	is_gone("send: Connection refused");
	postfix_again(&service, &at);
	is_back();
	pen_down(&pen);
	postfix_down(&service, &at);
}
END_TEST

/* ---- names ---- */

START_TEST(dns)
{
	NEED_PROGRAM(nameserver_program(NAMESERVER_UNBOUND));
	udp_endpoint(&at, ENDPOINT_TCP4);
	nameserver_up(&service, NAMESERVER_UNBOUND, &at, 0);
	check_with("dns a.test A");
	child_stop(&service, SIGTERM);
	is_gone("dns: Connection refused");
	nameserver_up(&service, NAMESERVER_UNBOUND, &at, 1);
	is_back();
	pen_down(&pen);
	child_stop(&service, SIGTERM);
}
END_TEST

/* ---- a port that talks TLS alone ---- */

START_TEST(tls_only)
{
	struct identity id;
	struct nginx n;
	const char *lines;

	NEED_PROGRAM("nginx");
	identity_new(&id, "localhost");
	lines =
	    text("ssl_certificate %s; ssl_certificate_key %s;", id.ec, id.ec);
	nginx_up_with(&n, "served", "ssl", lines);
	at = n.at;
	check_with("tls noverify");
	ask(text("ssl_upstream_ca %s; check https / name localhost body served",
	    id.ca));
	becomes("check https state up result ok");
	/* the name in the certificate is another */
	ask("check tls name other.test");
	becomes("check tls state down");
	ck_assert_ptr_nonnull(strstr(ask("checks"), "reason TLS"));
	/* who speaks plain HTTP there is told so, by status 400 */
	ask("check http /");
	becomes("reason status 400");
	ask("check https / noverify");
	is_back();
	child_stop(&n.child, SIGKILL);
	is_gone("https: Connection refused");
	nginx_again(&n, "served");
	becomes("check https state up result ok");
	pen_down(&pen);
	nginx_down(&n);
}
END_TEST

SUITE(test_check_services)
{
	Suite *s = suite_create("check_services");

	SUITE_ADD(s, postgresql, 120);
	SUITE_ADD(s, redis, 60);
	SUITE_ADD(s, ldap, 60);
	SUITE_ADD(s, smtp, 60);
	SUITE_ADD(s, dns, 60);
	SUITE_ADD(s, tls_only, 60);
	return s;
}
