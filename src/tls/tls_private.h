/* tls_private.h: the inside of a TLS stream, for tls.c (the operations and the
 * handshake) and tls_wire.c (the socket). */
#ifndef PEN_TLS_TLS_PRIVATE_H
#define PEN_TLS_TLS_PRIVATE_H

#include "tls/tls_context.h"

/* Bytes of a record at most, and on the wire (RFC 8446, 5.2). */
enum { TLS_RECORD_DATA = 16384, TLS_RECORD_MAX = 5 + TLS_RECORD_DATA + 256 };

/* Post-handshake messages (RFC 8446, 4.6) and renegotiations of TLS 1.2 (RFC
 * 5246, 7.4.1.1): new keys, tickets, handshakes. Each costs pen work, and many
 * an answer, while it carries no data. They are counted by the second. */
struct tls_posthandshake {
	uint32_t count;	       /* messages since since_ms */
	uint64_t since_ms;     /* the second that is counted began then */
	uint64_t handshake_ms; /* when the last handshake began */
};

struct tls {
	struct stream_inside inside; /* first */
	struct tls_end end; /* what OpenSSL reads */
	struct tls_context *context;
	struct stream *stream;
	SSL *ssl;
	struct buffer unsent; /* what the socket refused */
	uint32_t begun; /* bytes of this flow sent so far, up to BEGINNING */
	struct tls_posthandshake posthandshake;
	uint64_t key;	   /* of tls_set_key() */
	time_t offered_until;
	const char *error; /* NULL: none yet */
	bool done;	   /* the first handshake is complete */
	bool cut;	   /* the connection has ended */
	bool fin_due;	   /* to be sent when nothing is unsent any more */
	bool tickets_due;  /* with the next write */
};

/* Receives up to `room` bytes, at least a record, into the shared memory.
 * Returns whether there are new bytes for OpenSSL; if not, errno is EAGAIN, an
 * error of the socket, or ECONNABORTED at the end of the connection. That end
 * is not passed to OpenSSL, so that it continues to send. */
bool tls_wire_receive(struct tls *t, size_t room);
/* Copies what OpenSSL has not read of the shared memory to the stream, as the
 * next stream uses that memory. Returns 0, or -1 with errno ENOMEM. */
int tls_wire_save(struct tls *t);
/* Sends what OpenSSL has written and keeps what the socket refuses. With
 * `last`, more follows at once. Returns 0, or -1 with errno. */
int tls_wire_send(struct tls *t, bool last);
/* Sends what was kept, as far as the socket takes it, and the FIN after it. */
void tls_wire_flush(struct tls *t);

#endif
