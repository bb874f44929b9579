/* test_check_services.c: services as they are in use, each checked as those who
 * run it would: well, gone, and back. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/identity.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "system/nameserver.h"
#include "system/postgres.h"

enum { SOON = 30000 };

static struct pen pen;
static struct spot front, ctl, at;
static struct child service;

/* ---- pen ---- */

static const char *
ask(const char *command)
{
	return spot_ask(&ctl, text("%s\n", command));
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
	spot_new(&front, SPOT_TCP4);
	spot_new(&ctl, SPOT_UNIX);
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
	WAIT_FOR(child_has_ended(&service) || spot_is_listening(&at), SOON);
	ck_assert_msg(service.running, "%s", child_err(&service));
}

/* ---- services ---- */

START_TEST(postgresql)
{
	const char *lacks = postgres_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	NEED_PROGRAM("pg_isready");
	spot_new(&at, SPOT_TCP4);
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
	spot_new(&at, SPOT_TCP4);
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
	spot_new(&at, SPOT_TCP4);
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

static const char postfix_main[] =
    "compatibility_level = 3.6\nqueue_directory = %s/queue\n"
    "data_directory = %s/data\nmaillog_file = /dev/stdout\n"
    "inet_interfaces = 127.0.0.1\ninet_protocols = ipv4\n"
    "myhostname = mail.test\nmydestination =\nalias_maps =\n"
    "alias_database =\n";
static const char postfix_master[] = "%s inet n - n - - smtpd\n"
				     "postlog unix-dgram n - n - 1 postlogd\n"
				     "rewrite unix - - n - - trivial-rewrite\n"
				     "cleanup unix n - n - 0 cleanup\n"
				     "qmgr unix n - n 300 1 qmgr\n"
				     "anvil unix - - n - 1 anvil\n"
				     "proxymap unix - - n - - proxymap\n"
				     "bounce unix - - n - 0 bounce\n";

static void
postfix_configure(const char *dir, const struct passwd *user)
{
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(mkdir(text("%s/queue", dir), 0755), 0);
	ck_assert_int_eq(mkdir(text("%s/data", dir), 0700), 0);
	ck_assert_int_eq(
	    chown(text("%s/data", dir), user->pw_uid, user->pw_gid), 0);
	write_file(text("%s/main.cf", dir), text(postfix_main, dir, dir));
	write_file(text("%s/master.cf", dir), text(postfix_master, at.text));
}

static void
postfix_start(const char *dir)
{
	child_start(&service,
	    (const char *[]){
		child_find("postfix"), "-c", dir, "start-fg", NULL });
	await();
}

static void
postfix_stop(const char *dir)
{
	(void)run_program(
	    30000, child_find("postfix"), "-c", dir, "stop", NULL);
	WAIT_FOR(!spot_is_listening(&at), SOON);
	child_wait(&service, SOON);
}

START_TEST(smtp)
{
	const char *dir = scratch("postfix");
	const struct passwd *user = getpwnam("postfix");

	NEED_PROGRAM("postfix");
	if (geteuid() != 0 || user == NULL)
		SKIP("postfix needs root, and its user");
	spot_new(&at, SPOT_TCP4);
	postfix_configure(dir, user);
	postfix_start(dir);
	check_with("expect '220 mail.test ESMTP'");
	ask("check send 'EHLO pen\\r\\n' expect '250 CHUNKING\\r\\n'");
	becomes("check send state up result ok");
	postfix_stop(dir);
	is_gone("send: Connection refused");
	postfix_start(dir);
	is_back();
	pen_down(&pen);
	postfix_stop(dir);
}
END_TEST

/* ---- names ---- */

START_TEST(dns)
{
	NEED_PROGRAM(nameserver_program(NAMESERVER_UNBOUND));
	udp_spot(&at, SPOT_TCP4);
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
