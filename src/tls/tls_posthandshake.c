/* tls_posthandshake.c: counts post-handshake messages. */
#include "config.h"

#include "base/clock.h"
#include "tls/tls_posthandshake.h"

/* OpenSSL calls back about five times a message. */
enum { STEPS_MAX = 1000, PERIOD_MS = 1000 };

static const char *
begin_handshake(
    struct tls_posthandshake *a, bool again, uint64_t renegotiation_ms)
{
	uint64_t now = clock_monotonic_ms();
	bool soon = again && now - a->handshake_ms < renegotiation_ms;

	a->handshake_ms = now;
	return soon ? "renegotiation refused" : NULL;
}

static const char *
add_one(struct tls_posthandshake *a)
{
	uint64_t now = clock_monotonic_ms();

	if (now - a->since_ms >= PERIOD_MS) {
		a->since_ms = now;
		a->count = 0;
	}
	return ++a->count > STEPS_MAX ? "too many post-handshake messages"
				      : NULL;
}

/* An alert that we write answers a renegotiation that TLS 1.2 lets us
 * refuse. */
const char *
tls_posthandshake_note(struct tls_posthandshake *a, const SSL *ssl, int where,
    bool done, uint64_t renegotiation_ms)
{
	if (where & SSL_CB_HANDSHAKE_START)
		return begin_handshake(
		    a, done && SSL_is_server(ssl), renegotiation_ms);
	if (done && (where & SSL_CB_LOOP || where == SSL_CB_WRITE_ALERT))
		return add_one(a);
	return NULL;
}
