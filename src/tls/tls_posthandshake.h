/* tls_posthandshake.h: limits post-handshake messages (RFC 8446, 4.6) and the
 * renegotiations of TLS 1.2 (RFC 5246, 7.4.1.1): new keys, tickets, handshakes.
 * Each costs pen work, and many an answer, while it carries no data. They are
 * counted by the second. */
#ifndef PEN_TLS_TLS_POSTHANDSHAKE_H
#define PEN_TLS_TLS_POSTHANDSHAKE_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

struct tls_posthandshake {
	uint32_t count;	       /* messages since since_ms */
	uint64_t since_ms;     /* the second that is counted began then */
	uint64_t handshake_ms; /* when the last handshake began */
};

/* Counts what OpenSSL's info callback was called for (`where`). `done`: the
 * first handshake is complete. A TLS 1.2 client may renegotiate
 * `renegotiation_ms` after the last handshake. Returns why the connection has
 * to end, or NULL. */
const char *tls_posthandshake_note(struct tls_posthandshake *a, const SSL *ssl,
    int where, bool done, uint64_t renegotiation_ms);

#endif
