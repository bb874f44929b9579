/* balance_prio.c: the lowest priority number; of equals the first in the list. */
#include "config.h"

#include "pool/balance_heap.h"

static bool
less(const void *a, const void *b)
{
	const struct server *x = a, *y = b;

	if (x->prio != y->prio)
		return x->prio < y->prio;
	return x->index < y->index;
}

static void *
start(const struct pool *p)
{
	return heap_order_start(p, less);
}

const struct balance balance_prio = {
	.name = "prio",
	.help = "the first server of the lowest priority number",
	.start = start,
	.stop = heap_order_stop,
	.enter = heap_order_enter,
	.leave = heap_order_leave,
	.changed = heap_order_changed,
	.choose = heap_order_choose,
};
