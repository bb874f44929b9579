/* surplus.c: see surplus.h. */
#include "config.h"

#include "pool/balance.h"
#include "pool/level.h"
#include "pool/surplus.h"

/* The weight that the server's share is made of: 0 if it takes no clients; at
 * least 1 with prio. */
static uint64_t
weight_of(const struct pool *p, const struct server *s)
{
	if (!s->present || server_state(s) != SERVER_UP)
		return 0;
	return pool_options(p)->balance == &balance_prio && s->set.weight == 0
	    ? 1
	    : pool_weight(p, s);
}

/* The best level whose servers get the clients: with prio one that is full gets
 * none. INT64_MAX: none does. */
static int64_t
level_of_clients(const struct pool *p)
{
	bool by_prio = pool_options(p)->balance == &balance_prio;
	int64_t best = INT64_MAX;
	const struct server *s;
	unsigned slot;

	for (slot = SLOTS_SPECIAL; (s = pool_slot(p, slot)) != NULL; slot++)
		if (weight_of(p, s) > 0 && level_of(s) < best &&
		    (!by_prio || eligible_has(pool_eligible(p), slot)))
			best = level_of(s);
	return best;
}

uint64_t
pool_surplus(const struct pool *p, unsigned percent, uint64_t *surplus)
{
	uint64_t all = 0, weights = 0, sum = 0;
	int64_t best = level_of_clients(p);
	unsigned slot, slots = pool_slots(p);

	for (slot = SLOTS_SPECIAL; slot < slots; slot++) {
		const struct server *s = pool_slot(p, slot);
		uint64_t weight = weight_of(p, s);

		if (weight == 0 || level_of(s) < best)
			continue;
		if (level_of(s) == best)
			weights += weight;
		all += pool_connections(s);
	}
	for (slot = SLOTS_SPECIAL; slot < slots; slot++) {
		const struct server *s = pool_slot(p, slot);
		uint64_t weight = weight_of(p, s), share, beyond, most;
		uint64_t connections = pool_connections(s);

		if (weight == 0 || level_of(s) < best)
			continue;
		share = level_of(s) > best
		    ? 0
		    : (all * weight + weights - 1) / weights;
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
