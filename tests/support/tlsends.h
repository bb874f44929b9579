/* tlsends.h: what the client and the server of tlspeer.h share. */
#ifndef PEN_TEST_TLSENDS_H
#define PEN_TEST_TLSENDS_H

#include <stddef.h>
#include <openssl/ssl.h>

#include "support/certs.h"

enum { TLS_WHY_MAX = 256, TLS_ALPN_TEXT = 256, TLS_DEADLINE_MS = 10000 };

/* What OpenSSL says of a call on `ssl` that returned `result`, or, without
 * them, of the last call. Call it at once: errno, which it keeps, is part of
 * it. */
void tls_explain(const SSL *ssl, int result, char why[TLS_WHY_MAX]);
/* The errno for a read that returned `result`, called behind tls_explain():
 * those of tls_peer_read(). */
int tls_read_errno(const SSL *ssl, int result);
/* "h2,http/1.1" to what is on the wire; its length. */
size_t tls_put_alpn(char wire[TLS_ALPN_TEXT], const char *list);
/* What was agreed on; "": nothing. */
void tls_get_alpn(const SSL *ssl, char *name, size_t size);
/* Whom the other end's certificate is for; "": it has none. */
void tls_get_subject(const SSL *ssl, char subject[CERT_SUBJECT_MAX]);
/* Frees, but what was agreed on can be resumed even if nobody said goodbye. */
void tls_forget(SSL *ssl);

#endif
