/* tls_asides.h: what a far side says that is no data, once the first handshake is
 * done: new keys, tickets, new handshakes. Each costs us work, many of them an answer;
 * so they are counted, by the second. */
#ifndef PEN_TLS_TLS_ASIDES_H
#define PEN_TLS_TLS_ASIDES_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

struct tls_asides {
	uint32_t count;
	uint64_t since_ms;
	uint64_t shaken_ms; /* when the last handshake began */
};

/* Takes note of what OpenSSL's info callback was told (`where`); `done`: the first
 * handshake is. In TLS 1.2 a client may ask for another one so long after the last.
 * Returns why no more is to be heard from the far side, or NULL. */
const char *tls_asides_note(struct tls_asides *a, const SSL *ssl, int where,
    bool done, uint64_t renegotiation_ms);

#endif
