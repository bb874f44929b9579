/* route.h: which servers a client may be given, or which service serves it, by
 * its first bytes.
 *
 *     first bytes -> struct first -> the first route that matches: its servers,
 *                                    or its service
 *                                    else the default's, else all servers
 *
 * An index finds all that match by name in O(labels of the name). */
#ifndef PEN_PROXY_ROUTE_H
#define PEN_PROXY_ROUTE_H

#include "base/list.h"
#include "pool/server/server_set.h"
#include "proxy/wire/first.h"

struct frontend_core;

/* By the server name or the protocols of a ClientHello; by the host of an HTTP
 * request; by the protocol; of all others. */
enum route_kind {
	ROUTE_SNI,
	ROUTE_ALPN,
	ROUTE_HOST,
	ROUTE_PROTOCOL,
	ROUTE_DEFAULT
};

/* Clients that wait until a server has room for them: session_queue.c. */
struct route_queue {
	struct list link; /* of those in which clients wait */
	struct list sessions, tried; /* the oldest first */
	const struct server_set *servers; /* NULL: all */
	bool due; /* one of these may have room */
	bool old; /* the same for clients that it had before */
};

struct route {
	enum route_kind kind;
	/* A name; "*.NAME", which is all names below it; "*", which is any
	 * name. Of ROUTE_DEFAULT "". Owned by the routes. */
	char *pattern;
	struct server_set servers; /* none: it leads to a service */
	/* Of that service, which serves the client from then on; NULL: one of
	 * the servers does. Not owned. */
	struct frontend_core *leads_to;
	/* It was chosen for so many; in memory that several processes share,
	 * or its own. */
	uint64_t *clients, own_clients;
	uint32_t place; /* of it among those of workers; 0: none */
	struct route_queue queue;
};

struct routes {
	struct first_wants wants; /* what they need of first bytes */
	bool protocol;		  /* the same: which protocol it is */
	bool lead;		  /* one of them leads to a service */
	bool have_places;	  /* each, for its count */
	/* By hashes of kind and pattern: positions in the list, + 1; 0: free.
	 * Half of them are at least. */
	uint32_t *index;
	uint32_t mask;	 /* the size of the index less one: a power of two */
	unsigned others; /* position of the default; the count: none */
	unsigned count;
	struct route list[];
};

/* An empty one. */
void route_queue_init(struct route_queue *q, const struct server_set *servers);

/* Routes of the kind ROUTE_DEFAULT that have no servers; the caller sets those
 * that it has, then calls routes_prepare(). NULL with errno ENOMEM. */
struct routes *routes_new(unsigned count);
void routes_free(struct routes *r); /* NULL is fine */
/* All of them are set: finds out what they need of first bytes, and indexes
 * them. `before`, which may be NULL, are those that were in force: a route that
 * is the same goes on with its count and turns. */
void routes_prepare(struct routes *r, const struct routes *before);

/* Whether a pattern of that kind is one. */
bool route_pattern_is_valid(enum route_kind kind, const char *pattern);
/* The route of a client, or NULL: all servers. */
struct route *routes_find(struct routes *r, const struct first *f);

/* "sni", "alpn" .. */
const char *route_kind_name(enum route_kind kind);
/* Returns false when there is none of that name. */
bool route_kind_find(const char *name, enum route_kind *kind);

#endif
