/* pool_among.c: see pool_among.h. Each algorithm has a cost for a server
 * (struct balance); those that go round take turns, by weight if they have
 * weights: smooth weighted round robin, in which each candidate gains its
 * weight with each choice, and the chosen one loses what all have gained. */
#include "config.h"

#include "pool/balance.h"
#include "pool/explain.h"
#include "pool/pool_among.h"

static int64_t
gain_of(const struct pool *p, const struct server *s)
{
	unsigned weight = pool_weight(p, s);

	return (int64_t)(weight > 0 ? weight : 1) * server_share(s);
}

/* Whether those of equal cost get their shares by weight. */
static bool
has_shares(const struct balance *b)
{
	return b->cost != NULL ? b->shares : b->weighted;
}

/* Of two the smaller cost is better, then the greater credit. */
struct rank {
	uint64_t cost;
	int64_t credit;
};

static uint64_t
cost_of(const struct pool *p, void *order, const struct server *s,
    const struct peer *who)
{
	const struct balance *b = pool_options(p)->balance;

	return b->cost != NULL ? b->cost(order, s, who) : 0;
}

static bool
is_candidate(const struct pool *p, const struct server *s,
    const struct peer *who, uint64_t attempted)
{
	return s != NULL && eligible_has(pool_eligible(p), s->slot) &&
	    !(attempted >> s->slot % 64 & 1) && pool_server_permits(s, who);
}

struct server *
pool_among(const struct pool *p, void *order, const struct server_set *set,
    const struct peer *who, uint64_t attempted)
{
	unsigned first = server_set_find(set, set->next), k, i;
	struct server *s, *best = NULL;
	struct rank rank, top = { .cost = 0 };

	for (k = 0; k < set->count; k++) {
		i = (first + k) % set->count;
		s = pool_slot(p, set->slots[i]);
		if (!is_candidate(p, s, who, attempted))
			continue;
		rank = (struct rank){ .cost = cost_of(p, order, s, who) };
		/* what the server will have gained with this choice */
		if (has_shares(pool_options(p)->balance))
			rank.credit = set->credit[i] + gain_of(p, s);
		if (best != NULL &&
		    (rank.cost > top.cost ||
			(rank.cost == top.cost && rank.credit <= top.credit)))
			continue;
		best = s;
		top = rank;
		if (pool_options(p)->balance->cost == NULL &&
		    !pool_options(p)->balance->weighted)
			break; /* all are equal */
	}
	return best;
}

void
pool_take_among(const struct pool *p, void *order, struct server_set *set,
    const struct peer *who, uint64_t attempted, const struct server *taken)
{
	uint64_t cost;
	int64_t gained = 0;
	unsigned i;

	set->next = taken->slot + 1;
	if (!has_shares(pool_options(p)->balance))
		return;
	/* those of other costs were no choice: they gain nothing */
	cost = cost_of(p, order, taken, who);
	for (i = 0; i < set->count; i++) {
		const struct server *s = pool_slot(p, set->slots[i]);

		if (!is_candidate(p, s, who, attempted) ||
		    cost_of(p, order, s, who) != cost)
			continue;
		set->credit[i] += gain_of(p, s);
		gained += gain_of(p, s);
	}
	i = server_set_find(set, taken->slot);
	if (i < set->count && set->slots[i] == taken->slot)
		set->credit[i] -= gained;
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
