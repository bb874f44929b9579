/* level.c: see level.h. */
#include "config.h"

#include "pool/balance.h"
#include "pool/explain.h"
#include "pool/level.h"
#include "pool/server/server_set.h"

int64_t
level_of(const struct server *s)
{
	bool by_prio = pool_options(s->pool)->balance == &balance_prio;

	if (s->role != SERVER_REGULAR)
		return INT64_MAX;
	return by_prio ? s->set.prio : 0;
}

/* Whether the server is known to be healthy. Without checks it is up once its
 * blacklisting has expired, which proves nothing: sessions would be ended for
 * it in vain, again and again. */
static bool
is_proven(const struct server *s)
{
	return s->checked && s->health.good > 0 &&
	    server_state(s) == SERVER_UP &&
	    eligible_has(pool_eligible(s->pool), s->slot);
}

int64_t
level_best(const struct pool *p)
{
	const struct server *s;
	int64_t best = INT64_MAX;
	unsigned slot;

	if (pool_options(p)->on_up != SERVER_ON_UP_CUT)
		return best;
	for (slot = SLOTS_SPECIAL; (s = pool_slot(p, slot)) != NULL; slot++)
		if (is_proven(s) && level_of(s) < best)
			best = level_of(s);
	return best;
}

bool
level_is_outranked(const struct server *s, int64_t best,
    const struct peer *who, const struct server_set *allowed)
{
	int64_t level = level_of(s);
	const struct server *t;
	unsigned slot;

	if (s->role == SERVER_ABUSE || level <= best)
		return false;
	for (slot = SLOTS_SPECIAL; (t = pool_slot(s->pool, slot)) != NULL;
	     slot++)
		if (level_of(t) < level && is_proven(t) &&
		    (allowed == NULL || server_set_has(allowed, slot)) &&
		    pool_server_permits(t, who))
			return true;
	return false;
}
