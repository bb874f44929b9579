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
roundrobin_next(void *order, const struct peer *who)
{
	struct order *o = order;
	long i = eligible_next_around(pool_eligible(o->pool), o->next);

	(void)who;
	return i == ELIGIBLE_NONE ? NULL : pool_slot(o->pool, (unsigned)i);
}

static void
roundrobin_take(void *order, struct server *s)
{
	struct order *o = order;

	o->next = s->slot + 1;
}

const struct balance balance_roundrobin = {
	.name = "roundrobin",
	.help = "each server in turn",
	.turns = true,
	.start = roundrobin_start,
	.stop = free,
	.next = roundrobin_next,
	.take = roundrobin_take,
};
