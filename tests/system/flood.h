/* flood.h: a client of TLS that makes many bytes and then sends them at once,
 * while others are served. Only there when built with OpenSSL. */
#ifndef PEN_TEST_FLOOD_H
#define PEN_TEST_FLOOD_H

#include <pthread.h>
#include <stdatomic.h>

#include "support/backend.h"
#include "support/load.h"

struct flood {
	struct backend server; /* first */
	struct load load;
	SSL_CTX *ctx, *server_ctx;
	int fd;
	struct tls_end end;
	unsigned char *at; /* to be sent, made before */
	size_t n, room;
	size_t sent;
	atomic_bool over;
	pthread_t thread;
};

/* Pen with TLS, more options, and a server that echoes all but x's, which it
 * counts as received; no client yet. For TLS 1.2 or 1.3. */
struct flood *flood_begin(int version, const char *const more[]);
/* A client is served, and nothing is left; frees. */
void flood_end(struct flood *f);

/* The client, its handshake done, with nothing to be sent. */
void flood_call(struct flood *f);
void flood_hang_up(struct flood *f);

/* To be sent: these bytes; what OpenSSL wants sent. */
void flood_add(struct flood *f, const void *bytes, size_t n);
void flood_add_said(struct flood *f);
/* Sends it all, or until it is not taken any more, and serves others meanwhile;
 * returns how many ms one of them waited at most. */
long long flood_send_beside_others(struct flood *f);

/* Pen's memory is about what it was (load_rss_kb()), and nobody waited
 * long. */
void flood_expect_small(
    struct flood *f, const char *what, long rss, long long worst);

#endif
