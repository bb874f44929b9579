/* pool_among.c: see pool_among.h. Each algorithm says what a server costs
 * (struct balance); those that go round take turns, by weight if they have
 * weights: smooth weighted round robin, in which each candidate gains its
 * weight with each choice, and who is chosen loses what all have gained. */
#include "config.h"

#include "pool/balance.h"
#include "pool/explain.h"
#include "pool/pool_among.h"

static int64_t
gain_of(const struct pool *p, const struct server *s)
{
	return (int64_t)pool_weight(p, s) * server_share(s);
}

/* Smaller is better. Credit is what has been gained, so the greatest is first:
 * half of the range is added for an unsigned number. */
static uint64_t
cost_of(const struct pool *p, void *order, const struct server_set *set,
    unsigned i, const struct server *s, const struct peer *who)
{
	const struct balance *b = pool_options(p)->balance;

	if (b->cost != NULL)
		return b->cost(order, s, who);
	if (!b->weighted)
		return 0;
	return (UINT64_C(1) << 63) - (uint64_t)(set->credit[i] + gain_of(p, s));
}

static bool
is_candidate(
    const struct pool *p, const struct server *s, const struct peer *who)
{
	return s != NULL && eligible_has(pool_eligible(p), s->slot) &&
	    pool_server_permits(s, who);
}

struct server *
pool_among(const struct pool *p, void *order, const struct server_set *set,
    const struct peer *who, uint64_t attempted)
{
	unsigned first = server_set_find(set, set->next), k, i;
	uint64_t cost, least = 0;
	struct server *s, *best = NULL;

	for (k = 0; k < set->count; k++) {
		i = (first + k) % set->count;
		s = pool_slot(p, set->slots[i]);
		if (!is_candidate(p, s, who) || attempted >> s->slot % 64 & 1)
			continue;
		cost = cost_of(p, order, set, i, s, who);
		if (best != NULL && cost >= least)
			continue;
		best = s;
		least = cost;
		if (pool_options(p)->balance->cost == NULL &&
		    !pool_options(p)->balance->weighted)
			break; /* all are equal */
	}
	return best;
}

static void
take_by_weight(const struct pool *p, struct server_set *set,
    const struct peer *who, const struct server *taken)
{
	int64_t gained = 0;
	unsigned i;

	for (i = 0; i < set->count; i++) {
		const struct server *s = pool_slot(p, set->slots[i]);

		if (!is_candidate(p, s, who))
			continue;
		set->credit[i] += gain_of(p, s);
		gained += gain_of(p, s);
	}
	i = server_set_find(set, taken->slot);
	if (i < set->count && set->slots[i] == taken->slot)
		set->credit[i] -= gained;
}

void
pool_take_among(const struct pool *p, struct server_set *set,
    const struct peer *who, const struct server *s)
{
	const struct balance *b = pool_options(p)->balance;

	set->next = s->slot + 1;
	if (b->cost == NULL && b->weighted)
		take_by_weight(p, set, who, s);
}

struct server *
pool_owner_among(const struct pool *p, void *order,
    const struct server_set *set, const struct peer *who)
{
	const struct balance *b = pool_options(p)->balance;
	struct server *s, *best = NULL;
	uint64_t cost, least = UINT64_MAX;
	unsigned i;

	if (b->owner == NULL || b->cost == NULL)
		return NULL;
	for (i = 0; i < set->count; i++) {
		s = pool_slot(p, set->slots[i]);
		if (s == NULL || !s->present)
			continue;
		cost = b->cost(order, s, who);
		if (cost < least) {
			best = s;
			least = cost;
		}
	}
	return best;
}
