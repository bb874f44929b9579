/* server_set.h: some of a pool's servers, by slot: those that a client may be
 * given.
 *
 *     slots:   2  3  7         ascending, present or not
 *     credit:  5 -5  0         of their turns by weight
 *
 * A set has turns of its own, so that clients of one set do not shift those of
 * another. A choice in a set takes as long as it has members; finding one, or
 * the next one, O(log n). */
#ifndef PEN_POOL_SERVER_SET_H
#define PEN_POOL_SERVER_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "pool/server/eligible.h"

struct server_set {
	unsigned *slots;
	int64_t *credit;
	unsigned count;
	unsigned next; /* slot from which equals take their turns */
};

/* Makes a set of `count` slots, in any order, some perhaps twice. Returns 0, or
 * -1 with errno ENOMEM. */
int server_set_init(
    struct server_set *set, const unsigned *slots, unsigned count);
void server_set_fini(struct server_set *set);

/* Whether the slot is one of the set's. */
bool server_set_has(const struct server_set *set, unsigned slot);
/* The position of the first member whose slot is not below `slot`, or the
 * count. */
unsigned server_set_find(const struct server_set *set, unsigned slot);
/* The first member from `from` on, around the set, that is in `e`;
 * ELIGIBLE_NONE if none is. */
long server_set_next_around(
    const struct server_set *set, const struct eligible *e, unsigned from);

#endif
