/* tls_context.h: the inside of TLS: how streams of one kind are made; for the files
 * of this room that know OpenSSL. */
#ifndef PEN_TLS_TLS_CONTEXT_H
#define PEN_TLS_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <stdint.h>

#include "base/buffer.h"
#include "tls/tls.h"

enum { TLS_IN_MAX = 64 * 1024 };

struct tls_memory {
	char *in; /* owned; what one call received */
	size_t at, end;
	struct buffer out;  /* to be sent at the end of a call */
	BIO_METHOD *method; /* owned; both of them, as OpenSSL sees them */
};

/* What OpenSSL reads of one stream: what is in the memory now, after what was kept. */
struct tls_end {
	struct tls_memory *memory;
	struct buffer early; /* received with the end of the handshake */
	const char *refused; /* why no more is heard; NULL: it is */
};

/* Counted: its maker has one reference, each stream another. */
struct tls_context {
	SSL_CTX *ctx;
	struct tls_memory *memory; /* not owned */
	unsigned refs;
	/* A client may ask for another handshake so long after the last; 0:
	 * never (TLS 1.2, RFC 5246, 7.4.1.1). */
	uint64_t renegotiation_ms;
	void (*on_free)(void *arg); /* with the last reference */
	void *arg;		    /* its maker's */
};

/* A context around a SSL_CTX, which it owns from now on. NULL with errno ENOMEM
 * (and then it is freed). */
struct tls_context *tls_context_new(SSL_CTX *ctx, struct tls_memory *m);
void tls_context_drop(struct tls_context *c); /* NULL is fine */
/* Of a connection, for OpenSSL's callbacks. */
struct tls_context *tls_context_of(SSL *ssl);

/* Counts the handshakes of a connection: OpenSSL's info callback. */
void tls_on_info(const SSL *ssl, int where, int ret);

/* Puts TLS over a stream that is open and plain, as a client or as a server.
 * Nothing is sent yet. Returns 0, or -1 with errno ENOMEM, the stream as it
 * was. */
int tls_open(struct stream *s, struct tls_context *c, bool client);
/* The SSL of a stream that is TLS, to set it up before the handshake and to ask
 * afterwards. */
SSL *tls_ssl(const struct stream *s);

/* A number to know a connection by, in callbacks. */
void tls_set_key(struct stream *s, uint64_t key);
uint64_t tls_key(const SSL *ssl);

#endif
