/* tlsserver.c: the server: a backend whose connections are OpenSSL's. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include "support/tlsends.h"
#include "support/tlspeer.h"

static int
choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
    const unsigned char *in, unsigned in_len, void *arg)
{
	const struct tls_echo *s = arg;
	unsigned char *chosen;

	(void)ssl;
	if (SSL_select_next_proto(&chosen, out_len,
		(const unsigned char *)s->alpn, (unsigned)s->alpn_len, in,
		in_len) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* A name that was not acknowledged would not be there when resumed. */
static int
take_name(SSL *ssl, int *alert, void *arg)
{
	(void)ssl;
	(void)alert;
	(void)arg;
	return SSL_TLSEXT_ERR_OK;
}

static void
note_handshake(struct tls_echo *s, const SSL *ssl, const char *error)
{
	const char *sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	struct tls_seen *seen = &s->seen;

	pthread_mutex_lock(&s->lock);
	snprintf(seen->sni, sizeof(seen->sni), "%s", sni != NULL ? sni : "");
	if (error != NULL) {
		seen->failed++;
		snprintf(seen->error, sizeof(seen->error), "%s", error);
	} else {
		seen->handshakes++;
		seen->resumed += SSL_session_reused(ssl) == 1;
	}
	seen->version = SSL_version(ssl);
	tls_get_alpn(ssl, seen->alpn, sizeof(seen->alpn));
	tls_get_subject(ssl, seen->client);
	pthread_mutex_unlock(&s->lock);
}

/* Closing while something is still to be read would be a reset, and that may
 * overtake the alert. */
static void
drain(int fd)
{
	char buf[4096];

	endpoint_set_deadline(fd, TLS_DEADLINE_MS);
	shutdown(fd, SHUT_WR);
	while (recv(fd, buf, sizeof(buf), 0) > 0)
		;
}

/* Was there a goodbye? */
static bool
echo(struct tls_echo *s, SSL *ssl)
{
	char buf[16384];
	size_t n, written;

	while (SSL_read_ex(ssl, buf, sizeof(buf), &n) == 1) {
		atomic_fetch_add(&s->backend.received, (long long)n);
		if (SSL_write_ex(ssl, buf, n, &written) != 1)
			return false;
	}
	return (SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

static void
converse(struct tls_echo *s, SSL *ssl)
{
	bool goodbye = s->talk(s, ssl);

	pthread_mutex_lock(&s->lock);
	s->seen.goodbyes += goodbye;
	s->seen.cut += !goodbye;
	pthread_mutex_unlock(&s->lock);
	if (goodbye)
		SSL_shutdown(ssl);
}

static void
serve_tls(struct backend *b, int fd)
{
	struct tls_echo *s = (struct tls_echo *)b; /* its first member */
	SSL *ssl = SSL_new(s->ctx);
	char why[TLS_WHY_MAX];
	int result;

	if (ssl == NULL || SSL_set_fd(ssl, fd) != 1)
		abort();
	ERR_clear_error();
	errno = 0;
	result = SSL_accept(ssl);
	if (result == 1) {
		note_handshake(s, ssl, NULL);
		converse(s, ssl);
	} else {
		tls_explain(ssl, result, why);
		note_handshake(s, ssl, why);
		drain(fd);
	}
	tls_forget(ssl);
	/* else it would happen some time after the server has stopped */
	OPENSSL_thread_stop();
}

static bool
set_server(struct tls_echo *s, const char *cert, const char *key,
    const struct tls_echo_options *o)
{
	SSL_CTX *ctx = s->ctx;

	if (o->alpn != NULL) {
		s->alpn_len = tls_put_alpn(s->alpn, o->alpn);
		SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, s);
	}
	SSL_CTX_set_tlsext_servername_callback(ctx, take_name);
	if (o->client_ca != NULL) {
		SSL_CTX_set_verify(ctx,
		    SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
		SSL_CTX_set_client_CA_list(
		    ctx, SSL_load_client_CA_file(o->client_ca));
		if (SSL_CTX_load_verify_locations(ctx, o->client_ca, NULL) != 1)
			return false;
	}
	/* resuming with a client's certificate needs one */
	return SSL_CTX_set_session_id_context(
		   ctx, (const unsigned char *)"test", 4) == 1 &&
	    SSL_CTX_set_min_proto_version(ctx, o->min) == 1 &&
	    SSL_CTX_set_max_proto_version(ctx, o->max) == 1 &&
	    SSL_CTX_use_certificate_chain_file(ctx, cert) == 1 &&
	    SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) == 1;
}

void
tls_echo_start(struct tls_echo *s, const char *cert, const char *key,
    const struct tls_echo_options *o)
{
	static const struct tls_echo_options plain;
	char why[TLS_WHY_MAX];

	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->talk = o != NULL && o->talk != NULL ? o->talk : echo;
	ERR_clear_error();
	s->ctx = SSL_CTX_new(TLS_server_method());
	if (s->ctx == NULL ||
	    !set_server(s, cert, key, o != NULL ? o : &plain)) {
		tls_explain(NULL, 0, why);
		ck_abort_msg("TLS server: %s", why);
	}
	backend_start(
	    &s->backend, o != NULL ? o->kind : ENDPOINT_TCP4, serve_tls, NULL);
}

void
tls_echo_stop(struct tls_echo *s)
{
	backend_stop(&s->backend);
	SSL_CTX_free(s->ctx);
	pthread_mutex_destroy(&s->lock);
}

void
tls_echo_look(struct tls_echo *s, struct tls_seen *seen)
{
	pthread_mutex_lock(&s->lock);
	*seen = s->seen;
	pthread_mutex_unlock(&s->lock);
}
