/* balance_wleastconn.c: the fewest connections relative to the weight
 * (compared by cross multiplication); equals take turns. */
#include "config.h"

#include "pool/balance_heap.h"

static bool
less(const void *a, const void *b)
{
	const struct server *x = a, *y = b;
	uint64_t xw = pool_weight(x->pool, x), yw = pool_weight(y->pool, y);

	if (x->connections * yw != y->connections * xw)
		return x->connections * yw < y->connections * xw;
	if (x->order_key != y->order_key)
		return x->order_key < y->order_key;
	return x->index < y->index;
}

static void *
start(const struct pool *p)
{
	return heap_order_start(p, less);
}

const struct balance balance_wleastconn = {
	.name = "wleastconn",
	.help = "the fewest connections relative to the weight",
	.weighted = true,
	.start = start,
	.stop = heap_order_stop,
	.enter = heap_order_enter,
	.leave = heap_order_leave,
	.changed = heap_order_changed,
	.choose = heap_order_choose,
};
