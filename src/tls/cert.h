/* cert.h: a certificate with its chain, key and OCSP response, from the
 * text of its files. Reference-counted: certificate_hold() and _drop(). */
#ifndef PEN_TLS_CERT_H
#define PEN_TLS_CERT_H

#include <openssl/ssl.h>
#include <time.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/watched_file.h"

enum { CERT_FILE_MAX = 1 << 20 };

/* PEM; the OCSP response is DER, the passwords are a line each. A text may be
 * empty: `cert` may hold the key and the chain, too. */
struct cert_texts {
	struct buffer cert, key, chain, ocsp;
	struct buffer passwords; /* tried in turn on an encrypted key */
};

struct certificate {
	unsigned refs;
	X509 *leaf;
	STACK_OF(X509) * chain;
	EVP_PKEY *key;
	unsigned char *ocsp;
	size_t ocsp_length;
	time_t ocsp_ends; /* 0: never */
	time_t ends;
	char name[256]; /* its first DNS name, or its common name */
};

/* Overwrites a secret, then frees it. */
void cert_wipe(struct buffer *b);
/* For OpenSSL to read; the text must live as long. NULL when memory is
 * short. */
BIO *cert_open_text(const struct buffer *b);

void cert_texts_init(struct cert_texts *t);
/* Frees memory that they do not need, for texts that are kept. */
void cert_texts_tighten(struct cert_texts *t);
/* Wipes them. */
void cert_texts_fini(struct cert_texts *t);

/* Whether it is an OCSP response for the certificate, and has not expired; its
 * signature is not verified. Sets *ends to when it expires; 0: never. Returns
 * 0, or -1 with a short message. */
int cert_ocsp_check(
    const X509 *leaf, const struct buffer *der, time_t *ends, struct error *e);
/* Whether a response with that end has expired, and is not to be stapled. */
bool cert_ocsp_is_over(time_t ends, time_t now);
/* NULL with a short message. If the OCSP response is not a good one, it is left
 * out, and there is a short message, too. */
struct certificate *certificate_parse(
    const struct cert_texts *t, struct error *e);
/* The same from files. A key without a path is in the file of the certificate;
 * without a path of passwords the key must not be encrypted. NULL with a full
 * message. */
struct certificate *certificate_read(struct watched_file *cert,
    struct watched_file *key, struct watched_file *passwords, struct error *e);
struct certificate *certificate_hold(struct certificate *c);
void certificate_drop(struct certificate *c); /* NULL is fine */

/* As seconds since 1970. */
time_t cert_time(const ASN1_TIME *t);
/* The first reason in OpenSSL's error queue, which is empty then. Never
 * NULL. */
const char *cert_reason(void);

#endif
