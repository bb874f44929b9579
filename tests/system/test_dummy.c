/* test_dummy.c: pen as a minimal web server, alone and behind itself. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(answers_for_itself)
{
	struct endpoint at;
	struct pen pen;
	const char *answer;

	endpoint_new(&at, ENDPOINT_TCP4);
	pen_up(&pen, &at, "-O", "dummy", at.text, NULL);
	answer = endpoint_ask(&at, "GET / HTTP/1.0\r\n\r\n");
	ck_assert_int_eq(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
	ck_assert_ptr_nonnull(
	    strstr(answer, text("pen dummy server %s\n", at.text)));
	/* two requests in one breath, then the end */
	answer = endpoint_ask(&at,
	    "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	    "GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	answer = strstr(answer + 1, "HTTP/1.1 200 ");
	ck_assert_ptr_nonnull(answer);
	/* servers may be named, they are not asked */
	pen_down(&pen);
	pen_up(&pen, &at, "-O", "dummy", at.text, "127.0.0.1:9", NULL);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&at, "GET / HTTP/1.0\r\n\r\n"), "pen dummy"));
	pen_down(&pen);
}
END_TEST

/* A body is no request; a head that is too long is refused. */
START_TEST(bodies_and_long_heads)
{
	static const char post[] =
	    "POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n";
	static const char close_[] =
	    "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
	char *body = calloc(1, 100001);
	struct endpoint at;
	struct pen pen;
	const char *answer;

	ck_assert_ptr_nonnull(body);
	memset(body, 'x', 100000);
	memcpy(body, "GET / HTTP/1.1\r\n\r\n", 18);
	endpoint_new(&at, ENDPOINT_TCP4);
	pen_up(&pen, &at, "-O", "dummy", at.text, NULL);
	answer = endpoint_ask(&at, text("%s%s%s", post, body, close_));
	ck_assert_int_eq(count_in(answer, "HTTP/1.1 "), 2);
	ck_assert_int_eq(count_in(answer, "HTTP/1.1 200 "), 2);
	/* where a body ends that has no length, nobody knows */
	answer = endpoint_ask(&at,
	    text("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n%s", close_));
	ck_assert_int_eq(count_in(answer, "HTTP/1.1 "), 1);
	body[17000] = '\0';
	memset(body, 'x', 17000);
	answer = endpoint_ask(&at, text("GET /%s", body));
	ck_assert_int_eq(strncmp(answer, "HTTP/1.1 431 ", 13), 0);
	free(body);
	pen_down(&pen);
}
END_TEST

START_TEST(head_in_two_pieces)
{
	struct endpoint at;
	const char *answer;
	struct pen pen;
	int fd;

	endpoint_new(&at, ENDPOINT_TCP4);
	pen_up(&pen, &at, "-O", "dummy", at.text, NULL);
	fd = endpoint_connect(&at);
	endpoint_send(fd, "HEAD / HT", 9);
	pen_expect_rest(&pen);
	endpoint_send(fd, "TP/1.1\r\nConnection: close\r\n\r\n", 29);
	answer = endpoint_recv_all(fd);
	ck_assert_int_eq(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
	ck_assert_ptr_null(strstr(answer, "<html>"));
	close(fd);
	pen_down(&pen);
}
END_TEST

/* Switched on and off while it runs. */
START_TEST(at_run_time)
{
	static const char get[] = "GET / HTTP/1.0\r\n\r\n";
	struct backend server;
	struct endpoint at, ctl;
	struct pen pen;

	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&at, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &at, "-C", ctl.text, at.text, server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	ck_assert_str_eq(endpoint_ask(&at, get), get);
	ck_assert_str_eq(endpoint_ask(&ctl, "dummy\n"), "");
	ck_assert_ptr_nonnull(strstr(endpoint_ask(&at, get), "pen dummy"));
	ck_assert_str_eq(endpoint_ask(&ctl, "no dummy\n"), "");
	ck_assert_str_eq(endpoint_ask(&at, get), get);
	pen_down(&pen);
	backend_stop(&server);
}
END_TEST

/* Neither silence nor a head that never ends holds a place for long. */
START_TEST(idle_client_is_closed)
{
	struct endpoint at;
	struct pen pen;
	int silent, slow, busy;
	bool gone = false;
	char c;

	endpoint_new(&at, ENDPOINT_TCP4);
	pen_up(
	    &pen, &at, "-x", "3", "-O", "dummy; idle_timeout 1", at.text, NULL);
	silent = endpoint_connect(&at);
	slow = endpoint_connect(&at);
	busy = endpoint_connect(&at);
	while (!gone) {
		(void)send(slow, "G", 1, MSG_NOSIGNAL);
		endpoint_send(busy, "GET / HTTP/1.1\r\n\r\n", 18);
		WAIT_FOR(recv(busy, &c, 1, MSG_DONTWAIT) == 1, 5000);
		while (recv(busy, &c, 1, MSG_DONTWAIT) == 1)
			;
		gone = recv(slow, &c, 1, MSG_DONTWAIT) == 0 ||
		    (errno != EAGAIN && errno != EWOULDBLOCK);
		wait_nap();
	}
	WAIT_FOR(recv(silent, &c, 1, MSG_DONTWAIT) == 0, 5000);
	/* there is room again, and who asks was not closed */
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&at, "GET / HTTP/1.0\r\n\r\n"), "pen dummy"));
	endpoint_send(busy, "GET / HTTP/1.1\r\n\r\n", 18);
	WAIT_FOR(recv(busy, &c, 1, MSG_DONTWAIT) == 1, 5000);
	close(silent);
	close(slow);
	close(busy);
	pen_down(&pen);
}
END_TEST

static void
run_ab(const struct endpoint *at, const char *option, const char *requests)
{
	const char *out = run_program(60000, "ab", "-q", "-n", requests, "-c",
	    "50", option, text("http://%s/", at->text), NULL);

	ck_assert_int_eq(report_number(out, "Complete requests:"),
	    strtol(requests, NULL, 10));
	ck_assert_int_eq(report_number(out, "Failed requests:"), 0);
}

START_TEST(real_clients)
{
	struct endpoint at;
	struct pen pen;
	const char *url;
	const char *n = text("%ld", suite_amount(5000, 1000));

	NEED_PROGRAM("curl");
	NEED_PROGRAM("ab");
	endpoint_new(&at, ENDPOINT_TCP4);
	pen_up(&pen, &at, "-O", "dummy", at.text, NULL);
	url = text("http://%s/", at.text);
	ck_assert_ptr_nonnull(strstr(
	    run_program(10000, "curl", "-sS", "--noproxy", "*", url, url, NULL),
	    text("pen dummy server %s", at.text)));
	run_ab(&at, "-r", n);
	run_ab(&at, "-k", n);
	pen_down(&pen);
}
END_TEST

/* As in the quickstart: two of them behind a third. */
START_TEST(behind_itself)
{
	struct endpoint one, two, front;
	struct pen a, b, pen;
	int i, ones = 0;

	endpoint_new(&one, ENDPOINT_TCP4);
	endpoint_new(&two, ENDPOINT_UNIX);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&a, &one, "-O", "dummy", one.text, NULL);
	pen_up(&b, &two, "-O", "dummy", two.text, NULL);
	pen_up(&pen, &front, "-r", front.text, one.text, two.text, NULL);
	for (i = 0; i < 10; i++)
		ones += strstr(endpoint_ask(&front, "GET / HTTP/1.0\r\n\r\n"),
			    one.text) != NULL;
	ck_assert_int_eq(ones, 5);
	pen_down(&pen);
	pen_down(&b);
	pen_down(&a);
}
END_TEST

SUITE(test_dummy)
{
	Suite *s = suite_create("dummy");

	SUITE_ADD(s, head_in_two_pieces, 20);
	SUITE_ADD(s, bodies_and_long_heads, 20);
	SUITE_ADD(s, at_run_time, 20);
	SUITE_ADD(s, answers_for_itself, 10);
	SUITE_ADD(s, idle_client_is_closed, 20);
	SUITE_ADD(s, real_clients, 120);
	SUITE_ADD(s, behind_itself, 10);
	return s;
}
