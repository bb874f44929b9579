/* spares.h: blocks of one size that come and go quickly, such as one for each
 * query: some that were given back are kept for the next ones. A C library
 * keeps only a few itself, and takes five times as long for more. */
#ifndef PEN_BASE_SPARES_H
#define PEN_BASE_SPARES_H

#include <stddef.h>

struct spares {
	void *first; /* each begins with the address of the next */
	size_t size; /* bytes of a block, at least those of a pointer */
	unsigned count, most;
};

/* No block is kept yet, and never more than `most`. */
void spares_init(struct spares *s, size_t size, unsigned most);
/* Frees what is kept. What was taken stays its taker's. */
void spares_fini(struct spares *s);
/* A block, whose bytes may be any; or NULL with errno ENOMEM. */
void *spares_take(struct spares *s);
/* Gives back a block that was taken. */
void spares_give(struct spares *s, void *block);

#endif
