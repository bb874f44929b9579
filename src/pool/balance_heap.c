/* balance_heap.c: a heap of servers, for several algorithms. */
#include "config.h"

#include <stdlib.h>

#include "pool/balance_heap.h"

/* Numbers, of a server and a process: those of 128 servers of two. */
enum { AT_ONCE = 256 };

void *
heap_order_start(
    size_t size, const struct pool *p, uint64_t (*key)(const struct server *s))
{
	struct heap_order *o = calloc(1, size);
	unsigned i;

	if (o == NULL)
		return NULL;
	o->pool = p;
	o->key = key;
	heap_init(&o->heap);
	for (i = 0; i < pool_slots(p); i++)
		pool_slot(p, i)->turn = 0;
	return o;
}

void
heap_order_stop(void *order)
{
	struct heap_order *o = order;

	heap_fini(&o->heap);
	free(o);
}

int
heap_order_insert(void *order, struct server *s)
{
	struct heap_order *o = order;

	if (heap_reserve(&o->heap, s->slot + 1) < 0)
		return -1;
	heap_set(&o->heap, s->slot, o->key(s));
	return 0;
}

void
heap_order_remove(void *order, struct server *s)
{
	struct heap_order *o = order;

	heap_remove(&o->heap, s->slot);
}

void
heap_order_changed(void *order, struct server *s)
{
	struct heap_order *o = order;

	heap_set(&o->heap, s->slot, o->key(s));
}

void
heap_order_restart_time(struct heap_order *o, uint64_t to)
{
	uint64_t past = o->turn - to;
	struct server *s;
	unsigned i;

	for (i = 0; i < pool_slots(o->pool); i++) {
		s = pool_slot(o->pool, i);
		s->turn = s->turn > past ? s->turn - past : 0;
		if (heap_has(&o->heap, i))
			heap_set(&o->heap, i,
			    o->key == NULL ? s->turn : o->key(s));
	}
	o->turn = to;
}

struct server *
heap_order_next(void *order, const struct peer *who)
{
	struct heap_order *o = order;
	int64_t i = heap_top(&o->heap);

	(void)who;
	return i == HEAP_EMPTY ? NULL : pool_slot(o->pool, (unsigned)i);
}

/* Others report nothing: before a choice the connections of servers are added
 * up again, of as many servers as AT_ONCE numbers are of. If there are more,
 * other ones with each choice, and always the first until it stays the
 * first. */
struct server *
heap_order_least(void *order, const struct peer *who)
{
	struct heap_order *o = order;
	const struct eligible *e = pool_eligible(o->pool);
	unsigned processes = pool_processes(o->pool), n, i;
	int64_t top, last = HEAP_EMPTY;

	if (processes == 1)
		return heap_order_next(order, who);
	n = AT_ONCE / processes < e->count ? AT_ONCE / processes : e->count;
	for (i = 0; i < n; i++)
		heap_order_changed(o,
		    pool_slot(o->pool, e->dense[(o->turn * n + i) % e->count]));
	for (i = 0; i < n && (top = heap_top(&o->heap)) != last; i++) {
		heap_order_changed(o, pool_slot(o->pool, (unsigned)top));
		last = top;
	}
	return heap_order_next(order, who);
}

/* The server's new turn moves it after its equals once its connection
 * counts. */
void
heap_order_take(void *order, struct server *s)
{
	struct heap_order *o = order;

	/* Then all turns are forgotten. Servers of equal load lose their order
	 * once; if turns overflowed, one server would be chosen before its
	 * equals until it caught up. */
	if (o->turn == TURNS - 1)
		heap_order_restart_time(o, 0);
	s->turn = ++o->turn;
}

uint64_t
heap_order_cost(void *order, const struct server *s, const struct peer *who)
{
	const struct heap_order *o = order;

	(void)who;
	return o->key(s) >> TURN_BITS;
}
