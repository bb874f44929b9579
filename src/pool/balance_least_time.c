/* balance_least_time.c: the smallest product of how long connects take and how
 * many connections there are, relative to the weight.
 *
 *     cost = time * (connections + 1) / weight, halved for every HALVED samples
 *            of the pool since the server's last one
 *
 * The time is a moving average of logarithms: of a sample above it a quarter of
 * the distance counts, so that one lost SYN does not make an outcast, of one
 * below it a half. A slow server is asked again the sooner the less slow it is,
 * about once in HALVED clients for each time it is twice as slow; by clients
 * and not by the clock, so that after a quiet hour nobody gets all of them. As
 * that halving is the same for all at any moment, costs keep their order in a
 * heap: a server's stands still, and those that were timed move up. */
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
logarithm(uint64_t x)
{
	unsigned zeros = (unsigned)__builtin_clzll(x | 1);

	return (63 - zeros) * ONE + ((unsigned)((x | 1) << zeros >> 55) & 255);
}

/* Weights are below 2^16. */
static uint64_t
key(const struct server *s)
{
	uint64_t cost = (uint64_t)s->slowness + logarithm(s->connections + 1) +
	    16 * ONE - logarithm(pool_weight(s->pool, s)) +
	    s->timed * (ONE / HALVED);

	return cost << TURN_BITS | s->turn;
}

static void *
start(const struct pool *p)
{
	return heap_order_start_sized(sizeof(struct order), p, key);
}

/* Who has not been timed yet counts as average; who was away is asked as soon
 * as the others, and does not get all clients until it is timed. */
static int
enter(void *order, struct server *s)
{
	struct order *o = order;

	if (s->slowness == 0)
		s->slowness = o->typical;
	s->timed = o->samples;
	return heap_order_enter(order, s);
}

static unsigned
toward(unsigned average, unsigned sample, unsigned share)
{
	if (average == 0)
		return sample;
	return sample > average ? average + (sample - average) / share
				: average - (average - sample) / share;
}

static void
took(void *order, struct server *s, uint64_t us)
{
	struct order *o = order;
	unsigned sample = logarithm(us + 1) + 1;

	o->samples++;
	o->typical = toward(o->typical, sample, TYPICAL_SHARE);
	s->slowness = toward(s->slowness, sample, sample > s->slowness ? 4 : 2);
	s->timed = o->samples;
	if (heap_has(&o->heap.heap, s->slot))
		heap_order_changed(order, s);
}

const struct balance balance_least_time = {
	.name = "least_time",
	.help = "shortest connect time and fewest connections, by weight",
	.weighted = true,
	.start = start,
	.stop = heap_order_stop,
	.enter = enter,
	.leave = heap_order_leave,
	.changed = heap_order_changed,
	.choose = heap_order_choose,
	.took = took,
};
