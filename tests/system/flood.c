/* flood.c: bytes made before are sent as fast as they are taken. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/flood.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* What memory may grow by; what another client may have to wait. */
enum { GROWTH_KB = 1024, LATENCY_MS = 1000 };

void
flood_add(struct flood *f, const void *bytes, size_t n)
{
	if (f->n + n > f->room) {
		f->room = 2 * (f->n + n);
		f->at = realloc(f->at, f->room);
		if (f->at == NULL)
			abort();
	}
	memcpy(f->at + f->n, bytes, n);
	f->n += n;
}

void
flood_add_said(struct flood *f)
{
	char some[16384];
	int n;

	while ((n = BIO_read(SSL_get_wbio(f->end.ssl), some, sizeof(some))) > 0)
		flood_add(f, some, (size_t)n);
}

static void *
send_all(void *arg)
{
	struct flood *f = arg;
	ssize_t k;

	for (f->sent = 0; f->sent < f->n; f->sent += (size_t)k) {
		k = send(f->fd, f->at + f->sent, f->n - f->sent, MSG_NOSIGNAL);
		if (k <= 0)
			break;
	}
	atomic_store(&f->over, true);
	return NULL;
}

long long
flood_send_beside_others(struct flood *f)
{
	struct tls_wish w = { .sni = "a.test", .max = TLS1_2_VERSION };
	long long began, worst = 0;
	struct tls_peer *p;

	atomic_store(&f->over, false);
	ck_assert_int_eq(pthread_create(&f->thread, NULL, send_all, f), 0);
	do {
		began = wait_now_ms();
		p = tls_peer_open(endpoint_connect(&f->load.front), &w);
		ck_assert_msg(p != NULL, "%s", tls_peer_error());
		tls_peer_expect_echo(p, "me too");
		tls_peer_close(p);
		if (wait_now_ms() - began > worst)
			worst = wait_now_ms() - began;
	} while (!atomic_load(&f->over));
	ck_assert_int_eq(pthread_join(f->thread, NULL), 0);
	return worst;
}

void
flood_call(struct flood *f)
{
	f->fd = endpoint_connect(&f->load.front);
	tls_end_open(&f->end, f->ctx, false);
	ck_assert_msg(tls_end_shake(&f->end, f->fd), "no handshake");
	f->n = 0;
}

void
flood_hang_up(struct flood *f)
{
	tls_end_close(&f->end);
	close(f->fd);
}

/* Echoes, but x's, which it counts. */
static void
serve(struct backend *b, int fd)
{
	char some[16384];
	ssize_t k;

	while ((k = recv(fd, some, sizeof(some), 0)) > 0)
		if (some[0] == 'x')
			atomic_fetch_add(&b->received, k);
		else if (!backend_send(fd, some, (size_t)k))
			break;
}

struct flood *
flood_begin(int version, const char *const more[])
{
	struct flood *f = calloc(1, sizeof(*f));
	struct load *s = &f->load;
	const char *options[16] = { "-x", "100", "-E", NULL };
	int n = 4, i;

	backend_start(&f->server, ENDPOINT_TCP4, serve, NULL);
	load_prepare(s);
	options[3] = s->cert_file;
	for (i = 0; more[i] != NULL; i++)
		options[n++] = more[i];
	load_begin(
	    s, options, (const char *const[]){ f->server.at.text, NULL });
	f->ctx = load_client(s, version, false);
	SSL_CTX_set_cipher_list(f->ctx, "ECDHE-ECDSA-AES128-GCM-SHA256");
	/* until all sizes of blocks have been asked for */
	for (i = 0; i < 100; i++)
		load_serves(s, true);
	return f;
}

void
flood_expect_small(struct flood *f, const char *what, long rss, long long worst)
{
	long now = load_rss_kb(&f->load);

	printf("%s: %zu of %zu bytes taken, %ld kB more, others waited %lld "
	       "ms at most\n",
	    what, f->sent, f->n, now - rss, worst);
	fflush(stdout);
	ck_assert_msg(
	    now - rss < GROWTH_KB, "resident %ld kB, then %ld kB", rss, now);
	ck_assert_int_lt(worst, wait_scaled(LATENCY_MS));
}

void
flood_end(struct flood *f)
{
	WAIT_FOR(f->server.open == 0, 10000);
	load_serves(&f->load, true);
	load_expect_peace(&f->load);
	load_end(&f->load);
	backend_stop(&f->server);
	SSL_CTX_free(f->ctx);
	free(f->at);
	free(f);
}
