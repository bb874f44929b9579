/* tls.h: streams over TLS: the bytes of OpenSSL's, the sockets ours.
 *
 *     socket --recv--> shared memory --> SSL --> whoever reads
 *     whoever writes --> SSL --> shared memory --send--> socket
 *                                     '--> kept: what the socket refused
 *
 * OpenSSL never touches a socket: it reads from and writes to memory that all
 * streams share, so that one system call moves what many records hold, as with
 * plain streams, and a connection that is idle owns no buffer. A record begins
 * small, to be read as soon as its segment is there, and grows with the flow.
 *
 * The end of a stream is its close_notify (RFC 8446, 6.1). A connection that ends
 * without is one that was cut: a read fails with ECONNABORTED. What breaks the
 * protocol fails with EPROTO.
 *
 * Streams are made by tls_server.h and tls_client.h. In a build without TLS all of
 * them are there and make none (tls_none.c). */
#ifndef PEN_TLS_TLS_H
#define PEN_TLS_TLS_H

#include <stdbool.h>

#include "net/stream.h"

/* Memory that all TLS streams of a process share; it outlives them. */
struct tls_memory;

/* NULL with errno ENOMEM. */
struct tls_memory *tls_memory_new(void);
void tls_memory_free(struct tls_memory *m); /* NULL is fine */

bool stream_is_tls(const struct stream *s);

enum tls_step { TLS_DONE, TLS_WAITS, TLS_FAILED };

/* Goes on with the handshake as far as what is there allows. TLS_WAITS: for the
 * stream to become readable, and what stream_wants(). TLS_FAILED: errno is ENOMEM;
 * EPROTONOSUPPORT when the far side talks none of the protocols offered to it (ALPN,
 * RFC 7301, 3.2); ECONNABORTED when the connection ended; an error of the socket;
 * EPROTO for the rest. */
enum tls_step tls_handshake(struct stream *s);
/* The phrase of what went wrong; "" when nothing did. */
const char *tls_error(const struct stream *s);

enum { TLS_ALPN_NAME = 32 };

/* After a handshake, cheaply: whether it was spared a key exchange; the protocol
 * that was agreed on, "" if none. */
bool tls_is_resumed(const struct stream *s);
void tls_alpn(const struct stream *s, char name[TLS_ALPN_NAME]);

/* All that is known of the far side then; makes text of its certificate. */
struct tls_facts {
	const char *version, *cipher;
	bool resumed;
	char name[256]; /* SNI, what is not printable as '?'; "" if none */
	char alpn[TLS_ALPN_NAME];
	bool certificate;
	char subject[256];    /* of its certificate, RFC 2253; "" if none */
	char serial[64];      /* hexadecimal */
	const char *verified; /* "ok", or why not */
};

void tls_facts(const struct stream *s, struct tls_facts *facts);

#endif
