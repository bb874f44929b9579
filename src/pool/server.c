/* server.c: questions about one server. */
#include "config.h"

#include "pool/server.h"

bool
server_addrs_equal(
    const struct server_addrs *a, const struct server_addrs *b)
{
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!addr_equal(&a->addr[i], &b->addr[i]))
			return false;
	return true;
}

bool
server_is_healthy(const struct server *s)
{
	return s->present && s->admin == SERVER_ENABLED &&
	    s->blacklisted_until == 0 && !s->health.down;
}
