/* tlsends.c: how OpenSSL is asked by both ends. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "support/certs.h"
#include "support/tlsends.h"

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#define SSL_get1_peer_certificate SSL_get_peer_certificate
#endif

void
tls_explain(const SSL *ssl, int result, char why[TLS_WHY_MAX])
{
	int error = errno;
	int kind = ssl != NULL ? SSL_get_error(ssl, result) : SSL_ERROR_SSL;
	unsigned long code = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(code), *more = "";

	if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE)
		reason = "timed out";
	else if (kind == SSL_ERROR_ZERO_RETURN)
		reason = "the other end said goodbye";
	else if (kind == SSL_ERROR_SYSCALL)
		reason = error != 0 ? strerror(error) : "the stream ended";
	else if (ssl != NULL &&
	    ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED)
		more =
		    X509_verify_cert_error_string(SSL_get_verify_result(ssl));
	snprintf(why, TLS_WHY_MAX, "%s%s%s",
	    reason != NULL ? reason : "unknown", *more != '\0' ? ": " : "",
	    more);
	errno = error;
}

size_t
tls_put_alpn(char wire[TLS_ALPN_TEXT], const char *list)
{
	size_t at = 0, n;

	for (; *list != '\0'; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		ck_assert_uint_lt(at + n + 1, TLS_ALPN_TEXT);
		wire[at++] = (char)n;
		memcpy(wire + at, list, n);
		at += n;
	}
	return at;
}

void
tls_get_alpn(const SSL *ssl, char *name, size_t size)
{
	const unsigned char *p;
	unsigned n;

	SSL_get0_alpn_selected(ssl, &p, &n);
	snprintf(name, size, "%.*s", (int)n, p != NULL ? (const char *)p : "");
}

void
tls_get_subject(const SSL *ssl, char subject[CERT_SUBJECT_MAX])
{
	X509 *x = SSL_get1_peer_certificate(ssl);

	cert_subject(x, subject);
	X509_free(x);
}

void
tls_forget(SSL *ssl)
{
	if (ssl != NULL && SSL_is_init_finished(ssl))
		SSL_set_shutdown(
		    ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(ssl);
}

int
tls_read_errno(const SSL *ssl, int result)
{
	int error = errno;

	switch (SSL_get_error(ssl, result)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return EAGAIN;
	case SSL_ERROR_SYSCALL:
		return error != 0 ? error : EPIPE;
	default:
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
		if (ERR_GET_REASON(ERR_peek_last_error()) ==
		    SSL_R_UNEXPECTED_EOF_WHILE_READING)
			return EPIPE;
#endif
		return EPROTO;
	}
}
