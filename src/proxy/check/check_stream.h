/* check_stream.h: a check over a connection: it connects, sends bytes, and
 * judges what comes back; over TLS if it is to be.
 *
 *     connect -> handshake -> on_connected -> send -> on_bytes.. -> on_end
 *
 * The first member of the state of a kind that uses it; the kind's stop() is
 * check_stream_stop(), or calls it. */
#ifndef PEN_PROXY_CHECK_STREAM_H
#define PEN_PROXY_CHECK_STREAM_H

#include "net/stream.h"
#include "proxy/check/check.h"

/* Settings: whether and how TLS is talked. */
struct check_tls {
	bool on;
	bool no_verify; /* else as traffic to servers does */
	bool verify;	/* must be verified */
	char *name;	/* instead of the server's host; owned; NULL: that */
};

/* What a kind does; each may end the check. Members may be NULL. */
struct check_talk {
	const char *say; /* once connected; stays valid */
	size_t length;
	bool reset; /* what a good result is followed by; else in order */
	const struct check_tls *tls; /* NULL: plain */
	void (*on_connected)(struct check *c);
	/* Bytes came; they are gone after the call. */
	void (*on_bytes)(struct check *c, const char *bytes, size_t n);
	/* The server has ended its side. */
	void (*on_end)(struct check *c);
};

struct check_stream {
	/* Private. */
	struct stream stream;
	struct check *check;
	struct check_talk talk;
	size_t said;
	bool connected, heard;
	struct timer again; /* a Unix listener's backlog was full */
};

void check_stream_start(struct check *c, const struct check_talk *t);
/* Sends more bytes, which stay valid; for on_bytes(), when all were sent. */
void check_stream_send(struct check_stream *s, const char *bytes, size_t n);
/* Closes: after a good result in an orderly way, unless talk.reset. Else a
 * reset leaves nothing behind, as the server may be silent. */
void check_stream_stop(struct check *c);

/* TLS is to be talked. Returns 0, or -1 with a short message: this build has
 * none. */
int check_tls_begin(struct check_tls *t, struct error *e);
/* Reads "[verify|noverify] [name HOST]" from word[*at] on, as far as it is
 * that. Returns 0, or -1 with a short message. */
int check_tls_parse(
    struct check_tls *t, const struct words *w, int *at, struct error *e);
/* Of a struct check_tls; a kind's fini() where it is all there is. */
void check_tls_fini(void *settings);

#endif
