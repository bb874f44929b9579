/* test_checks.c: health checks: what is down is left out before a client comes,
 * and is back when it answers. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct pen pen;
static struct endpoint front, ctl;
static struct backend a, b;

/* ---- the fixture ---- */

/* In front of both, with fast checks; then these commands. */
static void
begin(const char *commands)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-b", "0", "-C", ctl.text, "-O",
	    text("check_interval 50ms; check_timeout 5; check_fall 2; %s",
		commands),
	    front.text, a.at.text, b.at.text, NULL);
}

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

/* Whether "checks" says that of the server. */
static bool
says(unsigned server, const char *what)
{
	char line[400];
	const char *all = ask("checks"), *at = all;
	size_t n;

	for (; *at != '\0'; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, at);
		if (strncmp(line, text("%u check ", server), 8) == 0)
			return strstr(line, what) != NULL;
	}
	return false;
}

#define BECOMES(server, what) WAIT_FOR(says(server, what), 10000)

/* Clients are all served by this one. */
static void
expect_only(const char *who)
{
	int i;

	for (i = 0; i < 6; i++)
		ck_assert_str_eq(endpoint_hear(&front), who);
}

static void
start_both(void)
{
	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "b");
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}

/* ---- servers ---- */

/* What they say to a request (NULL: a reset), and what they were asked last. */
static _Atomic(const char *) answer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char request[1024];

/* Reads up to an empty line, or a line that is no HTTP. */
static void
serve_answer(struct backend *x, int fd)
{
	char got[1024];
	size_t n = 0;
	ssize_t part;
	const char *said;

	do {
		part = recv(fd, got + n, sizeof(got) - 1 - n, 0);
		if (part <= 0)
			return;
		n += (size_t)part;
		got[n] = '\0';
	} while (
	    strstr(got, "\r\n\r\n") == NULL && strcmp(got, "PING\r\n") != 0);
	pthread_mutex_lock(&lock);
	memcpy(request, got, n + 1);
	pthread_mutex_unlock(&lock);
	said = answer;
	if (said == NULL)
		backend_reset(x, fd);
	else
		(void)backend_send(fd, said, strlen(said));
}

/* An answer of many pieces, after which the client must end in order. */
static atomic_int read_whole, broken_off;

static void
serve_long_answer(struct backend *x, int fd)
{
	static const char head[] =
	    "HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n";
	char part[1000];
	bool good;
	int i;

	(void)x;
	good = recv(fd, part, sizeof(part), 0) > 0 &&
	    backend_send(fd, head, strlen(head));
	memset(part, 'x', sizeof(part));
	for (i = 0; i < 40 && good; i++)
		good = backend_send(fd, part, sizeof(part));
	if (good && recv(fd, part, sizeof(part), 0) == 0)
		atomic_fetch_add(&read_whole, 1);
	else
		atomic_fetch_add(&broken_off, 1);
}

static bool
was_requested(const char *what)
{
	bool was;

	pthread_mutex_lock(&lock);
	was = strstr(request, what) != NULL;
	pthread_mutex_unlock(&lock);
	return was;
}

/* A well one and one that answers as the test says. */
static void
start_pair(const char *first)
{
	answer = first;
	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, serve_answer, NULL);
}

/* Greets, and answers one line each. */
static void
serve_dialog(struct backend *x, int fd)
{
	static const char *const lines[] = { "EHLO pen\r\n", "NOOP\r\n" };
	char got[100];
	ssize_t n;
	int i;

	(void)x;
	if (!backend_send(fd, "220 hello\r\n", 11))
		return;
	for (i = 0; i < 2; i++) {
		n = recv(fd, got, sizeof(got) - 1, 0);
		got[n > 0 ? n : 0] = '\0';
		if (strcmp(got, lines[i]) != 0)
			return;
		(void)backend_send(
		    fd, i == 0 ? "250 ok\r\n" : "251 yes\r\n", i == 0 ? 8 : 9);
	}
}

/* Each step waits for the answer to the one before. */
START_TEST(several_steps)
{
	backend_start(&a, ENDPOINT_TCP4, serve_dialog, NULL);
	backend_start(&b, ENDPOINT_TCP4, serve_dialog, NULL);
	begin("check expect '220 ' send 'EHLO pen\\r\\n' expect '250 ' send "
	      "'NOOP\\r\\n' expect '251 '");
	BECOMES(0, "answered as expected");
	ask("check expect '220 ' send 'EHLO pen\\r\\n' expect '250 ' send "
	    "'NOOP\\r\\n' expect '252 '");
	BECOMES(0, "251 yes");
	ask("check expect '220 ' send 'HELO pen\\r\\n' expect '250 '");
	BECOMES(0, "connection closed, step 2 not answered");
	end();
}
END_TEST

/* Or the server would log a client that broke off, at each check. */
START_TEST(answers_are_read_to_the_end)
{
	backend_start(&a, ENDPOINT_TCP4, serve_long_answer, NULL);
	backend_start(&b, ENDPOINT_TCP4, serve_long_answer, NULL);
	begin("check http /");
	WAIT_FOR(atomic_load(&read_whole) + atomic_load(&broken_off) >= 8,
	    20000);
	ck_assert_int_eq(atomic_load(&broken_off), 0);
	BECOMES(0, "200");
	end();
}
END_TEST

/* ---- who is left out ---- */

START_TEST(dead_server_gets_no_client)
{
	struct endpoint at;

	start_both();
	begin("check connect");
	BECOMES(1, "state up result ok");
	backend_stop(&b);
	BECOMES(1, "state down result failed");
	ck_assert(says(1, "reason Connection refused"));
	expect_only("a");
	/* no client has met it */
	ck_assert_ptr_null(strstr(child_err(&pen.child), "server failed"));
	ck_assert_ptr_nonnull(strstr(child_err(&pen.child),
	    "server down server=1 name=127.0.0.1 "
	    "reason=\"check connect: Connection refused\" prev=up"));
	at = b.at;
	backend_start_at(&b, &at, backend_say, "b");
	BECOMES(1, "state up");
	WAIT_FOR(strcmp(endpoint_hear(&front), "b") == 0, 5000);
	end();
}
END_TEST

/* Servers are not asked unless that is wanted. */
START_TEST(nobody_is_asked_without_a_setting)
{
	start_both();
	begin("check_lazy");
	ck_assert_ptr_nonnull(strstr(ask("checks"), "no check is set"));
	pen_expect_rest(&pen);
	ck_assert_int_eq(a.accepted + b.accepted, 0);
	end();
}
END_TEST

START_TEST(checks_leave_nothing_open)
{
	int before;

	start_both();
	begin("check connect");
	BECOMES(0, "result ok");
	BECOMES(1, "result ok");
	ask("no check");
	before = pen_fds(&pen);
	if (before < 0)
		SKIP("descriptors cannot be counted here");
	ask("check connect");
	BECOMES(0, "result ok");
	backend_stop(&b);
	BECOMES(1, "state down");
	ask("no check");
	WAIT_FOR(pen_fds(&pen) <= before, 5000);
	pen_expect_rest(&pen);
	end();
}
END_TEST

/* ---- kinds ---- */

/* It accepts, but has only errors to say. */
START_TEST(http_status_counts)
{
	start_pair("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	begin("");
	ask("server 1 check http /health?x=1 host well.test");
	BECOMES(1, "state up result ok");
	ck_assert(was_requested("GET /health?x=1 HTTP/1.1\r\n"));
	ck_assert(was_requested("\r\nHost: well.test\r\n"));
	ck_assert(was_requested("\r\nConnection: close\r\n"));
	answer = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
	BECOMES(1, "state down result failed");
	ck_assert(says(1, "reason status 503"));
	expect_only("a");
	ask("server 1 check http / status 500-599");
	BECOMES(1, "state up result ok");
	ck_assert(was_requested(text("\r\nHost: %s\r\n", b.at.text)));
	end();
}
END_TEST

/* A zone means something only on this host. */
START_TEST(host_has_no_zone)
{
	if (!endpoint_has_kind(ENDPOINT_TCP6))
		SKIP("no IPv6 here");
	answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP6, serve_answer, NULL);
	begin("");
	if (*ask(text("server 1 address ::1%%lo port %d check http /",
		b.at.port)) == '\0') {
		BECOMES(1, "state up result ok");
		ck_assert(was_requested(
		    text("\r\nHost: [::1]:%d\r\n", b.at.port)));
	}
	end();
}
END_TEST

START_TEST(http_body_counts)
{
	start_pair("HTTP/1.0 200 OK\r\n\r\nall is well");
	begin("");
	ask("server 1 check http / body 'is well'");
	BECOMES(1, "state up result ok");
	answer = "HTTP/1.0 200 OK\r\n\r\nall is bad";
	BECOMES(1, "state down");
	ck_assert(says(1, "reason the text is not in the body"));
	answer = "220 mail.test\r\n";
	BECOMES(1, "reason not an HTTP/1 response");
	answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
	BECOMES(1, "reason connection closed within the answer");
	answer = "";
	BECOMES(1, "reason connection closed, nothing received");
	answer = NULL;
	BECOMES(1, "reason Connection reset by peer");
	end();
}
END_TEST

/* As of SMTP, which speaks first. */
START_TEST(banner_counts)
{
	backend_start(&a, ENDPOINT_TCP4, backend_say, "220 a.test ESMTP\r\n");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "421 b.test busy\r\n");
	begin("check expect '220 '");
	BECOMES(0, "state up result ok");
	BECOMES(1, "state down result failed");
	ck_assert(says(1, "reason connection closed: 421 b.test busy??"));
	expect_only("220 a.test ESMTP\r\n");
	end();
}
END_TEST

/* As of redis, which answers. */
START_TEST(question_and_answer_count)
{
	start_pair("+PONG\r\n");
	begin("");
	ask("server 1 check send 'PING\\r\\n' expect '+PONG\\r\\n'");
	BECOMES(1, "state up result ok");
	answer = "-LOADING\r\n";
	BECOMES(1, "state down result failed");
	ck_assert(says(1, "connection closed: -LOADING??"));
	end();
}
END_TEST

/* It accepts and says nothing, for ever. */
START_TEST(silence_counts)
{
	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, backend_hang, NULL);
	begin("check_timeout 100ms");
	ask("server 1 check http /");
	BECOMES(1, "state down result failed");
	ck_assert(says(1, "reason timed out waiting for an answer"));
	expect_only("a");
	end();
}
END_TEST

/* A program that is stopped still has its connections accepted. */
START_TEST(frozen_server_is_left_out)
{
	struct nginx n;

	NEED_PROGRAM("nginx");
	nginx_up(&n, "hello");
	start_both();
	begin("check_timeout 300ms");
	ask(text("server 1 address 127.0.0.1 port %d check http / body hello",
	    n.at.port));
	BECOMES(1, "state up result ok");
	kill(n.child.pid, SIGSTOP);
	BECOMES(1, "state down result failed");
	ck_assert(says(1, "reason timed out waiting for an answer"));
	expect_only("a");
	kill(n.child.pid, SIGCONT);
	BECOMES(1, "state up result ok");
	end();
	nginx_down(&n);
}
END_TEST

START_TEST(unix_servers_are_checked)
{
	struct endpoint at;

	backend_start(&a, ENDPOINT_UNIX, backend_say, "a");
	backend_start(&b, ENDPOINT_UNIX, backend_say, "b");
	at = b.at;
	begin("check expect b");
	BECOMES(0, "state down");
	BECOMES(1, "state up result ok");
	expect_only("b");
	backend_stop(&b);
	BECOMES(1, "state down");
	backend_start_at(&b, &at, backend_say, "b");
	BECOMES(1, "state up result ok");
	end();
}
END_TEST

/* ---- when ---- */

/* No regular check is due for an hour. */
START_TEST(server_that_failed_a_client_is_asked_at_once)
{
	start_both();
	begin("check_interval 3600; check connect; blacklist 60");
	ck_assert(says(1, "result none"));
	backend_stop(&b);
	(void)endpoint_hear(&front);
	(void)endpoint_hear(&front);
	BECOMES(1, "result failed");
	ck_assert(says(1, "fall 1 of 2"));
	ck_assert(says(0, "result none"));
	expect_only("a");
	end();
}
END_TEST

START_TEST(unproven_server_waits_for_its_first_check)
{
	struct endpoint dead;

	start_both();
	endpoint_new(&dead, ENDPOINT_TCP4);
	begin(text("check_interval 3600; check connect; check_initial checked; "
		   "server 2 address 127.0.0.1 port %d",
	    dead.port));
	BECOMES(0, "state up result ok");
	BECOMES(1, "state up result ok");
	BECOMES(2, "state down result failed");
	ck_assert_str_ne(endpoint_hear(&front), endpoint_hear(&front));
	ck_assert_ptr_null(strstr(child_err(&pen.child), "server failed"));
	end();
}
END_TEST

/* ---- changes ---- */

START_TEST(reload_leaves_checks_as_they_are)
{
	const char *file = scratch("pen.conf");

	start_both();
	backend_stop(&b);
	write_file(file, "check connect\ncheck_interval 50ms\n");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-F", file, front.text,
	    a.at.text, b.at.text, NULL);
	BECOMES(1, "state down");
	write_file(file, "check connect\ncheck_interval 3600\ntimeout 4\n");
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(child_has_said(&pen.child, "reloaded"), 5000);
	ck_assert(says(1, "state down result failed"));
	ck_assert_ptr_null(strstr(child_err(&pen.child), "server up"));
	write_file(file, "check_interval 3600\n");
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(child_has_said(&pen.child, "no longer checked"), 5000);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

START_TEST(removed_server_is_let_alone)
{
	int before;

	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, backend_hang, NULL);
	begin("check_timeout 600");
	ask("checks");
	before = pen_fds(&pen);
	if (before < 0)
		SKIP("descriptors cannot be counted here");
	ask("server 1 check expect 220");
	WAIT_FOR(b.accepted > 0, 5000);
	ask("server 1 remove");
	WAIT_FOR(pen_fds(&pen) <= before, 5000);
	ck_assert(!says(1, "expect"));
	expect_only("a");
	end();
}
END_TEST

SUITE(test_checks)
{
	Suite *s = suite_create("checks");

	SUITE_ADD(s, several_steps, 60);
	SUITE_ADD(s, answers_are_read_to_the_end, 60);
	SUITE_ADD(s, dead_server_gets_no_client, 20);
	SUITE_ADD(s, nobody_is_asked_without_a_setting, 20);
	SUITE_ADD(s, checks_leave_nothing_open, 20);
	SUITE_ADD(s, http_status_counts, 20);
	SUITE_ADD(s, host_has_no_zone, 30);
	SUITE_ADD(s, http_body_counts, 20);
	SUITE_ADD(s, banner_counts, 20);
	SUITE_ADD(s, question_and_answer_count, 20);
	SUITE_ADD(s, silence_counts, 20);
	SUITE_ADD(s, frozen_server_is_left_out, 20);
	SUITE_ADD(s, unix_servers_are_checked, 20);
	SUITE_ADD(s, server_that_failed_a_client_is_asked_at_once, 20);
	SUITE_ADD(s, unproven_server_waits_for_its_first_check, 20);
	SUITE_ADD(s, reload_leaves_checks_as_they_are, 20);
	SUITE_ADD(s, removed_server_is_let_alone, 20);
	return s;
}
