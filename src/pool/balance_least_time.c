/* balance_least_time.c: the smallest product of connect time and connections,
 * relative to the weight.
 *
 *     cost = time * (connections + 1) / weight, halved for every HALVED samples
 *            of the pool since the server's last one
 *
 * The time is a moving average of logarithms. A sample above it counts for a
 * quarter of the distance, so that one lost SYN does not make an outcast; one
 * below it counts for half. The halving brings a slow server another client in
 * time: the slower it is, the later, by about HALVED clients for each factor of
 * two. It goes by clients and not by the clock, or after a quiet hour one
 * server would get all of them. At any moment the halving is the same factor
 * for all, so a heap keeps the costs in order: a server's key stays, and grows
 * when the server was timed. */
#include "config.h"

#include "pool/balance_heap.h"

/* Logarithms have ONE for a factor of two. */
enum { ONE = 256, HALVED = 64, TYPICAL_SHARE = 8 };

struct order {
	struct heap_order heap;
	uint64_t samples; /* so far */
	unsigned
	    typical; /* moving average over all servers; 0: no sample yet */
};

/* The logarithm to base 2, linear between the powers. */
static unsigned
least_time_logarithm(uint64_t x)
{
	unsigned zeros = (unsigned)__builtin_clzll(x | 1);

	return (63 - zeros) * ONE + ((unsigned)((x | 1) << zeros >> 55) & 255);
}

/* Weights are below 2^16. */
static uint64_t
least_time_key(const struct server *s)
{
	uint64_t cost = (uint64_t)s->slowness +
	    least_time_logarithm(s->connections + 1) + 16 * ONE -
	    least_time_logarithm(pool_weight(s->pool, s)) +
	    least_time_logarithm(SERVER_SHARES) -
	    least_time_logarithm(server_share(s)) + s->timed * (ONE / HALVED);

	return cost << TURN_BITS | s->turn;
}

static void *
least_time_start(const struct pool *p)
{
	return heap_order_start_sized(sizeof(struct order), p, least_time_key);
}

/* A server that was never timed counts as average. One that was away is chosen
 * as soon as the others, but does not get all clients until it has been
 * timed. */
static int
least_time_enter(void *order, struct server *s)
{
	struct order *o = order;

	if (s->slowness == 0)
		s->slowness = o->typical;
	s->timed = o->samples;
	return heap_order_enter(order, s);
}

static unsigned
least_time_toward(unsigned average, unsigned sample, unsigned share)
{
	if (average == 0)
		return sample;
	return sample > average ? average + (sample - average) / share
				: average - (average - sample) / share;
}

static void
least_time_took(void *order, struct server *s, uint64_t us)
{
	struct order *o = order;
	unsigned sample = least_time_logarithm(us + 1) + 1;

	o->samples++;
	o->typical = least_time_toward(o->typical, sample, TYPICAL_SHARE);
	s->slowness = least_time_toward(
	    s->slowness, sample, sample > s->slowness ? 4 : 2);
	s->timed = o->samples;
	if (heap_has(&o->heap.heap, s->slot))
		heap_order_changed(order, s);
}

const struct balance balance_least_time = {
	.name = "least_time",
	.help = "shortest connect time and fewest connections, by weight",
	.weighted = true,
	.start = least_time_start,
	.stop = heap_order_stop,
	.enter = least_time_enter,
	.leave = heap_order_leave,
	.changed = heap_order_changed,
	.next = heap_order_next,
	.take = heap_order_take,
	.took = least_time_took,
	.cost = heap_order_cost,
};
