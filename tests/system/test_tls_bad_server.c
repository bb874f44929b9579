/* test_tls_bad_server.c: a server whose handshakes are corrupted, in thousands
 * of ways: pen goes on to the next server, or talks to it if no harm was done;
 * it never hangs and keeps nothing. PEN_TEST_SEED makes other ones. */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include "support/backend.h"
#include "support/load.h"
#include "support/suite.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* How long pen may take to connect; how long the server, having said something
 * bad, waits for more; growth of memory in the second half of the cases. */
enum { CONNECT_S = 1, PATIENCE_MS = 30, GROWTH_KB = 1024, AT_ONCE = 16 };

struct bad {
	struct backend backend; /* first */
	struct load load;
	struct tls_echo good;
	SSL_CTX *ctx[2][2]; /* TLS 1.2, 1.3; with an endless chain */
	unsigned long long seed;
	atomic_long cases;
	atomic_long hung;     /* the case that pen did not end */
	atomic_long may_fail; /* it was corrupted after it had been done */
};

/* One connection, in its thread. */
struct talk {
	struct bad *bad;
	struct dice dice;
	struct tls_end end;
	struct bytes *out;
	long number;
	int fd;
	size_t version;
};

/* ---- the bad server ---- */

static void
send_all(struct talk *t)
{
	size_t at;
	ssize_t k;

	for (at = 0; at < t->out->n; at += (size_t)k) {
		k = send(t->fd, t->out->at + at, t->out->n - at, MSG_NOSIGNAL);
		if (k <= 0)
			break;
	}
	t->out->n = 0;
}

static void
corrupt(struct talk *t)
{
	size_t times = 1 + dice_small(&t->dice, 3);

	while (times-- > 0)
		if (dice_says(&t->dice, 10))
			(void)corrupt_make(&t->dice, t->out);
		else if (dice_says(&t->dice, 2))
			(void)corrupt_messages(&t->dice, t->out);
		else
			(void)corrupt_records(&t->dice, t->out);
}

/* Says too little for a handshake, and reads until pen ends it. */
static void
hold(struct talk *t)
{
	char some[16384];
	ssize_t k;

	bytes_cut(t->out, dice_below(&t->dice, 300));
	send_all(t);
	endpoint_set_deadline(t->fd, (int)wait_scaled(10000));
	do
		k = recv(t->fd, some, sizeof(some), 0);
	while (k > 0);
	if (k < 0 && errno == EAGAIN)
		atomic_store(&t->bad->hung, t->number);
}

/* What follows the corrupted bytes. True: it goes on as if they were good. */
static bool
leave(struct talk *t)
{
	switch (dice_below(&t->dice, 4)) {
	case 0:
		return false;
	case 1:
		shutdown(t->fd, SHUT_WR);
		return false;
	default:
		endpoint_set_deadline(t->fd, PATIENCE_MS);
		return true;
	}
}

static void
echo(struct talk *t)
{
	char some[4096];
	int n;

	for (;;) {
		ERR_clear_error();
		n = SSL_read(t->end.ssl, some, sizeof(some));
		if (n > 0 && SSL_write(t->end.ssl, some, n) != n)
			return;
		if (!tls_end_send(&t->end, t->fd) ||
		    (n <= 0 &&
			(SSL_get_error(t->end.ssl, n) != SSL_ERROR_WANT_READ ||
			    !tls_end_receive(&t->end, t->fd))))
			return;
	}
}

/* Shakes hands; the first or the second thing said is corrupted. */
static void
converse(struct talk *t)
{
	size_t target = dice_says(&t->dice, 3), flight = 0;
	bool late = false; /* pen may have its handshake with this */
	int rc;

	for (;;) {
		ERR_clear_error();
		rc = SSL_do_handshake(t->end.ssl);
		tls_end_take(&t->end, t->out);
		if (t->out->n > 0 && flight++ == target) {
			late = target == 1 || t->version == 1 ||
			    SSL_session_reused(t->end.ssl);
			if (late)
				atomic_fetch_add(&t->bad->may_fail, 1);
			corrupt(t);
			if (target == 0 && dice_says(&t->dice, 400)) {
				hold(t);
				return;
			}
			send_all(t);
			if (!leave(t))
				return;
		}
		send_all(t);
		if (rc == 1)
			break;
		if (SSL_get_error(t->end.ssl, rc) != SSL_ERROR_WANT_READ ||
		    !tls_end_receive(&t->end, t->fd))
			return;
	}
	/* when a Finished came after it, it was taken for good; else pen may
	 * wait for bytes that a length has promised */
	if (!late)
		endpoint_set_deadline(t->fd, 10000);
	echo(t);
}

static void
serve_badly(struct backend *b, int fd)
{
	struct bad *bad = (struct bad *)b; /* its first member */
	struct talk t = { .bad = bad, .fd = fd };

	t.number = atomic_fetch_add(&bad->cases, 1);
	t.dice.seed = bad->seed * 1000003 + (uint64_t)t.number;
	t.out = calloc(1, sizeof(*t.out));
	if (t.out == NULL)
		abort();
	t.version = dice_below(&t.dice, 2);
	endpoint_set_deadline(fd, 10000);
	tls_end_open(&t.end, bad->ctx[t.version][dice_says(&t.dice, 20)], true);
	if (dice_says(&t.dice, 4))
		SSL_set_verify(t.end.ssl, SSL_VERIFY_PEER, NULL);
	converse(&t);
	tls_end_close(&t.end);
	free(t.out);
	OPENSSL_thread_stop();
}

/* ---- setting up ---- */

static SSL_CTX *
context(struct bad *b, int version, bool endless)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	const char *file = b->load.cert_file;
	int i;

	ck_assert(ctx != NULL &&
	    SSL_CTX_set_min_proto_version(ctx, version) == 1 &&
	    SSL_CTX_set_max_proto_version(ctx, version) == 1 &&
	    SSL_CTX_set_session_id_context(
		ctx, (const unsigned char *)"bad", 3) == 1 &&
	    SSL_CTX_use_certificate_chain_file(ctx, file) == 1 &&
	    SSL_CTX_use_PrivateKey_file(ctx, file, SSL_FILETYPE_PEM) == 1);
	for (i = 0; endless && i < 500; i++) {
		ck_assert_int_eq(X509_up_ref(cert_x509(b->load.root)), 1);
		ck_assert_int_eq(
		    SSL_CTX_add_extra_chain_cert(ctx, cert_x509(b->load.root)),
		    1);
	}
	return ctx;
}

static struct bad *
begin(void)
{
	static const int versions[2] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct bad *b = calloc(1, sizeof(*b));
	struct load *s = &b->load;
	const char *seed = getenv("PEN_TEST_SEED");
	int i, k;

	b->seed = seed != NULL ? strtoull(seed, NULL, 10) : 20260102;
	atomic_init(&b->hung, -1);
	load_prepare(s);
	for (i = 0; i < 2; i++)
		for (k = 0; k < 2; k++)
			b->ctx[i][k] = context(b, versions[i], k == 1);
	tls_echo_start(&b->good, s->cert_file, s->cert_file, NULL);
	backend_start(&b->backend, ENDPOINT_TCP4, serve_badly, NULL);
	load_begin(s,
	    (const char *const[]){ "--upstream-tls", "--upstream-ca",
		s->root_file, "--upstream-name", "a.test", "-t",
		text("%d", CONNECT_S), "-b", "0", NULL },
	    (const char *const[]){
		b->backend.at.text, b->good.backend.at.text, NULL });
	return b;
}

static void
end(struct bad *b)
{
	int i;

	load_end(&b->load);
	backend_stop(&b->backend);
	tls_echo_stop(&b->good);
	for (i = 0; i < 2; i++) {
		SSL_CTX_free(b->ctx[i][0]);
		SSL_CTX_free(b->ctx[i][1]);
	}
	free(b);
}

/* ---- clients ---- */

/* Some at once; returns how many are not served: a server may go bad too
 * late. */
static long
ask_some(struct bad *b)
{
	int fd[AT_ONCE], i;
	long refused = 0;
	char c = 'x';
	ssize_t k;

	for (i = 0; i < AT_ONCE; i++) {
		fd[i] = endpoint_connect(&b->load.front);
		/* it may have been sent away already */
		(void)send(fd[i], &c, 1, MSG_NOSIGNAL);
	}
	for (i = 0; i < AT_ONCE; i++) {
		k = recv(fd[i], &c, 1, 0);
		ck_assert_msg(k >= 0 || errno != EAGAIN,
		    "seed %llu: a client hangs, about case %ld", b->seed,
		    atomic_load(&b->cases));
		ck_assert(k != 1 || c == 'x');
		refused += k != 1;
		close(fd[i]);
	}
	return refused;
}

START_TEST(corrupted_servers)
{
	struct bad *b = begin();
	long n = suite_amount(1200, 300), rss = 0, sent_away = 0, may, now,
	     refused;

	while ((now = atomic_load(&b->cases)) < n) {
		may = atomic_load(&b->may_fail);
		refused = ask_some(b);
		sent_away += refused;
		ck_assert_msg(atomic_load(&b->may_fail) - may >= refused,
		    "seed %llu: no other server took over, case %ld or soon "
		    "after",
		    b->seed, now);
		if (rss == 0 && now >= n / 2) {
			load_rest(&b->load);
			rss = load_rss_kb(&b->load);
		}
	}
	printf("%ld bad handshakes, %lld clients went on to the next server, "
	       "%ld were sent away\n",
	    n, load_count(&b->load, "retries"), sent_away);
	fflush(stdout);
	load_rest(&b->load);
	WAIT_FOR(b->backend.open == 0, 20000);
	ck_assert_msg(b->hung < 0, "seed %llu: pen left case %ld hanging",
	    b->seed, atomic_load(&b->hung));
	if (rss > 0)
		ck_assert_msg(load_rss_kb(&b->load) - rss < GROWTH_KB,
		    "seed %llu: resident %ld kB, then %ld kB", b->seed, rss,
		    load_rss_kb(&b->load));
	ck_assert_int_gt(load_count(&b->load, "retries"), n / 3);
	b->load.may_complain = true;
	/* it may go bad too late for this client, too */
	ck_assert_str_eq(endpoint_ask(&b->load.ctl, "server 0 down\n"), "");
	load_serves(&b->load, false);
	load_expect_peace(&b->load);
	end(b);
}
END_TEST

SUITE(test_tls_bad_server)
{
	Suite *s = suite_create("tls_bad_server");

	SUITE_ADD(s, corrupted_servers, 300);
	return s;
}
