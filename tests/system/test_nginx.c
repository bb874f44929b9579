/* test_nginx.c: the main job on real traffic: ab, wrk, big files, a kill. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/pattern.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct nginx one, two, three;
static struct endpoint front;
static struct pen pen;

static void
expect_ab(const char *option, long requests)
{
	const char *out =
	    run_program(120000, "ab", "-q", "-n", text("%ld", requests), "-c",
		"200", option, text("http://%s/", front.text), NULL);

	ck_assert_int_eq(report_number(out, "Complete requests:"), requests);
	ck_assert_int_eq(report_number(out, "Failed requests:"), 0);
	ck_assert_ptr_null(strstr(out, "Non-2xx responses:"));
	printf("ab %s: %ld requests a second\n", option,
	    report_number(out, "Requests per second:"));
}

START_TEST(two_servers_share_evenly)
{
	long n = suite_amount(40000, 4000), first, second;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("ab");
	nginx_up(&one, "hello");
	nginx_up(&two, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, one.at.text, two.at.text, NULL);
	expect_ab("-r", n);
	first = nginx_requests(&one);
	second = nginx_requests(&two);
	printf("shared %ld to %ld\n", first, second);
	ck_assert_int_eq(first + second, n);
	ck_assert_int_le(labs(first - second), 1);
	expect_ab("-k", n);
	pen_down(&pen);
	nginx_down(&one);
	nginx_down(&two);
}
END_TEST

/* One put and one get of a big file, and each of its bytes compared. */
START_TEST(big_file_both_ways)
{
	uint64_t bytes = (uint64_t)suite_amount(256, 16) << 20, at, k;
	static char buf[1 << 18], c;
	const char *head, *answer;
	int fd;

	NEED_PROGRAM("nginx");
	nginx_up(&one, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, one.at.text, NULL);

	fd = endpoint_connect(&front);
	head = text("PUT /files/big HTTP/1.1\r\nHost: x\r\n"
		    "Connection: close\r\nContent-Length: %llu\r\n\r\n",
	    (unsigned long long)bytes);
	endpoint_send(fd, head, strlen(head));
	for (at = 0; at < bytes; at += k) {
		k = bytes - at < sizeof(buf) ? bytes - at : sizeof(buf);
		pattern_fill(3, at, buf, k);
		endpoint_send(fd, buf, k);
	}
	endpoint_set_deadline(fd, 60000);
	answer = endpoint_recv_all(fd);
	ck_assert_msg(strncmp(answer, "HTTP/1.1 201", 12) == 0, "%s", answer);
	close(fd);

	fd = endpoint_connect(&front);
	head = "GET /files/big HTTP/1.0\r\nHost: x\r\n\r\n";
	endpoint_send(fd, head, strlen(head));
	for (k = 0; k < 4; k = c == "\r\n\r\n"[k] ? k + 1 : (c == '\r'))
		endpoint_recv(fd, &c, 1);
	for (at = 0; at < bytes; at += k) {
		k = bytes - at < sizeof(buf) ? bytes - at : sizeof(buf);
		endpoint_recv(fd, buf, k);
		pattern_check(3, at, buf, k);
	}
	endpoint_expect_end(fd);
	close(fd);
	pen_down(&pen);
	nginx_down(&one);
}
END_TEST

/* Socket errors: connect 0, read 33, write 0, timeout 0 */
static long
wrk_errors(const char *report, const char *kind)
{
	const char *s = strstr(report, "Socket errors:");

	return s != NULL ? report_number(s, kind) : 0;
}

START_TEST(kill_one_of_three_under_load)
{
	const char *argv[] = { "wrk", "-t", "1", "-c", "100", "-d", "2s", NULL,
		NULL };
	const char *out;
	struct child wrk;
	long errors;
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("wrk");
	nginx_up(&one, "hello");
	nginx_up(&two, "hello");
	nginx_up(&three, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-b", "2", "-r", front.text, one.at.text,
	    two.at.text, three.at.text, NULL);
	argv[7] = text("http://%s/", front.text);
	child_start(&wrk, argv);
	/* each has its third of the 100 connections */
	WAIT_FOR(nginx_requests(&one) > 100 && nginx_requests(&two) > 100 &&
		nginx_requests(&three) > 100,
	    5000);
	child_stop(&two.child, SIGKILL);
	ck_assert_int_eq(child_wait(&wrk, 30000), 0);
	out = child_out(&wrk);
	errors = wrk_errors(out, "read ") + wrk_errors(out, "write ");
	printf("%ld connections broken by the kill\n", errors);
	ck_assert_int_le(errors, 34);
	ck_assert_int_eq(wrk_errors(out, "connect "), 0);
	ck_assert_int_eq(wrk_errors(out, "timeout "), 0);
	ck_assert_int_gt(report_number(out, "Requests/sec:"), 0);
	ck_assert_ptr_null(strstr(out, "Non-2xx"));

	nginx_again(&two, "hello");
	for (i = 0; nginx_requests(&two) == 0; i++) {
		ck_assert_int_lt(i, 3000);
		ck_assert_int_eq(
		    strncmp(endpoint_ask(
				&front, "GET / HTTP/1.0\r\nHost: x\r\n\r\n"),
			"HTTP/1.1 200", 12),
		    0);
		wait_nap();
	}
	pen_down(&pen);
	nginx_down(&one);
	nginx_down(&two);
	nginx_down(&three);
}
END_TEST

SUITE(test_nginx)
{
	Suite *s = suite_create("nginx");

	SUITE_ADD(s, two_servers_share_evenly, 240);
	SUITE_ADD(s, big_file_both_ways, 120);
	SUITE_ADD(s, kill_one_of_three_under_load, 60);
	return s;
}
