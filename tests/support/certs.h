/* certs.h: certificates made on the endpoint, for tests of TLS.
 *
 * A certificate comes with its key and remembers who issued it, so a test asks
 * for what it needs: an authority, a server, a client, one that has expired.
 * What goes wrong fails the test. Only there when built with OpenSSL.
 *
 * Files go to the test's scratch directory and the path returned lives until
 * the test ends; a name that begins with a slash is taken as it is and
 * returned, for tests that write more files than a test has texts. A file with
 * a key in it is its owner's alone. */
#ifndef PEN_TEST_CERTS_H
#define PEN_TEST_CERTS_H

#include <stdbool.h>
#include <openssl/x509.h>

enum { CERT_SUBJECT_MAX = 256 };

struct cert; /* a certificate with its key */

struct cert_wish {
	/* "a.test,*.b.test,IP:127.0.0.1": the first is the subject's common
	 * name (cut at 64 bytes), all are subjectAltNames unless it is a CA */
	const char *name;
	bool rsa; /* RSA 2048, else P-256 */
	/* NULL: signed by itself; need not live on */
	const struct cert *issuer;
	/* uses that one's key, not a new one, which takes time */
	const struct cert *key_of;
	bool is_ca;
	bool for_client; /* not a CA's: clientAuth, else serverAuth */
	int days;	 /* good for; negative: over since; 0: 30 */
	int begins_days; /* from now on; 0: began a day ago or earlier */
	int seconds;	 /* good for, instead of days; 0: days */
};

struct cert *cert_new(const struct cert_wish *w);
void cert_free(struct cert *c);

/* PEM: the certificate alone; the key alone; the key, the certificate and its
 * issuers, without the root (but a certificate that signed itself is there). */
const char *cert_write(const struct cert *c, const char *file);
const char *cert_write_key(const struct cert *c, const char *file);
const char *cert_write_all(const struct cert *c, const char *file);
/* The key alone, encrypted with a password. */
const char *cert_write_encrypted_key(
    const struct cert *c, const char *file, const char *password);
/* PEM: what `ca` has revoked; NULL: nothing. */
const char *cert_write_crl(
    const struct cert *ca, const struct cert *revoked, const char *file);
/* PEM: an empty one that has expired. */
const char *cert_write_old_crl(const struct cert *ca, const char *file);
/* DER: an OCSP response "good" until the certificate ends, signed by the
 * issuer; or for so many seconds, which may be over. */
const char *cert_write_ocsp(const struct cert *c, const char *file);
const char *cert_write_short_ocsp(
    const struct cert *c, const char *file, long seconds);

/* The certificate's own; freed with it. */
X509 *cert_x509(const struct cert *c);
EVP_PKEY *cert_key(const struct cert *c);
/* The subject as RFC 2253 writes it, "CN=a.test"; NULL: "". */
void cert_subject(X509 *x, char subject[CERT_SUBJECT_MAX]);

#endif
