/* pool_among.h: the algorithm's choice among the servers of a set, for
 * pool_choose.c; `order` is the algorithm's. */
#ifndef PEN_POOL_POOL_AMONG_H
#define PEN_POOL_POOL_AMONG_H

#include "pool/pool.h"
#include "pool/server/server_set.h"

/* The member of `set` that is eligible, permits `who` and has the smallest
 * cost; of equals the next in turn. None whose bit is in `attempted`, which has
 * one for each slot modulo 64. NULL if there is none. Changes nothing. */
struct server *pool_among(const struct pool *p, void *order,
    const struct server_set *set, const struct peer *who, uint64_t attempted);
/* The server that pool_among() found gets the client. */
void pool_take_among(const struct pool *p, void *order, struct server_set *set,
    const struct peer *who, uint64_t attempted, const struct server *s);
/* The member that `who` belongs to, eligible or not; NULL if the algorithm does
 * not use the client, or the set is empty. */
struct server *pool_owner_among(const struct pool *p, void *order,
    const struct server_set *set, const struct peer *who);

#endif
