/* surplus.c: see surplus.h. */
#include "config.h"

#include "pool/balance.h"
#include "pool/surplus.h"

/* What counts for its share: 0 of one that takes no clients. */
static uint64_t
weight_of(const struct pool *p, const struct server *s)
{
	return s->present && server_state(s) == SERVER_UP ? pool_weight(p, s)
							  : 0;
}

uint64_t
pool_surplus(const struct pool *p, unsigned percent, uint64_t *surplus)
{
	uint64_t all = 0, weights = 0, sum = 0;
	unsigned slot, slots = pool_slots(p);

	for (slot = SLOTS_SPECIAL; slot < slots; slot++) {
		const struct server *s = pool_slot(p, slot);
		uint64_t weight = weight_of(p, s);

		weights += weight;
		all += weight > 0 ? pool_connections(s) : 0;
	}
	for (slot = SLOTS_SPECIAL; slot < slots; slot++) {
		const struct server *s = pool_slot(p, slot);
		uint64_t weight = weight_of(p, s), share, beyond, most;
		uint64_t connections = pool_connections(s);

		if (weight == 0)
			continue;
		share = (all * weight + weights - 1) / weights;
		beyond = connections > share ? connections - share : 0;
		most = connections * percent / 100;
		surplus[slot] = beyond < most ? beyond : most;
		if (s->shared != NULL && connections > 0)
			surplus[slot] =
			    surplus[slot] * s->connections / connections;
		sum += surplus[slot];
	}
	return sum;
}
