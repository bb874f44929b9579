/* server.c: questions about one server. */
#include "config.h"

#include "pool/server.h"

bool
server_is_blacklisted(const struct server *s, uint64_t now)
{
	return s->blacklisted_until > now;
}
