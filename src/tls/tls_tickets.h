/* tls_tickets.h: the keys of session tickets (RFC 5077, RFC 8446 4.6.1), by which
 * clients resume without our keeping anything.
 *
 * Keys made up here are replaced every hour, and a ticket is good for two. Those of
 * a file stay: several balancers share them, and whoever wrote the file rotates
 * them. A file has 80 bytes a key, the first one makes tickets, all read them. */
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
	bool fixed;	     /* they are of a file */
	uint64_t renewed_ms; /* when the first was made */
};

/* No keys yet; they are made when the first one is needed. NULL with errno
 * ENOMEM. Counted: contexts of a past configuration read the same keys. */
struct tls_tickets *tls_tickets_new(void);
struct tls_tickets *tls_tickets_hold(struct tls_tickets *t);
void tls_tickets_drop(struct tls_tickets *t); /* wipes them; NULL is fine */
/* Takes those of a file's content. Returns 0, or -1 with a phrase and the keys as
 * they were. */
int tls_tickets_read(
    struct tls_tickets *t, const struct buffer *text, struct error *e);
/* Lets a context use them: those that tls_tickets_of() says. */
void tls_tickets_serve(SSL_CTX *ctx);
/* The keys of a connection's context; its maker's to tell (tls_server.c). */
struct tls_tickets *tls_tickets_of(SSL *ssl);

#endif
