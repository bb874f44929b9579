/* tls_server_private.h: the inside of TLS towards clients, for tls_server.c
 * (files, life) and tls_server_setup.c (an SSL_CTX and its callbacks). */
#ifndef PEN_TLS_TLS_SERVER_PRIVATE_H
#define PEN_TLS_TLS_SERVER_PRIVATE_H

#include "base/watched_file.h"
#include "tls/cert_store.h"
#include "tls/tls_context.h"
#include "tls/tls_server.h"
#include "tls/tls_tickets.h"

enum server_file {
	SERVER_CERT,
	SERVER_KEY = SERVER_CERT + TLS_PAIRS_MAX,
	SERVER_CA = SERVER_KEY + TLS_PAIRS_MAX,
	SERVER_CRL,
	SERVER_PASSWORD,
	SERVER_OCSP,
	SERVER_TICKETS,
	SERVER_FILES
};

/* What the callbacks of one context need; freed with its last stream. */
struct tls_server_data {
	struct cert_store *store; /* NULL: none */
	struct tls_tickets *tickets;
	struct certificate *pair[TLS_PAIRS_MAX];
	struct buffer ocsp; /* for the first pair */
	time_t ocsp_ends;   /* 0: never */
	unsigned char alpn[TLS_ALPN_MAX];
	int alpn_length;
	bool strict;
	char *refuse_names; /* NULL: none; see tls_settings.h */
	unsigned char requires[32]; /* of clients: a digest */
	time_t lists_end; /* the first of the revocation lists; 0: never */
};

struct tls_server {
	struct tls_settings settings; /* a copy */
	struct tls_memory *memory;
	struct tls_context *context;
	struct cert_store *store;
	struct tls_tickets *tickets;
	struct watched_file file[SERVER_FILES];
	struct settling settling; /* of the files */
	unsigned replaced;
	bool wrong; /* the files that are there now are of no use */
	int ca_dir; /* -1: none */
	struct file_id ca_dir_seen;
};

/* Sets a new SSL_CTX up by t's settings and files; its callbacks use `v`.
 * Returns 0, or -1 with a full message. */
int tls_server_set_up(SSL_CTX *ctx, struct tls_server *t,
    struct tls_server_data *v, struct error *e);

#endif
