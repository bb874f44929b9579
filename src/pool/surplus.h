/* surplus.h: which servers have more than their share of the connections. */
#ifndef PEN_POOL_SURPLUS_H
#define PEN_POOL_SURPLUS_H

#include "pool/pool.h"

/* Sets surplus[slot], of pool_slots() that are 0, to the connections that a
 * server has beyond its share, but not to more than `percent` of all that it
 * has. The shares are those of the servers that are up, by their weights if any
 * server has one; with prio of the best ones that are not full. Of several
 * processes each has its part, rounded down, of what is beyond. Returns the
 * sum. Walks the list. */
uint64_t pool_surplus(
    const struct pool *p, unsigned percent, uint64_t *surplus);

#endif
