/* test_tls_flood.c: ends that shake hands well and then say, over and over,
 * what costs the other end work or memory: new keys, tickets, new handshakes.
 * Pen stays small, goes on with the others, and has nothing to do
 * afterwards. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include "system/flood.h"
#include "support/pattern.h"
#include "support/suite.h"
#include "system/tlsseal.h"
#include "support/wait.h"

/* ---- TLS 1.3: new keys ---- */

static void
make_key_updates(struct flood *f, long n, int how, long data_every)
{
	long i;

	for (i = 1; i <= n; i++) {
		ck_assert(SSL_key_update(f->end.ssl, how) == 1 &&
		    SSL_do_handshake(f->end.ssl) == 1);
		if (data_every > 0 && i % data_every == 0)
			ck_assert_int_eq(SSL_write(f->end.ssl, "y", 1), 1);
		if (i % 100 == 0)
			flood_add_said(f);
	}
	flood_add_said(f);
}

/* Either is fine: that it goes on, or that it has been sent away. */
static void
expect_served_or_ended(struct flood *f)
{
	char some[65536];
	ssize_t k;

	shutdown(f->fd, SHUT_WR);
	do
		k = recv(f->fd, some, sizeof(some), 0);
	while (k > 0);
	ck_assert_msg(k == 0 || errno != EAGAIN, "pen hangs");
}

START_TEST(key_updates)
{
	struct flood *f =
	    flood_begin(TLS1_3_VERSION, (const char *const[]){ NULL });
	long rss = load_rss_kb(&f->load);
	long long worst;

	flood_call(f);
	make_key_updates(
	    f, suite_amount(10000, 1000), SSL_KEY_UPDATE_REQUESTED, 0);
	worst = flood_send_beside_others(f);
	flood_expect_small(f, "key updates with requests", rss, worst);
	expect_served_or_ended(f);
	flood_hang_up(f);
	flood_call(f);
	make_key_updates(
	    f, suite_amount(60000, 5000), SSL_KEY_UPDATE_NOT_REQUESTED, 0);
	worst = flood_send_beside_others(f);
	flood_expect_small(f, "key updates", rss, worst);
	expect_served_or_ended(f);
	flood_hang_up(f);
	flood_end(f);
}
END_TEST

/* Nobody reads the answers; data between them makes it look like work. */
START_TEST(unread_answers)
{
	struct flood *f =
	    flood_begin(TLS1_3_VERSION, (const char *const[]){ NULL });
	long rss = load_rss_kb(&f->load);
	long long worst;

	flood_call(f);
	ck_assert_int_eq(setsockopt(f->fd, SOL_SOCKET, SO_RCVBUF,
			     &(int){ 4096 }, sizeof(int)),
	    0);
	make_key_updates(
	    f, suite_amount(200000, 10000), SSL_KEY_UPDATE_REQUESTED, 10);
	worst = flood_send_beside_others(f);
	flood_expect_small(
	    f, "key updates whose answers nobody reads", rss, worst);
	flood_hang_up(f);
	flood_end(f);
}
END_TEST

/* A few are what RFC 8446, 4.6.3 is about. */
START_TEST(some_key_updates)
{
	struct flood *f =
	    flood_begin(TLS1_3_VERSION, (const char *const[]){ NULL });
	char c = 0;
	int i, n;

	flood_call(f);
	for (i = 0; i < 100; i++) {
		ck_assert_int_eq(
		    SSL_key_update(f->end.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
		ck_assert_int_eq(SSL_write(f->end.ssl, "y", 1), 1);
		ck_assert(tls_end_send(&f->end, f->fd));
		while ((n = SSL_read(f->end.ssl, &c, 1)) <= 0)
			ck_assert_msg(SSL_get_error(f->end.ssl, n) ==
				    SSL_ERROR_WANT_READ &&
				tls_end_receive(&f->end, f->fd),
			    "ended after %d", i);
		ck_assert_int_eq(c, 'y');
	}
	flood_hang_up(f);
	flood_end(f);
}
END_TEST

/* ---- records of next to nothing ---- */

static void
send_crumbs(const char *what, long n, size_t padded)
{
	struct flood *f =
	    flood_begin(TLS1_3_VERSION, (const char *const[]){ NULL });
	long rss = load_rss_kb(&f->load), i;
	long long worst, before = f->server.received;

	if (padded > 0)
		ck_assert_int_eq(SSL_CTX_set_block_padding(f->ctx, padded), 1);
	flood_call(f);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(SSL_write(f->end.ssl, "x", 1), 1);
		if (i % 100 == 99)
			flood_add_said(f);
	}
	flood_add_said(f);
	worst = flood_send_beside_others(f);
	flood_expect_small(f, what, rss, worst);
	WAIT_FOR(f->server.received >= before + n, 10000);
	flood_hang_up(f);
	flood_end(f);
}

START_TEST(crumbs)
{
	send_crumbs("records of a byte", suite_amount(100000, 10000), 0);
}
END_TEST

START_TEST(padded_crumbs)
{
	send_crumbs("padded records of a byte", suite_amount(2000, 200), 16000);
}
END_TEST

/* ---- TLS 1.3: tickets of a server ---- */

static void
serve_tickets(struct backend *b, int fd)
{
	struct flood *f = (struct flood *)b; /* its first member */
	long n = suite_amount(3000, 1000);
	struct tls_end e;

	tls_end_open(&e, f->server_ctx, true);
	if (tls_end_shake(&e, fd))
		while (n-- > 0 && SSL_new_session_ticket(e.ssl) == 1 &&
		    SSL_do_handshake(e.ssl) == 1 && tls_end_send(&e, fd))
			;
	while (tls_end_receive(&e, fd)) /* until pen has gone */
		;
	tls_end_close(&e);
	OPENSSL_thread_stop();
}

/* Either is fine here too, but the end must come with the client's. */
START_TEST(tickets)
{
	struct flood *f = calloc(1, sizeof(*f));
	struct load *s = &f->load;
	long rss = 0;
	int i, fd;

	load_prepare(s);
	f->server_ctx = SSL_CTX_new(TLS_server_method());
	ck_assert(f->server_ctx != NULL &&
	    SSL_CTX_use_certificate_chain_file(f->server_ctx, s->cert_file) ==
		1 &&
	    SSL_CTX_use_PrivateKey_file(
		f->server_ctx, s->cert_file, SSL_FILETYPE_PEM) == 1);
	backend_start(&f->server, ENDPOINT_TCP4, serve_tickets, NULL);
	s->may_complain = true;
	load_begin(s,
	    (const char *const[]){ "--upstream-tls", "--upstream-ca",
		s->root_file, "--upstream-name", "a.test", NULL },
	    (const char *const[]){ f->server.at.text, NULL });
	for (i = 0; i < 20; i++) {
		fd = endpoint_connect(&s->front);
		endpoint_send(fd, "x", 1);
		WAIT_FOR(load_count(s, "tls_up_handshakes") > i, 10000);
		WAIT_FOR(f->server.accepted > i, 10000);
		shutdown(fd, SHUT_WR);
		if (i % 2 == 0)
			(void)recv(fd, &(char){ 0 }, 1, 0);
		close(fd);
		load_rest(s);
		if (i == 4)
			rss = load_rss_kb(s);
	}
	WAIT_FOR(f->server.open == 0, 10000);
	flood_expect_small(f, "tickets", rss, 0);
	load_expect_peace(s);
	load_end(s);
	backend_stop(&f->server);
	SSL_CTX_free(f->server_ctx);
	free(f);
}
END_TEST

/* ---- TLS 1.2: new handshakes ---- */

/* Pen is done with it afterwards: what those take that are open at a time is
 * not what is looked for. */
static void
renegotiate_once(struct flood *f)
{
	flood_call(f);
	ck_assert_int_eq(SSL_renegotiate(f->end.ssl), 1);
	ck_assert_msg(!tls_end_shake(&f->end, f->fd), "renegotiated");
	flood_hang_up(f);
	load_rest(&f->load);
}

START_TEST(renegotiation)
{
	struct flood *f =
	    flood_begin(TLS1_2_VERSION, (const char *const[]){ NULL });
	long rss = load_rss_kb(&f->load), i;

	for (i = suite_amount(200, 50); i > 0; i--)
		renegotiate_once(f);
	flood_expect_small(f, "renegotiation", rss, 0);
	flood_end(f);
}
END_TEST

/* Allowed, but not so soon. */
START_TEST(renegotiation_too_soon)
{
	struct flood *f = flood_begin(TLS1_2_VERSION,
	    (const char *const[]){ "--renegotiation-interval", "60", NULL });
	long rss = load_rss_kb(&f->load), n = suite_amount(200, 50), i;

	for (i = 0; i < n; i++)
		renegotiate_once(f);
	WAIT_FOR(load_count(&f->load, "closed_tls_failed") == n, 10000);
	flood_expect_small(f, "renegotiation too soon", rss, 0);
	flood_end(f);
}
END_TEST

/* Sends numbered bytes until nobody wants more. */
static void
serve_pattern(struct backend *b, int fd)
{
	unsigned char some[16384];
	uint64_t at = 0;

	(void)b;
	do {
		pattern_fill(1, at, some, sizeof(some));
		at += sizeof(some);
	} while (backend_send(fd, some, sizeof(some)));
}

/* Reads the server's bytes for so long, without haste. Returns how many there
 * were. */
static uint64_t
read_pattern(struct flood *f, uint64_t at, long long ms)
{
	long long until = wait_now_ms() + ms;
	unsigned char some[16384];
	uint64_t first = at;
	int n;

	while (wait_now_ms() < until) {
		ERR_clear_error();
		n = SSL_read(f->end.ssl, some, sizeof(some));
		ck_assert(tls_end_send(&f->end, f->fd));
		if (n > 0) {
			pattern_check(1, at, some, (size_t)n);
			at += (uint64_t)n;
			wait_nap();
			continue;
		}
		ck_assert_msg(
		    SSL_get_error(f->end.ssl, n) == SSL_ERROR_WANT_READ &&
			tls_end_receive(&f->end, f->fd),
		    "ended after %llu bytes: %s", (unsigned long long)at,
		    ERR_error_string(ERR_peek_error(), NULL));
	}
	return at - first;
}

/* When it is allowed, it does not disturb what flows meanwhile. Pen counts a
 * second from the beginning of the last one, so it began earlier than we. */
START_TEST(renegotiation_between)
{
	struct flood *f = flood_begin(TLS1_2_VERSION,
	    (const char *const[]){ "--renegotiation-interval", "1", NULL });
	struct endpoint at_server;
	uint64_t at = 0;
	int i;

	WAIT_FOR(f->server.open == 0, 10000);
	backend_stop(&f->server);
	at_server = f->server.at;
	backend_start_at(&f->server, &at_server, serve_pattern, NULL);
	flood_call(f);
	for (i = 0; i < 3; i++) {
		at += read_pattern(f, at, 1050);
		ck_assert_int_eq(SSL_renegotiate(f->end.ssl), 1);
		do
			at += read_pattern(f, at, 50);
		while (SSL_renegotiate_pending(f->end.ssl));
	}
	while (read_pattern(f, at, 100) == 0)
		;
	ck_assert_int_eq(SSL_num_renegotiations(f->end.ssl), 3);
	flood_hang_up(f);
	load_expect_peace(&f->load);
	load_end(&f->load);
	backend_stop(&f->server);
	SSL_CTX_free(f->ctx);
	free(f);
}
END_TEST

/* OpenSSL's client waits for an answer to its hello; this one does not. */
START_TEST(hellos)
{
	struct flood *f =
	    flood_begin(TLS1_2_VERSION, (const char *const[]){ NULL });
	long rss = load_rss_kb(&f->load), n = suite_amount(100000, 5000), i;
	unsigned char hello[64] = { 1, 0, 0, 60, 3, 3 };
	struct bytes *one = calloc(1, sizeof(*one));
	struct tls_seal seal;
	long long worst;

	ck_assert_ptr_nonnull(one);
	flood_call(f);
	if (!tls_seal_begin(&seal, f->end.ssl)) {
		suite_skip(__func__, "OpenSSL is older than 3.0");
		n = 0;
	}
	for (i = 0; i < n; i++) {
		one->n = 0;
		tls_seal_record(
		    &seal, RECORD_HANDSHAKE, hello, sizeof(hello), one);
		flood_add(f, one->at, one->n);
	}
	worst = flood_send_beside_others(f);
	flood_expect_small(f, "hellos whose answers nobody reads", rss, worst);
	expect_served_or_ended(f);
	flood_hang_up(f);
	free(one);
	flood_end(f);
}
END_TEST

SUITE(test_tls_flood)
{
	Suite *s = suite_create("tls_flood");

	SUITE_ADD(s, key_updates, 60);
	SUITE_ADD(s, unread_answers, 60);
	SUITE_ADD(s, some_key_updates, 30);
	SUITE_ADD(s, crumbs, 60);
	SUITE_ADD(s, padded_crumbs, 60);
	SUITE_ADD(s, tickets, 60);
	SUITE_ADD(s, renegotiation, 60);
	SUITE_ADD(s, renegotiation_too_soon, 60);
	SUITE_ADD(s, renegotiation_between, 60);
	SUITE_ADD(s, hellos, 60);
	return s;
}
