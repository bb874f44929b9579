/* tls_trust.h: CA certificates and revocation lists, from files. A directory is
 * read as a whole: later it may be out of reach (chroot), and a handshake reads
 * no file. */
#ifndef PEN_TLS_TLS_TRUST_H
#define PEN_TLS_TLS_TRUST_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "tls/tls_settings.h"

/* A system's bundle has 150 CA certificates in some 250 KiB. */
enum { TRUST_FILE_MAX = 16 << 20 };

/* Each adds to the certificate store of `ctx` and returns 0, or -1 with a short
 * message. With `ask`, clients get the names of these CAs. */

/* The certificates of a PEM file. */
int tls_trust_text(
    SSL_CTX *ctx, const struct buffer *pem, bool ask, struct error *e);
/* The certificates and revocation lists in the files of an open directory:
 * those with names as c_rehash makes them if there are any, else all. With
 * `ask` none may be damaged or empty; what cannot be read is left out. */
int tls_trust_dir(SSL_CTX *ctx, int dir, bool ask, struct error *e);
/* The CA certificates of the system: those of `bundle`, or if that has none,
 * those of the system's directory. */
int tls_trust_system(
    SSL_CTX *ctx, const struct buffer *bundle, struct error *e);
/* The revocation lists of a PEM file. From then on a client's certificate must
 * be on none, and its issuer must have one. */
int tls_trust_revoked(SSL_CTX *ctx, const struct buffer *pem, struct error *e);

/* The name of a CA whose revocation lists have all expired; "": there is none.
 * Returns when the next one has none in force, in seconds since 1970; 0:
 * never. */
time_t tls_trust_lists(SSL_CTX *ctx, time_t now, char issuer[TLS_ISSUER_MAX]);

/* The path of the system's file of CA certificates, without links; the caller
 * frees it. NULL: there is none. */
char *tls_trust_bundle(void);

#endif
