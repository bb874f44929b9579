/* balance_prio.c: the lowest priority number; equals take turns in proportion
 * to their weights, by deadlines as in balance_wrr.c.
 *
 *     key:    priority | deadline      32 bits each
 *
 * heap_order.turn is the virtual time of all priorities: a server whose
 * deadline has passed while better ones served is due now. A server of weight 0
 * weighs 1, as one that stands by needs no weight. */
#include "config.h"

#include "pool/balance_heap.h"

/* Between two turns of a server of weight 1. */
enum { PERIOD = 1 << 16 };

/* Of the deadlines; what is left above is more than the longest step. */
#define END_OF_TIME (UINT64_C(1) << 31)

static uint64_t
prio_level(const struct server *s)
{
	return (uint64_t)((int64_t)s->set.prio - INT32_MIN);
}

static uint64_t
prio_key(const struct server *s)
{
	return prio_level(s) << 32 | s->turn;
}

static void *
prio_start(const struct pool *p)
{
	return heap_order_start(sizeof(struct heap_order), p, prio_key);
}

static uint64_t
prio_step(const struct heap_order *o, const struct server *s)
{
	uint64_t weight = pool_weight(o->pool, s);

	return (uint64_t)PERIOD * SERVER_SHARES /
	    ((weight > 0 ? weight : 1) * server_share(s));
}

/* Adds the server. It has kept its deadline while it was not eligible, so that
 * it gains no turn by that; with a greater weight it is due earlier. */
static int
prio_enter(void *order, struct server *s)
{
	struct heap_order *o = order;
	uint64_t latest = o->turn + prio_step(o, s);

	if (s->turn < o->turn)
		s->turn = o->turn;
	else if (s->turn > latest)
		s->turn = latest;
	return heap_order_insert(order, s);
}

static void
prio_take(void *order, struct server *s)
{
	struct heap_order *o = order;

	if (o->turn < s->turn)
		o->turn = s->turn;
	if (o->turn >= END_OF_TIME)
		heap_order_restart_time(o, 0);
	s->turn = o->turn + prio_step(o, s);
	heap_set(&o->heap, s->slot, prio_key(s));
}

static uint64_t
prio_cost(void *order, const struct server *s, const struct peer *who)
{
	(void)order;
	(void)who;
	return prio_level(s);
}

const struct balance balance_prio = {
	.name = "prio",
	.help = "the lowest priority number; equals in turn, by weight",
	.turns = true,
	.start = prio_start,
	.stop = heap_order_stop,
	.enter = prio_enter,
	.leave = heap_order_remove,
	.next = heap_order_next,
	.take = prio_take,
	.cost = prio_cost,
	.shares = true,
};
