/* tls_client.h: TLS towards servers: verifies them and resumes sessions.
 *
 * A server's certificate must be signed by a CA (the system's, or those of a
 * file) and be for its host, unless verification is switched off. Files are
 * read again as those of tls_server.h are. */
#ifndef PEN_TLS_TLS_CLIENT_H
#define PEN_TLS_TLS_CLIENT_H

#include "base/addr.h"
#include "base/error.h"
#include "tls/tls.h"
#include "tls/tls_settings.h"

struct tls_client;

/* NULL with a full message. */
struct tls_client *tls_client_new(
    const struct tls_settings *s, struct tls_memory *m, struct error *e);
void tls_client_free(struct tls_client *t); /* streams stay; NULL is fine */

/* Puts TLS over the stream to the server `host`, a name of the configuration,
 * at address `at`. `alpn` is the protocol of the client, "" if it has none.
 * Returns 0, or -1 with errno ENOMEM, or EDESTADDRREQ: a Unix path has no name
 * to verify. */
int tls_connect(struct stream *s, struct tls_client *t, const char *host,
    const struct addr *at, const char *alpn);

/* The same for a health check: it resumes no session and leaves none, so that a
 * certificate is verified each time, and it offers no protocol but the
 * setting's. */
enum {
	TLS_NAMED = 1,	   /* `name` counts more than ssl_upstream_name */
	TLS_UNVERIFIED = 2 /* independent of ssl_upstream_verify */
};
int tls_connect_once(
    struct stream *s, struct tls_client *t, const char *name, unsigned flags);

/* As tls_server_refresh(); all files count as one name. */
unsigned tls_client_refresh(struct tls_client *t, unsigned most, uint64_t now);

/* The certificate that pen shows to servers. Returns false when there is
 * none. */
struct tls_certificate;
bool tls_client_certificate(
    const struct tls_client *t, struct tls_certificate *c);

#endif
