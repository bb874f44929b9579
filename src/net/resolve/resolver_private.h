/* resolver_private.h: what a resolver shares with the file that does its
 * lookups by c-ares.
 *
 * A lookup belongs to the library until resolver_answered(), a query to its
 * owner: either may go first. */
#ifndef PEN_NET_RESOLVER_PRIVATE_H
#define PEN_NET_RESOLVER_PRIVATE_H

#include "base/watched_file.h"
#include "net/resolve/resolver.h"

struct resolver_library; /* of each library's own file */

struct resolver {
	struct loop *loop;
	struct resolver_library *library; /* NULL until it is needed */
	struct list lookups;
	uint64_t limit_ms;
	bool is_system;	     /* it follows resolv.conf */
	struct file_id conf; /* the one that the library has read */
};

struct lookup {
	struct list link;
	struct resolver *resolver;
	struct query *query; /* NULL: the result is not needed any more */
	struct timer limit;
	uint16_t port;
	void *request; /* the library's */
};

/* The answer, or the end of it, has come: `why` is NULL if the lookup has
 * filled the query's result, else a short message; of half an answer both. The
 * library forgets the lookup, which is freed. May be called from inside
 * library_ask(). */
void resolver_answered(struct lookup *k, const char *why);

/* ---- in resolver_cares.c ---- */

/* Sets the resolver up: for the name server `server` only, or with NULL as the
 * system does, from /etc/hosts and resolv.conf, which are read now. NULL when
 * that fails. */
struct resolver_library *library_open(
    struct resolver *r, const struct addr *server);
/* Closes the library; all lookups must have been answered or dropped before. */
void library_close(struct resolver_library *l);
/* Looks `host` up for `k`. */
void library_ask(
    struct resolver_library *l, struct lookup *k, const char *host);
/* The result is not needed any more; the lookup is still answered, at some
 * time. */
void library_cancel(struct resolver_library *l, struct lookup *k);

#endif
