/* tls_context.h: the inside of TLS: how streams of one kind are made. For the
 * files of this directory that use OpenSSL. */
#ifndef PEN_TLS_TLS_CONTEXT_H
#define PEN_TLS_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <stdint.h>
#include <time.h>

#include "base/buffer.h"
#include "tls/tls.h"

enum { TLS_IN_MAX = 64 * 1024 };

struct tls_memory {
	char *in; /* owned; what one call received */
	size_t at, end; /* what OpenSSL has not read of it */
	struct buffer out;  /* to be sent at the end of a call; memory stays */
	BIO_METHOD *method; /* owned; how OpenSSL reads and writes both */
};

/* Before, OpenSSL sends the tickets of TLS 1.3 when it likes. */
#if OPENSSL_VERSION_NUMBER < 0x30000000L
#define SSL_new_session_ticket(ssl) 0
enum { TLS_TICKETS_LATER = false };
#else
enum { TLS_TICKETS_LATER = true };
#endif

/* What OpenSSL reads for one stream: what was kept for it, then what is in the
 * shared memory now. */
struct tls_end {
	struct tls_memory *memory;
	struct buffer early; /* kept: received, not read yet */
	const char *refused; /* why nothing more is read; NULL: it is */
};

/* Reference-counted: its maker has one reference, each stream another. */
struct tls_context {
	SSL_CTX *ctx;
	struct tls_memory *memory; /* not owned */
	unsigned refs;
	/* How long after a handshake a client may renegotiate; 0: never
	 * (TLS 1.2, RFC 5246, 7.4.1.1). */
	uint64_t renegotiation_ms;
	/* Tickets of TLS 1.3 are sent with the first bytes for a client, and
	 * not by OpenSSL, with the end of the handshake. */
	bool tickets_later;
	void (*on_free)(void *arg); /* called with the last reference */
	void *arg;		    /* its maker's */
};

/* Wraps a SSL_CTX and `arg`, which the context owns from now on. NULL with a
 * message, having freed both. */
struct tls_context *tls_context_new(SSL_CTX *ctx, struct tls_memory *m,
    void (*on_free)(void *arg), void *arg, struct error *e);
void tls_context_drop(struct tls_context *c); /* NULL is fine */
/* The context of a connection, for OpenSSL's callbacks. */
struct tls_context *tls_context_of(SSL *ssl);

/* OpenSSL's info callback: counts handshakes and post-handshake messages. */
void tls_on_info(const SSL *ssl, int where, int ret);

/* Puts TLS over an open plain stream, as a client or as a server; sends nothing
 * yet. Returns 0, or -1 with errno ENOMEM, leaving the stream as it was. */
int tls_open(struct stream *s, struct tls_context *c, bool client);
/* The SSL of a TLS stream, to set it up before the handshake and to read it
 * after. */
SSL *tls_ssl(const struct stream *s);

/* What callbacks know of a connection to a server: a number for sessions of
 * that server, and when the certificates behind the session that it offers
 * expire; 0: never, or it offers none. */
void tls_set_key(struct stream *s, uint64_t key, time_t ends);
uint64_t tls_key(const SSL *ssl);
time_t tls_offered_until(const SSL *ssl);

#endif
