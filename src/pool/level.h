/* level.h: which servers are better than others, whatever they have to do.
 *
 * With prio a level is a priority number, lower is better; else all regular
 * servers have the same level. The emergency server is below all of them. */
#ifndef PEN_POOL_LEVEL_H
#define PEN_POOL_LEVEL_H

#include "pool/pool.h"

struct server_set;

int64_t level_of(const struct server *s);
/* The best level of a server that is up, has passed its health checks and may
 * take new clients; INT64_MAX: none, or sessions stay by on_up. Walks the
 * list. */
int64_t level_best(const struct pool *p);
/* Whether sessions of `s` are to end, as such a server is better and may have
 * the client: one of `allowed` (NULL: all) that permits `who`. `best` is
 * level_best(). */
bool level_is_outranked(const struct server *s, int64_t best,
    const struct peer *who, const struct server_set *allowed);

#endif
