/* balance_heap.c: a heap of servers, for several algorithms. */
#include "config.h"

#include <stdlib.h>

#include "pool/balance_heap.h"

void *
heap_order_start(const struct pool *p, heap_less_fn *less)
{
	struct heap_order *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	o->pool = p;
	heap_init(&o->heap, less, offsetof(struct server, order_place));
	return o;
}

void
heap_order_stop(void *order)
{
	struct heap_order *o = order;
	struct server *s;

	while ((s = heap_top(&o->heap)) != NULL)
		heap_remove(&o->heap, s);
	heap_fini(&o->heap);
	free(o);
}

int
heap_order_enter(void *order, struct server *s)
{
	struct heap_order *o = order;

	return heap_insert(&o->heap, s);
}

void
heap_order_leave(void *order, struct server *s)
{
	struct heap_order *o = order;

	heap_remove(&o->heap, s);
}

void
heap_order_changed(void *order, struct server *s)
{
	struct heap_order *o = order;

	heap_update(&o->heap, s);
}

struct server *
heap_order_choose(void *order, const struct peer *who)
{
	struct heap_order *o = order;
	struct server *s = heap_top(&o->heap);

	(void)who;
	if (s != NULL) {
		s->order_key = ++o->turn;
		heap_update(&o->heap, s);
	}
	return s;
}
