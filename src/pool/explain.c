/* explain.c: why a client would get the server that it would get now. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "pool/balance.h"
#include "pool/explain.h"
#include "pool/server/server_set.h"

void
pool_explain(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now, struct explanation *x)
{
	const struct pool_options *o = pool_options(p);
	struct sticky *sticky = pool_sticky(p);
	sticky_hint hint = 0;

	pool_revive(p, now);
	*x = (struct explanation){ .acl = pool_acl(p, o->client_acl),
		.allowed = attempts->allowed };
	x->entry = acl_find(x->acl, who);
	x->permitted = acl_permits(x->acl, who);
	if (sticky != NULL)
		x->client =
		    sticky_find(sticky, who, &hint, now, o->tracking_ms);
	x->decision = pool_decide(p, who, attempts, now);
}

/* The obstacle that keeps every client from the server. */
static enum obstacle
obstacle_to_all(const struct server *s)
{
	if (s->admin == SERVER_DISABLED)
		return OBSTACLE_MAINT;
	if (s->admin == SERVER_DRAINING && s->role == SERVER_REGULAR)
		return OBSTACLE_DRAIN;
	if (s->unresolved || pool_keeps_out(s))
		return OBSTACLE_DOWN;
	if (s->blacklisted_until != 0)
		return s->checked && !s->by_operator ? OBSTACLE_SUSPECT
						     : OBSTACLE_BLACKLISTED;
	if (s->set.hard != 0 && pool_connections(s) >= s->set.hard)
		return OBSTACLE_HARD;
	return OBSTACLE_NONE;
}

enum obstacle
pool_obstacle(const struct server *s, const struct peer *who,
    const struct explanation *x)
{
	bool remembered = x->client != NULL && s->role == SERVER_REGULAR &&
	    x->client->server == s->number;
	enum obstacle o = obstacle_to_all(s);

	if (x->allowed != NULL && s->role == SERVER_REGULAR &&
	    !server_set_has(x->allowed, s->slot))
		return OBSTACLE_ROUTE;
	/* what keeps out only new clients */
	if (o == OBSTACLE_NONE && !remembered && s->role == SERVER_REGULAR) {
		if (pool_options(s->pool)->balance->weighted &&
		    pool_weight(s->pool, s) == 0)
			o = OBSTACLE_WEIGHT;
		else if (s->set.soft != 0 && pool_connections(s) >= s->set.soft)
			o = OBSTACLE_SOFT;
	}
	if (o == OBSTACLE_NONE && s->role == SERVER_REGULAR &&
	    !pool_server_permits(s, who))
		o = OBSTACLE_ACL;
	return o;
}

const char *
decision_rule_name(enum decision_rule r)
{
	static const char *const names[] = {
		[RULE_NONE] = "none",
		[RULE_STICKY] = "sticky",
		[RULE_FAILBACK] = "failback",
		[RULE_BALANCE] = "balance",
		[RULE_PASSED_ON] = "passed_on",
		[RULE_RETRY] = "retry",
		[RULE_ABUSE] = "abuse",
		[RULE_EMERGENCY] = "emergency",
		[RULE_LAST_RESORT] = "last_resort",
	};

	return names[r];
}

const char *
obstacle_name(enum obstacle o)
{
	static const char *const names[] = {
		[OBSTACLE_NONE] = "none",
		[OBSTACLE_ROUTE] = "route",
		[OBSTACLE_MAINT] = "maint",
		[OBSTACLE_DOWN] = "down",
		[OBSTACLE_SUSPECT] = "suspect",
		[OBSTACLE_BLACKLISTED] = "blacklisted",
		[OBSTACLE_HARD] = "hard",
		[OBSTACLE_DRAIN] = "drain",
		[OBSTACLE_WEIGHT] = "weight",
		[OBSTACLE_SOFT] = "max",
		[OBSTACLE_ACL] = "acl",
	};

	return names[o];
}

/* ---- the log of choices ---- */

/* Adds "0 down, 3 max": the servers that the client could not get. One that has
 * no obstacle and was given already has failed this client. */
static void
list_obstacles(const struct pool *p, const struct peer *who,
    const struct attempts *attempts, const struct explanation *x, char *text,
    size_t room)
{
	unsigned i, count = pool_count(p);
	size_t n = 0;

	for (i = 0; i < count && n < room; i++) {
		const struct server *s = pool_server(p, i);
		enum obstacle o;

		if (!s->present || s == x->decision.server)
			continue;
		o = pool_obstacle(s, who, x);
		if (o != OBSTACLE_NONE || pool_was_attempted(attempts, s))
			n += (size_t)snprintf(text + n, room - n, "%s%u %s",
			    n > 0 ? ", " : "", i,
			    o != OBSTACLE_NONE ? obstacle_name(o) : "tried");
	}
	if (n >= room)
		memcpy(text + room - 4, "...", 4);
}

void
pool_log_choice(struct pool *p, const struct peer *who,
    struct attempts *attempts, const struct decision *d, uint64_t now)
{
	char client[PEER_TEXT_MAX], at[ADDR_TEXT_MAX], passed_over[256] = "";
	struct explanation x = { .decision = *d, .allowed = attempts->allowed };
	const struct server *s = d->server;

	if (pool_sticky(p) != NULL)
		x.client = sticky_find(pool_sticky(p), who, &attempts->hint,
		    now, pool_options(p)->tracking_ms);
	list_obstacles(
	    p, who, attempts, &x, passed_over, sizeof(passed_over));
	peer_format(who, client);
	if (s == NULL)
		log_debug("no server chosen client=%s passed_over=\"%s\"",
		    client, passed_over);
	else
		log_debug("server chosen client=%s server=%u name=%s "
			  "address=%s rule=%s passed_over=\"%s\"",
		    client, s->number, s->name,
		    addr_format(&s->addrs.addr[s->addr_first], at),
		    decision_rule_name(d->rule), passed_over);
}
