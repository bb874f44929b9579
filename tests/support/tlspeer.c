/* tlspeer.c: the client: OpenSSL on a blocking socket. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "support/tlsends.h"
#include "support/tlspeer.h"

struct tls_peer {
	int fd;
	SSL_CTX *ctx;
	SSL *ssl;
	char alpn[TLS_ALPN_TEXT], subject[CERT_SUBJECT_MAX];
};

static _Thread_local char last_error[TLS_WHY_MAX];

const char *
tls_peer_error(void)
{
	return last_error;
}

static bool
set_ciphers(SSL_CTX *ctx, const char *names)
{
	if (strncmp(names, "TLS_", 4) == 0)
		return SSL_CTX_set_ciphersuites(ctx, names) == 1;
	return SSL_CTX_set_cipher_list(ctx, names) == 1;
}

static bool
set_client(SSL_CTX *ctx, const struct tls_wish *w)
{
	char wire[TLS_ALPN_TEXT];
	size_t n = w->alpn != NULL ? tls_put_alpn(wire, w->alpn) : 0;

	if (w->ca != NULL)
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	return SSL_CTX_set_min_proto_version(ctx, w->min) == 1 &&
	    SSL_CTX_set_max_proto_version(ctx, w->max) == 1 &&
	    (w->ciphers == NULL || set_ciphers(ctx, w->ciphers)) &&
	    (w->sigalgs == NULL ||
		SSL_CTX_set1_sigalgs_list(ctx, (char *)(uintptr_t)w->sigalgs) ==
		    1) &&
	    (w->ca == NULL ||
		SSL_CTX_load_verify_locations(ctx, w->ca, NULL) == 1) &&
	    (w->cert == NULL ||
		SSL_CTX_use_certificate_chain_file(ctx, w->cert) == 1) &&
	    (w->key == NULL ||
		SSL_CTX_use_PrivateKey_file(ctx, w->key, SSL_FILETYPE_PEM) ==
		    1) &&
	    /* this one returns 0 for success */
	    (n == 0 ||
		SSL_CTX_set_alpn_protos(
		    ctx, (const unsigned char *)wire, (unsigned)n) == 0);
}

static bool
set_names(SSL *ssl, const struct tls_wish *w)
{
	X509_VERIFY_PARAM *p = SSL_get0_param(ssl);
	char sni[256];

	if (w->sni != NULL) {
		snprintf(sni, sizeof(sni), "%s", w->sni);
		if (SSL_set_tlsext_host_name(ssl, sni) != 1)
			return false;
	}
	return w->verify == NULL ||
	    X509_VERIFY_PARAM_set1_ip_asc(p, w->verify) == 1 ||
	    X509_VERIFY_PARAM_set1_host(p, w->verify, 0) == 1;
}

/* False when it cannot even be tried. */
static bool
prepare(struct tls_peer *p, const struct tls_wish *w)
{
	p->ctx = SSL_CTX_new(TLS_client_method());
	if (p->ctx == NULL || !set_client(p->ctx, w))
		return false;
	p->ssl = SSL_new(p->ctx);
	if (p->ssl != NULL && w->told != NULL) {
		SSL_set_msg_callback(p->ssl, w->told);
		SSL_set_msg_callback_arg(p->ssl, w->arg);
	}
	return p->ssl != NULL && SSL_set_fd(p->ssl, p->fd) == 1 &&
	    set_names(p->ssl, w) &&
	    (!w->no_ticket || SSL_set_options(p->ssl, SSL_OP_NO_TICKET) != 0) &&
	    (w->resume == NULL || SSL_set_session(p->ssl, w->resume) == 1) &&
	    (!w->ocsp ||
		SSL_set_tlsext_status_type(p->ssl, TLSEXT_STATUSTYPE_ocsp) ==
		    1);
}

struct tls_peer *
tls_peer_open(int fd, const struct tls_wish *w)
{
	struct tls_peer *p = calloc(1, sizeof(*p));
	bool ready;
	int result;

	ck_assert_ptr_nonnull(p);
	p->fd = fd;
	endpoint_set_deadline(fd, TLS_DEADLINE_MS);
	ERR_clear_error();
	ready = prepare(p, w);
	errno = 0;
	result = ready ? SSL_connect(p->ssl) : 0;
	if (result != 1) {
		tls_explain(ready ? p->ssl : NULL, result, last_error);
		tls_peer_close(p);
		return NULL;
	}
	tls_get_alpn(p->ssl, p->alpn, sizeof(p->alpn));
	tls_get_subject(p->ssl, p->subject);
	return p;
}

void
tls_peer_close(struct tls_peer *p)
{
	if (p == NULL)
		return;
	tls_forget(p->ssl);
	SSL_CTX_free(p->ctx);
	close(p->fd);
	free(p);
}

bool
tls_peer_write(struct tls_peer *p, const void *bytes, size_t n)
{
	size_t written;
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_write_ex(p->ssl, bytes, n, &written);
	if (result != 1)
		tls_explain(p->ssl, result, last_error);
	return result == 1 && written == n;
}

ssize_t
tls_peer_read(struct tls_peer *p, void *bytes, size_t n)
{
	size_t got;
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_read_ex(p->ssl, bytes, n, &got);
	if (result == 1)
		return (ssize_t)got;
	tls_explain(p->ssl, result, last_error);
	if (SSL_get_error(p->ssl, result) == SSL_ERROR_ZERO_RETURN)
		return 0;
	errno = tls_read_errno(p->ssl, result);
	return -1;
}

bool
tls_peer_half_close(struct tls_peer *p)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_shutdown(p->ssl);
	if (result < 0)
		tls_explain(p->ssl, result, last_error);
	return result >= 0;
}

void
tls_peer_expect_echo(struct tls_peer *p, const char *what)
{
	size_t n = strlen(what), at = 0;
	char back[1024];
	ssize_t k;

	ck_assert_uint_lt(n, sizeof(back));
	ck_assert_msg(tls_peer_write(p, what, n), "write: %s", last_error);
	for (; at < n; at += (size_t)k) {
		k = tls_peer_read(p, back + at, n - at);
		ck_assert_msg(k > 0, "read: %s", last_error);
	}
	back[n] = '\0';
	ck_assert_str_eq(back, what);
}

void
tls_peer_expect_end(struct tls_peer *p)
{
	char c;
	ssize_t k = tls_peer_read(p, &c, 1);

	ck_assert_msg(
	    k == 0, "wanted goodbye, got %s", k > 0 ? "data" : last_error);
}

SSL_SESSION *
tls_peer_session(struct tls_peer *p)
{
	return SSL_get1_session(p->ssl);
}

bool
tls_peer_is_resumed(const struct tls_peer *p)
{
	return SSL_session_reused(p->ssl) == 1;
}

int
tls_peer_version(const struct tls_peer *p)
{
	return SSL_version(p->ssl);
}

const char *
tls_peer_alpn(const struct tls_peer *p)
{
	return p->alpn;
}

const char *
tls_peer_cipher(const struct tls_peer *p)
{
	return SSL_get_cipher_name(p->ssl);
}

const char *
tls_peer_subject(const struct tls_peer *p)
{
	return p->subject;
}

const unsigned char *
tls_peer_ocsp(const struct tls_peer *p, size_t *n)
{
	unsigned char *der = NULL;
	long len = SSL_get_tlsext_status_ocsp_resp(p->ssl, &der);

	*n = len > 0 ? (size_t)len : 0;
	return len > 0 ? der : NULL;
}

SSL *
tls_peer_ssl(struct tls_peer *p)
{
	return p->ssl;
}
