/* balance_roundrobin.c: eligible servers in turn, in list order. */
#include "config.h"

#include <stdlib.h>

#include "pool/balance.h"

struct order {
	const struct pool *pool;
	unsigned next;
};

static void *
roundrobin_start(const struct pool *p)
{
	struct order *o = calloc(1, sizeof(*o));

	if (o != NULL)
		o->pool = p;
	return o;
}

static struct server *
roundrobin_choose(void *order, const struct peer *who)
{
	struct order *o = order;
	long i = eligible_next_around(pool_eligible(o->pool), o->next);

	(void)who;
	if (i == ELIGIBLE_NONE)
		return NULL;
	o->next = (unsigned)i + 1;
	return pool_slot(o->pool, (unsigned)i);
}

const struct balance balance_roundrobin = {
	.name = "roundrobin",
	.help = "each server in turn",
	.turns = true,
	.start = roundrobin_start,
	.stop = free,
	.choose = roundrobin_choose,
};
