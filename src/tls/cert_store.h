/* cert_store.h: certificates by the names that clients request (SNI, RFC 6066),
 * from the files of a directory:
 *
 *     NAME.pem                  certificate, chain and key, in any order
 *     NAME.crt + NAME.key       the same apart; NAME.ca: the chain
 *     NAME.ocsp                 an OCSP response, to be stapled
 *
 * NAME is the host name in lower case; "*.example.com" or "_.example.com" is
 * for all names one label longer. Files are read when the store is made and
 * when cert_store_refresh() finds them changed. A client never causes a read:
 * the name it sends is looked up in a table and is part of no path. The text of
 * all files stays in memory; the parsed certificates of OpenSSL are larger, and
 * only those that were used last are kept. */
#ifndef PEN_TLS_CERT_STORE_H
#define PEN_TLS_CERT_STORE_H

#include <stdbool.h>

#include "tls/cert.h"

struct cert_store;

/* Reads the directory. A broken file is logged and ignored until it changes.
 * NULL with a short message when the directory cannot be read. */
struct cert_store *cert_store_new(const char *path, struct error *e);
struct cert_store *cert_store_hold(struct cert_store *s);
void cert_store_drop(struct cert_store *s); /* NULL is fine */
const char *cert_store_path(const struct cert_store *s);

/* The certificate for a name, with a reference, or NULL. A handshake finds
 * it several times, and counts once. */
struct certificate *cert_store_find(
    struct cert_store *s, const char *name, bool counts);

/* Checks whether files have changed, come or gone, at up to `most` names, and
 * reads those that have. A broken file leaves the old certificate in force; it
 * is read once more when it has settled (base/watched_file.h), and logged if it
 * is still broken. Returns after how many milliseconds to call again with 0 for
 * `most`, because there was too much for one call or a file has to settle; 0:
 * nothing is left to do. `now` is the loop's. */
unsigned cert_store_refresh(struct cert_store *s, unsigned most, uint64_t now);

/* Walks the names with a good certificate, oldest entry first; start with *at
 * 0. Returns false at the end. */
struct cert_store_info {
	const char *name;
	time_t ends;
	uint64_t used; /* for how many handshakes */
};
bool cert_store_next(
    struct cert_store *s, unsigned *at, struct cert_store_info *info);

#endif
