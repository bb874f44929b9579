/* balance_prio.c: the lowest priority number; of equals the first in the
 * list. */
#include "config.h"

#include "pool/balance_heap.h"

static uint64_t
prio_key(const struct server *s)
{
	return ((uint64_t)((int64_t)s->set.prio - INT32_MIN) << 32) + s->slot;
}

static void *
prio_start(const struct pool *p)
{
	return heap_order_start(p, prio_key);
}

static uint64_t
prio_cost(void *order, const struct server *s, const struct peer *who)
{
	(void)order;
	(void)who;
	return prio_key(s);
}

const struct balance balance_prio = {
	.name = "prio",
	.help = "the first server of the lowest priority number",
	.start = prio_start,
	.stop = heap_order_stop,
	.enter = heap_order_enter,
	.leave = heap_order_leave,
	.changed = heap_order_changed,
	.next = heap_order_next,
	.take = heap_order_take,
	.cost = prio_cost,
};
