/* tlschain.h: pen between TLS clients and servers, with a control socket and an
 * authority that all certificates come from. Only there when built with
 * OpenSSL. */
#ifndef PEN_TEST_TLSCHAIN_H
#define PEN_TEST_TLSCHAIN_H

#include "support/certs.h"
#include "support/penrun.h"
#include "support/tlspeer.h"

struct tls_chain {
	struct cert *ca;
	const char *ca_file;
	const char *site; /* "a.test", also good for 127.0.0.1; with its key */
	struct endpoint front, ctl;
	struct pen pen;
};

/* The certificates, and places for pen. */
void tls_chain_begin(struct tls_chain *c);
/* Starts pen: commands with semicolons between, then servers, then NULL. */
void tls_chain_up(struct tls_chain *c, const char *commands, ...)
    __attribute__((sentinel));
/* Stops pen; it may be started again. */
void tls_chain_down(struct tls_chain *c);
/* Frees the certificates. */
void tls_chain_end(struct tls_chain *c);

/* A certificate of the authority in a file of that name, with its key. */
const char *tls_chain_cert(
    const struct tls_chain *c, const char *file, struct cert_wish w);

/* One line to the control socket, and the answer. */
const char *tls_chain_ask(const struct tls_chain *c, const char *line);
/* The same, which must have no answer. */
void tls_chain_tell(const struct tls_chain *c, const char *line);
/* What `connection json` says of the only one there is. */
const char *tls_chain_connection(const struct tls_chain *c);
/* A number of `statistics`. */
long tls_chain_count(const struct tls_chain *c, const char *name);
/* Waits until it is that; the test fails, with all numbers, when it is not
 * soon. */
void tls_chain_counts(const struct tls_chain *c, const char *name, long n);

/* A client of pen's that must get through, or must not. */
struct tls_peer *tls_chain_opens(
    const struct tls_chain *c, const struct tls_wish *w);
/* What the client is told, now or with its first read; it echoes if it can. */
const char *tls_chain_refused(
    const struct tls_chain *c, const struct tls_wish *w);
/* Opens, echoes, says goodbye and gets it. */
void tls_chain_talks(const struct tls_chain *c, const struct tls_wish *w);

#endif
