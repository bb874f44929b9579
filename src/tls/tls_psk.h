/* tls_psk.h: streams between two ends that have the same secret, without
 * certificates: TLS 1.3 with an external pre-shared key and a Diffie-Hellman
 * exchange (RFC 8446, 2.2; psk_dhe_ke), never anything else.
 *
 * The key is the content of a file, of any form, less line ends behind it: its
 * SHA-256 is what TLS gets. */
#ifndef PEN_TLS_TLS_PSK_H
#define PEN_TLS_TLS_PSK_H

#include "base/error.h"
#include "tls/tls.h"

enum { TLS_PSK_LEAST = 32, TLS_PSK_MOST = 4096 }; /* bytes of a file */

struct tls_psk;

/* Reads the file, which users besides its owner and group must not be able to
 * read. NULL with a full message. */
struct tls_psk *tls_psk_new(
    const char *path, struct tls_memory *m, struct error *e);
/* If the file has another key since, it takes the place of *t for streams that
 * are opened from now on. Returns 1, or 0 if it is the same, or -1 with a full
 * message and the one before. */
int tls_psk_refresh(struct tls_psk **t, const char *path, struct tls_memory *m,
    struct error *e);
/* Whether the file has a key. Returns 0, or -1 with a full message. */
int tls_psk_try(const char *path, struct error *e);
/* NULL is fine; streams go on. */
void tls_psk_free(struct tls_psk *t);
/* Puts TLS over an open plain stream. Returns 0, or -1 with errno ENOMEM. */
int tls_psk_open(struct stream *s, struct tls_psk *t, bool client);
/* Whether a handshake that is complete has used the key. */
bool tls_psk_is_used(const struct stream *s);

#endif
