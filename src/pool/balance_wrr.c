/* balance_wrr.c: smooth weighted round robin: earliest deadline first.
 *
 * A server of weight w is due every PERIOD/w units of virtual time. The server
 * with the earliest deadline is next, and time advances to that deadline.
 * Servers start at different phases, in list order, so that the turns of light
 * servers are spread between those of a heavy one. A server keeps its deadline
 * while it is not eligible, so reaching a limit and coming back gives no extra
 * turn. Time starts again from 0 before it overflows. */
#include "config.h"

#include "pool/balance_heap.h"

#define PERIOD	    (UINT64_C(1) << 32)
#define END_OF_TIME (UINT64_C(1) << 62)

struct wrr_order {
	struct heap_order heap;
	unsigned spread; /* the number of servers that phases are for */
};

static uint64_t
wrr_step(const struct heap_order *o, const struct server *s)
{
	return PERIOD / pool_weight(o->pool, s) * SERVER_SHARES /
	    server_share(s);
}

static void *
wrr_start(const struct pool *p)
{
	return heap_order_start(sizeof(struct wrr_order), p, NULL);
}

static void
wrr_set_deadline(struct heap_order *o, struct server *s, uint64_t deadline)
{
	s->turn = deadline;
	heap_set(&o->heap, s->slot, deadline);
}

/* heap_order.turn is the virtual time, 0 until the first choice. server.turn is
 * a deadline, 0 if there is none yet. Until the first choice phases follow the
 * list. After it, a server whose deadline has passed is due now, and one whose
 * weight has grown is due earlier. */
static int
wrr_enter(void *order, struct server *s)
{
	struct heap_order *o = order;
	uint64_t latest = o->turn + wrr_step(o, s), due = s->turn;

	if (heap_reserve(&o->heap, s->slot + 1) < 0)
		return -1;
	if (o->turn == 0 || due == 0)
		due = o->turn + 1 +
		    wrr_step(o, s) / pool_count(o->pool) * s->number;
	else if (due < o->turn)
		due = o->turn;
	else if (due > latest)
		due = latest;
	wrr_set_deadline(o, s, due);
	return 0;
}

static struct server *
wrr_next(void *order, const struct peer *who)
{
	struct wrr_order *w = order;
	struct heap_order *o = &w->heap;
	unsigned i;

	/* The phases of servers that came one by one are for as many as there
	 * were then. */
	if (o->turn == 0 && w->spread != pool_count(o->pool)) {
		for (i = 0; i < pool_slots(o->pool); i++)
			if (heap_has(&o->heap, i))
				(void)wrr_enter(o, pool_slot(o->pool, i));
		w->spread = pool_count(o->pool);
	}
	return heap_order_next(order, who);
}

static void
wrr_take(void *order, struct server *s)
{
	struct heap_order *o = order;

	o->turn = heap_top_key(&o->heap);
	if (o->turn >= END_OF_TIME)
		heap_order_restart_time(o, 1);
	wrr_set_deadline(o, s, o->turn + wrr_step(o, s));
}

const struct balance balance_wrr = {
	.name = "wrr",
	.help = "in turn, in proportion to the weights, interleaved",
	.weighted = true,
	.turns = true,
	.start = wrr_start,
	.stop = heap_order_stop,
	.enter = wrr_enter,
	.leave = heap_order_remove,
	.next = wrr_next,
	.take = wrr_take,
};
