/* test_tls_server_ends.c: servers that TLS leads to, and how their connections
 * end: with close_notify, without, by a reset. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/pattern.h"
#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
enum { VERSIONS = sizeof(versions) / sizeof(versions[0]) };

static struct tls_chain c;
static struct tls_echo server;

static void
begin(int version, tls_talk_fn *talk, const char *settings)
{
	struct tls_echo_options o = {
		.min = version, .max = version, .talk = talk
	};

	tls_chain_begin(&c);
	tls_echo_start(&server, c.site, c.site, &o);
	tls_chain_up(&c,
	    text("%sssl_upstream;ssl_upstream_ca %s", settings, c.ca_file),
	    server.backend.at.text, NULL);
}

static void
end(void)
{
	tls_chain_down(&c);
	tls_echo_stop(&server);
	tls_chain_end(&c);
}

/* When all that was written is there, the close is a reset. */
static void
reset_at_close(SSL *ssl)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	int fd = SSL_get_fd(ssl), left = 1;

	while (left > 0 && ioctl(fd, TIOCOUTQ, &left) == 0)
		wait_nap();
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

/* ---- servers that send and reset ---- */

enum { BYTES = 200000 };

static void
send_pattern(SSL *ssl)
{
	static char bytes[BYTES];

	pattern_fill(1, 0, bytes, sizeof(bytes));
	(void)SSL_write(ssl, bytes, sizeof(bytes));
}

static bool
sends_ends_resets(struct tls_echo *s, SSL *ssl)
{
	(void)s;
	send_pattern(ssl);
	(void)SSL_shutdown(ssl);
	reset_at_close(ssl);
	return false;
}

static bool
sends_and_resets(struct tls_echo *s, SSL *ssl)
{
	(void)s;
	send_pattern(ssl);
	reset_at_close(ssl);
	return false;
}

/* Reads when the server has gone, and gets all that it sent. */
static int
late_client(void)
{
	int fd = endpoint_connect(&c.front);
	static char got[BYTES];

	endpoint_set_deadline(fd, 10000);
	endpoint_send(fd, "hello", 5);
	WAIT_FOR(
	    server.backend.accepted > 0 && server.backend.open == 0, 10000);
	endpoint_recv(fd, got, sizeof(got));
	ck_assert_uint_eq(pattern_differs(1, 0, got, sizeof(got)), sizeof(got));
	return fd;
}

/* What is behind close_notify cuts nothing off. */
START_TEST(reset_behind_the_end)
{
	int i, fd;

	for (i = 0; i < VERSIONS; i++) {
		begin(versions[i], sends_ends_resets, "");
		fd = late_client();
		endpoint_expect_end(fd);
		close(fd);
		tls_chain_counts(&c, "closed_done", 1);
		end();
	}
}
END_TEST

START_TEST(reset_without_an_end)
{
	int i, fd;

	for (i = 0; i < VERSIONS; i++) {
		begin(versions[i], sends_and_resets, "");
		fd = late_client();
		endpoint_expect_reset(fd);
		close(fd);
		tls_chain_counts(&c, "closed_server_reset", 1);
		end();
	}
}
END_TEST

/* ---- HTTP ---- */

/* The answer, or a part of it, is all: no close_notify follows. */
static bool
answers(SSL *ssl, const char *answer)
{
	char request[1000];

	if (SSL_read(ssl, request, sizeof(request)) > 0)
		(void)SSL_write(ssl, answer, (int)strlen(answer));
	return false;
}

static bool
answers_and_closes(struct tls_echo *s, SSL *ssl)
{
	(void)s;
	return answers(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody");
}

static bool
answers_last(struct tls_echo *s, SSL *ssl)
{
	(void)s;
	return answers(ssl,
	    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n");
}

static bool
answers_and_resets(struct tls_echo *s, SSL *ssl)
{
	(void)answers_last(s, ssl);
	reset_at_close(ssl);
	return false;
}

static bool
answers_in_part(struct tls_echo *s, SSL *ssl)
{
	(void)s;
	return answers(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody");
}

static bool
answers_until_the_end(struct tls_echo *s, SSL *ssl)
{
	(void)s;
	return answers(ssl, "HTTP/1.1 200 OK\r\n\r\nbody");
}

static int
asks(void)
{
	int fd = endpoint_connect(&c.front);

	endpoint_set_deadline(fd, 10000);
	endpoint_send(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
	return fd;
}

/* What HTTP ends is whole, whatever TLS does. */
START_TEST(complete_answer_without_close_notify)
{
	tls_talk_fn *const talks[] = { answers_last, answers_and_resets };
	int i, fd;

	for (i = 0; i < 2 * VERSIONS; i++) {
		begin(versions[i / 2], talks[i % 2], "http;");
		fd = asks();
		ck_assert_ptr_nonnull(
		    strstr(endpoint_recv_all(fd), "\r\nbody\r\n0\r\n\r\n"));
		close(fd);
		tls_chain_counts(&c, "closed_done", 1);
		end();
	}
}
END_TEST

/* The client's connection goes on, with another one to the server. */
START_TEST(kept_client_of_a_server_without_close_notify)
{
	char answer[41] = "";
	int i, fd;

	begin(0, answers_and_closes, "http;");
	fd = asks();
	for (i = 1;; i++) {
		endpoint_recv(fd, answer, 40);
		endpoint_recv(fd, answer, 2);
		if (i == 3)
			break;
		WAIT_FOR(
		    server.backend.accepted == i && server.backend.open == 0,
		    10000);
		endpoint_send(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
	}
	close(fd);
	tls_chain_counts(&c, "closed_done", 1);
	tls_chain_counts(&c, "closed_truncated", 0);
	end();
}
END_TEST

/* What only the end of TLS would end is cut off. */
START_TEST(cut_answer_without_close_notify)
{
	tls_talk_fn *const talks[] = { answers_in_part, answers_until_the_end };
	char head[200];
	ssize_t k;
	int i, fd;

	for (i = 0; i < 2; i++) {
		begin(0, talks[i], "http;");
		fd = asks();
		while ((k = recv(fd, head, sizeof(head), 0)) > 0)
			;
		ck_assert(k < 0 && errno == ECONNRESET);
		close(fd);
		tls_chain_counts(&c, "closed_truncated", 1);
		end();
	}
}
END_TEST

SUITE(test_tls_server_ends)
{
	Suite *s = suite_create("tls_server_ends");

	SUITE_ADD(s, reset_behind_the_end, 30);
	SUITE_ADD(s, reset_without_an_end, 30);
	SUITE_ADD(s, complete_answer_without_close_notify, 30);
	SUITE_ADD(s, kept_client_of_a_server_without_close_notify, 30);
	SUITE_ADD(s, cut_answer_without_close_notify, 30);
	return s;
}
