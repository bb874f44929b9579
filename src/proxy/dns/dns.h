/* dns.h: DNS over datagrams: every query is balanced by itself, over few
 * sockets.
 *
 *     query   --> a server, one of its sockets, an id of our own  --> server
 *     answer  <-- the client's id; only to that very question     <-- server
 *     none in dns_retry ms --> the next server, too: the first answer counts;
 *                              not of what is no query (opcode), as an UPDATE
 *     none in dns_timeout ms --> SERVFAIL
 *
 * Ids are unpredictable, and sockets are replaced after a while, so that a
 * forged answer needs both id and port guessed, as with a socket for each query
 * (RFC 5452). A query is kept until it is answered. When dns_max wait, the
 * oldest that all servers have had, or that one is silent about, gets SERVFAIL:
 * names that no server answers keep out no others. One that is longer than any
 * resolver's is counted and dropped, as is what is no query.
 */
#ifndef PEN_PROXY_DNS_H
#define PEN_PROXY_DNS_H

#include "base/list.h"
#include "base/hash_table.h"
#include "base/spares.h"
#include "net/dgram.h"
#include "net/listener.h"
#include "net/loop/timeouts.h"

struct frontend_core;
struct dns_server;

/* To each server, at a time. */
enum { DNS_SOCKETS = 16 };

struct dns {
	struct frontend_core *frontend;
	struct hash_table asks;	    /* queries at servers, by socket and id */
	struct list order;	    /* the queries, the oldest first */
	size_t kept;		    /* bytes of them */
	struct spares spares;	    /* of queries, most of which fit */
	struct dns_server *servers; /* by slot */
	unsigned room;
	struct timeouts *waiting;      /* for answers */
	uint64_t retry_ms, timeout_ms; /* how long: for each server, in all */
	struct dgram_batch *batch;     /* NULL: no dns */
	struct hash_key secret; /* ids are a keyed hash of a counter */
	uint64_t counted;
	uint64_t drawn; /* of such a hash: `bits` that are not used yet */
	unsigned bits;
	uint64_t next_socket;
	uint64_t crowded_ms; /* the last line about too many; 0: none */
};

/* `d` is zeroed. Returns 0, or -1 with errno ENOMEM. */
int dns_init(struct dns *d, struct frontend_core *f);
void dns_fini(struct dns *d);
/* This process was forked from another one, which has the same: ids are to be
 * others than there. */
void dns_become(struct dns *d);
/* Settings or servers have changed: gives up the sockets to servers that are
 * gone. A new dns_retry or dns_timeout counts for the queries that wait
 * already, too. */
void dns_adjust(struct dns *d);
/* A listener has queries; for listener.on_datagrams, and .on_batch. */
void dns_on_datagrams(struct listener *l);
void dns_on_batch(struct listener *l, struct dgram_batch *b);
/* Drops the queries that came in through a listener that closes. */
void dns_drop_listener(struct dns *d, const struct listener *l);

#endif
