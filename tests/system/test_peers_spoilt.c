/* test_peers_spoilt.c: what is on its way to a peer is spoilt, cut, repeated,
 * or comes in another order: nothing of it counts, and a connection is one line
 * of the log at most. */
#include "config.h"

#include <check.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "support/penrun.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 20000, ROOM = 4096 };

/* A connection of the test's own, by OpenSSL, whose records it holds. */
struct hand {
	int fd;
	SSL *ssl;
	BIO *in, *out; /* the SSL's */
	unsigned char opening[ROOM]; /* all that was sent of the handshake */
	size_t opening_n;
};

struct record {
	unsigned char bytes[ROOM];
	size_t n;
};

static const char secret[] = "a secret of more than 32 bytes, shared";
static const char server_at[] = "127.0.0.9:80";

static struct endpoint front, ctl, port;
static struct pen pen;
static SSL_CTX *context;
static struct record state; /* of another pen, as it is */
static int connections;	    /* that were opened */

/* ---- both peers ---- */

static unsigned
give_key(SSL *ssl, const char *name, unsigned char *key, unsigned room)
{
	unsigned n = 0;

	(void)ssl;
	(void)name;
	(void)room;
	ck_assert_int_eq(EVP_Digest(secret, sizeof(secret) - 1, key, &n,
			     EVP_sha256(), NULL),
	    1);
	return n;
}

static unsigned
give_name_and_key(SSL *ssl, const char *hint, char *name, unsigned name_room,
    unsigned char *key, unsigned room)
{
	(void)hint;
	snprintf(name, name_room, "pen");
	return give_key(ssl, name, key, room);
}

static void
make_context(void)
{
	context = SSL_CTX_new(TLS_method());
	ck_assert_ptr_nonnull(context);
	(void)SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	(void)SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
	(void)SSL_CTX_set_num_tickets(context, 0);
	SSL_CTX_set_psk_client_callback(context, give_name_and_key);
	SSL_CTX_set_psk_server_callback(context, give_key);
}

static const char *
peer(const char *setting, const struct endpoint *at)
{
	return text("%s %s key %s", setting, at->text, scratch("key"));
}

/* What a pen reports that has a server that drains, and a client of it. */
static void
make_state(void)
{
	struct endpoint at, its_front, its_ctl;
	struct pen other;
	int listening, fd, n;
	SSL *ssl;

	endpoint_new(&at, ENDPOINT_TCP4);
	endpoint_new(&its_front, ENDPOINT_TCP4);
	endpoint_new(&its_ctl, ENDPOINT_UNIX);
	pen_up(&other, &its_front, "-C", its_ctl.text, its_front.text,
	    server_at, NULL);
	(void)pen_ask(&its_ctl, "client 10.1.2.3 move 0; server 0 drain");
	listening = endpoint_listen(&at, 1);
	(void)pen_ask(&its_ctl, peer("peer", &at));
	fd = accept(listening, NULL, NULL);
	ck_assert_int_ge(fd, 0);
	ssl = SSL_new(context);
	ck_assert_int_eq(SSL_set_fd(ssl, fd), 1);
	ck_assert_int_eq(SSL_accept(ssl), 1);
	n = SSL_read(ssl, state.bytes, sizeof(state.bytes));
	ck_assert_int_gt(n, 0);
	state.n = (size_t)n;
	SSL_free(ssl);
	close(fd);
	close(listening);
	pen_down(&other);
}

static void
up(void)
{
	write_file(scratch("key"), secret);
	ck_assert_int_eq(chmod(scratch("key"), 0600), 0);
	make_context();
	make_state();
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&port, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-C", ctl.text, "-O", peer("peer_listen", &port),
	    front.text, server_at, "127.0.0.10:80", NULL);
	connections = 0;
}

static long
counted(const char *name)
{
	return report_number(
	    pen_ask(&ctl, "statistics"), text("\n%s ", name));
}

/* All that the test has sent is over, and has changed nothing. The log has at
 * most a line for each connection. */
static void
nothing_has_changed(void)
{
	int lines;

	WAIT_FOR(counted("peers_from") == 0, SOON);
	ck_assert_int_eq(counted("peer_clients_received"), 0);
	ck_assert_ptr_nonnull(
	    strstr(pen_ask(&ctl, "servers long"), " state up "));
	lines = count_in(child_err(&pen.child), "peer lost");
	ck_assert_int_ge(lines, 1);
	ck_assert_int_le(lines, connections);
}

static void
down(void)
{
	SSL_CTX_free(context);
	pen_down(&pen);
}

/* ---- a connection ---- */

static void
flush(struct hand *h)
{
	int n = BIO_read(h->out, h->opening + h->opening_n,
	    (int)(sizeof(h->opening) - h->opening_n));

	if (n <= 0)
		return;
	endpoint_send(h->fd, h->opening + h->opening_n, (size_t)n);
	h->opening_n += (size_t)n;
}

static void
hand_begin(struct hand *h)
{
	unsigned char bytes[ROOM];
	ssize_t n;

	memset(h, 0, sizeof(*h));
	h->fd = endpoint_connect(&port);
	h->ssl = SSL_new(context);
	h->in = BIO_new(BIO_s_mem());
	h->out = BIO_new(BIO_s_mem());
	ck_assert(h->ssl != NULL && h->in != NULL && h->out != NULL);
	SSL_set_bio(h->ssl, h->in, h->out);
	SSL_set_connect_state(h->ssl);
	while (SSL_do_handshake(h->ssl) != 1) {
		flush(h);
		n = read(h->fd, bytes, sizeof(bytes));
		ck_assert_int_gt(n, 0);
		ck_assert_int_eq(BIO_write(h->in, bytes, (int)n), (int)n);
	}
	flush(h);
	connections++;
}

/* What is sent as one record. */
static void
seal(struct hand *h, const void *bytes, size_t n, struct record *r)
{
	ck_assert_int_eq(SSL_write(h->ssl, bytes, (int)n), (int)n);
	r->n = (size_t)BIO_read(h->out, r->bytes, sizeof(r->bytes));
	ck_assert_uint_gt(r->n, n);
}

static void
seal_state(struct hand *h, struct record *r)
{
	seal(h, state.bytes, state.n, r);
}

/* The peer may have ended before all was sent. */
static void
hand_end(struct hand *h)
{
	char bytes[ROOM];

	(void)shutdown(h->fd, SHUT_WR);
	while (read(h->fd, bytes, sizeof(bytes)) > 0)
		;
	close(h->fd);
	SSL_free(h->ssl);
}

static void
put(const struct hand *h, const void *bytes, size_t n)
{
	(void)!send(h->fd, bytes, n, MSG_NOSIGNAL);
}

/* ---- tests ---- */

/* Else the other tests would show nothing. */
START_TEST(as_it_is)
{
	struct record r;
	struct hand h;

	up();
	hand_begin(&h);
	seal_state(&h, &r);
	put(&h, r.bytes, r.n);
	hand_end(&h);
	WAIT_FOR(counted("peer_clients_new") == 1, SOON);
	WAIT_FOR(strstr(pen_ask(&ctl, "servers long"), " state drain ") != NULL,
	    SOON);
	down();
}
END_TEST

/* With PEN_TEST_FULL=1 each bit, else each 13th. */
START_TEST(each_bit)
{
	size_t step = suite_is_full() ? 1 : (size_t)suite_amount(13, 131), i;
	struct record r = { .n = 1 };
	struct hand h;

	up();
	for (i = 0; i < r.n * 8; i += step) {
		hand_begin(&h);
		seal_state(&h, &r);
		r.bytes[i / 8] ^= (unsigned char)(1u << i % 8);
		put(&h, r.bytes, r.n);
		hand_end(&h);
	}
	nothing_has_changed();
	down();
}
END_TEST

/* Some bytes of it are others, or it is all random. */
START_TEST(random_bytes)
{
	long n = suite_is_full() ? 20000 : suite_amount(200, 20), i;
	uint64_t drawn = 1;
	struct record r;
	struct hand h;
	unsigned k;

	up();
	for (i = 0; i < n; i++) {
		hand_begin(&h);
		seal_state(&h, &r);
		for (k = 0; k < (i % 2 == 0 ? 3 : r.n); k++) {
			drawn = hash_mix(drawn + 1);
			r.bytes[drawn % r.n] ^= (unsigned char)(1u << k % 8);
		}
		put(&h, r.bytes, r.n);
		hand_end(&h);
	}
	nothing_has_changed();
	down();
}
END_TEST

START_TEST(cut)
{
	size_t n = 0, step = (size_t)suite_amount(7, 61);
	struct record r = { .n = 1 };
	struct hand h;

	up();
	for (; n < r.n; n += step) {
		hand_begin(&h);
		seal_state(&h, &r);
		put(&h, r.bytes, n);
		hand_end(&h);
	}
	nothing_has_changed();
	down();
}
END_TEST

/* The second half of the state comes first. */
START_TEST(reordered)
{
	struct record first, second;
	struct hand h;
	size_t half;

	up();
	half = state.n / 2;
	hand_begin(&h);
	seal(&h, state.bytes, half, &first);
	seal(&h, state.bytes + half, state.n - half, &second);
	put(&h, second.bytes, second.n);
	put(&h, first.bytes, first.n);
	hand_end(&h);
	nothing_has_changed();
	down();
}
END_TEST

/* A message once more, in its connection; and a connection once more, from its
 * first byte on. */
START_TEST(replayed)
{
	struct record r;
	struct hand h, again;
	char byte;

	up();
	hand_begin(&h);
	seal_state(&h, &r);
	put(&h, r.bytes, r.n);
	put(&h, r.bytes, r.n);
	hand_end(&h);
	WAIT_FOR(counted("peers_from") == 0, SOON);
	ck_assert_int_eq(counted("peer_clients_received"), 1);
	again.fd = endpoint_connect(&port);
	put(&again, h.opening, h.opening_n);
	put(&again, r.bytes, r.n);
	(void)shutdown(again.fd, SHUT_WR);
	while (read(again.fd, &byte, 1) > 0)
		;
	close(again.fd);
	WAIT_FOR(counted("peers_refused") == 1, SOON);
	ck_assert_int_eq(counted("peer_clients_received"), 1);
	ck_assert_int_eq(count_in(child_err(&pen.child), "peer refused"), 1);
	down();
}
END_TEST

SUITE(test_peers_spoilt)
{
	Suite *s = suite_create("peers_spoilt");

	SUITE_ADD(s, as_it_is, 30);
	SUITE_ADD(s, each_bit, suite_is_full() ? 600 : 60);
	SUITE_ADD(s, random_bytes, suite_is_full() ? 2000 : 60);
	SUITE_ADD(s, cut, 60);
	SUITE_ADD(s, reordered, 30);
	SUITE_ADD(s, replayed, 30);
	return s;
}
