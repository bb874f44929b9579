/* test_request_id.c: each request has an identity of its own, for its server
 * and both logs. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 20000, HEADS = 8192, DIGITS = 32 };

#define GET "GET / HTTP/1.1\r\nHost: a.test\r\n"

/* Answers each request with what it got in the field X-Request-ID, and how
 * often; a body of chunks is read to its end. */
static void
serve(struct backend *b, int fd)
{
	char bytes[HEADS], *end, *at, reply[HEADS], value[200];
	const char *stop;
	size_t n = 0, length;
	ssize_t got;
	int count;

	(void)b;
	while ((got = recv(fd, bytes + n, HEADS - 1 - n, 0)) > 0) {
		n += (size_t)got;
		bytes[n] = '\0';
		for (;;) {
			stop = strstr(bytes, "chunked") != NULL
			    ? "\r\n0\r\n\r\n"
			    : "\r\n\r\n";
			end = strstr(bytes, stop);
			if (end == NULL)
				break;
			length = (size_t)(end - bytes) + strlen(stop);
			value[0] = '\0';
			count = 0;
			for (at = bytes;
			     (at = strstr(at, "\r\nX")) != NULL && at < end;
			     at++)
				if (strncmp(at + 3, "-Request-ID: ", 13) == 0 ||
				    strncmp(at + 3, "_Request_ID: ", 13) == 0) {
					count++;
					sscanf(at + 16, "%150[^\r]", value);
				}
			(void)snprintf(reply, sizeof(reply),
			    "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%d "
			    "%s\n",
			    strlen(value) + 3, count, value);
			if (!backend_send(fd, reply, strlen(reply)))
				return;
			n -= length;
			memmove(bytes, bytes + length, n + 1);
		}
	}
}

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *requests, *sessions;

static void
up(const char *commands)
{
	requests = scratch("requests");
	sessions = scratch("sessions");
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, "-O",
	    text("request_log %s; request_format '{request_id} {status}'; "
		 "session_log %s; log_format '{request_id} {reason}'",
		requests, sessions),
	    "-O", commands, front.text, back.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

/* The next answer: the number of fields, and the value. */
static const char *
answer(int fd, char *got, size_t room)
{
	const char *body;
	size_t n = 0;

	do {
		endpoint_recv(fd, got + n, 1);
		got[++n] = '\0';
		ck_assert_uint_lt(n, room - 1);
		body = strstr(got, "\r\n\r\n");
	} while (body == NULL || strchr(body + 4, '\n') == NULL);
	got[n - 1] = '\0';
	return body + 4;
}

static const char *
ask(int fd, const char *request)
{
	char got[1024];

	endpoint_send(fd, request, strlen(request));
	return text("%s", answer(fd, got, sizeof(got)));
}

static void
is_made(const char *said)
{
	ck_assert_msg(strncmp(said, "1 ", 2) == 0 &&
		strlen(said) == 2 + DIGITS &&
		strspn(said + 2, "0123456789abcdef") == DIGITS,
	    "%s", said);
}

static void
log_has(const char *path, const char *line)
{
	WAIT_FOR(
	    strstr(text("\n%s", contents(path)), text("\n%s\n", line)) != NULL,
	    SOON);
}

/* On one connection, pipelined, in other connections: no two are equal. */
START_TEST(each_has_its_own)
{
	const char *said[8];
	char got[1024];
	int fd, i, k;

	up("http_request_id on");
	fd = endpoint_connect(&front);
	said[0] = ask(fd, GET "\r\n");
	said[1] = ask(fd, GET "\r\n");
	endpoint_send(
	    fd, GET "\r\n" GET "\r\n" GET "\r\n", 3 * strlen(GET "\r\n"));
	for (i = 2; i < 5; i++)
		said[i] = text("%s", answer(fd, got, sizeof(got)));
	close(fd);
	for (; i < 8; i++) {
		fd = endpoint_connect(&front);
		said[i] = ask(fd, GET "\r\n");
		close(fd);
	}
	for (i = 0; i < 8; i++) {
		is_made(said[i]);
		for (k = 0; k < i; k++)
			ck_assert_str_ne(said[i], said[k]);
		log_has(requests, text("%s 200", said[i] + 2));
	}
	/* of a session that of the last one */
	log_has(sessions, text("%s done", said[4] + 2));
	log_has(sessions, text("%s done", said[7] + 2));
	ck_assert_int_eq(count_in(contents(requests), "\n"), 8);
	down();
}
END_TEST

#define OTHERS "x-request-id: mine\r\nX-Request-ID: mine\r\nX_Request_ID: m\r\n"
#define CHUNKED \
	"POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n"

/* Only proxies of the list may send one; by default there are none. */
START_TEST(strangers)
{
	int fd;

	up("http_request_id X-Request-ID");
	fd = endpoint_connect(&front);
	is_made(ask(fd, GET "X-Request-ID: mine\r\n\r\n"));
	is_made(ask(fd, GET OTHERS "\r\n"));
	is_made(ask(fd, CHUNKED "X-Request-ID: mine\r\n\r\n0\r\n\r\n"));
	is_made(ask(fd, GET "X-Request-ID: mine\r\n\r\n"));
	close(fd);
	ck_assert_ptr_null(strstr(contents(requests), "mine"));
	/* nor as a trailer */
	fd = endpoint_connect(&front);
	endpoint_send(fd, CHUNKED "\r\n0\r\nx_request-id: mine\r\n\r\n",
	    strlen(CHUNKED "\r\n0\r\nx_request-id: mine\r\n\r\n"));
	ck_assert_ptr_null(strstr(endpoint_recv_all(fd), "200"));
	close(fd);
	down();
}
END_TEST

START_TEST(trusted_proxies)
{
	int fd;

	up("acl proxies permit 127.0.0.1; forwarded trust proxies; "
	   "http_request_id on");
	fd = endpoint_connect(&front);
	ck_assert_str_eq(ask(fd, GET "X-Request-ID: a-1.b\r\n\r\n"), "1 a-1.b");
	is_made(ask(fd, GET "\r\n"));
	is_made(ask(fd, GET OTHERS "\r\n"));
	ck_assert_str_eq(ask(fd, GET "X-Request-ID: a-2\r\n\r\n"), "1 a-2");
	close(fd);
	log_has(requests, "a-1.b 200");
	log_has(requests, "a-2 200");
	log_has(sessions, "a-2 done");
	down();
}
END_TEST

/* The same request has the same one, wherever it goes; an answer of pen's own
 * has it in the log. */
START_TEST(without_a_server)
{
	int fd;

	up("http_request_id on; http_status; retry 0");
	pen_answers(&ctl, "server 0 maint", "");
	/* it has sent its request when it is accepted */
	pen_freeze(&pen);
	fd = endpoint_connect(&front);
	endpoint_send(fd, GET "\r\n", strlen(GET "\r\n"));
	pen_thaw(&pen);
	endpoint_expect_page(fd, "503");
	close(fd);
	WAIT_FOR(count_in(contents(requests), "\n") == 1, SOON);
	ck_assert_uint_eq(
	    strspn(contents(requests), "0123456789abcdef"), DIGITS);
	ck_assert_ptr_nonnull(strstr(contents(requests), " 503\n"));
	down();
}
END_TEST

START_TEST(at_run_time)
{
	int fd, old;

	up("retry 3");
	old = endpoint_connect(&front);
	ck_assert_str_eq(ask(old, GET "X-Request-ID: mine\r\n\r\n"), "1 mine");
	ck_assert_str_eq(ask(old, GET "\r\n"), "0 ");
	log_has(requests, "- 200");
	pen_answers(&ctl, "http_request_id on", "");
	fd = endpoint_connect(&front);
	is_made(ask(fd, GET "\r\n"));
	pen_answers(&ctl, "http_request_id off", "");
	ck_assert_str_eq(ask(fd, GET "X-Request-ID: mine\r\n\r\n"), "1 mine");
	ck_assert_str_eq(ask(old, GET "\r\n"), "0 ");
	close(fd);
	close(old);
	down();
}
END_TEST

SUITE(test_request_id)
{
	Suite *s = suite_create("request_id");

	SUITE_ADD(s, each_has_its_own, 30);
	SUITE_ADD(s, strangers, 30);
	SUITE_ADD(s, trusted_proxies, 30);
	SUITE_ADD(s, without_a_server, 30);
	SUITE_ADD(s, at_run_time, 30);
	return s;
}
