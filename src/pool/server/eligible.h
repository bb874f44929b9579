/* eligible.h: the set of servers that may take a new client, by slot.
 *
 * A hierarchical bitmap (base/bitmap.h) finds the next member in O(log64 n). A
 * dense array of the members beside it gives one at random in O(1). */
#ifndef PEN_POOL_ELIGIBLE_H
#define PEN_POOL_ELIGIBLE_H

#include <stdbool.h>

#include "base/bitmap.h"

enum { ELIGIBLE_NONE = BITMAP_NONE };

struct eligible {
	struct bitmap bits;
	unsigned *dense;    /* the members, in no order */
	unsigned *position; /* of a member in dense */
	unsigned count;	    /* members */
	unsigned room;	    /* numbers below it fit in the arrays */
};

void eligible_init(struct eligible *e);
void eligible_fini(struct eligible *e);
/* Makes numbers below `n` fit. Returns 0, or -1 with errno ENOMEM. */
int eligible_grow(struct eligible *e, unsigned n);

static inline bool
eligible_has(const struct eligible *e, unsigned i)
{
	return bitmap_has(&e->bits, i);
}

/* Adding a member and removing another number change nothing. */
void eligible_add(struct eligible *e, unsigned i);
void eligible_remove(struct eligible *e, unsigned i);
/* The smallest member that is not below `from`, or ELIGIBLE_NONE. */
long eligible_next(const struct eligible *e, unsigned from);
/* The same, but after the last member comes the first; ELIGIBLE_NONE if the set
 * is empty. */
long eligible_next_around(const struct eligible *e, unsigned from);

#endif
