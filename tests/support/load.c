/* load.c: pen, what is left of it, and OpenSSL between pieces of memory. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <openssl/err.h>

#include "support/load.h"
#include "support/suite.h"
#include "support/tlsends.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* ---- pen ---- */

void
load_prepare(struct load *s)
{
	struct cert_wish root = { .name = "root", .is_ca = true };
	struct cert_wish w = { .name = "a.test,b.test,IP:127.0.0.1" };
	struct cert_wish c = { .name = "client.test", .for_client = true };

	memset(s, 0, sizeof(*s));
	s->root = cert_new(&root);
	w.issuer = c.issuer = s->root;
	s->cert = cert_new(&w);
	s->client = cert_new(&c);
	s->root_file = cert_write(s->root, "root.pem");
	s->cert_file = cert_write_all(s->cert, "a.test.pem");
	s->client_file = cert_write_all(s->client, "client.pem");
	endpoint_new(&s->front, ENDPOINT_TCP4);
	endpoint_new(&s->ctl, ENDPOINT_UNIX);
}

void
load_begin(
    struct load *s, const char *const options[], const char *const servers[])
{
	const char *words[CHILD_ARGS] = { "-f", "-r", "-C", s->ctl.text };
	int n = 4;

	while (*options != NULL && n < CHILD_ARGS - 2)
		words[n++] = *options++;
	words[n++] = s->front.text;
	while (*servers != NULL && n < CHILD_ARGS - 1)
		words[n++] = *servers++;
	pen_up_words(&s->pen, &s->front, words);
	WAIT_FOR(endpoint_is_listening(&s->ctl), 5000);
	(void)endpoint_ask(&s->ctl, "statistics\n"); /* all workers answer */
	s->fds = pen_fds(&s->pen);
}

/* A control client of its own just now is a descriptor too. */
static bool
has_closed_all(struct load *s)
{
	return pen_fds(&s->pen) <= s->fds;
}

static void
expect_no_complaint(struct load *s)
{
	static const char *const bad[] = { "ERROR", "anitizer", "runtime error",
		"assert", "illegal session", "error=" };
	const char *said = child_err(&s->pen.child);
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]) - s->may_complain; i++)
		ck_assert_msg(strstr(said, bad[i]) == NULL,
		    "pen complains: %.500s", strstr(said, bad[i]));
}

void
load_expect_peace(struct load *s)
{
	load_rest(s);
	WAIT_FOR(has_closed_all(s), 10000);
	pen_expect_rest(&s->pen);
	expect_no_complaint(s);
}

void
load_end(struct load *s)
{
	pen_down(&s->pen);
	expect_no_complaint(s);
	cert_free(s->client);
	cert_free(s->cert);
	cert_free(s->root);
}

static size_t
ask(const struct load *s, const char *line, char *answer, size_t room)
{
	int fd = endpoint_connect(&s->ctl);
	size_t n = 0;
	ssize_t k;

	endpoint_send(fd, line, strlen(line));
	shutdown(fd, SHUT_WR);
	while (n < room - 1 && (k = recv(fd, answer + n, room - 1 - n, 0)) > 0)
		n += (size_t)k;
	answer[n] = '\0';
	close(fd);
	return n;
}

long long
load_count(struct load *s, const char *name)
{
	char answer[8192], line[128];
	const char *at;

	ck_assert_msg(!child_has_ended(&s->pen.child), "pen ended with %d: %s",
	    s->pen.child.status, child_err(&s->pen.child));
	(void)ask(s, "statistics\n", answer, sizeof(answer));
	snprintf(line, sizeof(line), "%s ", name);
	for (at = answer; strncmp(at, line, strlen(line)) != 0; at++) {
		at = strchr(at, '\n');
		ck_assert_msg(at != NULL, "no %s in: %s", name, answer);
	}
	return atoll(at + strlen(line));
}

void
load_rest(struct load *s)
{
	WAIT_FOR(load_count(s, "sessions") == 0, 20000);
}

long
load_rss_kb(struct load *s)
{
	return pen_is_plain() ? pen_rss_kb(&s->pen) : 0;
}

void
load_serves(struct load *s, bool tls)
{
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_wish w = {
		.sni = "a.test", .verify = "a.test", .ca = s->root_file
	};
	struct tls_peer *p;
	int i, fd;

	for (i = 0; tls && i < 2; i++) {
		w.min = w.max = versions[i];
		p = tls_peer_open(endpoint_connect(&s->front), &w);
		ck_assert_msg(
		    p != NULL, "no good client: %s", tls_peer_error());
		tls_peer_expect_echo(p, "all is well");
		ck_assert(tls_peer_half_close(p));
		tls_peer_expect_end(p);
		tls_peer_close(p);
	}
	if (!tls) {
		fd = endpoint_connect(&s->front);
		endpoint_expect_echo(fd, "all is well");
		shutdown(fd, SHUT_WR);
		endpoint_expect_end(fd);
		close(fd);
	}
}

/* ---- ends ---- */

SSL_CTX *
load_client(const struct load *s, int version, bool certificate)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	ck_assert_ptr_nonnull(ctx);
	ck_assert_int_eq(SSL_CTX_set_min_proto_version(ctx, version), 1);
	ck_assert_int_eq(SSL_CTX_set_max_proto_version(ctx, version), 1);
	/* this one returns 0 for success */
	ck_assert_int_eq(SSL_CTX_set_alpn_protos(
			     ctx, (const unsigned char *)"\2h2\10http/1.1", 12),
	    0);
	if (certificate)
		ck_assert(SSL_CTX_use_certificate_chain_file(
			      ctx, s->client_file) == 1 &&
		    SSL_CTX_use_PrivateKey_file(
			ctx, s->client_file, SSL_FILETYPE_PEM) == 1);
	return ctx;
}

void
tls_end_open(struct tls_end *e, SSL_CTX *ctx, bool server)
{
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	char name[] = "a.test";

	e->ssl = SSL_new(ctx);
	if (e->ssl == NULL || in == NULL || out == NULL)
		abort();
	BIO_set_mem_eof_return(in, -1);
	SSL_set_bio(e->ssl, in, out);
	if (server)
		SSL_set_accept_state(e->ssl);
	else
		SSL_set_connect_state(e->ssl);
	if (!server && SSL_set_tlsext_host_name(e->ssl, name) != 1)
		abort();
	ERR_clear_error();
}

void
tls_end_close(struct tls_end *e)
{
	tls_forget(e->ssl);
	e->ssl = NULL;
}

void
tls_end_feed(struct tls_end *e, const void *bytes, size_t n)
{
	if (BIO_write(SSL_get_rbio(e->ssl), bytes, (int)n) != (int)n)
		abort();
}

void
tls_end_take(struct tls_end *e, struct bytes *out)
{
	char some[16384];
	int n;

	while ((n = BIO_read(SSL_get_wbio(e->ssl), some, sizeof(some))) > 0)
		bytes_add(out, some, (size_t)n);
}

bool
tls_end_receive(struct tls_end *e, int fd)
{
	char some[65536];
	ssize_t n = recv(fd, some, sizeof(some), 0);

	if (n > 0)
		tls_end_feed(e, some, (size_t)n);
	return n > 0;
}

bool
tls_end_send(struct tls_end *e, int fd)
{
	char some[16384];
	ssize_t k;
	int n, at;

	while ((n = BIO_read(SSL_get_wbio(e->ssl), some, sizeof(some))) > 0)
		for (at = 0; at < n; at += (int)k) {
			k = send(fd, some + at, (size_t)(n - at), MSG_NOSIGNAL);
			if (k <= 0)
				return false;
		}
	return true;
}

bool
tls_end_shake(struct tls_end *e, int fd)
{
	int rc;

	for (;;) {
		ERR_clear_error();
		rc = SSL_do_handshake(e->ssl);
		if (!tls_end_send(e, fd))
			return false;
		if (rc == 1)
			return true;
		if (SSL_get_error(e->ssl, rc) != SSL_ERROR_WANT_READ ||
		    !tls_end_receive(e, fd))
			return false;
	}
}
