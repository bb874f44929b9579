/* test_tls_slow.c: a thousand clients that never come to the end of their
 * handshake, and those that are served meanwhile. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/load.h"
#include "support/suite.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* A byte each so often; how long pen lets them. */
enum { DRIP_MS = 50, PATIENCE_S = 3, SLOW_MAX = 1000 };

/* Says nothing; a hello byte by byte; in records of a byte each; the hello and
 * then no more. */
enum manner { MUTE, BYTES, RECORDS, HELLO, MANNERS };

struct slow {
	int fd;
	enum manner manner;
	size_t at;
};

struct crowd {
	struct load load;
	struct backend server;
	struct bytes *hello, *records;
	struct slow slow[SLOW_MAX];
	int n;
	/* of those that are served */
	long long worst_ms, sum_ms;
	int served;
};

static void
make_hellos(struct crowd *c)
{
	SSL_CTX *ctx = load_client(&c->load, TLS1_3_VERSION, false);
	struct tls_end e;
	size_t i;

	c->hello = calloc(1, sizeof(*c->hello));
	c->records = calloc(1, sizeof(*c->records));
	ck_assert(c->hello != NULL && c->records != NULL);
	tls_end_open(&e, ctx, false);
	(void)SSL_do_handshake(e.ssl);
	tls_end_take(&e, c->hello);
	tls_end_close(&e);
	SSL_CTX_free(ctx);
	for (i = RECORD_HEAD; i < c->hello->n; i++)
		record_add(c->records, RECORD_HANDSHAKE, c->hello->at + i, 1);
}

static void
put(struct slow *s, const void *bytes, size_t n)
{
	/* one that pen has sent away is looked at later */
	if (send(s->fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n)
		s->at += n;
}

static void
drip(struct crowd *c, struct slow *s)
{
	switch (s->manner) {
	case BYTES:
		if (s->at + 1 < c->hello->n)
			put(s, c->hello->at + s->at, 1);
		break;
	case RECORDS:
		if (s->at + 6 < c->records->n)
			put(s, c->records->at + s->at, 6);
		break;
	case HELLO:
		if (s->at == 0)
			put(s, c->hello->at, c->hello->n);
		break;
	default:
		break;
	}
}

static void
serve_one(struct crowd *c)
{
	struct tls_wish w = { .sni = "a.test", .min = TLS1_2_VERSION };
	long long began = wait_now_ms(), took;
	struct tls_peer *p;

	p = tls_peer_open(endpoint_connect(&c->load.front), &w);
	ck_assert_msg(p != NULL, "%s", tls_peer_error());
	tls_peer_expect_echo(p, "not slow");
	took = wait_now_ms() - began;
	tls_peer_close(p);
	c->served++;
	c->sum_ms += took;
	if (took > c->worst_ms)
		c->worst_ms = took;
}

static void
raise_limit(void)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void
begin(struct crowd *c)
{
	struct load *s = &c->load;
	int i;

	raise_limit();
	backend_start(&c->server, ENDPOINT_TCP4, backend_echo, NULL);
	load_prepare(s);
	load_begin(s,
	    (const char *const[]){ "-x", "3000", "-E", s->cert_file,
		"--handshake-timeout", text("%d", PATIENCE_S), NULL },
	    (const char *const[]){ c->server.at.text, NULL });
	make_hellos(c);
	serve_one(c);
	c->n = (int)suite_amount(SLOW_MAX, 100);
	for (i = 0; i < c->n; i++) {
		c->slow[i] = (struct slow){ .fd = endpoint_connect(&s->front),
			.manner = (enum manner)(i % MANNERS) };
		drip(c, &c->slow[i]);
	}
}

/* A reset or an end; what came before it does not matter. */
static void
expect_sent_away(struct crowd *c)
{
	char some[16384];
	ssize_t k;
	int i;

	for (i = 0; i < c->n; i++) {
		do
			k = recv(c->slow[i].fd, some, sizeof(some), 0);
		while (k > 0);
		ck_assert_msg(k == 0 || errno != EAGAIN,
		    "client %d, manner %d, is still there", i,
		    (int)c->slow[i].manner);
		close(c->slow[i].fd);
	}
}

START_TEST(slow_handshakes)
{
	struct crowd *c = calloc(1, sizeof(*c));
	struct load *s = &c->load;
	long long began, next, now;
	int i;

	began = next = wait_now_ms();
	begin(c);
	c->served = 0;
	c->sum_ms = c->worst_ms = 0;
	/* On a slow machine the first ones end before the last ones begin. */
	WAIT_FOR(
	    load_count(s, "sessions") + load_count(s, "closed_tls_timeout") >=
		c->n,
	    10000);
	while (load_count(s, "closed_tls_timeout") < c->n) {
		now = wait_now_ms();
		ck_assert_msg(
		    now - began < wait_scaled(PATIENCE_S * 1000 + 15000),
		    "only %lld of %d were sent away",
		    load_count(s, "closed_tls_timeout"), c->n);
		for (i = 0; now >= next && i < c->n; i++)
			drip(c, &c->slow[i]);
		if (now >= next)
			next = now + DRIP_MS;
		serve_one(c);
	}
	printf("%d slow clients: %d others served, %lld ms each, %lld ms at "
	       "most; gone after %lld ms\n",
	    c->n, c->served, c->sum_ms / c->served, c->worst_ms,
	    wait_now_ms() - began);
	fflush(stdout);
	ck_assert_int_ge(wait_now_ms() - began, PATIENCE_S * 1000);
	expect_sent_away(c);
	ck_assert_int_eq(load_count(s, "closed_tls_timeout"), c->n);
	load_serves(s, true);
	WAIT_FOR(c->server.open == 0, 10000);
	load_expect_peace(s);
	load_end(s);
	backend_stop(&c->server);
	free(c->hello);
	free(c->records);
	free(c);
}
END_TEST

SUITE(test_tls_slow)
{
	Suite *s = suite_create("tls_slow");

	SUITE_ADD(s, slow_handshakes, 60);
	return s;
}
