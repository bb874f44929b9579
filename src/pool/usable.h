/* usable.h: the set of servers that may take a new client, by number.
 *
 * A bitmap of words, with a bitmap of non-empty words above it and so on up to
 * one word: finding the next member is O(log64 n). A dense array beside it
 * gives the n-th member at random in O(1). */
#ifndef PEN_POOL_USABLE_H
#define PEN_POOL_USABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { USABLE_LEVELS = 6, USABLE_NONE = -1 };

struct usable {
	uint64_t *level[USABLE_LEVELS]; /* [0]: a bit a server */
	unsigned words[USABLE_LEVELS];
	unsigned levels;
	unsigned *dense; /* the members, in no order */
	unsigned *place; /* of a member in dense */
	unsigned count;	 /* members */
	unsigned room;	 /* numbers below it fit */
};

void usable_init(struct usable *u);
void usable_fini(struct usable *u);
/* Makes numbers below `n` fit. Returns 0, or -1 with errno ENOMEM. */
int usable_grow(struct usable *u, unsigned n);

bool usable_has(const struct usable *u, unsigned i);
/* Both are fine when nothing changes. */
void usable_add(struct usable *u, unsigned i);
void usable_remove(struct usable *u, unsigned i);
/* The smallest member that is not below `from`, or USABLE_NONE. */
long usable_next(const struct usable *u, unsigned from);
/* The same, going on at 0 after the last; USABLE_NONE when empty. */
long usable_next_around(const struct usable *u, unsigned from);

#endif
