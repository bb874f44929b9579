/* tls.h: streams over TLS: OpenSSL makes the bytes, pen moves them.
 *
 *     socket --recv--> shared memory --> SSL --> the reader
 *     the writer     --> SSL --> shared memory --send--> socket
 *                                     '--> kept: what the socket refused
 *
 * OpenSSL never touches a socket: it reads from and writes to memory that all
 * streams share, so that one system call moves many records, as with plain
 * streams, and an idle connection owns no buffer. The first records of a flow
 * are small, so that the peer can read each as soon as its segment is there;
 * later ones are full.
 *
 * A stream ends with close_notify (RFC 8446, 6.1). When the connection ends
 * without, the stream was truncated: a read fails with ECONNABORTED. What
 * breaks the protocol fails with EPROTO.
 *
 * tls_server.h and tls_client.h make the streams. */
#ifndef PEN_TLS_TLS_H
#define PEN_TLS_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "net/stream.h"

/* Memory that all TLS streams of a process share; it outlives them. */
struct tls_memory;

/* NULL with errno ENOMEM. */
struct tls_memory *tls_memory_new(void);
void tls_memory_free(struct tls_memory *m); /* NULL is fine */

bool stream_is_tls(const struct stream *s);

enum tls_step { TLS_DONE, TLS_WAITS, TLS_FAILED };

/* Continues the handshake as far as the bytes that are there allow. TLS_WAITS:
 * call again when the stream is readable, and watch for stream_wants().
 * TLS_FAILED: errno is ENOMEM; EPROTONOSUPPORT when the peer supports none of
 * the protocols offered (ALPN, RFC 7301, 3.2); ECONNABORTED when the connection
 * ended; an error of the socket; EPROTO for all else. */
enum tls_step tls_handshake(struct stream *s);
/* The last error as a short message; "": none. */
const char *tls_error(const struct stream *s);

enum { TLS_ALPN_NAME = 32 };

/* After a handshake, and cheap: whether it resumed a session; the protocol that
 * ALPN chose, "" if none. */
bool tls_is_resumed(const struct stream *s);
void tls_alpn(const struct stream *s, char name[TLS_ALPN_NAME]);
/* The server name (SNI) of the client, as it is; NULL: none. Valid as long as
 * the stream. */
const char *tls_server_name(const struct stream *s);

/* All that the handshake has of the peer. tls_facts() formats its certificate,
 * which is not cheap. */
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

/* What is passed on of a client, as it is, which is cheaper. Texts stay as long
 * as the stream. */
struct tls_about {
	const char *version, *cipher;
	const char *sni; /* NULL: none */
	char alpn[TLS_ALPN_NAME];
	bool resumed;
	bool certificate;  /* it has shown one */
	uint32_t verified; /* 0: and that is a good one; else X509_V_ERR_.. */
	char name[256];	   /* its common name; "" if none */
};

void tls_about(const struct stream *s, struct tls_about *about);

/* Passes bytes to TLS, as the first of the handshake, that were received before
 * the stream was of TLS. Returns 0, or -1 with errno ENOMEM. */
int tls_take(struct stream *s, const void *bytes, size_t n);
/* Sends these bytes in front of the handshake, which has not begun. They are
 * UNSENT until the stream is writable. Returns 0, or -1 with errno ENOMEM. */
int tls_prefix(struct stream *s, const void *bytes, size_t n);

#endif
