/* test_tls_fin.c: clients of TLS whose connection ends without a goodbye, and
 * what they had said before. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/pattern.h"
#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

/* ---- what came while no server had answered ---- */

enum { RECORDS = 2000 };

/* More records of a byte each than are read at a time: nothing but the stream
 * knows that they are there when the second server has taken the first of
 * them. */
START_TEST(small_records_after_retry)
{
	struct tls_wish wish = { .min = TLS1_3_VERSION };
	struct backend server;
	struct tls_chain c;
	struct tls_peer *p;
	struct endpoint silent;
	int i, listener, fill;

	tls_chain_begin(&c);
	endpoint_new(&silent, ENDPOINT_TCP4);
	listener = endpoint_listen(&silent, 0);
	fill = endpoint_connect(&silent);
	backend_start(&server, ENDPOINT_TCP4, backend_sink, NULL);
	tls_chain_up(&c, text("timeout 1;roundrobin;ssl_cert %s", c.site),
	    silent.text, server.at.text, NULL);
	p = tls_chain_opens(&c, &wish);
	for (i = 0; i < RECORDS; i++)
		ck_assert(tls_peer_write(p, "x", 1));
	WAIT_FOR(server.received == RECORDS, 10000);
	tls_peer_close(p);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
	close(fill);
	close(listener);
}
END_TEST

/* ---- what came before there was a place ---- */

#ifndef TCP_CORK /* BSD's name for it */
#define TCP_CORK TCP_NOPUSH
#endif

/* Holds back what is sent until it is let go. */
static void
cork(int fd, int on)
{
	ck_assert_int_eq(
	    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)), 0);
}

/* A client's first words and its end, in one segment with the end of its
 * handshake, while all servers are full: both are the server's, later. */
START_TEST(words_of_a_queued_client)
{
	static const char question[] = "question";
	struct tls_wish wish = { .min = TLS1_3_VERSION };
	char answer[sizeof(question)] = "";
	struct tls_peer *first, *second;
	struct backend server;
	int fd;
	struct tls_chain c;

	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c, text("queue 60;roundrobin;ssl_cert %s", c.site),
	    text("%s:1:1", server.at.text), NULL);
	first = tls_chain_opens(&c, &wish);
	tls_peer_expect_echo(first, "served");
	fd = endpoint_connect(&c.front);
	cork(fd, 1);
	second = tls_peer_open(fd, &wish);
	ck_assert_ptr_nonnull(second);
	ck_assert(tls_peer_write(second, question, sizeof(question)));
	ck_assert(tls_peer_half_close(second));
	cork(fd, 0);
	tls_chain_counts(&c, "queued", 1);
	tls_peer_close(first);
	ck_assert_int_eq(
	    tls_peer_read(second, answer, sizeof(answer)), sizeof(answer));
	ck_assert_str_eq(answer, question);
	tls_peer_expect_end(second);
	tls_peer_close(second);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
}
END_TEST

/* ---- a plain FIN ---- */

enum { CLIENTS = 20 };

/* Begins to read when the client has gone; compares, and counts what was
 * whole. */
static atomic_int whole;
static atomic_bool gone;

static void
late_reader(struct backend *b, int fd)
{
	size_t at = 0, wanted = *(const size_t *)b->arg;
	char buf[16384];
	ssize_t k;

	while (!gone)
		wait_nap();
	while ((k = recv(fd, buf, sizeof(buf), 0)) > 0 &&
	    pattern_differs(1, at, buf, (size_t)k) == (size_t)k)
		at += (size_t)k;
	whole += k == 0 && at == wanted;
}

/* Reads at once, and the end. */
static void
prompt_reader(struct backend *b, int fd)
{
	gone = true;
	late_reader(b, fd);
}

/* Before OpenSSL 3 two tickets of TLS 1.3 come behind the handshake, and the
 * kernel of a client that has not read all sends a reset, not a FIN. */
static void
read_tickets(struct tls_peer *p)
{
	struct pollfd f = { .fd = SSL_get_fd(tls_peer_ssl(p)),
		.events = POLLIN };
	char record[8192];

	if (OPENSSL_VERSION_NUMBER >= 0x30000000L ||
	    tls_peer_version(p) != TLS1_3_VERSION)
		return;
	ck_assert_int_eq(poll(&f, 1, (int)wait_scaled(10000)), 1);
	ck_assert_int_gt(recv(f.fd, record, sizeof(record), MSG_DONTWAIT), 0);
}

/* Sends so much and closes without a word. */
static void
send_and_leave(struct tls_chain *c, int version, const char *bytes, size_t n)
{
	struct tls_wish wish = { .min = version, .max = version };
	struct tls_peer *p = tls_chain_opens(c, &wish);

	read_tickets(p);
	ck_assert(tls_peer_write(p, bytes, n));
	tls_peer_close(p);
}

static void
deliveries(int version, size_t n, backend_fn *serve)
{
	char *bytes = malloc(n);
	struct backend server;
	struct tls_chain c;
	int i;

	ck_assert_ptr_nonnull(bytes);
	pattern_fill(1, 0, bytes, n);
	whole = 0;
	backend_start(&server, ENDPOINT_TCP4, serve, &n);
	tls_chain_begin(&c);
	tls_chain_up(&c, text("ssl_cert %s", c.site), server.at.text, NULL);
	for (i = 0; i < CLIENTS; i++) {
		gone = false;
		send_and_leave(&c, version, bytes, n);
		gone = true;
		WAIT_FOR(server.accepted > i && server.open == 0, 10000);
	}
	ck_assert_int_eq(whole, CLIENTS);
	tls_chain_counts(&c, "closed_no_close_notify", CLIENTS);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
	free(bytes);
}

START_TEST(delivered_before_a_plain_fin)
{
	static const int version[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	int i;

	for (i = 0; i < 2; i++) {
		deliveries(version[i], 200000, prompt_reader);
		deliveries(version[i], 1000000, prompt_reader);
	}
}
END_TEST

START_TEST(delivered_to_a_late_reader)
{
	static const int version[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	int i;

	for (i = 0; i < 2; i++) {
		deliveries(version[i], 200000, late_reader);
		deliveries(version[i], 1000000, late_reader);
	}
}
END_TEST

/* ---- clients that never read ---- */

static atomic_int waits;

static void
greet_and_read(struct backend *b, int fd)
{
	backend_send(fd, "hello", 5);
	waits++;
	late_reader(b, fd);
}

/* Sends so much, with its end, and closes with a greeting unread: its kernel
 * resets. */
static void
send_and_reset(struct tls_chain *c, int version, const char *bytes, size_t n)
{
	struct tls_wish wish = { .min = version, .max = version };
	struct tls_peer *p = tls_chain_opens(c, &wish);
	int fd = SSL_get_fd(tls_peer_ssl(p)), left = 1;
	struct pollfd f = { .fd = fd, .events = POLLIN };

	WAIT_FOR(waits > 0, 10000);
	ck_assert_int_eq(poll(&f, 1, (int)wait_scaled(10000)), 1);
	ck_assert(tls_peer_write(p, bytes, n));
	ck_assert(tls_peer_half_close(p));
	while (left > 0 && ioctl(fd, TIOCOUTQ, &left) == 0)
		wait_nap();
	tls_peer_close(p);
}

static void
one_way(int version, size_t n, const char *setting)
{
	char *bytes = malloc(n);
	struct backend server;
	struct tls_chain c;
	int i;

	ck_assert_ptr_nonnull(bytes);
	pattern_fill(1, 0, bytes, n);
	whole = 0;
	backend_start(&server, ENDPOINT_TCP4, greet_and_read, &n);
	tls_chain_begin(&c);
	tls_chain_up(
	    &c, text("%sssl_cert %s", setting, c.site), server.at.text, NULL);
	for (i = 0; i < CLIENTS; i++) {
		gone = false;
		waits = 0;
		send_and_reset(&c, version, bytes, n);
		gone = true;
		WAIT_FOR(server.accepted > i && server.open == 0, 10000);
	}
	ck_assert_int_eq(whole, CLIENTS);
	tls_chain_counts(&c, "closed_done", CLIENTS);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
	free(bytes);
}

START_TEST(delivered_before_a_reset)
{
	static const int version[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	int i;

	for (i = 0; i < 2; i++) {
		one_way(version[i], 1, "");
		one_way(version[i], 100000, "");
		one_way(version[i], 100000, "poll;");
	}
}
END_TEST

/* What is sent for the client to read, unasked, would have its kernel reset. */
START_TEST(tickets_come_with_the_first_bytes)
{
	struct tls_wish wish = { .min = TLS1_3_VERSION };
	struct backend server;
	struct tls_chain c;
	struct tls_peer *p;
	char byte;
	int fd;

	if (OPENSSL_VERSION_NUMBER < 0x30000000L)
		SKIP("OpenSSL sends them with the handshake");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_begin(&c);
	tls_chain_up(&c, text("ssl_cert %s", c.site), server.at.text, NULL);
	p = tls_chain_opens(&c, &wish);
	fd = SSL_get_fd(tls_peer_ssl(p));
	WAIT_FOR(tls_chain_count(&c, "tls_handshakes") == 1, 10000);
	ck_assert_int_eq(recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT), -1);
	tls_peer_expect_echo(p, "hello");
	tls_peer_close(p);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
}
END_TEST

/* It may still listen. */
START_TEST(answer_after_a_plain_fin)
{
	static const int version[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct backend server;
	struct tls_chain c;
	struct tls_peer *p;
	char answer[32];
	int i;

	backend_start(&server, ENDPOINT_TCP4, backend_sink, NULL);
	tls_chain_begin(&c);
	tls_chain_up(&c, text("ssl_cert %s", c.site), server.at.text, NULL);
	for (i = 0; i < 2; i++) {
		struct tls_wish wish = { .min = version[i], .max = version[i] };

		p = tls_chain_opens(&c, &wish);
		ck_assert(tls_peer_write(p, "hello", 5));
		shutdown(SSL_get_fd(tls_peer_ssl(p)), SHUT_WR);
		ck_assert_int_eq(tls_peer_read(p, answer, sizeof(answer)), 11);
		ck_assert_mem_eq(answer, "received 5\n", 11);
		tls_peer_expect_end(p);
		tls_peer_close(p);
	}
	tls_chain_counts(&c, "closed_no_close_notify", 2);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
}
END_TEST

static atomic_int saw_reset;

static void
see_reset(struct backend *b, int fd)
{
	char c;

	(void)b;
	while (recv(fd, &c, 1, 0) > 0)
		;
	saw_reset += errno == ECONNRESET;
}

/* Where the operator asks for it, an end without goodbye is none. */
START_TEST(strict_about_the_end)
{
	struct backend server;
	struct tls_chain c;

	saw_reset = 0;
	backend_start(&server, ENDPOINT_TCP4, see_reset, NULL);
	tls_chain_begin(&c);
	tls_chain_up(&c, text("ssl_require_close_notify;ssl_cert %s", c.site),
	    server.at.text, NULL);
	send_and_leave(&c, TLS1_2_VERSION, "hello", 5);
	WAIT_FOR(saw_reset == 1, 10000);
	tls_chain_counts(&c, "closed_truncated", 1);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
}
END_TEST

/* ---- an alert that is fatal ---- */

/* Sends a word, and the alert that a record which cannot be read deserves. */
static bool
break_off(SSL *ssl)
{
	static const char bad[5 + 32] = "\x17\x03\x03\0\x20";
	BIO *input = BIO_new_mem_buf(bad, sizeof(bad));
	char c;

	ck_assert_int_eq(SSL_write(ssl, "half", 4), 4);
	ck_assert_ptr_nonnull(input);
	SSL_set0_rbio(ssl, input);
	ck_assert_int_le(SSL_read(ssl, &c, 1), 0);
	return false;
}

static bool
break_off_served(struct tls_echo *s, SSL *ssl)
{
	(void)s;
	return break_off(ssl);
}

/* What a client breaks off is not whole for its server. */
START_TEST(an_alert_of_a_client_is_no_end)
{
	static const int version[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct backend server;
	struct tls_chain c;
	struct tls_peer *p;
	int i;

	saw_reset = 0;
	backend_start(&server, ENDPOINT_TCP4, see_reset, NULL);
	tls_chain_begin(&c);
	tls_chain_up(&c, text("ssl_cert %s", c.site), server.at.text, NULL);
	for (i = 0; i < 2; i++) {
		struct tls_wish wish = { .min = version[i], .max = version[i] };

		p = tls_chain_opens(&c, &wish);
		break_off(tls_peer_ssl(p));
		WAIT_FOR(saw_reset == i + 1, 10000);
		tls_peer_close(p);
	}
	tls_chain_counts(&c, "closed_tls_failed", 2);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
}
END_TEST

/* Nor is what a server breaks off. */
START_TEST(an_alert_of_a_server_is_no_end)
{
	struct tls_echo_options o = { .talk = break_off_served };
	struct tls_echo server;
	struct tls_chain c;
	char answer[8];
	ssize_t got;
	int fd, i;

	tls_chain_begin(&c);
	tls_echo_start(&server, c.site, c.site, &o);
	tls_chain_up(&c, text("ssl_upstream;ssl_upstream_ca %s", c.ca_file),
	    server.backend.at.text, NULL);
	for (i = 0; i < 2; i++) {
		fd = endpoint_connect(&c.front);
		got = send(fd, "hello", 5, 0); /* a reset may be first */
		while (got > 0)
			got = recv(fd, answer, sizeof(answer), 0);
		ck_assert(got < 0 && errno == ECONNRESET);
		close(fd);
	}
	tls_chain_counts(&c, "closed_server_reset", 2);
	tls_chain_down(&c);
	tls_echo_stop(&server);
	tls_chain_end(&c);
}
END_TEST

/* ---- a page of pen's own ---- */

static atomic_bool heard, may_go;

static void
reset_later(struct backend *b, int fd)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	char got[256];

	(void)b;
	heard = recv(fd, got, sizeof(got), 0) > 0;
	while (!may_go)
		(void)poll(NULL, 0, 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

static void
stop(const struct pen *pen)
{
	int status;

	pen_freeze(pen);
	ck_assert_int_eq(
	    waitpid(pen->child.pid, &status, WUNTRACED), pen->child.pid);
	ck_assert(WIFSTOPPED(status));
}

/* Its server breaks off while pen writes to it: the page ends like any other
 * stream, not like one that was cut off. */
START_TEST(a_page_ends_well)
{
	static const char post[] = "POST / HTTP/1.1\r\nHost: a\r\n"
				   "Content-Length: 2\r\n\r\no";
	struct tls_wish wish = { .sni = NULL };
	struct backend server;
	struct tls_chain c;
	struct tls_peer *p;
	char page[1024] = "";
	int on = 1;

	heard = may_go = false;
	backend_start(&server, ENDPOINT_TCP4, reset_later, NULL);
	tls_chain_begin(&c);
	tls_chain_up(&c, text("http_status;ssl_cert %s", c.site),
	    server.at.text, NULL);
	p = tls_chain_opens(&c, &wish);
	setsockopt(SSL_get_fd(tls_peer_ssl(p)), IPPROTO_TCP, TCP_NODELAY, &on,
	    sizeof(on));
	ck_assert(tls_peer_write(p, post, strlen(post)));
	WAIT_FOR(heard, 10000);
	tls_chain_counts(&c, "sessions", 1); /* it waits for both now */
	stop(&c.pen);
	ck_assert(tls_peer_write(p, "k", 1));
	may_go = true;
	WAIT_FOR(server.open == 0, 10000);
	pen_thaw(&c.pen);
	ck_assert_int_gt(tls_peer_read(p, page, sizeof(page) - 1), 0);
	ck_assert_ptr_eq(strstr(page, "HTTP/1.1 502 "), page);
	tls_peer_expect_end(p);
	tls_peer_close(p);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
}
END_TEST

SUITE(test_tls_fin)
{
	Suite *s = suite_create("tls_fin");

	SUITE_ADD(s, delivered_before_a_plain_fin, 60);
	SUITE_ADD(s, delivered_to_a_late_reader, 60);
	SUITE_ADD(s, delivered_before_a_reset, 60);
	SUITE_ADD(s, tickets_come_with_the_first_bytes, 20);
	SUITE_ADD(s, answer_after_a_plain_fin, 20);
	SUITE_ADD(s, an_alert_of_a_client_is_no_end, 20);
	SUITE_ADD(s, an_alert_of_a_server_is_no_end, 20);
	SUITE_ADD(s, strict_about_the_end, 20);
	SUITE_ADD(s, small_records_after_retry, 30);
	SUITE_ADD(s, words_of_a_queued_client, 30);
	SUITE_ADD(s, a_page_ends_well, 20);
	return s;
}
