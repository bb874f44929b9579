/* balance_least_time.c: the smallest product of connect time and connections,
 * relative to the weight.
 *
 *     cost = time * (connections + 1) / weight, halved for every HALVED samples
 *            of the pool since the server's last one
 *
 * The time is a moving average of logarithms. A sample above it counts for an
 * eighth of the distance, and as twice the average at most, so that one lost
 * SYN does not make an outcast; one below it counts for a quarter.
 *
 * What is compared is how much slower than the fastest a server is. A few
 * microseconds more or less are noise of the machine: so FLOOR_US are added to
 * each sample, and what is less than NOISE slower is as fast. Equals take
 * turns. The fastest is a moving average of averages, which falls fast and
 * rises slowly.
 *
 * The halving brings a slow server another client in time: the slower it is,
 * the later, by about HALVED clients for each factor of two. It goes by clients
 * and not by the clock, or after a quiet hour one server would get all of them.
 * At any moment the halving is the same factor for all, so a heap keeps the
 * costs in order: a server's key stays, and grows when the server was timed. */
#include "config.h"

#include "pool/balance_heap.h"

/* Logarithms have ONE for a factor of two. */
enum { ONE = 256, HALVED = 64, NOISE = ONE * 5 / 8, FLOOR_US = 64 };

struct order {
	struct heap_order heap;
	uint64_t samples; /* so far */
	unsigned fastest; /* logarithm; 0: no sample yet */
};

/* The logarithm to base 2 of a number above 0, linear between the powers. */
static unsigned
least_time_logarithm(uint64_t x)
{
	unsigned zeros = (unsigned)__builtin_clzll(x);

	return (63 - zeros) * ONE + ((unsigned)(x << zeros >> 55) & 255);
}

/* Weights are below 2^16. */
static uint64_t
least_time_key(const struct server *s)
{
	uint64_t cost = (uint64_t)s->penalty +
	    least_time_logarithm(pool_load(s) + 1) + 16 * ONE -
	    least_time_logarithm(pool_weight(s->pool, s)) +
	    least_time_logarithm(SERVER_SHARES) -
	    least_time_logarithm(server_share(s)) + s->timed * (ONE / HALVED);

	return cost << TURN_BITS | s->turn;
}

static void *
least_time_start(const struct pool *p)
{
	return heap_order_start(sizeof(struct order), p, least_time_key);
}

/* A server that was never timed counts as fast. One that was away is chosen as
 * soon as the others, but does not get all clients until it has been timed. */
static int
least_time_enter(void *order, struct server *s)
{
	struct order *o = order;

	s->timed = o->samples;
	return heap_order_insert(order, s);
}

static unsigned
least_time_toward(
    unsigned average, unsigned sample, unsigned down, unsigned up)
{
	return sample > average ? average + (sample - average) / up
				: average - (average - sample) / down;
}

/* The first sample of a server counts for a quarter. */
static unsigned
least_time_average(const struct order *o, unsigned average, unsigned sample)
{
	if (o->fastest == 0)
		return sample;
	if (average == 0)
		return least_time_toward(o->fastest, sample, 4, 4);
	if (sample > average + ONE)
		sample = average + ONE;
	return least_time_toward(average, sample, 4, 8);
}

/* From NOISE to twice of it the penalty grows from nothing to the whole
 * distance: a step would let noise at its edge decide. */
static unsigned
least_time_penalty(unsigned slowness, unsigned fastest)
{
	unsigned distance = slowness > fastest ? slowness - fastest : 0;

	if (distance <= NOISE)
		return 0;
	return distance < 2 * NOISE ? 2 * (distance - NOISE) : distance;
}

static void
least_time_took(void *order, struct server *s, uint64_t us)
{
	struct order *o = order;
	unsigned sample = least_time_logarithm(us + FLOOR_US);

	o->samples++;
	s->slowness = least_time_average(o, s->slowness, sample);
	o->fastest = o->fastest == 0
	    ? sample
	    : least_time_toward(o->fastest, s->slowness, 2, 32);
	s->penalty = least_time_penalty(s->slowness, o->fastest);
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
	.leave = heap_order_remove,
	.changed = heap_order_changed,
	.next = heap_order_least,
	.take = heap_order_take,
	.took = least_time_took,
	.cost = heap_order_cost,
};
