/* hello.h: a ClientHello taken apart (RFC 8446, 4.1.2), to be put together
 * again in ways that no client would. */
#ifndef PEN_TEST_HELLO_H
#define PEN_TEST_HELLO_H

#include "support/corrupt.h"

enum { HELLO_EXTENSIONS = 64 };

enum {
	EXTENSION_NAME = 0,
	EXTENSION_ALPN = 16,
	EXTENSION_TICKET = 35,
	EXTENSION_PSK = 41,
	EXTENSION_EARLY_DATA = 42,
	EXTENSION_VERSIONS = 43,
	EXTENSION_KEY_SHARE = 51
};

struct hello_part {
	size_t type; /* of an extension */
	size_t n;
	unsigned char *at; /* the hello's */
};

struct hello {
	size_t version;
	unsigned char random[32];
	struct hello_part session, ciphers, compression;
	struct hello_part extension[HELLO_EXTENSIONS];
	size_t extensions;
	unsigned lie;	  /* which of the lengths is wrong; 0: none */
	size_t lie_by;	  /* added to it; may wrap */
	unsigned lengths; /* how many were written so far */
};

/* From the one record at the beginning of `wire`. False: that is none. */
bool hello_parse(struct hello *h, const struct bytes *wire);
void hello_free(struct hello *h);
/* The handshake message in as many records as it takes. */
void hello_build(struct hello *h, struct bytes *wire);
/* Changes it in one way of many; returns its name. */
const char *hello_corrupt(struct dice *d, struct hello *h);

#endif
