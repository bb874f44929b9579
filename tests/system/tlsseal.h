/* tlsseal.h: records of TLS 1.2 sealed without OpenSSL's state machine, for
 * what it would not say (RFC 5246, 6.3; RFC 5288). */
#ifndef PEN_TEST_TLSSEAL_H
#define PEN_TEST_TLSSEAL_H

#include <openssl/ssl.h>

#include "support/corrupt.h"

struct tls_seal {
	unsigned char key[16], iv[4];
	uint64_t next; /* record */
};

/* Goes on where this client has come to: its handshake is done and it has sent
 * no data, with ECDHE-*-AES128-GCM-SHA256. False: OpenSSL cannot help (before
 * 3.0). */
bool tls_seal_begin(struct tls_seal *s, SSL *ssl);
/* Adds a record. */
void tls_seal_record(struct tls_seal *s, unsigned type, const void *payload,
    size_t n, struct bytes *out);

#endif
