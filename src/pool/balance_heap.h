/* balance_heap.h: the order of algorithms that choose the smallest server: a
 * heap of the eligible ones. It is the first member of their own orders. */
#ifndef PEN_POOL_BALANCE_HEAP_H
#define PEN_POOL_BALANCE_HEAP_H

#include "base/heap.h"
#include "pool/balance.h"

struct heap_order {
	const struct pool *pool;
	struct heap heap; /* of server numbers */
	/* What orders an entered server, by its load and last turn. */
	uint64_t (*key)(const struct server *s);
	/* Counts choices: the server chosen longest ago goes first. Starts
	 * again from 0 after TURNS of them. */
	uint64_t turn;
};

/* Turns are the low digits of a key, below the load. */
enum { TURN_BITS = 20, TURNS = 1 << TURN_BITS };

/* The hooks below, for a row whose key is by load and turn. */
#define HEAP_ORDER_HOOKS                                           \
	.stop = heap_order_stop, .enter = heap_order_insert,       \
	.leave = heap_order_remove, .changed = heap_order_changed, \
	.next = heap_order_least, .take = heap_order_take,         \
	.cost = heap_order_cost

/* Hooks of struct balance over a heap_order, which begins an order of `size`
 * bytes, the others zero. A new order forgets the turns that an older one gave
 * to the servers. */
void *heap_order_start(size_t size, const struct pool *p,
    uint64_t (*key)(const struct server *s));
void heap_order_stop(void *order);
int heap_order_insert(void *order, struct server *s);
void heap_order_remove(void *order, struct server *s);
void heap_order_changed(void *order, struct server *s);
/* The smallest, which counts as chosen last once it is taken. */
struct server *heap_order_next(void *order, const struct peer *who);
/* The same for keys by connections, which other processes change as well. */
struct server *heap_order_least(void *order, const struct peer *who);
void heap_order_take(void *order, struct server *s);
/* Moves the time and all turns, which may be deadlines, back by the same
 * amount, to time `to`. Without key(), deadlines are the keys. */
void heap_order_restart_time(struct heap_order *o, uint64_t to);
/* The load alone: for keys with a turn. */
uint64_t heap_order_cost(
    void *order, const struct server *s, const struct peer *who);

#endif
