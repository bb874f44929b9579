/* siege.h: pen under attack, and ends of TLS whose bytes go through the test's
 * hands before they are sent. Only there when built with OpenSSL. */
#ifndef PEN_TEST_SIEGE_H
#define PEN_TEST_SIEGE_H

#include <openssl/ssl.h>

#include "support/certs.h"
#include "support/penrun.h"
#include "support/spoil.h"
#include "support/spot.h"
#include "support/tlspeer.h"

struct siege {
	struct pen pen;
	struct spot front, ctl;
	struct cert *root, *cert, *client;
	/* files: the authority, the server's, a client's; of the last two, the
	 * key too */
	const char *root_file, *cert_file, *client_file;
	int fds;	   /* as siege_begin() found them */
	bool may_complain; /* of servers: with error=.. */
};

/* Makes certificates: a.test,b.test,127.0.0.1 and a client's. */
void siege_prepare(struct siege *s);
/* Starts pen with a control socket; both lists end with NULL. */
void siege_begin(
    struct siege *s, const char *const options[], const char *const servers[]);
/* Nothing is left of anybody: no session, no descriptor, nothing to do, no
 * complaint; pen lives and ends well. */
void siege_expect_peace(struct siege *s);
void siege_end(struct siege *s);

/* A counter of `statistics`; keeps nothing. Fails the test when pen is dead. */
long long siege_count(struct siege *s, const char *name);
/* Waits until there is no session. */
void siege_rest(struct siege *s);
/* kB; 0 when it says nothing about pen: under valgrind, with sanitizers. */
long siege_rss_kb(struct siege *s);
/* A client of either version is served. */
void siege_serves(struct siege *s, bool tls);

/* A context for clients of TLS 1.2 or 1.3, with the client's certificate or
 * not, that offers h2 and http/1.1. */
SSL_CTX *siege_client(const struct siege *s, int version, bool certificate);

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
