/* test_session_log.c: a line for each session, as the operator sees it. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend back;
static struct endpoint front;

static void
prepare(void)
{
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
}

static void
visit(int times)
{
	while (times-- > 0)
		ck_assert_str_eq(endpoint_hear(&front), "served");
}

/* Who starts pen in a terminal sees sessions; a crowd does not flood it. */
START_TEST(terminal_shows_sessions)
{
	struct pen pen;
	const char *err;

	prepare();
	pen_up(&pen, &front, "-r", front.text, back.at.text, NULL);
	visit(1);
	WAIT_FOR(
	    child_has_said(&pen.child, "session closed reason=done"), 5000);
	err = child_err(&pen.child);
	ck_assert_ptr_nonnull(
	    strstr(err, text("server=%s up=0 down=6 ", back.at.text)));
	ck_assert_ptr_nonnull(strstr(err, " connect_ms="));
	ck_assert_ptr_nonnull(strstr(err, " first_ms="));
	visit(200);
	WAIT_FOR(child_has_said(&pen.child, "sessions not shown"), 10000);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* What is not shown is counted, the last ones at the end. */
START_TEST(each_session_is_counted)
{
	static const char omitted[] = "sessions not shown count=";
	const char *err, *at;
	struct pen pen;
	int seen;

	prepare();
	pen_up(&pen, &front, "-r", front.text, back.at.text, NULL);
	visit(60);
	pen_down(&pen);
	err = child_err(&pen.child);
	seen = count_in(err, "session closed ");
	for (at = err; (at = strstr(at, omitted)) != NULL; at++)
		seen += atoi(at + strlen(omitted));
	ck_assert_msg(seen == 60, "%d: %s", seen, err);
	backend_stop(&back);
}
END_TEST

START_TEST(none_when_off)
{
	struct pen pen;

	prepare();
	pen_up(&pen, &front, "-O", "session_log off", "-r", front.text,
	    back.at.text, NULL);
	visit(3);
	pen_down(&pen);
	ck_assert_ptr_null(strstr(child_err(&pen.child), "session closed"));
	backend_stop(&back);
}
END_TEST

/* All of them, whatever the rate, and again behind a move of the file. */
START_TEST(file_has_all)
{
	const char *path = scratch("sessions.json"), *old = scratch("old");
	struct pen pen;

	prepare();
	pen_up(&pen, &front, "-O", text("session_log %s", path), "-O",
	    "log_format jsonl", "-r", front.text, back.at.text, NULL);
	visit(100);
	WAIT_FOR(count_in(contents(path), "\"reason\":\"done\"") == 100, 10000);
	ck_assert_int_eq(rename(path, old), 0);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(access(path, F_OK) == 0, 10000);
	visit(1);
	pen_down(&pen);
	ck_assert_int_eq(count_in(contents(path), "\n"), 1);
	ck_assert_int_eq(count_in(contents(old), "\n"), 100);
	backend_stop(&back);
}
END_TEST

/* One in ten, and each that went wrong. */
START_TEST(sample)
{
	const char *path = scratch("sessions");
	struct pen pen;
	const char *got;

	prepare();
	pen_up(&pen, &front, "-O", text("session_log %s", path), "-O",
	    "log_sample 10", "-O", "retry 0", "-r", front.text, back.at.text,
	    NULL);
	visit(30);
	backend_stop(&back);
	endpoint_expect_reset(endpoint_connect(&front));
	pen_down(&pen);
	got = contents(path);
	ck_assert_int_eq(count_in(got, "reason=done"), 3);
	ck_assert_int_eq(count_in(got, "reason=no_server"), 1);
}
END_TEST

static void
answer_one_request(struct backend *b, int fd)
{
	char request[1000];

	(void)b;
	if (recv(fd, request, sizeof(request), 0) > 0 &&
	    backend_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		40))
		(void)recv(fd, request, sizeof(request), 0);
}

/* A later request of a connection may be lost, too. */
START_TEST(retried_request)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct backend other;
	struct pen pen;
	char answer[40];
	int fd, i;

	backend_start(&back, ENDPOINT_TCP4, answer_one_request, NULL);
	backend_start(&other, ENDPOINT_TCP4, answer_one_request, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-H", front.text, back.at.text,
	    other.at.text, NULL);
	fd = endpoint_connect(&front);
	for (i = 0; i < 2; i++) {
		endpoint_send(fd, request, sizeof(request) - 1);
		endpoint_recv(fd, answer, 40);
	}
	close(fd);
	WAIT_FOR(child_has_said(&pen.child,
		     text(" failures=1 tried=%s\n", back.at.text)),
	    5000);
	pen_down(&pen);
	backend_stop(&back);
	backend_stop(&other);
}
END_TEST

/* Two servers refuse, the third one serves; then it refuses as well. */
START_TEST(tried_servers)
{
	const char *path = scratch("sessions"), *line;
	struct endpoint none[2];
	struct pen pen;
	int i;

	prepare();
	for (i = 0; i < 2; i++)
		endpoint_new(&none[i], ENDPOINT_TCP4);
	pen_up(&pen, &front, "-O", text("session_log %s", path), "-O",
	    "retry 0", "-O", "blacklist 0", "-r", "-O", "prio", front.text,
	    text("localhost:%d:0:0:0:1", none[0].port),
	    text("%s:0:0:0:2", none[1].text),
	    text("%s:0:0:0:3", back.at.text), NULL);
	visit(1);
	WAIT_FOR(count_in(contents(path), "\n") == 1, 10000);
	line = text(" failures=2 tried=localhost:%d,%s\n", none[0].port,
	    none[1].text);
	ck_assert_msg(
	    strstr(contents(path), line) != NULL, "%s", contents(path));
	backend_stop(&back);
	endpoint_expect_reset(endpoint_connect(&front));
	pen_down(&pen);
	line = text(" failures=3 tried=localhost:%d,%s,%s\n", none[0].port,
	    none[1].text, back.at.text);
	ck_assert_msg(
	    strstr(contents(path), line) != NULL, "%s", contents(path));
}
END_TEST

/* As RFC 5424 has it, to a collector. */
START_TEST(syslog_collector)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct timeval limit = { 10, 0 };
	socklen_t len = sizeof(at);
	char got[1024] = "";
	struct pen pen;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	prepare();
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	pen_up(&pen, &front, "-O",
	    text("syslog_facility local3; "
		 "session_log syslog:127.0.0.1:%u",
		ntohs(at.sin_port)),
	    "-r", front.text, back.at.text, NULL);
	visit(1);
	ck_assert_int_gt(recv(fd, got, sizeof(got) - 1, 0), 0);
	ck_assert_msg(strncmp(got, "<158>1 20", 9) == 0, "%s", got);
	ck_assert_msg(strstr(got, " pen ") != NULL &&
		strstr(got, " session - reason=done client=127.0.0.1:") != NULL,
	    "%s", got);
	pen_down(&pen);
	close(fd);
	backend_stop(&back);
}
END_TEST

/* A full disk costs lines, which are counted, and no client. */
START_TEST(full_disk)
{
	struct pen pen;

	prepare();
	if (access("/dev/full", W_OK) < 0)
		SKIP("no /dev/full");
	pen_up(&pen, &front, "-O", "session_log /dev/full", "-r", front.text,
	    back.at.text, NULL);
	visit(5);
	WAIT_FOR(child_has_said(&pen.child,
		     "session log lines dropped "
		     "count=5 to=/dev/full error="),
	    10000);
	visit(1);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

START_TEST(mistakes)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_expect_failure("option -O: log_format: \"{x}\": no field \"x\"",
	    "-f", "-O", "log_format '{x}'", front.text, "127.0.0.1:1", NULL);
	pen_expect_failure("option -O: session_log: \"udp:1.2.3.4\": "
			   "expects HOST:PORT",
	    "-f", "-O", "session_log udp:1.2.3.4", front.text, "127.0.0.1:1",
	    NULL);
	pen_expect_failure("option -O: session_log: \"on\": neither a "
			   "destination nor a file, whose name has a slash, or "
			   "a dot and no colon",
	    "-f", "-O", "session_log on", front.text, "127.0.0.1:1", NULL);
	pen_expect_failure("\"/nothing/at/all\": No such file or directory",
	    "-f", "-O", "session_log /nothing/at/all", front.text,
	    "127.0.0.1:1", NULL);
	/* what a start would not have, --check does not pass */
	if (access("/run/systemd/journal/socket", F_OK) < 0)
		pen_expect_failure("session_log: \"journal\": "
				   "/run/systemd/journal/socket: No such file",
		    "--check", "-O", "session_log journal", front.text,
		    "127.0.0.1:1", NULL);
}
END_TEST

SUITE(test_session_log)
{
	Suite *s = suite_create("session_log");

	SUITE_ADD(s, terminal_shows_sessions, 120);
	SUITE_ADD(s, each_session_is_counted, 20);
	SUITE_ADD(s, none_when_off, 60);
	SUITE_ADD(s, file_has_all, 60);
	SUITE_ADD(s, sample, 60);
	SUITE_ADD(s, retried_request, 20);
	SUITE_ADD(s, tried_servers, 30);
	SUITE_ADD(s, syslog_collector, 60);
	SUITE_ADD(s, full_disk, 60);
	SUITE_ADD(s, mistakes, 60);
	return s;
}
