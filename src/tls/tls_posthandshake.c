/* tls_posthandshake.c: counts post-handshake messages. */
#include "config.h"

#include "base/clock.h"
#include "tls/tls_posthandshake.h"

/* OpenSSL calls back about five times a message. */
enum { STEPS_MAX = 1000, PERIOD_MS = 1000 };

/* An alert that we write answers a renegotiation that TLS 1.2 lets us
 * refuse. */
const char *
tls_posthandshake_note(struct tls_posthandshake *a, const SSL *ssl, int where,
    bool done, uint64_t renegotiation_ms)
{
	uint64_t now;
	bool soon;

	if (where & SSL_CB_HANDSHAKE_START) {
		now = clock_monotonic_ms();
		soon = done && SSL_is_server(ssl) &&
		    now - a->handshake_ms < renegotiation_ms;
		a->handshake_ms = now;
		return soon ? "renegotiation refused" : NULL;
	}
	if (!done || (!(where & SSL_CB_LOOP) && where != SSL_CB_WRITE_ALERT))
		return NULL;
	now = clock_monotonic_ms();
	if (now - a->since_ms >= PERIOD_MS) {
		a->since_ms = now;
		a->count = 0;
	}
	return ++a->count > STEPS_MAX ? "too many post-handshake messages"
				      : NULL;
}
