/* tlshello.h: the first message of a TLS client alone, many times, each for
 * another name: quicker than a handshake. Only there when built with
 * OpenSSL. */
#ifndef PEN_TEST_TLSHELLO_H
#define PEN_TEST_TLSHELLO_H

#include <stddef.h>

#include "support/endpoint.h"

struct tls_hello {
	unsigned char bytes[2048];
	size_t n;
	size_t name_at, name_n;
};

/* A ClientHello that asks for this name. */
void tls_hello_make(struct tls_hello *h, const char *name);
/* Makes it ask for another one, of the same length. */
void tls_hello_ask(struct tls_hello *h, const char *name);

enum { TLS_HELLO_ANSWERED = 0, TLS_HELLO_CUT = -1 };
/* Connects, says it, hears what comes, gives up and waits for the end. Returns
 * the number of the alert that came, or one of these. No assertion fails. */
int tls_hello_say(const struct tls_hello *h, const struct endpoint *to);

#endif
