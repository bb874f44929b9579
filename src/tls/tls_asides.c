/* tls_asides.c: counts what is no data. */
#include "config.h"

#include "base/clock.h"
#include "tls/tls_asides.h"

/* In steps of OpenSSL, about five a message. */
enum { ASIDES = 1000, ASIDES_MS = 1000 };

static const char *
begin_handshake(struct tls_asides *a, bool again, uint64_t renegotiation_ms)
{
	uint64_t now = clock_monotonic_ms();
	bool soon = again && now - a->shaken_ms < renegotiation_ms;

	a->shaken_ms = now;
	return soon ? "renegotiation refused" : NULL;
}

static const char *
add_one(struct tls_asides *a)
{
	uint64_t now = clock_monotonic_ms();

	if (now - a->since_ms >= ASIDES_MS) {
		a->since_ms = now;
		a->count = 0;
	}
	return ++a->count > ASIDES ? "too much that is no data" : NULL;
}

/* Alerts of ours answer handshakes that TLS 1.2 lets us refuse. */
const char *
tls_asides_note(struct tls_asides *a, const SSL *ssl, int where, bool done,
    uint64_t renegotiation_ms)
{
	if (where & SSL_CB_HANDSHAKE_START)
		return begin_handshake(
		    a, done && SSL_is_server(ssl), renegotiation_ms);
	if (done && (where & SSL_CB_LOOP || where == SSL_CB_WRITE_ALERT))
		return add_one(a);
	return NULL;
}
