/* tls_server.h: TLS with clients: our certificates, and the requirements on
 * theirs.
 *
 *     settings, files -> tls_server -> tls_accept() -> a stream
 *     a file changes -> tls_server_refresh(): the next streams have the new one
 *
 * Only tls_server_new() and tls_server_refresh() read files, through
 * directories kept open; a client never causes a read. A new file that is
 * broken leaves all as it was; it is read once more when it has settled
 * (base/watched_file.h), and logged if it is still broken. */
#ifndef PEN_TLS_TLS_SERVER_H
#define PEN_TLS_TLS_SERVER_H

#include <time.h>

#include "base/error.h"
#include "tls/tls.h"
#include "tls/tls_settings.h"

struct tls_server;

/* Reads all files. Takes over from `before` (NULL: none) the ticket keys, and
 * the certificates of a directory that stays the same. NULL with a full
 * message. */
struct tls_server *tls_server_new(const struct tls_settings *s,
    struct tls_memory *m, const struct tls_server *before, struct error *e);
void tls_server_free(struct tls_server *t); /* streams stay; NULL is fine */

/* Puts TLS over a client's stream. Returns 0, or -1 with errno ENOMEM. */
int tls_accept(struct stream *s, struct tls_server *t);

/* Checks whether files have changed, of a directory those of up to `most`
 * names, and takes the new ones. With UINT_MAX, by request, files other than
 * those of the directory that are still wrong are reported again. Returns after
 * how many milliseconds to call again with `most` 0, as cert_store_refresh()
 * does. */
unsigned tls_server_refresh(struct tls_server *t, unsigned most, uint64_t now);

/* The keys of session tickets, for the process that replaces this one; see
 * tls_tickets.h. */
enum { TLS_KEYS_BYTES = 1024 };
size_t tls_server_export_keys(
    const struct tls_server *t, unsigned char bytes[TLS_KEYS_BYTES]);
bool tls_server_import_keys(
    struct tls_server *t, const unsigned char *bytes, size_t n);
/* The same for processes that serve beside this one. */
size_t tls_server_share_keys(
    const struct tls_server *t, unsigned char bytes[TLS_KEYS_BYTES]);
void tls_server_join_keys(
    struct tls_server *t, const unsigned char *bytes, size_t n);
/* Overwrites a secret. */
void tls_wipe(void *bytes, size_t n);

/* A certificate, for reports. */
struct tls_certificate {
	const char *name; /* of its host */
	const char *file; /* or the directory that it is from */
	time_t ends;
	uint64_t used;	 /* handshakes by name; 0 for those of -E */
	bool to_servers; /* the one that pen shows to servers */
	bool by_name;	 /* only for clients that request it */
	bool unused;	 /* a later one has a key of the same kind */
};

/* How often files other than those of a directory were replaced. */
unsigned tls_server_replaced(const struct tls_server *t);
/* Its revocation lists: see tls_trust_lists(). */
time_t tls_server_lists(
    const struct tls_server *t, time_t now, char issuer[TLS_ISSUER_MAX]);
/* The path of a file that could not be read again now, with errno; NULL: there
 * is none. */
const char *tls_server_find_unreadable(const struct tls_server *t);

/* The `at`th certificate; false at the end. */
bool tls_server_certificate(
    struct tls_server *t, unsigned at, struct tls_certificate *c);

#endif
