/* balance_leastconn.c: the fewest connections; equals take turns. */
#include "config.h"

#include "pool/balance_heap.h"

static bool
less(const void *a, const void *b)
{
	const struct server *x = a, *y = b;

	if (x->connections != y->connections)
		return x->connections < y->connections;
	if (x->order_key != y->order_key)
		return x->order_key < y->order_key;
	return x->index < y->index;
}

static void *
start(const struct pool *p)
{
	return heap_order_start(p, less);
}

const struct balance balance_leastconn = {
	.name = "leastconn",
	.help = "the server with the fewest connections",
	.start = start,
	.stop = heap_order_stop,
	.enter = heap_order_enter,
	.leave = heap_order_leave,
	.changed = heap_order_changed,
	.choose = heap_order_choose,
};
