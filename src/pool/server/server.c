/* server.c: questions about one server. */
#include "config.h"

#include "pool/server/server.h"

enum server_state
server_state(const struct server *s)
{
	if (!s->present && !s->unresolved)
		return s->addrs.count > 0 ? SERVER_REMOVED : SERVER_EMPTY;
	if (s->admin != SERVER_ENABLED)
		return s->admin == SERVER_DRAINING ? SERVER_DRAIN
						   : SERVER_MAINT;
	if (s->health.down || s->unresolved)
		return SERVER_DOWN;
	if (s->blacklisted_until != 0)
		return s->checked && !s->by_operator ? SERVER_SUSPECT
						     : SERVER_BLACKLISTED;
	return SERVER_UP;
}

const char *
server_role_name(enum server_role role)
{
	static const char *const roles[] = { "regular", "emergency", "abuse" };

	return roles[role];
}

const char *
server_state_name(enum server_state state)
{
	static const char *const names[SERVER_STATES] = {
		[SERVER_EMPTY] = "empty",
		[SERVER_REMOVED] = "removed",
		[SERVER_MAINT] = "maint",
		[SERVER_DRAIN] = "drain",
		[SERVER_DOWN] = "down",
		[SERVER_SUSPECT] = "suspect",
		[SERVER_BLACKLISTED] = "blacklisted",
		[SERVER_UP] = "up",
	};

	return names[state];
}

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
	return server_state(s) == SERVER_UP;
}
