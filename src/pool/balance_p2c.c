/* balance_p2c.c: two usable servers at random; the one with fewer connections
 * (Mitzenmacher 2001, "The power of two choices"). */
#include "config.h"

#include <stdlib.h>

#include "base/hash.h"
#include "pool/balance.h"

struct order {
	const struct pool *pool;
	uint64_t state; /* of the splitmix64 generator */
};

static void *
start(const struct pool *p)
{
	struct order *o = calloc(1, sizeof(*o));
	struct hash_key seed;

	if (o == NULL)
		return NULL;
	hash_key_init(&seed);
	o->pool = p;
	o->state = seed.k0;
	return o;
}

static unsigned
draw(struct order *o, unsigned n)
{
	o->state += UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)((hash_mix(o->state) >> 32) * n >> 32);
}

static struct server *
choose(void *order, const struct peer *who)
{
	struct order *o = order;
	const struct usable *u = pool_usable(o->pool);
	struct server *a, *b;
	unsigned i;

	(void)who;
	if (u->count == 0)
		return NULL;
	i = draw(o, u->count);
	a = pool_server(o->pool, u->dense[i]);
	if (u->count == 1)
		return a;
	/* The other one: any but the first. */
	i = (i + 1 + draw(o, u->count - 1)) % u->count;
	b = pool_server(o->pool, u->dense[i]);
	return b->connections < a->connections ? b : a;
}

const struct balance balance_p2c = {
	.name = "p2c",
	.help = "the less busy of two servers drawn at random",
	.start = start,
	.stop = free,
	.choose = choose,
};
