/* test_routes.c: real clients and servers that find each other by the first
 * bytes, and clients that are slow with theirs. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/identity.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/postgres.h"
#include "system/sshd.h"

static struct pen pen;
static struct endpoint front, ctl;
static struct identity one_id, two_id;
static struct nginx one, two, plain;

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

static const char *
tls_lines(const struct identity *id)
{
	return text(
	    "ssl_certificate %s; ssl_certificate_key %s;", id->ec, id->ec);
}

static void
tls_servers_up(void)
{
	identity_new(&one_id, "one.test,www.one.test");
	identity_new(&two_id, "two.test");
	nginx_up_with(&one, "first", "ssl http2", tls_lines(&one_id));
	nginx_up_with(&two, "second", "ssl http2", tls_lines(&two_id));
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static void
tls_servers_down(void)
{
	nginx_down(&one);
	nginx_down(&two);
}

/* curl verifies the certificate for this name, and prints the page. */
static const char *
fetch(const char *scheme, const char *name, const char *ca, const char *more)
{
	return run_program(30000, "curl", "-sS", "--http1.1", "--noproxy", "*",
	    "--cacert", ca, "--resolve",
	    text("%s:%d:127.0.0.1", name, front.port), more,
	    text("%s://%s:%d/", scheme, name, front.port), NULL);
}

/* ---- names, without TLS of our own ---- */

/* Whose certificate openssl sees, with this name or none. */
static const char *
subject(const char *option, const char *name)
{
	return run_program(30000, "sh", "-c",
	    text("openssl s_client -connect %s %s %s </dev/null 2>/dev/null | "
		 "openssl x509 -noout -subject",
		front.text, option, name),
	    NULL);
}

START_TEST(names_without_termination)
{
	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("openssl");
	tls_servers_up();
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-O", "route sni *.one.test 0",
	    "-O", "route sni one.test 0", "-O", "route sni two.test 1", "-O",
	    "route default 1", front.text, one.at.text, two.at.text, NULL);
	ck_assert_str_eq(fetch("https", "one.test", one_id.ca, "-v"), "first");
	ck_assert_str_eq(
	    fetch("https", "www.one.test", one_id.ca, "-v"), "first");
	ck_assert_str_eq(fetch("https", "two.test", two_id.ca, "-v"), "second");
	ck_assert_str_eq(
	    fetch("https", "two.test", two_id.ca, "--http2"), "second");
	ck_assert_ptr_nonnull(
	    strstr(subject("-servername", "ONE.test"), "one.test"));
	ck_assert_ptr_nonnull(strstr(subject("-noservername", ""), "two.test"));
	ck_assert_ptr_nonnull(
	    strstr(subject("-servername", "three.test"), "two.test"));
	/* what is known changes while it runs */
	(void)ask("route sni three.test 0");
	ck_assert_ptr_nonnull(
	    strstr(subject("-servername", "three.test"), "one.test"));
	(void)ask("no route");
	(void)ask("route alpn h2 0; route default 1");
	ck_assert_ptr_nonnull(
	    strstr(subject("-noservername", "-alpn h2"), "one.test"));
	ck_assert_ptr_nonnull(
	    strstr(subject("-noservername", "-alpn http/1.1"), "two.test"));
	pen_down(&pen);
	tls_servers_down();
}
END_TEST

/* ---- with it ---- */

START_TEST(names_behind_our_certificate)
{
	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	identity_new(&one_id, "one.test,two.test,three.test");
	nginx_up(&one, "first");
	nginx_up(&two, "second");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-E", one_id.ec, "-O",
	    "route sni two.test 1", "-O", "route default 0", front.text,
	    one.at.text, two.at.text, NULL);
	ck_assert_str_eq(fetch("https", "one.test", one_id.ca, "-v"), "first");
	ck_assert_str_eq(fetch("https", "two.test", one_id.ca, "-v"), "second");
	(void)ask("no route; route host three.test 1; route default 0");
	ck_assert_str_eq(fetch("https", "two.test", one_id.ca, "-v"), "first");
	ck_assert_str_eq(
	    fetch("https", "three.test", one_id.ca, "-v"), "second");
	(void)ask("no route; ssl_alpn http/1.1; route alpn http/1.1 1; "
		  "route default 0");
	ck_assert_str_eq(fetch("https", "one.test", one_id.ca, "-v"), "second");
	ck_assert_str_eq(
	    fetch("https", "one.test", one_id.ca, "--no-alpn"), "first");
	pen_down(&pen);
	nginx_down(&one);
	nginx_down(&two);
}
END_TEST

/* ---- protocols on one port ---- */

/* All of these on one port; servers that speak first get their clients after
 * peek_wait, which is longer than a busy machine may keep another client from
 * its first bytes. */
START_TEST(many_protocols_on_one_port)
{
	struct endpoint ssh_at, pg_at, smtp_at;
	struct child sshd, smtp;
	const char *who = geteuid() == 0 ? "-u" : "-c";

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("sshd");
	NEED_PROGRAM("ssh");
	NEED_PROGRAM("ssh-keygen");
	NEED_PROGRAM("psql");
	NEED_PROGRAM("smtp-sink");
	NEED_PROGRAM("smtp-source");
	if (postgres_lacks() != NULL)
		SKIP(postgres_lacks());
	tls_servers_up();
	nginx_up(&plain, "plain");
	endpoint_new(&ssh_at, ENDPOINT_TCP4);
	sshd_up(&sshd, &ssh_at);
	endpoint_new(&pg_at, ENDPOINT_TCP4);
	postgres_up(&pg_at, "host all all 127.0.0.1/32 trust\n", one_id.ec);
	endpoint_new(&smtp_at, ENDPOINT_TCP4);
	child_start(&smtp,
	    (const char *[]){ child_find("smtp-sink"), who,
		geteuid() == 0 ? "nobody" : "-c", smtp_at.text, "10", NULL });
	WAIT_FOR(
	    child_has_ended(&smtp) || endpoint_is_listening(&smtp_at), 10000);
	ck_assert_msg(smtp.running, "%s", child_err(&smtp));
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-O", "peek_wait 3", "-O",
	    "route protocol ssh 0", "-O", "route protocol tls 1", "-O",
	    "route protocol http 2", "-O", "route protocol postgres 3", "-O",
	    "route protocol silent 4", front.text, ssh_at.text, one.at.text,
	    plain.at.text, pg_at.text, smtp_at.text, NULL);

	ck_assert_str_eq(fetch("https", "one.test", one_id.ca, "-v"), "first");
	ck_assert_str_eq(fetch("http", "one.test", one_id.ca, "-v"), "plain");
	ck_assert_str_eq(
	    run_program(60000, "psql", "-XAtwqc",
		"select ssl from pg_stat_ssl where pid = pg_backend_pid()",
		"-d",
		text("host=127.0.0.1 port=%d dbname=postgres user=pen"
		     " sslmode=require connect_timeout=10",
		    front.port),
		NULL),
	    "t\n");
	ck_assert_str_eq(
	    run_program(60000, "psql", "-XAtwqc", "select 1", "-d",
		text("host=127.0.0.1 port=%d dbname=postgres user=pen"
		     " sslmode=disable connect_timeout=10",
		    front.port),
		NULL),
	    "1\n");
	if (sshd_lets_in(&ssh_at))
		ck_assert_str_eq(
		    sshd_run("127.0.0.1", front.port, "echo here"), "here\n");
	(void)run_program(30000, child_find("smtp-source"), "-m", "2", "-s",
	    "1", "-f", "a@one.test", "-t", "b@one.test", front.text, NULL);
	ck_assert_ptr_nonnull(strstr(ask("route json"),
	    "\"pattern\":\"silent\",\"servers\":\"4\",\"clients\":2"));
	pen_down(&pen);
	child_stop(&smtp, SIGTERM);
	postgres_down("fast");
	child_stop(&sshd, SIGTERM);
	nginx_down(&plain);
	tls_servers_down();
}
END_TEST

/* ---- slow clients ---- */

enum { SLOW_MAX = 1000 };

static void
raise_limit(void)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A third says nothing, a third has begun a ClientHello, a third a request;
 * those go on, a byte at a time. Each costs one descriptor and no connection to
 * a server, others are served, and all are gone after hello_timeout. */
START_TEST(a_thousand_slow_clients)
{
	static const char *const begins[] = { "", "\x16\x03\x01\x02\x00\x01",
		"GET / HTTP/1.1\r\nHost: " };
	int fds[SLOW_MAX], n = (int)suite_amount(SLOW_MAX, 300), i, round;
	struct backend b;
	char end;
	int before, most = 0;

	raise_limit();
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-x", "5000", "-O",
	    "hello_timeout 3", "-O", "route sni a.test 0", "-O",
	    "route host b.test 0", "-O", "route protocol silent 7", front.text,
	    b.at.text, NULL);
	before = pen_fds(&pen);
	for (i = 0; i < n; i++) {
		fds[i] = endpoint_connect(&front);
		if (begins[i % 3][0] != '\0')
			endpoint_send(fds[i], begins[i % 3],
			    i % 3 == 1 ? 6 : strlen(begins[i % 3]));
	}
	for (round = 0; round < 3; round++) {
		int now = pen_fds(&pen),
		    fd = endpoint_connect(&front);

		most = now > most ? now : most;
		endpoint_send(fd, "\xff", 1);
		endpoint_recv(fd, &end, 1);
		close(fd);
		for (i = 0; i < n; i++)
			if (i % 3 > 0)
				(void)send(fds[i], "a", 1, MSG_NOSIGNAL);
	}
	/* the sessions of the rounds before may not have ended */
	if (before > 0)
		ck_assert_int_le(
		    most, before + n + 2 * round + 3 * (pen_workers() - 1));
	WAIT_FOR(strstr(ask("statistics"), "sessions 0\n") != NULL ||
		strstr(ask("statistics"), "sessions 1\n") != NULL,
	    20000);
	ck_assert_int_eq(b.accepted, 3);
	ck_assert_ptr_nonnull(strstr(ask("statistics"), "hello_timeout "));
	for (i = 0; i < n; i++)
		close(fds[i]);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_routes)
{
	Suite *s = suite_create("routes");

	SUITE_ADD(s, names_without_termination, 60);
	SUITE_ADD(s, names_behind_our_certificate, 60);
	SUITE_ADD(s, many_protocols_on_one_port, 120);
	SUITE_ADD(s, a_thousand_slow_clients, 60);
	return s;
}
