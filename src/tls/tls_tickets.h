/* tls_tickets.h: the keys of session tickets (RFC 5077, RFC 8446 4.6.1), by
 * which clients resume sessions that pen does not have to keep.
 *
 * Keys that pen generates are replaced every hour, and a ticket is valid for
 * two hours. Each is derived from a secret, from which the next secret is
 * derived, too: processes that were forked with the same secret have the same
 * keys at the same time, and none can derive those of the past. Keys of a file
 * stay: several balancers share them, and the writer of the file rotates them.
 * A file has 80 bytes a key; the first key encrypts tickets, all decrypt them.
 */
#ifndef PEN_TLS_TLS_TICKETS_H
#define PEN_TLS_TLS_TICKETS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum { TICKET_KEYS = 8, TICKET_KEY_BYTES = 80, TICKET_GOOD_S = 2 * 3600 };

struct ticket_key {
	unsigned char name[16], mac[32], cipher[32];
};

struct tls_tickets {
	unsigned refs;
	struct ticket_key key[TICKET_KEYS]; /* the newest first */
	unsigned count;
	bool fixed;	     /* from a file: never replaced */
	uint64_t renewed_ms; /* since when the first is in use */
	unsigned char secret[32]; /* that the next key is made of */
};

/* Has no keys yet; the first one is made when it is needed. Reference-counted:
 * contexts of an earlier configuration use the same keys. NULL with errno
 * ENOMEM. */
struct tls_tickets *tls_tickets_new(void);
struct tls_tickets *tls_tickets_hold(struct tls_tickets *t);
void tls_tickets_drop(struct tls_tickets *t); /* wipes them; NULL is fine */
/* Takes the keys in the content of a file. Returns 0, or -1 with a short
 * message, leaving the keys as they were. */
int tls_tickets_read(
    struct tls_tickets *t, const struct buffer *text, struct error *e);
/* The keys that pen generates, with their age, for the process that replaces
 * it: writes up to TICKETS_BYTES, and returns how many; 0: there are none. They
 * are secret: nothing but memory may see them. */
enum { TICKETS_BYTES = 8 + TICKET_KEYS * TICKET_KEY_BYTES };
size_t tls_tickets_export(
    struct tls_tickets *t, unsigned char bytes[TICKETS_BYTES]);
/* Takes them, unless the keys are those of a file, or the bytes are not right.
 * Returns whether it did. */
bool tls_tickets_import(
    struct tls_tickets *t, const unsigned char *bytes, size_t n);
/* The keys, and what later ones are made of, for processes that serve beside
 * this one: `bytes` has room for a struct tls_tickets. Returns how many they
 * are; 0: the keys are those of a file. */
size_t tls_tickets_share(const struct tls_tickets *t, void *bytes);
void tls_tickets_join(struct tls_tickets *t, const void *bytes, size_t n);
/* Makes a context use the keys that tls_tickets_of() gives for a connection. */
void tls_tickets_serve(SSL_CTX *ctx);
/* The keys of a connection's context. Defined by the maker of the context
 * (tls_server_setup.c). */
struct tls_tickets *tls_tickets_of(SSL *ssl);

#endif
