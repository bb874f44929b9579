/* test_tls_redirect.c: clients of plain HTTP at a port of TLS are redirected to
 * HTTPS. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

#define GET  "GET /a?b HTTP/1.1\r\nHost: a.test:80\r\n\r\n"
#define OK   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define GONE "\r\nLocation: https://a.test:8443/a?b\r\n"

static struct tls_chain c;
static struct backend server;
static const struct tls_wish any;

/* Answers each request that comes in one piece. */
static void
serve(struct backend *b, int fd)
{
	char got[4096];

	(void)b;
	while (recv(fd, got, sizeof(got), 0) > 0)
		(void)backend_send(fd, OK, strlen(OK));
}

static void
up(const char *commands)
{
	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, serve, NULL);
	tls_chain_up(&c, text("http;redirect_https 8443;%s", commands),
	    server.at.text, NULL);
}

static void
up_with_tls(const char *commands)
{
	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, serve, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;http;redirect_https 8443;%s", c.site, commands),
	    server.at.text, NULL);
}

static void
down(void)
{
	tls_chain_down(&c);
	backend_stop(&server);
	tls_chain_end(&c);
}

static const char *
answer_to(const char *request)
{
	return endpoint_hear_after(&c.front, request);
}

static void
is_redirected(const char *said)
{
	ck_assert_msg(strncmp(said, "HTTP/1.1 308 ", 13) == 0 &&
		strstr(said, GONE) != NULL,
	    "%s", said);
}

static void
is_served_by_tls(void)
{
	struct tls_peer *p = tls_chain_opens(&c, &any);
	char got[sizeof(OK)] = "";
	size_t n = 0;
	ssize_t k;

	ck_assert(tls_peer_write(p, GET, strlen(GET)));
	while (n < strlen(OK) &&
	    (k = tls_peer_read(p, got + n, strlen(OK) - n)) > 0)
		n += (size_t)k;
	ck_assert_str_eq(got, OK);
	tls_peer_close(p);
}

START_TEST(plain_is_redirected)
{
	up_with_tls("");
	is_redirected(answer_to(GET));
	is_served_by_tls();
	is_redirected(answer_to(GET GET)); /* which is answered once */
	tls_chain_counts(&c, "closed_redirected", 2);
	ck_assert_int_eq(server.accepted, 1);
	/* no failed handshakes */
	ck_assert_int_eq(tls_chain_count(&c, "closed_tls_failed"), 0);
	down();
}
END_TEST

START_TEST(request_in_pieces)
{
	size_t i;
	int fd;

	up_with_tls("");
	fd = endpoint_connect(&c.front);
	for (i = 0; i < strlen(GET); i++) {
		endpoint_send(fd, &GET[i], 1);
		wait_nap();
	}
	is_redirected(endpoint_recv_all(fd));
	close(fd);
	down();
}
END_TEST

/* The answer comes before a body that is long, and is not lost by it. */
START_TEST(request_with_a_body)
{
	static const char post[] =
	    "POST /a?b HTTP/1.1\r\nHost: a.test\r\n"
	    "Content-Length: 1000000\r\n\r\n";
	static char body[1000000];
	int fd;

	up_with_tls("");
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, post, strlen(post));
	endpoint_send(fd, body, sizeof(body));
	is_redirected(endpoint_recv_all(fd));
	close(fd);
	ck_assert_int_eq(server.accepted, 0);
	down();
}
END_TEST

START_TEST(what_is_no_request)
{
	int fd;

	up_with_tls("hello_timeout 1");
	ck_assert_int_eq(
	    strncmp(answer_to("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 400 ", 13),
	    0);
	tls_chain_counts(&c, "closed_bad_request", 1);
	/* the end in the middle of one */
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "GET /", 5);
	shutdown(fd, SHUT_WR);
	endpoint_expect_page(fd, "400");
	close(fd);
	/* and silence there */
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "GET /", 5);
	endpoint_expect_page(fd, "408");
	close(fd);
	tls_chain_counts(&c, "closed_hello_timeout", 1);
	/* too much of it */
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "GET / HTTP/1.1\r\nCookie: ", 24);
	endpoint_send(fd, text("%020000d", 1), 20000);
	endpoint_expect_page(fd, "431");
	close(fd);
	tls_chain_counts(&c, "closed_hello_too_long", 1);
	/* TLS that is none, as ever */
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "\x16\x03\x01\x00\x02zz", 7);
	shutdown(fd, SHUT_WR);
	(void)endpoint_recv_all(fd);
	close(fd);
	tls_chain_counts(&c, "closed_tls_failed", 1);
	ck_assert_int_eq(server.accepted, 0);
	is_served_by_tls();
	down();
}
END_TEST

/* A client that is about to be redirected is never served without TLS. */
START_TEST(switched_off_meanwhile)
{
	int fd;

	up_with_tls("hello_timeout 60");
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, GET, 10);
	WAIT_FOR(strstr(tls_chain_ask(&c, "connections"), "hello") != NULL,
	    10000);
	is_redirected(answer_to(GET)); /* by now, the other one was read */
	ck_assert_str_eq(tls_chain_ask(&c, "redirect_https 0"), "0\n");
	endpoint_send(fd, &GET[10], strlen(GET) - 10);
	endpoint_expect_page(fd, "400");
	close(fd);
	ck_assert_int_eq(server.accepted, 0);
	ck_assert_int_eq(strncmp(answer_to(GET), "HTTP/1.1 400 ", 13), 0);
	is_served_by_tls();
	down();
}
END_TEST

/* A client that has said nothing yet when TLS is switched off is closed; the
 * next one is served without. */
START_TEST(tls_goes_meanwhile)
{
	int fd;

	up_with_tls("hello_timeout 60");
	fd = endpoint_connect(&c.front);
	WAIT_FOR(strstr(tls_chain_ask(&c, "connections"), "hello") != NULL,
	    10000);
	ck_assert_str_eq(tls_chain_ask(&c, "no ssl_cert"), "");
	endpoint_send(fd, "\x16\x03\x01\x00\x02zz", 7);
	endpoint_expect_reset(fd);
	close(fd);
	tls_chain_counts(&c, "closed_tls_failed", 1);
	is_redirected(answer_to(GET));
	ck_assert_int_eq(server.accepted, 0);
	down();
}
END_TEST

/* All are redirected but those whose proxy had TLS: without a certificate, and
 * with one. */
START_TEST(behind_a_proxy_with_tls)
{
	static void (*const ups[])(const char *commands) = { up, up_with_tls };
	/* PROXY v2: 127.0.0.1:1 to 127.0.0.1:2, and PP2_TYPE_SSL */
	static const char with_tls[] =
	    "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x14\x7f\0\0\1\x7f\0\0\1\0\1\0\2"
	    "\x20\0\5\1\0\0\0\0" GET;
	char got[sizeof(OK)] = "";
	int fd;

	ups[_i]("acl edge permit 127.0.0.1; accept_proxy edge");
	is_redirected(answer_to("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n" GET));
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, with_tls, sizeof(with_tls) - 1);
	endpoint_recv(fd, got, strlen(OK));
	ck_assert_str_eq(got, OK);
	close(fd);
	down();
}
END_TEST

START_TEST(log_line)
{
	const char *log = scratch("sessions");

	up_with_tls(text("session_log %s", log));
	is_redirected(answer_to(GET));
	WAIT_FOR(strstr(contents(log), "redirected") != NULL, 10000);
	down();
}
END_TEST

/* To be redirected is no error. */
START_TEST(redirections_are_sampled)
{
	const char *log = scratch("sessions");
	int i;

	up(text("session_log %s; log_sample 4", log));
	for (i = 0; i < 8; i++)
		is_redirected(answer_to(GET));
	down();
	ck_assert_int_eq(count_in(contents(log), "reason=redirected"), 2);
}
END_TEST

SUITE(test_tls_redirect)
{
	Suite *s = suite_create("tls_redirect");

	SUITE_ADD(s, plain_is_redirected, 30);
	SUITE_ADD(s, request_in_pieces, 30);
	SUITE_ADD(s, request_with_a_body, 30);
	SUITE_ADD(s, what_is_no_request, 30);
	SUITE_ADD(s, switched_off_meanwhile, 30);
	SUITE_ADD(s, tls_goes_meanwhile, 30);
	SUITE_ADD_LOOP(s, behind_a_proxy_with_tls, 30, 2);
	SUITE_ADD(s, log_line, 30);
	SUITE_ADD(s, redirections_are_sampled, 30);
	return s;
}
