/* tls_client.h: TLS towards servers: they prove who they are, sessions are resumed.
 *
 * A server's certificate must come from an authority (the system's, or those of a
 * file) and be for its host, unless that is switched off. Files are read as those of
 * tls_server.h are. */
#ifndef PEN_TLS_TLS_CLIENT_H
#define PEN_TLS_TLS_CLIENT_H

#include "base/addr.h"
#include "base/error.h"
#include "tls/tls.h"
#include "tls/tls_settings.h"

struct tls_client;

/* NULL with a sentence. */
struct tls_client *tls_client_new(
    const struct tls_settings *s, struct tls_memory *m, struct error *e);
void tls_client_free(struct tls_client *t); /* streams live on; NULL is fine */

/* Puts TLS over the stream to a server that the operator calls `host`, at `at`;
 * `alpn` is the protocol that its client talks, "" if it did not say. Returns 0, or
 * -1 with errno ENOMEM, or EDESTADDRREQ: a path has no name to be verified. */
int tls_connect(struct stream *s, struct tls_client *t, const char *host,
    const struct addr *at, const char *alpn);

/* As tls_server_refresh(): checks all files with `all`, else only those that have to
 * settle. */
unsigned tls_client_refresh(struct tls_client *t, bool all, uint64_t now);

/* Its certificate, when it has one. */
struct tls_certificate;
bool tls_client_certificate(
    const struct tls_client *t, struct tls_certificate *c);

#endif
