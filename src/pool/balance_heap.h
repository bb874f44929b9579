/* balance_heap.h: the order of algorithms that take the smallest server: a heap
 * over the entered ones. Embedded as the first member of their orders. */
#ifndef PEN_POOL_BALANCE_HEAP_H
#define PEN_POOL_BALANCE_HEAP_H

#include "base/heap.h"
#include "pool/balance.h"

struct heap_order {
	const struct pool *pool;
	struct heap heap; /* of server numbers */
	/* What orders an entered server, by its load and last turn. */
	uint64_t (*key)(const struct server *s);
	uint64_t
	    turn; /* counts choices: who was chosen longest ago goes first */
};

/* Hooks of struct balance over a heap_order. */
void *heap_order_start(
    const struct pool *p, uint64_t (*key)(const struct server *s));
void heap_order_stop(void *order);
int heap_order_enter(void *order, struct server *s);
void heap_order_leave(void *order, struct server *s);
void heap_order_changed(void *order, struct server *s);
/* The smallest, which then counts as chosen last. */
struct server *heap_order_choose(void *order, const struct peer *who);

#endif
