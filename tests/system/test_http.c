/* test_http.c: pen -H: what servers and clients get. Requests of every kind
 * are read in tests/unit/proxy/test_http_requests. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/shortcuts.h"
#include "support/httpgen.h"
#include "support/httpref.h"
#include "support/pattern.h"
#include "support/penrun.h"
#include "support/scripted.h"
#include "support/suite.h"
#include "support/wait.h"

#define GET  "GET / HTTP/1.1\r\nHost: a\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"
#define TOLD "X-Forwarded-Proto: http\r\nX-Forwarded-For: 127.0.0.1\r\n"
#define HEAD_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
#define OK   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct scripted server;
static struct pen pen;
static struct endpoint front, ctl;

static void
up(const struct scripted_step *steps, const char *settings)
{
	scripted_start(&server, steps);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-d", "-r", "-H", "-C", ctl.text, "-O", settings,
	    front.text, server.backend.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

static void
down(void)
{
	pen_down(&pen);
	scripted_stop(&server);
}

static void
say(int fd, const char *what)
{
	endpoint_send(fd, what, strlen(what));
}

static void
hear(int fd, const char *what)
{
	char got[4096];

	endpoint_recv(fd, got, strlen(what));
	ck_assert_mem_eq(got, what, strlen(what));
}

START_TEST(every_request_is_told)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n", OK },
		{ "\r\n\r\n", OK }, { "\r\n\r\n", HEAD_OK OK }, { "", NULL } };
	int fd;

	up(steps, "no log");
	fd = endpoint_connect(&front);
	say(fd, GET "\r\n");
	hear(fd, OK);
	say(fd, GET "X-Forwarded-For: 1.2.3.4\r\n\r\n");
	hear(fd, OK);
	say(fd, "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" GET
		"\r\n");
	hear(fd, HEAD_OK OK);
	scripted_expect(&server,
	    GET TOLD "\r\n" GET "X-Forwarded-For: 1.2.3.4\r\n" TOLD
		     "\r\nHEAD / HTTP/1.0\r\nConnection: keep-alive\r\n" TOLD
		     "\r\n" GET TOLD "\r\n");
	close(fd);
	down();
}
END_TEST

START_TEST(forwarded_is_kept_or_replaced)
{
#define SAID                                                   \
	GET "X-Forwarded-For: 1.2.3.4\r\nForwarded: for=x\r\n" \
	    "X-Forwarded-Proto: https\r\n\r\n"
	int fd;

	up(NULL, "forwarded replace;http_forwarded;acl 1 permit 127.0.0.1");
	fd = endpoint_connect(&front);
	say(fd, SAID);
	scripted_expect(
	    &server, GET TOLD "Forwarded: for=127.0.0.1;proto=http\r\n\r\n");
	close(fd);
	WAIT_FOR(scripted_is_over(&server, 1), 5000);
	endpoint_ask(&ctl, "no http_forwarded; forwarded trust 1\n");
	fd = endpoint_connect(&front);
	say(fd, SAID);
	scripted_expect(&server,
	    GET "X-Forwarded-For: 1.2.3.4\r\nForwarded: for=x\r\n"
		"X-Forwarded-Proto: https\r\nX-Forwarded-For: 127.0.0.1\r\n"
		"\r\n");
	close(fd);
	WAIT_FOR(scripted_is_over(&server, 2), 5000);
	endpoint_ask(&ctl, "no acl 1; acl 1 deny 127.0.0.1\n");
	fd = endpoint_connect(&front);
	say(fd, SAID);
	scripted_expect(&server, GET TOLD "\r\n");
	close(fd);
	WAIT_FOR(scripted_is_over(&server, 3), 5000);
	endpoint_ask(&ctl, "no http\n");
	fd = endpoint_connect(&front);
	say(fd, SAID);
	scripted_expect(&server, SAID);
	close(fd);
	down();
}
END_TEST

/* A proxy in front has ended the client's TLS, and says so by the PROXY
 * protocol. */
START_TEST(clients_of_tls_behind_a_proxy)
{
	static const char header[] =
	    "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x14"
	    "\x7f\0\0\1\x7f\0\0\1\0\1\0\2"
	    "\x20\0\x05\1\0\0\0\0";
	int fd;

	up(NULL, "acl 1 permit 127.0.0.1; accept_proxy 1");
	fd = endpoint_connect(&front);
	endpoint_send(fd, header, sizeof(header) - 1);
	say(fd, GET "\r\n");
	scripted_expect(&server,
	    GET "X-Forwarded-Proto: https\r\nX-Forwarded-For: 127.0.0.1\r\n"
		"\r\n");
	close(fd);
	down();
}
END_TEST

START_TEST(clients_of_all_kinds)
{
	static struct endpoint six, path;
	int fd;

	scripted_start(&server, NULL);
	endpoint_new(&six, ENDPOINT_TCP6);
	endpoint_new(&path, ENDPOINT_UNIX);
	pen_up(&pen, &path, "-r", "-H", "-O", "http_forwarded",
	    text("%s,%s", six.text, path.text), server.backend.at.text, NULL);
	fd = endpoint_connect(&six);
	say(fd, GET "\r\n");
	scripted_expect(&server,
	    GET "X-Forwarded-Proto: http\r\nX-Forwarded-For: ::1\r\n"
		"Forwarded: for=\"[::1]\";proto=http\r\n\r\n");
	close(fd);
	WAIT_FOR(scripted_is_over(&server, 1), 5000);
	fd = endpoint_connect(&path);
	say(fd, GET "\r\n");
	scripted_expect(&server,
	    GET "X-Forwarded-Proto: http\r\nX-Forwarded-For: unknown\r\n"
		"Forwarded: for=unknown;proto=http\r\n\r\n");
	close(fd);
	down();
}
END_TEST

/* ---- refusals ---- */

START_TEST(bad_requests_reach_no_server)
{
	int fd;

	up(NULL, "no log");
	fd = endpoint_connect(&front);
	say(fd, GET "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
	endpoint_expect_page(fd, "400");
	close(fd);
	WAIT_FOR(child_has_said(&pen.child, "reason=bad_request"), 5000);
	/* or its begin, which is late, would forget what the next one hears */
	WAIT_FOR(scripted_is_over(&server, 1), 10000);
	ck_assert(scripted_has_heard(&server, "", 0));
	fd = endpoint_connect(&front);
	say(fd, GET "\r\n" GET " folded\r\n\r\n");
	scripted_expect(&server, GET TOLD "\r\n");
	close(fd);
	fd = endpoint_connect(&front);
	say(fd, "GET / HTTP/3.0\r\n\r\n");
	endpoint_expect_page(fd, "505");
	close(fd);
	down();
}
END_TEST

/* Without a body (RFC 9110, 9.3.2), of whatever is wrong with it, or after its
 * body. */
START_TEST(pages_in_answer_to_head)
{
	static const char *const wrong[] = { "Transfer-Encoding: gzip, chunked",
		"Expect: something", "No colon",
		"Transfer-Encoding: chunked\r\n\r\n0\r\nHost: b" };
	static const char *const status[] = { "501", "417", "400", "400" };
	const char *answer;
	int fd;

	up(NULL, "no log");
	fd = endpoint_connect(&front);
	say(fd, text("HEAD / HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", wrong[_i]));
	answer = endpoint_recv_all(fd);
	ck_assert_mem_eq(answer + 9, status[_i], 3);
	ck_assert_ptr_nonnull(strstr(answer, "Content-Length: "));
	ck_assert_str_eq(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	close(fd);
	down();
}
END_TEST

/* The server has answered the first one before. */
START_TEST(earlier_requests_are_answered_first)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n",
							  "HTTP/1.1 200 OK\r\n"
							  "Content-Length: 5"
							  "\r\n\r\nan" },
		{ "POST", "swe" }, { "", NULL } };
	int fd;

	up(steps, "no log");
	fd = endpoint_connect(&front);
	say(fd, GET "\r\n" POST "Content-Length: 1\r\n\r\nx\n\n");
	hear(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nanswe");
	close(fd);
	WAIT_FOR(scripted_is_over(&server, 1), 5000);
	fd = endpoint_connect(&front);
	say(fd, GET "\r\nPOST\n");
	hear(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nan");
	close(fd);
	down();
}
END_TEST

START_TEST(a_page_follows_the_answers)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n", OK },
		{ "", NULL } };
	int fd;

	up(steps, "no log");
	fd = endpoint_connect(&front);
	say(fd, GET "\r\n" GET "Host: b\r\n\r\n");
	hear(fd, OK);
	endpoint_expect_page(fd, "400");
	scripted_expect(&server, GET TOLD "\r\n");
	close(fd);
	down();
}
END_TEST

/* A server that has a part of it must not take the end for its end. */
START_TEST(a_bad_body_is_broken_off)
{
	static const struct scripted_step steps[] = { { "hello", HEAD_OK "o" },
		{ "", NULL } };
	int fd;

	up(NULL, "no log");
	fd = endpoint_connect(&front);
	say(fd, POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
	scripted_expect(&server,
	    POST "Transfer-Encoding: chunked\r\n" TOLD "\r\n5\r\nhello\r\n");
	say(fd, "0x5\r\nhello\r\n0\r\n\r\n");
	endpoint_expect_page(fd, "400");
	close(fd);
	WAIT_FOR(scripted_is_over(&server, 1), 5000);
	ck_assert(server.reset);
	down();
	up(steps, "no log");
	fd = endpoint_connect(&front);
	say(fd, POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
	hear(fd, HEAD_OK "o");
	say(fd, "0x5\r\n");
	ck_assert_str_eq(endpoint_recv_all(fd), "");
	close(fd);
	down();
}
END_TEST

/* Whether something came, within 20 ms. */
static bool
hears(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 20) == 1;
}

/* A client that says its header a byte at a time does not stay; one that is
 * silent between requests does. */
START_TEST(slow_headers_get_408)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n", OK },
		{ "never", OK }, { "", NULL } };
	int slow, idle, i;

	up(steps, "hello_timeout 500ms");
	idle = endpoint_connect(&front);
	say(idle, GET "\r\n");
	hear(idle, OK);
	slow = endpoint_connect(&front);
	say(slow, "GET / HTTP/1.1\r\nX: ");
	for (i = 0; i < 1000 && !hears(slow); i++)
		say(slow, "x");
	ck_assert_int_lt(i, 1000);
	endpoint_expect_page(slow, "408");
	close(slow);
	ck_assert(!hears(idle)); /* nor is it closed */
	close(idle);
	WAIT_FOR(child_has_said(&pen.child, "reason=hello_timeout"), 5000);
	down();
}
END_TEST

/* Nor does one that goes on so within its body: it gets a page unless it has an
 * answer, as no request is there for a second one. */
START_TEST(slow_lines_of_a_body)
{
	static const struct scripted_step early[] = { { "\r\n\r\n", OK },
		{ "", NULL } };
	int fd, i, answered;

	for (answered = 0; answered < 2; answered++) {
		up(answered ? early : NULL, "hello_timeout 500ms");
		fd = endpoint_connect(&front);
		say(fd, POST "Transfer-Encoding: chunked\r\n\r\n5;");
		if (answered)
			hear(fd, OK);
		for (i = 0; i < 1000 && !hears(fd); i++)
			say(fd, "x");
		ck_assert_int_lt(i, 1000);
		if (answered)
			endpoint_expect_end(fd);
		else
			endpoint_expect_page(fd, "408");
		close(fd);
		WAIT_FOR(
		    child_has_said(&pen.child, "reason=hello_timeout"), 5000);
		down();
	}
}
END_TEST

START_TEST(long_headers_get_431)
{
	static char header[40000];
	int fd, n = snprintf(header, sizeof(header), GET "X: ");

	memset(header + n, 'x', sizeof(header) - (size_t)n - 1);
	up(NULL, "no log");
	fd = endpoint_connect(&front);
	say(fd, header);
	endpoint_expect_page(fd, "431");
	ck_assert(scripted_has_heard(&server, "", 0));
	close(fd);
	down();
}
END_TEST

/* ---- other protocols ---- */

#define UPGRADE	  GET "Connection: upgrade\r\nUpgrade: websocket\r\n"
#define SWITCHING "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\nhi"

START_TEST(websocket)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n", SWITCHING },
		{ "frame", "\r\n\r\nHTTP/1.1" }, { "", NULL } };
	int fd;

	up(steps, "no log");
	fd = endpoint_connect(&front);
	say(fd,
	    UPGRADE "\r\n\x81\x05"
		    "frame");
	hear(fd, SWITCHING "\r\n\r\nHTTP/1.1");
	say(fd, "GET \n\n");
	scripted_expect(&server,
	    UPGRADE TOLD "\r\n\x81\x05"
			 "frameGET \n\n");
	shutdown(fd, SHUT_WR);
	endpoint_expect_end(fd);
	close(fd);
	down();
}
END_TEST

/* By class, in the reports and in /metrics; behind 101 nothing is. */
START_TEST(answers_are_counted)
{
	static const struct scripted_step steps[] = {
		{ "\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n" OK },
		{ "\r\n\r\n",
		    "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n" },
		{ "\r\n\r\n", SWITCHING },
		{ "", "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" },
		{ "", NULL }
	};
	struct endpoint web;
	const char *got;
	int fd;

	endpoint_new(&web, ENDPOINT_TCP4);
	up(steps, text("web %s", web.text));
	fd = endpoint_connect(&front);
	say(fd, GET "\r\n");
	hear(fd, "HTTP/1.1 100 Continue\r\n\r\n" OK);
	say(fd, GET "\r\n");
	hear(fd, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
	say(fd, UPGRADE "\r\n");
	hear(fd, SWITCHING "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
	got = endpoint_ask(&ctl, "statistics\n");
	ck_assert_msg(strstr(got, "\nhttp_1xx 2\nhttp_2xx 1\nhttp_3xx 0\n"
				  "http_4xx 1\nhttp_5xx 0\n") != NULL,
	    "%s", got);
	got = endpoint_ask(&web, "GET /metrics HTTP/1.0\r\n\r\n");
	ck_assert_msg(
	    strstr(got, "\npen_http_responses_total{class=\"1xx\"} 2\n"
			"pen_http_responses_total{class=\"2xx\"} 1\n") != NULL,
	    "%s", got);
	close(fd);
	down();
}
END_TEST

START_TEST(refused_upgrade)
{
	static const struct scripted_step steps[] = {
		{ "\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n" OK },
		{ "GET", OK }, { "", NULL }
	};
	int fd;

	up(steps, "no log");
	fd = endpoint_connect(&front);
	say(fd, UPGRADE "\r\n" GET "\r\n");
	hear(fd, "HTTP/1.1 100 Continue\r\n\r\n" OK OK);
	scripted_expect(&server, UPGRADE TOLD "\r\n" GET TOLD "\r\n");
	say(fd, "\n");
	endpoint_expect_page(fd, "400");
	close(fd);
	down();
}
END_TEST

#define REFUSAL "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"
#define CONNECT "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n"

START_TEST(connect_method)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n",
							  "HTTP/1.1 200 OK\r\n"
							  "Content-Length: 9"
							  "\r\n\r\n" },
		{ "\x16\x03", "\x16" }, { "", NULL } };
	static const struct scripted_step refusing[] = {
		{ "\r\n\r\n", REFUSAL }, { "", NULL }
	};
	int fd;

	up(steps, "http_connect");
	fd = endpoint_connect(&front);
	say(fd, CONNECT "\r\n");
	hear(fd, "HTTP/1.1 200 OK\r\n\r\n");
	say(fd, "\x16\x03\n");
	hear(fd, "\x16");
	scripted_expect(&server, CONNECT TOLD "\r\n\x16\x03\n");
	close(fd);
	down();
	up(refusing, "no log");
	fd = endpoint_connect(&front);
	say(fd, CONNECT "\r\n\x16\x03\n");
	endpoint_expect_page(fd, "501");
	close(fd);
	down();
	/* with another server: the thread of a connection that was closed at
	 * once may run late, and clear what was heard */
	up(refusing, "http_connect");
	fd = endpoint_connect(&front);
	say(fd, CONNECT "\r\n\x16\x03\n");
	hear(fd, REFUSAL);
	endpoint_expect_page(fd, "400");
	scripted_expect(&server, CONNECT TOLD "\r\n");
	close(fd);
	down();
}
END_TEST

/* ---- beside other settings ---- */

/* The first bytes are there before the filter is. */
START_TEST(behind_peek)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n", OK },
		{ "", NULL } };
	int fd;

	up(steps, "peek");
	fd = endpoint_connect(&front);
	say(fd, GET);
	say(fd, "\r\n");
	hear(fd, OK);
	scripted_expect(&server, GET TOLD "\r\n");
	say(fd, GET "\r\n");
	scripted_expect(&server, GET TOLD "\r\n" GET TOLD "\r\n");
	close(fd);
	fd = endpoint_connect(&front);
	say(fd, GET " folded\r\n\r\n");
	endpoint_expect_page(fd, "400");
	close(fd);
	down();
}
END_TEST

static void
take_and_end(struct backend *b, int fd)
{
	char bytes[1000];

	(void)b;
	(void)recv(fd, bytes, sizeof(bytes), 0);
}

/* A request that its server lost is the same for the next one, and so is what
 * comes behind it. */
START_TEST(lost_requests)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n", OK },
		{ "\r\n\r\n", OK }, { "", NULL } };
	struct backend lost;
	int fd, i;

	backend_start(&lost, ENDPOINT_TCP4, take_and_end, NULL);
	scripted_start(&server, steps);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-H", front.text, lost.at.text,
	    server.backend.at.text, NULL);
	for (i = 0; i < 2; i++) { /* one of them begins with the first */
		fd = endpoint_connect(&front);
		say(fd, GET "\r\n");
		hear(fd, OK);
		say(fd, GET "\r\n");
		hear(fd, OK);
		scripted_expect(&server, GET TOLD "\r\n" GET TOLD "\r\n");
		say(fd, "\n");
		endpoint_expect_page(fd, "400");
		close(fd);
		WAIT_FOR(scripted_is_over(&server, i + 1), 5000);
	}
	ck_assert_int_gt(lost.accepted, 0);
	pen_down(&pen);
	backend_stop(&lost);
	scripted_stop(&server);
}
END_TEST

/* The first connection ends instead of its second answer, as one that was idle
 * for too long just as the request came. */
static void
answer_and_end(struct backend *b, int fd)
{
	bool first = b->accepted == 1;
	char bytes[1000];

	while (recv(fd, bytes, sizeof(bytes), 0) > 0) {
		endpoint_send(fd, OK, strlen(OK));
		if (first) {
			(void)recv(fd, bytes, sizeof(bytes), 0);
			return;
		}
	}
}

/* Without another server the same one gets it, on a new connection; but once
 * only what is safe to repeat. */
START_TEST(the_only_server_ends_a_kept_connection)
{
	struct backend b;
	int fd, i;

	for (i = 0; i < 2; i++) {
		backend_start(&b, ENDPOINT_TCP4, answer_and_end, NULL);
		endpoint_new(&front, ENDPOINT_TCP4);
		pen_up(&pen, &front, "-r", "-H", front.text, b.at.text, NULL);
		fd = endpoint_connect(&front);
		say(fd, GET "\r\n");
		hear(fd, OK);
		say(fd,
		    i == 0 ? GET "\r\n" : "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
		if (i == 0)
			hear(fd, OK);
		else
			endpoint_expect_end(fd);
		ck_assert_int_eq(b.accepted, i == 0 ? 2 : 1);
		close(fd);
		pen_down(&pen);
		backend_stop(&b);
	}
}
END_TEST

/* ---- answers ---- */

/* Requests that came while an answer lasts until the end go nowhere, and do not
 * hold up the end. */
START_TEST(answers_until_the_end)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n",
							  "HTTP/1.0 200 OK\r\n"
							  "\r\nto the end" },
		{ "", NULL } };
	int fd;

	up(steps, "no log");
	fd = endpoint_connect(&front);
	say(fd, GET "\r\n");
	hear(fd, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nto the end");
	say(fd, GET "\r\n");
	pen_expect_rest(&pen);
	ck_assert(scripted_has_heard(
	    &server, GET TOLD "\r\n", strlen(GET TOLD "\r\n")));
	backend_stop(&server.backend);
	endpoint_expect_end(fd);
	close(fd);
	pen_down(&pen);
}
END_TEST

/* Its client has been told of the end by then; the session still sees its own
 * end. */
START_TEST(a_request_behind_the_end)
{
	static const struct scripted_step steps[] = { { "\r\n\r\n",
							  "HTTP/1.0 200 OK\r\n"
							  "\r\nto the end" },
		{ "", NULL } };
	int fd;

	up(steps, "half_timeout 600");
	fd = endpoint_connect(&front);
	say(fd, GET "\r\n");
	hear(fd, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nto the end");
	backend_stop(&server.backend);
	endpoint_expect_end(fd);
	say(fd, GET "\r\n");
	close(fd);
	WAIT_FOR(strstr(endpoint_ask(&ctl, "connections\n"), "client") == NULL,
	    5000);
	pen_down(&pen);
}
END_TEST

/* ---- streams ---- */

/* Without answers what follows an Upgrade waits for ever: not here. */
/* A page of whatever status says what is wrong, maybe in answer to HEAD. */
static void
expect_refusal(int fd)
{
	const char *page = endpoint_recv_all(fd);

	ck_assert_msg(strncmp(page, "HTTP/1.1 400 ", 13) == 0 ||
		strncmp(page, "HTTP/1.1 417 ", 13) == 0 ||
		strncmp(page, "HTTP/1.1 501 ", 13) == 0,
	    "%s", page);
	ck_assert_ptr_nonnull(strstr(page, "Connection: close\r\n"));
}

START_TEST(generated_streams)
{
	static const struct httpref_adding adding = { TOLD, false };
	static struct httpgen g;
	static struct httpref ref;
	int i, fd, over = 0, n = (int)suite_amount(400, 60);
	size_t cut;

	up(NULL, "no log");
	for (i = 0; i < n; i++) {
		httpgen_make(&g, 100000u + (unsigned)i);
		httpref_read(&ref, &adding, g.bytes, g.length);
		/* what is wrong is known before the server is there */
		if (ref.waits || (ref.wrong && !SHORTCUT_EARLY_SEND))
			continue;
		fd = endpoint_connect(&front);
		cut = pattern_mix((uint64_t)i) % (g.length + 1);
		endpoint_send(fd, g.bytes, cut);
		(void)send(fd, g.bytes + cut, g.length - cut, MSG_NOSIGNAL);
		WAIT_FOR(
		    scripted_has_heard(&server, ref.out, ref.length), 10000);
		if (ref.wrong && ref.requests == 0)
			expect_refusal(fd);
		close(fd);
		over++;
		WAIT_FOR(scripted_is_over(&server, over), 10000);
	}
	down();
}
END_TEST

/* ---- uploads ---- */

/* The upload as it goes over the wire: chunks of all sizes, of one pattern. */
struct upload {
	long long left;
	uint64_t at, chunks;
	size_t chunk;
};

static size_t
next_chunk(struct upload *u)
{
	size_t n = 1 + pattern_mix(u->chunks++) % 300000;

	u->chunk = (long long)n < u->left ? n : (size_t)u->left;
	return u->chunk;
}

static bool
send_chunk(int fd, struct upload *u, char *buffer)
{
	int n = snprintf(buffer, 32, "%zx\r\n", next_chunk(u));

	pattern_fill(7, u->at, buffer + n, u->chunk);
	memcpy(buffer + n + u->chunk, "\r\n", 2);
	u->at += u->chunk;
	u->left -= (long long)u->chunk;
	return backend_send(fd, buffer, (size_t)n + u->chunk + 2);
}

static bool
recv_whole(int fd, char *bytes, size_t n)
{
	return n == 0 || recv(fd, bytes, n, MSG_WAITALL) == (ssize_t)n;
}

/* Reads the same and says so. */
static void
take_upload(struct backend *b, int fd)
{
	struct upload u = { .left = *(const long long *)b->arg };
	static char buffer[400000],
	    head[] = POST "Transfer-Encoding: chunked\r\n" TOLD "\r\n";
	char line[32], wanted[32];
	bool same = recv_whole(fd, buffer, sizeof(head) - 1) &&
	    memcmp(buffer, head, sizeof(head) - 1) == 0;

	while (same && u.left > 0) {
		int n =
		    snprintf(wanted, sizeof(wanted), "%zx\r\n", next_chunk(&u));

		same = recv_whole(fd, line, (size_t)n) &&
		    memcmp(line, wanted, (size_t)n) == 0 &&
		    recv_whole(fd, buffer, u.chunk + 2) &&
		    pattern_differs(7, u.at, buffer, u.chunk) == u.chunk &&
		    memcmp(buffer + u.chunk, "\r\n", 2) == 0;
		u.at += u.chunk;
		u.left -= (long long)u.chunk;
	}
	same = same && recv_whole(fd, buffer, 5) &&
	    memcmp(buffer, "0\r\n\r\n", 5) == 0;
	backend_send(fd, same ? OK : "HTTP/1.1 500 damaged\r\n\r\n",
	    same ? strlen(OK) : 24);
	recv_whole(fd, buffer, 1);
}

START_TEST(chunked_upload)
{
	static char buffer[400000];
	long long bytes = suite_amount(1L << 30, 16L << 20);
	struct upload u = { .left = bytes };
	struct backend b;
	int fd;

	backend_start(&b, ENDPOINT_TCP4, take_upload, &bytes);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-H", front.text, b.at.text, NULL);
	fd = endpoint_connect(&front);
	say(fd, POST "Transfer-Encoding: chunked\r\n\r\n");
	while (u.left > 0)
		ck_assert(send_chunk(fd, &u, buffer));
	say(fd, "0\r\n\r\n");
	hear(fd, OK);
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_http)
{
	Suite *s = suite_create("http");

	SUITE_ADD(s, every_request_is_told, 20);
	SUITE_ADD(s, forwarded_is_kept_or_replaced, 20);
	SUITE_ADD(s, clients_of_all_kinds, 20);
	SUITE_ADD(s, clients_of_tls_behind_a_proxy, 20);
	SUITE_ADD(s, bad_requests_reach_no_server, 20);
	SUITE_ADD_LOOP(s, pages_in_answer_to_head, 20, 4);
	SUITE_ADD(s, earlier_requests_are_answered_first, 20);
	SUITE_ADD(s, a_page_follows_the_answers, 20);
	SUITE_ADD(s, a_bad_body_is_broken_off, 20);
	SUITE_ADD(s, slow_headers_get_408, 30);
	SUITE_ADD(s, slow_lines_of_a_body, 10);
	SUITE_ADD(s, long_headers_get_431, 20);
	SUITE_ADD(s, websocket, 20);
	SUITE_ADD(s, answers_are_counted, 30);
	SUITE_ADD(s, refused_upgrade, 20);
	SUITE_ADD(s, connect_method, 20);
	SUITE_ADD(s, behind_peek, 20);
	SUITE_ADD(s, the_only_server_ends_a_kept_connection, 10);
	SUITE_ADD(s, lost_requests, 20);
	SUITE_ADD(s, answers_until_the_end, 20);
	SUITE_ADD(s, a_request_behind_the_end, 20);
	SUITE_ADD(s, generated_streams, 60);
	SUITE_ADD(s, chunked_upload, 120);
	return s;
}
