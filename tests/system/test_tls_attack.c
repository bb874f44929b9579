/* test_tls_attack.c: thousands of corrupted conversations with pen: each ends,
 * and nothing is left of them. A failure says how to repeat it:
 *
 *     PEN_TEST_SEED=N PEN_TEST_CASE=M CK_RUN_CASE=corrupted_clients ... */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <openssl/err.h>

#include "support/backend.h"
#include "system/hello.h"
#include "support/load.h"
#include "support/suite.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* Clients that stay without a word, at a time; what memory may grow by in the
 * second half of the cases, when all sizes of blocks have been asked for. */
enum { STAYERS = 100, GROWTH_KB = 1024 };

struct attack {
	struct load load;
	struct backend server;
	SSL_CTX *ctx[2][2];	/* TLS 1.2, 1.3; without, with certificate */
	SSL_SESSION *ticket[2]; /* TLS 1.2, 1.3 */
	struct bytes *out;
	struct dice dice;
	unsigned long long seed;
	long number;
	char what[256];
	int stays[STAYERS], next_stay;
};

static void
note(struct attack *a, const char *what)
{
	size_t n = strlen(a->what);

	snprintf(
	    a->what + n, sizeof(a->what) - n, "%s%s", n > 0 ? ", " : "", what);
}

static void
give_up(struct attack *a, const char *why)
{
	ck_abort_msg("%s: seed %llu case %ld: %s (repeat with PEN_TEST_SEED "
		     "and PEN_TEST_CASE)",
	    why, a->seed, a->number, a->what);
}

/* ---- one conversation ---- */

/* Whole, in pieces, or byte by byte. */
static void
deliver(struct attack *a, int fd)
{
	const struct bytes *b = a->out;
	size_t at, n, most = BYTES_MAX;
	ssize_t k;

	if (dice_says(&a->dice, 2))
		most = 1 + dice_small(&a->dice, b->n + 1);
	for (at = 0; at < b->n; at += (size_t)k) {
		n = b->n - at;
		if (at < 1000 && n > most)
			n = most;
		k = send(fd, b->at + at, n, MSG_NOSIGNAL);
		if (k < 0 && errno == EAGAIN)
			give_up(a, "pen does not read");
		if (k <= 0)
			return;
	}
}

static void
hear_out(struct attack *a, int fd)
{
	char some[16384];
	ssize_t k;

	shutdown(fd, SHUT_WR);
	do
		k = recv(fd, some, sizeof(some), 0);
	while (k > 0);
	if (k < 0 && errno == EAGAIN)
		give_up(a, "pen does not close");
	close(fd);
}

/* The end on our side; `may_stay`: pen must end it by itself. */
static void
leave(struct attack *a, int fd, bool may_stay)
{
	switch (dice_below(&a->dice, 8)) {
	case 0:
		note(a, "closed");
		close(fd);
		return;
	case 1:
		note(a, "reset");
		endpoint_reset(fd);
		return;
	case 2:
		if (!may_stay)
			break;
		note(a, "stays");
		a->next_stay = (a->next_stay + 1) % STAYERS;
		if (a->stays[a->next_stay] >= 0)
			close(a->stays[a->next_stay]);
		a->stays[a->next_stay] = fd;
		return;
	default:
		break;
	}
	note(a, "ended");
	hear_out(a, fd);
}

static int
call(struct attack *a)
{
	int fd = endpoint_try_connect(&a->load.front);

	if (fd < 0)
		give_up(a, "no connection");
	return fd;
}

static void
open_end(struct attack *a, struct tls_end *e, bool with_ticket)
{
	size_t version = dice_below(&a->dice, 2);

	note(a, version == 0 ? "1.2" : "1.3");
	tls_end_open(e,
	    a->ctx[version][with_ticket ? 0 : dice_below(&a->dice, 2)], false);
	if (with_ticket && SSL_set_session(e->ssl, a->ticket[version]) != 1)
		abort();
}

/* ---- kinds of cases ---- */

static void
take_hello(struct attack *a, struct hello *h)
{
	struct tls_end e;

	open_end(a, &e, dice_says(&a->dice, 2));
	(void)SSL_do_handshake(e.ssl);
	tls_end_take(&e, a->out);
	tls_end_close(&e);
	if (!hello_parse(h, a->out))
		give_up(a, "OpenSSL made no hello");
}

static void
corrupt_hello(struct attack *a)
{
	size_t times = dice_below(&a->dice, 4);
	struct hello h;
	int fd;

	take_hello(a, &h);
	a->out->n = 0;
	while (times-- > 0)
		note(a, hello_corrupt(&a->dice, &h));
	hello_build(&h, a->out);
	hello_free(&h);
	for (times = dice_below(&a->dice, 3); times > 0; times--)
		note(a, corrupt_records(&a->dice, a->out));
	fd = call(a);
	deliver(a, fd);
	leave(a, fd, true);
}

/* Early data without a ticket, more of it than a server should skip. */
static void
send_early(struct attack *a)
{
	unsigned char some[4096] = { 0 };
	size_t records = 1 + dice_below(&a->dice, 12);
	struct hello h;
	int fd;

	note(a, "early data");
	take_hello(a, &h);
	a->out->n = 0;
	if (h.extensions < HELLO_EXTENSIONS)
		h.extension[h.extensions++] =
		    (struct hello_part){ .type = EXTENSION_EARLY_DATA };
	hello_build(&h, a->out);
	hello_free(&h);
	while (records-- > 0)
		record_add(a->out, RECORD_DATA, some, sizeof(some));
	fd = call(a);
	deliver(a, fd);
	leave(a, fd, true);
}

static void
send_nonsense(struct attack *a)
{
	size_t times = 1 + dice_below(&a->dice, 3);
	int fd = call(a);

	while (times-- > 0)
		note(a, corrupt_make(&a->dice, a->out));
	deliver(a, fd);
	leave(a, fd, true);
}

static void
send_nothing(struct attack *a)
{
	note(a, "nothing");
	leave(a, call(a), true);
}

/* Goes on until the client has something to say: its key and Finished, then
 * data, then goodbye. False: pen has ended it. */
static bool
next_flight(struct attack *a, struct tls_end *e, int fd, size_t flight)
{
	char some[64];

	if (flight == 1 || !SSL_is_init_finished(e->ssl))
		for (;;) {
			ERR_clear_error();
			(void)SSL_do_handshake(e->ssl);
			tls_end_take(e, a->out);
			if (a->out->n > 0 || SSL_is_init_finished(e->ssl))
				break;
			if (!tls_end_receive(e, fd))
				return false;
		}
	if (flight == 2 || flight == 3) {
		if (SSL_write(e->ssl, "hello", 5) != 5)
			return false;
		(void)SSL_read(e->ssl, some, sizeof(some));
	} else if (flight == 4) {
		(void)SSL_shutdown(e->ssl);
	}
	tls_end_take(e, a->out);
	return true;
}

static void
corrupt_flight(struct attack *a)
{
	size_t times = 1 + dice_small(&a->dice, 3);

	while (times-- > 0)
		note(a,
		    dice_says(&a->dice, 3) ? corrupt_make(&a->dice, a->out)
			: dice_says(&a->dice, 2)
			? corrupt_messages(&a->dice, a->out)
			: corrupt_records(&a->dice, a->out));
}

/* A client that is good until it is not: a later flight is corrupted, or cut.
 */
static void
corrupt_later(struct attack *a)
{
	size_t target = 1 + dice_below(&a->dice, 4), flight;
	int fd = call(a);
	struct tls_end e;

	note(a, "later");
	open_end(a, &e, dice_says(&a->dice, 2));
	for (flight = 0; flight <= target; flight++) {
		a->out->n = 0;
		if (!next_flight(a, &e, fd, flight))
			give_up(a, "a good beginning was refused");
		if (flight < target && a->out->n > 0 &&
		    send(fd, a->out->at, a->out->n, MSG_NOSIGNAL) !=
			(ssize_t)a->out->n)
			give_up(a, "a good beginning was not taken");
	}
	tls_end_close(&e);
	if (dice_says(&a->dice, 4)) {
		note(a, "cut");
		bytes_cut(a->out, dice_below(&a->dice, a->out->n + 1));
	} else {
		corrupt_flight(a);
	}
	deliver(a, fd);
	leave(a, fd, false);
}

/* A ticket like the one of that session, but not it. */
static SSL_SESSION *
corrupt_ticket(struct attack *a, SSL_SESSION *good)
{
	unsigned char der[8192], *p = der;
	const unsigned char *ticket, *q = der;
	int len = i2d_SSL_SESSION(good, NULL);
	size_t n, at, k;

	SSL_SESSION_get0_ticket(good, &ticket, &n);
	if (len <= 0 || len > (int)sizeof(der) || n == 0)
		abort();
	(void)i2d_SSL_SESSION(good, &p);
	for (at = 0; memcmp(der + at, ticket, n) != 0; at++)
		if (at + n >= (size_t)len)
			abort();
	/* name, IV, sealed, MAC: never the same byte twice */
	for (k = dice_below(&a->dice, n); k < n;
	     k += 1 + dice_below(&a->dice, n))
		der[at + k] ^= (unsigned char)(1 + dice_below(&a->dice, 255));
	return d2i_SSL_SESSION(NULL, &q, len);
}

/* A bad ticket costs a whole handshake and no more. */
static void
offer_bad_ticket(struct attack *a)
{
	size_t version = dice_below(&a->dice, 2);
	SSL_SESSION *bad = corrupt_ticket(a, a->ticket[version]);
	struct tls_end e;
	int fd = call(a);

	note(a, version == 0 ? "ticket of 1.2" : "ticket of 1.3");
	if (bad == NULL)
		abort();
	tls_end_open(&e, a->ctx[version][0], false);
	SSL_set_session(e.ssl, bad);
	SSL_SESSION_free(bad);
	if (!tls_end_shake(&e, fd))
		give_up(a, "no handshake");
	if (SSL_session_reused(e.ssl))
		give_up(a, "resumed");
	tls_end_close(&e);
	leave(a, fd, false);
}

static const struct {
	unsigned share; /* of 100 */
	void (*run)(struct attack *a);
} kinds[] = {
	{ 45, corrupt_hello },
	{ 30, corrupt_later },
	{ 12, send_nonsense },
	{ 8, offer_bad_ticket },
	{ 4, send_early },
	{ 1, send_nothing },
};

static void
run_case(struct attack *a, long number)
{
	size_t i, left;

	a->number = number;
	a->what[0] = '\0';
	a->out->n = 0;
	a->dice = (struct dice){ .seed = a->seed * 1000003 + (uint64_t)number };
	left = dice_below(&a->dice, 100);
	for (i = 0; left >= kinds[i].share; i++)
		left -= kinds[i].share;
	kinds[i].run(a);
	if (child_has_ended(&a->load.pen.child))
		give_up(a, "pen died");
}

/* ---- the whole ---- */

static void
forget_stays(struct attack *a)
{
	int i;

	for (i = 0; i < STAYERS; i++) {
		if (a->stays[i] >= 0)
			close(a->stays[i]);
		a->stays[i] = -1;
	}
}

static SSL_SESSION *
get_ticket(struct attack *a, int version)
{
	struct tls_wish w = { .sni = "a.test",
		.alpn = "h2,http/1.1",
		.min = version,
		.max = version };
	struct tls_peer *p =
	    tls_peer_open(endpoint_connect(&a->load.front), &w);
	SSL_SESSION *s;

	ck_assert_msg(p != NULL, "%s", tls_peer_error());
	tls_peer_expect_echo(p, "x");
	s = tls_peer_session(p);
	tls_peer_close(p);
	ck_assert(s != NULL && SSL_SESSION_has_ticket(s));
	return s;
}

static unsigned long long
number_of(const char *variable, unsigned long long otherwise)
{
	const char *s = getenv(variable);

	return s != NULL ? strtoull(s, NULL, 10) : otherwise;
}

static struct attack *
begin(void)
{
	static const int versions[2] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct attack *a = calloc(1, sizeof(*a));
	struct load *s = &a->load;
	const char *names;
	int i, k;

	a->out = calloc(1, sizeof(*a->out));
	ck_assert_ptr_nonnull(a->out);
	backend_start(&a->server, ENDPOINT_TCP4, backend_echo, NULL);
	load_prepare(s);
	names = scratch("names");
	ck_assert_int_eq(mkdir(names, 0700), 0);
	(void)cert_write_all(s->cert, text("%s/b.test.pem", names));
	load_begin(s,
	    (const char *const[]){ "-x", "2000", "-E", s->cert_file, "-G",
		s->root_file, "--request-cert", "--alpn", "h2,http/1.1",
		"--sni-path", names, "--handshake-timeout", "2", NULL },
	    (const char *const[]){ a->server.at.text, NULL });
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 2; k++)
			a->ctx[i][k] = load_client(s, versions[i], k == 1);
		a->ticket[i] = get_ticket(a, versions[i]);
	}
	for (i = 0; i < STAYERS; i++)
		a->stays[i] = -1;
	load_serves(s, true);
	a->seed = number_of("PEN_TEST_SEED", 20260101);
	return a;
}

static void
end(struct attack *a)
{
	int i;

	for (i = 0; i < 2; i++) {
		SSL_CTX_free(a->ctx[i][0]);
		SSL_CTX_free(a->ctx[i][1]);
		SSL_SESSION_free(a->ticket[i]);
	}
	load_end(&a->load);
	backend_stop(&a->server);
	free(a->out);
	free(a);
}

START_TEST(corrupted_clients)
{
	struct attack *a = begin();
	long n = suite_amount(2000, 500), i, rss = 0, only;

	only = (long)number_of("PEN_TEST_CASE", 0);
	for (i = only > 0 ? only : 1; i <= (only > 0 ? only : n); i++) {
		run_case(a, i);
		if (i == n / 2) {
			load_rest(&a->load);
			rss = load_rss_kb(&a->load);
		}
	}
	a->number = -1;
	load_rest(&a->load); /* those that stay have been sent away */
	if (rss > 0)
		ck_assert_msg(load_rss_kb(&a->load) - rss < GROWTH_KB,
		    "seed %llu: resident %ld kB, then %ld kB", a->seed, rss,
		    load_rss_kb(&a->load));
	if (only == 0) {
		ck_assert(load_count(&a->load, "closed_tls_failed") > n / 4);
		ck_assert(
		    n < 500 || load_count(&a->load, "closed_tls_timeout") > 0);
	}
	forget_stays(a);
	load_serves(&a->load, true);
	WAIT_FOR(a->server.open == 0, 10000);
	load_expect_peace(&a->load);
	end(a);
}
END_TEST

SUITE(test_tls_attack)
{
	Suite *s = suite_create("tls_attack");

	SUITE_ADD(s, corrupted_clients, 300);
	return s;
}
