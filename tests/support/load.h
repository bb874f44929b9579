/* load.h: pen under attack, and ends of TLS whose bytes go through the test's
 * hands before they are sent. Only there when built with OpenSSL. */
#ifndef PEN_TEST_LOAD_H
#define PEN_TEST_LOAD_H

#include <openssl/ssl.h>

#include "support/certs.h"
#include "support/penrun.h"
#include "support/corrupt.h"
#include "support/endpoint.h"
#include "support/tlspeer.h"

struct load {
	struct pen pen;
	struct endpoint front, ctl;
	struct cert *root, *cert, *client;
	/* files: the authority, the server's, a client's; of the last two, the
	 * key too */
	const char *root_file, *cert_file, *client_file;
	int fds;	   /* as load_begin() found them */
	bool may_complain; /* of servers: with error=.. */
};

/* Makes certificates: a.test,b.test,127.0.0.1 and a client's. */
void load_prepare(struct load *s);
/* Starts pen with a control socket; both lists end with NULL. */
void load_begin(
    struct load *s, const char *const options[], const char *const servers[]);
/* Nothing is left of anybody: no session, no descriptor, nothing to do, no
 * complaint; pen lives and ends well. */
void load_expect_peace(struct load *s);
void load_end(struct load *s);

/* A counter of `statistics`; keeps nothing. Fails the test when pen is dead. */
long long load_count(struct load *s, const char *name);
/* Waits until there is no session. */
void load_rest(struct load *s);
/* kB; 0 when it says nothing about pen: under valgrind, with sanitizers. */
long load_rss_kb(struct load *s);
/* A client of either version is served. */
void load_serves(struct load *s, bool tls);

/* A context for clients of TLS 1.2 or 1.3, with the client's certificate or
 * not, that offers h2 and http/1.1. */
SSL_CTX *load_client(const struct load *s, int version, bool certificate);

/* One end; its bytes are kept in memory. */
struct tls_end {
	SSL *ssl;
};
void tls_end_open(struct tls_end *e, SSL_CTX *ctx, bool server);
void tls_end_close(struct tls_end *e);
/* What came for it; what it wants sent is added to `out`. */
void tls_end_feed(struct tls_end *e, const void *bytes, size_t n);
void tls_end_take(struct tls_end *e, struct bytes *out);
/* Receives once from `fd` and feeds that. False: an end, an error, or nothing
 * in the deadline of the socket. */
bool tls_end_receive(struct tls_end *e, int fd);
/* Sends all that it has to say; false: nobody takes it. */
bool tls_end_send(struct tls_end *e, int fd);
/* Shakes hands over a blocking socket. */
bool tls_end_shake(struct tls_end *e, int fd);

#endif
