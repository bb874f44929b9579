/* test_tls_hello.c: handshakes that do not come, come slowly, come again, or
 * are none. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

static struct tls_chain c;
static struct backend server;

static void
up_with(const char *commands, backend_fn *serve)
{
	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, serve, NULL);
	tls_chain_up(
	    &c, text("ssl_cert %s;%s", c.site, commands), server.at.text, NULL);
}

static void
up(const char *commands)
{
	up_with(commands, backend_echo);
}

static void
down(void)
{
	tls_chain_down(&c);
	backend_stop(&server);
	tls_chain_end(&c);
}

static const struct tls_wish any, tls12 = { .max = TLS1_2_VERSION };

/* Nothing but the end, or a reset, comes in time; an alert may come first. */
static void
is_dropped(int fd)
{
	char buf[512];
	ssize_t k;

	while ((k = recv(fd, buf, sizeof(buf), 0)) > 0)
		;
	ck_assert(k == 0 || errno == ECONNRESET);
	close(fd);
}

/* Something has come that was not read. */
static bool
has_come(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* ---- a hello by hand ---- */

struct hello {
	SSL_CTX *ctx;
	SSL *ssl;
	BIO *out; /* of `ssl` */
	char *bytes;
	size_t n;
};

static void
hello_make(struct hello *h, int fd)
{
	long n;

	h->ctx = SSL_CTX_new(TLS_client_method());
	h->ssl = SSL_new(h->ctx);
	h->out = BIO_new(BIO_s_mem());
	SSL_set_bio(h->ssl, BIO_new_socket(fd, BIO_NOCLOSE), h->out);
	SSL_set_connect_state(h->ssl);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	ck_assert_int_le(SSL_do_handshake(h->ssl), 0);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	n = BIO_get_mem_data(h->out, &h->bytes);
	ck_assert_int_gt(n, 100);
	h->n = (size_t)n;
}

static void
hello_free(struct hello *h)
{
	SSL_free(h->ssl);
	SSL_CTX_free(h->ctx);
}

/* As slow networks do: whatever the pieces, it is a hello. */
START_TEST(hello_in_pieces)
{
	struct hello h;
	char back[5];
	size_t i, k;
	int fd;

	up("");
	fd = endpoint_connect(&c.front);
	hello_make(&h, fd);
	for (i = 0; i < h.n; i++) {
		endpoint_send(fd, h.bytes + i, 1);
		if (i < 20)
			wait_nap();
	}
	SSL_set0_wbio(h.ssl, BIO_new_socket(fd, BIO_NOCLOSE));
	ck_assert_int_eq(SSL_do_handshake(h.ssl), 1);
	ck_assert_int_eq(SSL_write(h.ssl, "hello", 5), 5);
	for (i = 0; i < 5; i += k)
		ck_assert_int_eq(SSL_read_ex(h.ssl, back + i, 5 - i, &k), 1);
	ck_assert_mem_eq(back, "hello", 5);
	hello_free(&h);
	close(fd);
	down();
}
END_TEST

/* ---- too slow ---- */

/* One byte of a good hello after another; until when it was listened to. */
static long long
dribble(int fd)
{
	struct hello h;
	size_t i;
	char byte;

	hello_make(&h, fd);
	for (i = 0; i < h.n; i++) {
		if (send(fd, h.bytes + i, 1, MSG_NOSIGNAL) != 1)
			break;
		endpoint_set_deadline(fd, 50);
		if (recv(fd, &byte, 1, 0) >= 0 || errno == ECONNRESET)
			break;
	}
	ck_assert_uint_lt(i, h.n);
	hello_free(&h);
	return wait_now_ms();
}

START_TEST(slow_handshakes_end)
{
	struct tls_peer *old;
	int silent, slow, i;
	long long began;

	up("ssl_handshake_timeout 1");
	old = tls_chain_opens(&c, &any);
	tls_peer_expect_echo(old, "hello");
	began = wait_now_ms();
	silent = endpoint_connect(&c.front);
	slow = endpoint_connect(&c.front);
	for (i = 0; i < 5; i++)
		tls_chain_talks(&c, &any);
	ck_assert_int_ge(dribble(slow) - began, 900);
	ck_assert_int_lt(wait_now_ms() - began, wait_scaled(5000));
	close(slow);
	is_dropped(silent);
	tls_chain_counts(&c, "closed_tls_timeout", 2);
	/* no server has heard of them */
	ck_assert_int_eq(server.accepted, 6);
	/* it was the handshake's time, not the session's */
	tls_peer_expect_echo(old, "still here");
	tls_peer_close(old);
	down();
}
END_TEST

/* ---- no handshake at all ---- */

START_TEST(not_tls)
{
	static const char *const words[] = { "GET / HTTP/1.0\r\n\r\n",
		"SSH-2.0-OpenSSH_9.6\r\n", "\x16\x03\x01\xff\xff\x01", "",
		"\x16\x03\x01\x00\x05\x01\xff\xff\xff\xff" };
	size_t i, n = sizeof(words) / sizeof(words[0]);
	struct hello h;
	int fd;

	up("ssl_handshake_timeout 60");
	for (i = 0; i < n; i++) {
		fd = endpoint_connect(&c.front);
		endpoint_send(fd, words[i], strlen(words[i]));
		shutdown(fd, SHUT_WR);
		if (i == 0) /* HTTP has a way to say it */
			endpoint_expect_page(fd, "400");
		else
			is_dropped(fd);
	}
	/* one that leaves in the middle */
	fd = endpoint_connect(&c.front);
	hello_make(&h, fd);
	endpoint_send(fd, h.bytes, h.n);
	WAIT_FOR(has_come(fd), 5000);
	endpoint_reset(fd);
	hello_free(&h);
	tls_chain_counts(&c, "sessions", 0);
	ck_assert_int_eq(tls_chain_count(&c, "closed_tls_failed"), (long)n + 1);
	ck_assert_int_eq(server.accepted, 0);
	tls_chain_talks(&c, &any);
	down();
}
END_TEST

/* OpenSSL recognizes GET, POST, HEAD, PUT and CONNECT alone. */
START_TEST(any_method_without_tls)
{
	static const char *const words[] = { "GET / HTTP/1.1\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\n\r\n", "DELETE /a HTTP/1.1\r\n\r\n",
		"CONNECT a:1 HTTP/1.1\r\n\r\n" };
	size_t i;
	int fd;

	up("http");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		fd = endpoint_connect(&c.front);
		endpoint_send(fd, words[i], strlen(words[i]));
		endpoint_expect_page(fd, "400");
		close(fd);
	}
	down();
}
END_TEST

/* ---- another handshake, in TLS 1.2 ---- */

static bool
renegotiates(struct tls_peer *p)
{
	SSL *ssl = tls_peer_ssl(p);
	long before = SSL_total_renegotiations(ssl);

	ck_assert_int_eq(SSL_renegotiate(ssl), 1);
	return SSL_do_handshake(ssl) == 1 &&
	    SSL_total_renegotiations(ssl) == before + 1;
}

START_TEST(renegotiation_is_refused)
{
	struct tls_peer *p;

	up("");
	p = tls_chain_opens(&c, &tls12);
	tls_peer_expect_echo(p, "hello");
	ck_assert(!renegotiates(p));
	tls_peer_close(p);
	tls_chain_counts(&c, "sessions", 0);
	down();
}
END_TEST

/* So long after the last handshake, and no sooner. */
START_TEST(renegotiation_now_and_then)
{
	struct tls_peer *p;
	long long began;

	up("ssl_client_renegotiation_interval 1");
	p = tls_chain_opens(&c, &tls12);
	tls_peer_expect_echo(p, "hello");
	ck_assert(!renegotiates(p));
	tls_peer_close(p);
	tls_chain_counts(&c, "closed_tls_failed", 1);

	p = tls_chain_opens(&c, &tls12);
	began = wait_now_ms();
	tls_peer_expect_echo(p, "hello");
	WAIT_FOR(wait_now_ms() > began + 1100, 5000);
	ck_assert_msg(renegotiates(p), "not allowed after the interval");
	tls_peer_expect_echo(p, "hello again");
	ck_assert(!renegotiates(p));
	tls_peer_close(p);
	tls_chain_counts(&c, "closed_tls_failed", 2);
	down();
}
END_TEST

static atomic_bool go_on, answered;
enum { ANSWER = 100000 };

/* Answers when the test says so, much. */
static void
answer_late(struct backend *b, int fd)
{
	static char answer[ANSWER];
	char buf[64];

	if (recv(fd, buf, sizeof(buf), 0) <= 0)
		return;
	while (!go_on && !b->stopping)
		wait_nap();
	memset(answer, 'a', sizeof(answer));
	answered = backend_send(fd, answer, sizeof(answer));
	(void)recv(fd, buf, sizeof(buf), 0);
}

/* An answer that comes between a client's hello and its last word waits. */
START_TEST(renegotiation_with_an_answer_under_way)
{
	struct tls_peer *p;
	long long began;
	char buf[4096];
	size_t got;
	ssize_t k;
	SSL *ssl;
	int fd;

	go_on = answered = false;
	up_with("ssl_client_renegotiation_interval 1", answer_late);
	p = tls_chain_opens(&c, &tls12);
	began = wait_now_ms();
	ck_assert(tls_peer_write(p, "x", 1));
	WAIT_FOR(wait_now_ms() > began + 1100, 5000);
	ssl = tls_peer_ssl(p);
	fd = SSL_get_fd(ssl);
	ck_assert_int_eq(SSL_renegotiate(ssl), 1);
	/* the hello and no more, however soon the answer is there */
	SSL_set0_rbio(ssl, BIO_new(BIO_s_mem()));
	ck_assert_int_le(SSL_do_handshake(ssl), 0);
	SSL_set0_rbio(ssl, BIO_new_socket(fd, BIO_NOCLOSE));
	WAIT_FOR(has_come(fd), 5000);
	go_on = true;
	WAIT_FOR(answered, 5000);
	ck_assert_int_eq(tls_chain_count(&c, "sessions"), 1);
	ck_assert_int_eq(SSL_do_handshake(ssl), 1);
	for (got = 0; got < ANSWER; got += (size_t)k) {
		k = tls_peer_read(p, buf, sizeof(buf));
		ck_assert_msg(k > 0, "after %zu: %s", got, tls_peer_error());
	}
	tls_peer_close(p);
	down();
}
END_TEST

/* TLS 1.3 has new keys instead, for one side or both. */
START_TEST(new_keys)
{
	struct tls_wish tls13 = { .min = TLS1_3_VERSION };
	struct tls_peer *p;
	int i;

	up("");
	p = tls_chain_opens(&c, &tls13);
	for (i = 0; i < 20; i++) {
		ck_assert_int_eq(SSL_key_update(tls_peer_ssl(p),
				     i % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED
						: SSL_KEY_UPDATE_NOT_REQUESTED),
		    1);
		tls_peer_expect_echo(p, "hello");
	}
	ck_assert(tls_peer_half_close(p));
	tls_peer_expect_end(p);
	tls_peer_close(p);
	tls_chain_counts(&c, "closed_done", 1);
	down();
}
END_TEST

/* ---- sizes of records ---- */

enum { MUCH = 150000, BEGIN_SMALL = 8, SMALL_MOST = 1369 + 24 };

struct records {
	int count, small; /* small: of the first BEGIN_SMALL */
	size_t largest;
};

/* OpenSSL tells of each header that comes: type, version, length. */
static void
note_record(int sent, int version, int type, const void *bytes, size_t n,
    SSL *ssl, void *arg)
{
	const unsigned char *h = bytes;
	struct records *r = arg;
	size_t length;

	(void)version;
	(void)ssl;
	if (sent || type != SSL3_RT_HEADER || n < 5 ||
	    h[0] != SSL3_RT_APPLICATION_DATA)
		return;
	length = (size_t)h[3] << 8 | h[4];
	if (r->count++ < BEGIN_SMALL)
		r->small += length <= SMALL_MOST;
	if (length > r->largest)
		r->largest = length;
}

static void
says_much(struct backend *b, int fd)
{
	static const char much[MUCH];
	char one;

	(void)b;
	if (recv(fd, &one, 1, 0) == 1)
		(void)backend_send(fd, much, sizeof(much));
}

/* The first ones fit into a segment, to be read as soon as it is there; later
 * ones are as large as they may be. */
START_TEST(records_grow)
{
	struct records r = { .count = 0 };
	struct tls_wish wish = { .max = TLS1_2_VERSION,
		.told = note_record,
		.arg = &r };
	struct tls_peer *p;
	size_t got = 0;
	char buf[4096];
	ssize_t n;

	up_with("", says_much);
	p = tls_chain_opens(&c, &wish);
	ck_assert(tls_peer_write(p, "?", 1));
	while ((n = tls_peer_read(p, buf, sizeof(buf))) > 0)
		got += (size_t)n;
	ck_assert_uint_eq(got, MUCH);
	ck_assert_int_eq(r.small, BEGIN_SMALL);
	ck_assert_uint_ge(r.largest, 16384);
	ck_assert_int_le(r.count, BEGIN_SMALL + 2 * MUCH / 16384);
	tls_peer_close(p);
	down();
}
END_TEST

SUITE(test_tls_hello)
{
	Suite *s = suite_create("tls_hello");

	SUITE_ADD(s, hello_in_pieces, 20);
	SUITE_ADD(s, slow_handshakes_end, 30);
	SUITE_ADD(s, not_tls, 30);
	SUITE_ADD(s, any_method_without_tls, 30);
	SUITE_ADD(s, renegotiation_is_refused, 20);
	SUITE_ADD(s, renegotiation_now_and_then, 20);
	SUITE_ADD(s, renegotiation_with_an_answer_under_way, 20);
	SUITE_ADD(s, new_keys, 20);
	SUITE_ADD(s, records_grow, 20);
	return s;
}
