/* tls_facts.c: the data of a handshake about the peer. */
#include "config.h"

#include <openssl/x509v3.h>
#include <string.h>

#include "tls/tls_context.h"

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#define SSL_get1_peer_certificate SSL_get_peer_certificate
#endif

static void
certificate_facts(const X509 *x, struct tls_facts *f)
{
	BIO *b = BIO_new(BIO_s_mem());
	const ASN1_INTEGER *serial = X509_get0_serialNumber(x);
	char *text;
	long n;

	f->certificate = true;
	if (b == NULL)
		return;
	if (X509_NAME_print_ex(
		b, X509_get_subject_name(x), 0, XN_FLAG_RFC2253) >= 0) {
		n = BIO_get_mem_data(b, &text);
		if (n > (long)sizeof(f->subject) - 1)
			n = (long)sizeof(f->subject) - 1;
		memcpy(f->subject, text, (size_t)n);
	}
	(void)BIO_reset(b);
	if (i2a_ASN1_INTEGER(b, serial) > 0) {
		n = BIO_get_mem_data(b, &text);
		if (n > (long)sizeof(f->serial) - 1)
			n = (long)sizeof(f->serial) - 1;
		memcpy(f->serial, text, (size_t)n);
	}
	BIO_free(b);
}

bool
tls_is_resumed(const struct stream *s)
{
	return SSL_session_reused(tls_ssl(s)) == 1;
}

void
tls_alpn(const struct stream *s, char name[TLS_ALPN_NAME])
{
	const unsigned char *alpn;
	unsigned n;

	memset(name, 0, TLS_ALPN_NAME);
	SSL_get0_alpn_selected(tls_ssl(s), &alpn, &n);
	if (n > 0 && n < TLS_ALPN_NAME)
		memcpy(name, alpn, n);
}

const char *
tls_server_name(const struct stream *s)
{
	return SSL_get_servername(tls_ssl(s), TLSEXT_NAMETYPE_host_name);
}

void
tls_facts(const struct stream *s, struct tls_facts *f)
{
	SSL *ssl = tls_ssl(s);
	const char *name = tls_server_name(s);
	size_t i;
	X509 *x = SSL_get1_peer_certificate(ssl);

	memset(f, 0, sizeof(*f));
	f->version = SSL_get_version(ssl);
	/* OpenSSL has a name for none */
	f->cipher =
	    SSL_get_current_cipher(ssl) != NULL ? SSL_get_cipher_name(ssl) : "";
	f->resumed = tls_is_resumed(s);
	for (i = 0; name != NULL && name[i] != '\0' && i + 1 < sizeof(f->name);
	     i++)
		f->name[i] = name[i] > ' ' && name[i] < 127 && name[i] != '"'
		    ? name[i]
		    : '?';
	tls_alpn(s, f->alpn);
	f->verified = "none";
	if (x == NULL)
		return;
	certificate_facts(x, f);
	f->verified = X509_verify_cert_error_string(SSL_get_verify_result(ssl));
	X509_free(x);
}

void
tls_about(const struct stream *s, struct tls_about *a)
{
	SSL *ssl = tls_ssl(s);
	X509 *x = SSL_get1_peer_certificate(ssl);

	memset(a, 0, sizeof(*a));
	a->version = SSL_get_version(ssl);
	a->cipher = SSL_get_cipher_name(ssl);
	a->sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	a->resumed = tls_is_resumed(s);
	tls_alpn(s, a->alpn);
	a->verified = 1;
	if (x == NULL)
		return;
	a->certificate = true;
	a->verified = (uint32_t)SSL_get_verify_result(ssl);
	if (X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName,
		a->name, sizeof(a->name)) < 0)
		a->name[0] = '\0';
	X509_free(x);
}
