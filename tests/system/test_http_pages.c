/* test_http_pages.c: pages of pen's own for clients whose request no server
 * answers: 502, 503, 504. Those for bad requests are in test_http. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000 };

#define GET  "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok"
#define OK   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct backend server;
static struct endpoint front, ctl, nobody;
static struct pen pen;

/* Answers as many requests as `arg` points to, in order, and ends the
 * connection when the next one has come. */
static void
serve_some(struct backend *b, int fd)
{
	int left = *(const int *)b->arg;
	char got[4096];

	while (recv(fd, got, sizeof(got), 0) > 0 && left-- > 0)
		(void)backend_send(fd, OK, strlen(OK));
}

/* Hears all and says nothing. */
static void
serve_nobody(struct backend *b, int fd)
{
	char got[4096];

	(void)b;
	while (recv(fd, got, sizeof(got), 0) > 0)
		;
}

static void
up(const char *option, const char *settings)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-d", "-r", option, "-C", ctl.text, "-O",
	    "http_status", "-O", settings, front.text, server.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&server);
}

static int
ask(const char *request)
{
	int fd = endpoint_connect(&front);

	endpoint_send(fd, request, strlen(request));
	return fd;
}

static void
hear_page(int fd, const char *status)
{
	endpoint_expect_page(fd, status);
	close(fd);
}

static void
hear_answer(int fd)
{
	char got[sizeof(OK)] = "";

	endpoint_recv(fd, got, strlen(OK));
	ck_assert_str_eq(got, OK);
}

/* With and without -H. */
static const char *const options[] = { "-H", "-d" };

/* ---- no server ---- */

START_TEST(status_503)
{
	int fd;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&nobody, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "--retry", "0", "-C", ctl.text, "-O",
	    "http_status", front.text, nobody.text, NULL);
	hear_page(ask(GET), "503");
	endpoint_ask(&ctl, "http\n");
	hear_page(ask("GET / HT"), "503");
	WAIT_FOR(
	    strstr(endpoint_ask(&ctl, "statistics\n"), "no_server 2") != NULL,
	    SOON);
	endpoint_ask(&ctl, "no http_status\n");
	fd = endpoint_connect(&front);
	endpoint_expect_reset(fd);
	close(fd);
	pen_down(&pen);
}
END_TEST

START_TEST(status_403)
{
	int fd;

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O", "http_status", "-O",
	    "acl 1 deny 127.0.0.1; client_acl 1", front.text, server.at.text,
	    NULL);
	hear_page(ask(GET), "403");
	WAIT_FOR(strstr(endpoint_ask(&ctl, "statistics\n"),
		     "closed_denied 1\n") != NULL,
	    SOON);
	endpoint_ask(&ctl, "no http_status\n");
	fd = endpoint_connect(&front);
	endpoint_expect_reset(fd);
	close(fd);
	WAIT_FOR(strstr(endpoint_ask(&ctl, "statistics\n"),
		     "closed_denied 2\n") != NULL,
	    SOON);
	pen_down(&pen);
	backend_stop(&server);
}
END_TEST

START_TEST(status_503_behind_a_queue)
{
	int one;

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-H", "--queue", "0.2", "-O", "http_status",
	    front.text, text("%s:1:1", server.at.text), NULL);
	one = ask(GET);
	WAIT_FOR(atomic_load(&server.open) == 1, SOON);
	hear_page(ask(GET), "503");
	close(one);
	down();
}
END_TEST

/* Its request is read for the page, which has no body then. */
START_TEST(a_page_for_head_behind_a_queue)
{
	const char *page;
	int one, fd;

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", options[_i], "--queue", "0.2", "-O",
	    "http_status", front.text, text("%s:1:1", server.at.text), NULL);
	one = ask(GET);
	WAIT_FOR(atomic_load(&server.open) == 1, SOON);
	fd = ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
	page = endpoint_recv_all(fd);
	ck_assert_int_eq(strncmp(page, "HTTP/1.1 503 ", 13), 0);
	ck_assert_str_eq(strstr(page, "\r\n\r\n"), "\r\n\r\n");
	close(fd);
	close(one);
	down();
}
END_TEST

/* The server that was to be told of its client first refuses at that moment,
 * the other one is full: the client has its page all the same. */
START_TEST(a_bad_request_that_is_queued)
{
	int one, i;

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&nobody, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-H", "--queue", "60", "-b", "0", "-O",
	    "proxy_protocol 1", front.text, text("%s:1:1", server.at.text),
	    nobody.text, NULL);
	one = ask(GET);
	WAIT_FOR(atomic_load(&server.open) == 1, SOON);
	for (i = 0; i < 4; i++)
		hear_page(ask("GET /\r\n\r\n"), "400");
	close(one);
	down();
}
END_TEST

/* ---- no answer ---- */

/* What may be sent again goes to a server as long as there is one. */
START_TEST(status_502)
{
	static const int answers = 0;

	backend_start(&server, ENDPOINT_TCP4, serve_some, &answers);
	up(options[_i], "retry_requests 1");
	hear_page(ask(POST), "502");
	hear_page(ask(GET), "502");
	WAIT_FOR(child_has_said(&pen.child, "reason=no_answer"), SOON);
	ck_assert_int_eq(atomic_load(&server.accepted), 2);
	endpoint_ask(&ctl, "no http_status\n");
	endpoint_expect_end(ask(POST));
	down();
}
END_TEST

/* However often it may be sent: its page has no body (RFC 9110, 9.3.2). */
START_TEST(a_page_for_head)
{
	static const int answers = 0;
	const char *page;
	int fd;

	backend_start(&server, ENDPOINT_TCP4, serve_some, &answers);
	up(options[_i % 2], _i < 2 ? "retry_requests 0" : "retry_requests 1");
	fd = ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
	page = endpoint_recv_all(fd);
	ck_assert_msg(strncmp(page, "HTTP/1.1 502 ", 13) == 0, "%s", page);
	ck_assert_str_eq(strstr(page, "\r\n\r\n"), "\r\n\r\n");
	close(fd);
	hear_page(ask(POST), "502");
	down();
}
END_TEST

/* A client that ends within its body gave up, and its server only follows: no
 * server has failed. */
START_TEST(a_client_that_gives_up_its_request)
{
	static const char *const sent[] = { "Content-Length: 3\r\n\r\nok",
		"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n" };
	int fd;

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	up("-H", "no roundrobin");
	fd = ask(text("POST / HTTP/1.1\r\nHost: a\r\n%s", sent[_i]));
	shutdown(fd, SHUT_WR);
	endpoint_expect_end(fd);
	close(fd);
	WAIT_FOR(strstr(endpoint_ask(&ctl, "statistics\n"),
		     "\nclosed_done 1\n") != NULL,
	    SOON);
	down();
}
END_TEST

/* It asks anew, which a page would keep it from. */
START_TEST(a_kept_connection_just_ends)
{
	static const int answers = 1;
	int fd;

	backend_start(&server, ENDPOINT_TCP4, serve_some, &answers);
	up(options[_i], "retry_requests 1");
	fd = ask(POST);
	hear_answer(fd);
	endpoint_send(fd, POST, strlen(POST));
	endpoint_expect_end(fd);
	close(fd);
	down();
}
END_TEST

/* A client that has not asked is told nothing. */
START_TEST(silence_is_no_request)
{
	int fd;

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	up(options[_i], "idle_timeout 200ms");
	fd = endpoint_connect(&front);
	endpoint_expect_end(fd);
	close(fd);
	down();
}
END_TEST

START_TEST(status_504)
{
	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	up(options[_i], "idle_timeout 200ms");
	hear_page(ask(POST), "504");
	WAIT_FOR(child_has_said(&pen.child, "reason=idle_timeout"), SOON);
	down();
}
END_TEST

/* Whose fault it is: a client that is asked to wait with its body owes none. */
START_TEST(stalled_body)
{
	static const struct {
		const char *fields, *body, *status;
	} cases[] = {
		{ "Content-Length: 3", "ok", "408" },
		{ "Transfer-Encoding: chunked", "2\r\nok\r\n", "408" },
		{ "Content-Length: 3\r\nExpect: 100-continue", "", "504" },
	};

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	up("-H", "idle_timeout 200ms");
	hear_page(ask(text("POST / HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n%s",
		      cases[_i].fields, cases[_i].body)),
	    cases[_i].status);
	WAIT_FOR(child_has_said(&pen.child, "reason=idle_timeout"), SOON);
	down();
}
END_TEST

/* Its end is not followed by a reset, which could overtake the page. */
START_TEST(an_old_session_has_its_page)
{
	int fd, error = 0;
	socklen_t n = sizeof(error);

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	up(options[_i], "max_age 200ms");
	endpoint_ask(&ctl, "drain_timeout 200ms\n");
	fd = ask(POST);
	WAIT_FOR(child_has_said(&pen.child, "reason=max_age"), SOON);
	endpoint_ask(&ctl, "statistics\n"); /* it is closed by now */
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
	ck_assert_int_eq(error, 0);
	hear_page(fd, "504");
	down();
}
END_TEST

/* Its connection is cut as soon as checks find the server down. */
START_TEST(server_goes_down)
{
	int fd;

	backend_start(&server, ENDPOINT_TCP4, serve_nobody, NULL);
	up(options[_i], "on_down cut");
	fd = ask(POST);
	WAIT_FOR(atomic_load(&server.open) == 1, SOON);
	endpoint_ask(&ctl,
	    "check send x expect y; check_interval 100ms; "
	    "check_timeout 100ms; check_fall 1\n");
	hear_page(fd, "502");
	WAIT_FOR(child_has_said(&pen.child, "reason=server_down"), SOON);
	down();
}
END_TEST

SUITE(test_http_pages)
{
	Suite *s = suite_create("http_pages");

	SUITE_ADD(s, status_503, 20);
	SUITE_ADD(s, status_403, 20);
	SUITE_ADD(s, status_503_behind_a_queue, 20);
	SUITE_ADD_LOOP(s, a_page_for_head_behind_a_queue, 20, 2);
	SUITE_ADD(s, a_bad_request_that_is_queued, 20);
	SUITE_ADD_LOOP(s, status_502, 20, 2);
	SUITE_ADD_LOOP(s, a_page_for_head, 10, 4);
	SUITE_ADD_LOOP(s, a_client_that_gives_up_its_request, 20, 2);
	SUITE_ADD_LOOP(s, a_kept_connection_just_ends, 20, 2);
	SUITE_ADD_LOOP(s, silence_is_no_request, 20, 2);
	SUITE_ADD_LOOP(s, status_504, 20, 2);
	SUITE_ADD_LOOP(s, stalled_body, 20, 3);
	SUITE_ADD_LOOP(s, an_old_session_has_its_page, 20, 2);
	SUITE_ADD_LOOP(s, server_goes_down, 30, 2);
	return s;
}
