/* balance_wrr.c: weighted round robin, smooth: earliest deadline first.
 *
 * A server of weight w is due every PERIOD/w of virtual time; the one due
 * first is next, and time goes on to its deadline. Servers start at different
 * phases, in list order, so light ones are spread between the turns of a heavy
 * one instead of following each other. Deadlines wrap around and are compared
 * by their distance. */
#include "config.h"

#include "pool/balance_heap.h"

#define PERIOD (UINT64_C(1) << 40)

static bool
less(const void *a, const void *b)
{
	const struct server *x = a, *y = b;

	if (x->order_key != y->order_key)
		return (int64_t)(x->order_key - y->order_key) < 0;
	return x->index < y->index;
}

static void *
start(const struct pool *p)
{
	return heap_order_start(p, less);
}

/* heap_order.turn is the virtual time. */
static int
enter(void *order, struct server *s)
{
	struct heap_order *o = order;
	uint64_t step = PERIOD / pool_weight(o->pool, s);
	unsigned n = pool_count(o->pool);

	s->order_key = o->turn + step / n * s->index;
	return heap_insert(&o->heap, s);
}

static struct server *
choose(void *order, const struct peer *who)
{
	struct heap_order *o = order;
	struct server *s = heap_top(&o->heap);

	(void)who;
	if (s == NULL)
		return NULL;
	o->turn = s->order_key;
	s->order_key += PERIOD / pool_weight(o->pool, s);
	heap_update(&o->heap, s);
	return s;
}

const struct balance balance_wrr = {
	.name = "wrr",
	.help = "in turn, in proportion to the weights, interleaved",
	.weighted = true,
	.start = start,
	.stop = heap_order_stop,
	.enter = enter,
	.leave = heap_order_leave,
	.choose = choose,
};
