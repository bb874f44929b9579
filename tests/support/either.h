/* either.h: one end of a connection, plain or TLS, so that a test tells its
 * story once for both; and a server whose connections are such ends. Only there
 * when built with OpenSSL. */
#ifndef PEN_TEST_EITHER_H
#define PEN_TEST_EITHER_H

#include "support/stream.h"
#include "support/tlspeer.h"

struct either {
	int fd;
	SSL *ssl;	       /* NULL: plain */
	struct tls_peer *peer; /* the client's; NULL: a server's end */
};

/* Connects; TLS with a wish, plain with NULL. The test fails when it does not
 * work. */
struct either either_connect(
    const struct endpoint *at, const struct tls_wish *w);
/* All of it, else false. */
bool either_write(struct either *e, const void *bytes, size_t n);
/* Some; 0: a clean end; -1 with errno as tls_peer_read(). */
ssize_t either_read(struct either *e, void *bytes, size_t n);
/* No more will be sent: goodbye, or a FIN. Reading goes on. */
void either_finish(struct either *e);
/* A client's end: without a word in TLS, else with a reset. */
void either_cut(struct either *e);
void either_close(struct either *e);
/* stream_run() over it. */
const char *either_stream(struct either *e, const struct stream_plan *plan);
/* These fail the test. */
void either_expect(struct either *e, const char *what);
void either_expect_end(struct either *e);

struct either_server;
/* A conversation, in a thread of its own; must not use ck_assert. What it
 * leaves without either_finish() is cut. */
typedef void either_talk_fn(struct either_server *s, struct either *e);

struct either_server {
	struct tls_echo tls; /* first; its backend also when it is plain */
	either_talk_fn *talk;
	bool is_tls;
};

/* `cert` is a file with a chain and its key; NULL: plain. Only `version` is
 * spoken; 0: any. */
void either_serve(struct either_server *s, either_talk_fn *talk,
    const char *cert, int version);
void either_serve_end(struct either_server *s);

#endif
