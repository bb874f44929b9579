/* balance_leastconn.c: the fewest connections; equals take turns. */
#include "config.h"

#include "pool/balance_heap.h"

static uint64_t
leastconn_key(const struct server *s)
{
	uint64_t load = pool_load(s) * SERVER_SHARES / server_share(s);

	return load << TURN_BITS | s->turn;
}

static void *
leastconn_start(const struct pool *p)
{
	return heap_order_start(sizeof(struct heap_order), p, leastconn_key);
}

const struct balance balance_leastconn = {
	.name = "leastconn",
	.help = "the server with the fewest connections",
	.start = leastconn_start,
	HEAP_ORDER_HOOKS,
};
