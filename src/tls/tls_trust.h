/* tls_trust.h: which authorities are believed, and which certificates are revoked,
 * from files. All of a directory is read at once: later it may be out of reach, and
 * a handshake reads no file. */
#ifndef PEN_TLS_TLS_TRUST_H
#define PEN_TLS_TLS_TRUST_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

/* Each adds to what `ctx` believes and returns 0, or -1 with a phrase. With `ask`
 * their names are told to clients. */

/* The certificates of a PEM file. */
int tls_trust_text(
    SSL_CTX *ctx, const struct buffer *pem, bool ask, struct error *e);
/* Those, and the revocation lists, in the files of a directory that is open: of the
 * names c_rehash makes if there are any, else of all. */
int tls_trust_dir(SSL_CTX *ctx, int dir, bool ask, struct error *e);
/* What the system believes. */
int tls_trust_system(SSL_CTX *ctx, struct error *e);
/* Revocation lists of a PEM file: certificates of clients must be on none, and their
 * issuer must have one. */
int tls_trust_revoked(SSL_CTX *ctx, const struct buffer *pem, struct error *e);

#endif
