/* id_table.h: numbers for sessions and flows, by which control names them.
 *
 * A table from number to entry. The lowest free number is the next one given,
 * which O(log64 n) steps find in a bitmap of the free ones (base/bitmap.h). */
#ifndef PEN_PROXY_ID_TABLE_H
#define PEN_PROXY_ID_TABLE_H

#include <stdint.h>

#include "base/bitmap.h"

struct id_table {
	void **entry;	    /* by number; NULL: free */
	struct bitmap free; /* the numbers that can be given */
	uint32_t end;	    /* numbers ever given are below */
	uint32_t room;	    /* numbers below it fit */
};

/* A walk over all entries, in portions: `left` numbers from `next` on, and from
 * 0 on after the end. */
struct id_walk {
	uint32_t next, left;
};

void id_table_init(struct id_table *t);
/* Frees the table; the entries stay with their owners. */
void id_table_fini(struct id_table *t);
/* Gives `entry` a number. Returns 0, or -1 with errno ENOMEM. */
int id_table_add(struct id_table *t, void *entry, uint32_t *number);
/* The number is free again. */
void id_table_remove(struct id_table *t, uint32_t number);
/* Visits entries of up to ID_WALK_PORTION numbers; all are visited when `left`
 * is 0. `visit` may remove its entry. */
enum { ID_WALK_PORTION = 2000 };
void id_table_walk(const struct id_table *t, struct id_walk *w,
    void (*visit)(void *entry));

#endif
