/* balance_wleastconn.c: the fewest connections relative to the weight,
 * to 20 binary digits; equals take turns. */
#include "config.h"

#include "pool/balance_heap.h"

static uint64_t
wleastconn_key(const struct server *s)
{
	uint64_t load = (pool_load(s) << 20) * SERVER_SHARES / server_share(s) /
	    pool_weight(s->pool, s);

	return load << TURN_BITS | s->turn;
}

static void *
wleastconn_start(const struct pool *p)
{
	return heap_order_start(sizeof(struct heap_order), p, wleastconn_key);
}

const struct balance balance_wleastconn = {
	.name = "wleastconn",
	.help = "the fewest connections relative to the weight",
	.weighted = true,
	.start = wleastconn_start,
	HEAP_ORDER_HOOKS,
};
