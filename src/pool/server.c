/* server.c: questions about one server. */
#include "config.h"

#include "pool/server.h"

bool
server_is_healthy(const struct server *s)
{
	return s->present && s->admin == SERVER_ENABLED &&
	    s->blacklisted_until == 0 && !s->health.down;
}
