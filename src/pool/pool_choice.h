/* pool_choice.h: what pool_choose.c, a client's first server, and pool_next.c,
 * its next ones, have of each other. */
#ifndef PEN_POOL_POOL_CHOICE_H
#define PEN_POOL_POOL_CHOICE_H

#include "pool/explain.h"
#include "pool/pool_private.h"

/* ---- pool_choose.c ---- */

/* Whether it is one of those that the client may be given. */
bool pool_is_allowed(const struct server *s, const struct attempts *attempts);
/* The server that the client used last and may go back to, or NULL. */
struct server *pool_remembered(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now);
/* The server that the client belongs to by the algorithm, or NULL. */
struct server *pool_owner_of(
    struct pool *p, const struct peer *who, const struct attempts *attempts);
/* The set of all servers, with turns of its own, or NULL. */
struct server_set *pool_everyone(struct pool *p);
void pool_take_turn(struct pool *p, struct server *s);

/* ---- pool_next.c ---- */

/* Another eligible server, after a failure. */
struct decision pool_next_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts);
/* The abuse or the emergency server, once. */
struct decision pool_special_choice(struct server *s,
    const struct attempts *attempts, enum decision_rule rule);
/* A blacklisted server, when no other is left. */
struct decision pool_last_resort(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now);
/* The client is given the server that was decided. */
void pool_note_attempt(
    struct attempts *attempts, const struct decision *d, uint64_t now);
/* The same of a server that was due to no rule but the algorithm's. */
void pool_note_server(struct attempts *attempts, const struct server *s);

#endif
