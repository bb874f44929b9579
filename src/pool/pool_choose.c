/* pool_choose.c: which server a client gets.
 *
 *     first choice    the wanted or remembered server, else the algorithm's
 *                     choice
 *     next choice     another eligible server, after a failure: pool_next.c
 *     special choice  the emergency server; the abuse server
 *     last resort     a blacklisted server
 *
 * Which servers are eligible is decided in pool_state.c.
 *
 * pool_decide() finds the server and changes nothing for a client's first
 * choice, so that explain.c can use it, too; pool_choose() takes what it has
 * decided. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "pool/pool_among.h"
#include "pool/pool_choice.h"

/* How often a place is tried for that another process gives back at once. */
enum { RESERVE_TRIES = 100 };

bool
pool_permits(const struct pool *p, const struct peer *who)
{
	return acl_permits(&p->lists->acls[p->options.client_acl], who);
}

bool
pool_tells_clients_apart(const struct pool *p)
{
	return p->sticky != NULL || p->options.balance->owner != NULL ||
	    p->lists->of_owners > 0;
}

bool
pool_goes_by_address(const struct pool *p)
{
	return p->options.balance->owner != NULL;
}

void
pool_remove_client(struct pool *p, const struct peer *who)
{
	if (p->sticky != NULL)
		(void)sticky_remove(p->sticky, who);
}

bool
pool_server_permits(const struct server *s, const struct peer *who)
{
	return s->set.acl < 0 ||
	    acl_permits(&s->pool->lists->acls[s->set.acl], who);
}

bool
pool_is_allowed(const struct server *s, const struct attempts *attempts)
{
	return attempts->allowed == NULL ||
	    server_set_has(attempts->allowed, s->slot);
}

/* The server that the client used last and may go back to, or NULL: it does not
 * drain. */
struct server *
pool_remembered(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	struct sticky_client *c;
	struct server *s;

	if (p->sticky == NULL)
		return NULL;
	c = sticky_find(
	    p->sticky, who, &attempts->hint, now, p->options.tracking_ms);
	s = c != NULL ? pool_server(p, c->server) : NULL;
	/* A client that comes again and again would keep the server from ever
	 * having drained. */
	return s != NULL && s->admin != SERVER_DRAINING &&
		pool_is_allowed(s, attempts)
	    ? s
	    : NULL;
}

/* The first eligible server from `s` on, around the list, whose access list
 * lets the client in. */
static struct server *
first_permitting(struct pool *p, struct server *s, const struct peer *who)
{
	unsigned start = s->slot;
	long i = start;

	while (!pool_server_permits(s, who)) {
		i = eligible_next_around(&p->eligible, (unsigned)i + 1);
		if (i == ELIGIBLE_NONE || (unsigned)i == start)
			return NULL;
		s = p->servers[i];
	}
	return s;
}

/* The server that the client belongs to by the algorithm, or NULL. */
struct server *
pool_owner_of(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	const struct balance *b = p->options.balance;

	if (b->owner == NULL)
		return NULL;
	return attempts->allowed == NULL
	    ? b->owner(p->order, who)
	    : pool_owner_among(p, p->order, attempts->allowed, who);
}

/* Whether a stubborn pool keeps the client from what the algorithm finds, as it
 * belongs to another server. */
static bool
belongs_elsewhere(struct pool *p, const struct peer *who,
    const struct attempts *attempts, const struct server *remembered)
{
	const struct server *own;

	if (!p->options.stubborn)
		return false;
	if (remembered != NULL || p->options.balance->owner == NULL)
		return remembered != NULL;
	own = pool_owner_of(p, who, attempts);
	return own == NULL || !eligible_has(&p->eligible, own->slot);
}

/* The server that the client was moved away from, if it may go back now. One
 * that is full or drains is not troubled with it. */
static struct server *
home_of(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	const struct sticky_away *away;
	struct sticky_client *c;
	struct server *s;

	if (p->sticky == NULL || p->options.failback == FAILBACK_NEVER)
		return NULL;
	c = sticky_find(
	    p->sticky, who, &attempts->hint, now, p->options.tracking_ms);
	away = c != NULL ? sticky_away(p->sticky, attempts->hint) : NULL;
	if (away == NULL || away->home == 0 ||
	    (p->options.failback == FAILBACK_IDLE && away->open > 0))
		return NULL;
	s = pool_server(p, away->home - 1);
	return s != NULL && eligible_has(&p->eligible, s->slot) &&
		pool_server_permits(s, who) && pool_is_allowed(s, attempts)
	    ? s
	    : NULL;
}

void
pool_take_turn(struct pool *p, struct server *s)
{
	if (p->options.balance->take != NULL)
		p->options.balance->take(p->order, s);
}

/* The set of all servers, with turns of its own. NULL without memory, and where
 * clients belong to servers: then the next one in the list is chosen. */
struct server_set *
pool_everyone(struct pool *p)
{
	unsigned n = pool_count(p), *slots, i;

	if (p->options.balance->owner != NULL)
		return NULL;
	if (p->everyone.count == n)
		return &p->everyone;
	slots = calloc(n, sizeof(*slots));
	if (slots == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		slots[i] = server_slot(i);
	server_set_fini(&p->everyone);
	i = (unsigned)server_set_init(&p->everyone, slots, n);
	free(slots);
	return i == 0 ? &p->everyone : NULL;
}

/* The choice among those that permit the client, which the algorithm's choice
 * does not. */
static struct decision
permitting_choice(struct pool *p, struct server *turn, const struct peer *who)
{
	struct server_set *all = pool_everyone(p);

	return (struct decision){ .rule = RULE_PASSED_ON,
		.server = all != NULL ? pool_among(p, p->order, all, who, 0)
				      : first_permitting(p, turn, who),
		.turn = turn,
		.among = all };
}

/* The algorithm's choice, for a new client. */
static struct decision
new_choice(struct pool *p, const struct peer *who, struct attempts *attempts)
{
	struct decision d = { .rule = RULE_NONE, .among = attempts->allowed };

	if (d.among != NULL) {
		d.server = pool_among(p, p->order, d.among, who, 0);
		d.rule = d.server != NULL ? RULE_BALANCE : RULE_NONE;
		return d;
	}
	d.turn = p->options.balance->next(p->order, who);
	if (d.turn == NULL)
		return d;
	if (p->with_acl > 0 && !pool_server_permits(d.turn, who))
		return permitting_choice(p, d.turn, who);
	d.server = d.turn;
	d.rule = RULE_BALANCE;
	return d;
}

/* The server that the client claims; not one that drains, for the same reason
 * as the remembered one. */
static struct server *
wanted_by(const struct pool *p, const struct peer *who,
    const struct attempts *attempts)
{
	struct server *s =
	    attempts->wanted == 0 ? NULL : p->servers[attempts->wanted - 1];

	return s != NULL && s->present && s->admin != SERVER_DRAINING &&
		pool_is_serving(s) && pool_server_permits(s, who) &&
		pool_is_allowed(s, attempts)
	    ? s
	    : NULL;
}

/* The choice for a client that has had no server yet: the server that its
 * request names, the one that it was moved away from, the one that it used
 * last, or a new one. */
static struct decision
first_choice(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct decision d = { .rule = RULE_STICKY,
		.server = wanted_by(p, who, attempts) };
	struct server *s;

	if (d.server != NULL)
		return d;
	d.rule = RULE_FAILBACK;
	d.server = home_of(p, who, attempts, now);
	if (d.server != NULL)
		return d;
	s = pool_remembered(p, who, attempts, now);
	d = (struct decision){ .rule = RULE_STICKY, .server = s };
	if (s != NULL && pool_is_serving(s) && pool_server_permits(s, who))
		return d;
	d = (struct decision){ .rule = RULE_NONE };
	if (belongs_elsewhere(p, who, attempts, s) || p->eligible.count == 0)
		return d;
	return new_choice(p, who, attempts);
}

/* ---- what a client may expect ---- */

bool
pool_has_nobody_left(const struct pool *p)
{
	return p->eligible.count == 0 &&
	    !pool_is_serving(p->servers[SLOT_EMERGENCY]);
}

/* Whether a server of the set is full that would take the client. */
static bool
has_full(const struct pool *p, const struct server_set *set,
    const struct peer *who)
{
	const struct server *s;
	unsigned i;

	for (i = 0; i < set->count; i++) {
		s = pool_slot(p, set->slots[i]);
		if (s != NULL && s->full && pool_server_permits(s, who))
			return true;
	}
	return false;
}

bool
pool_may_wait(const struct pool *p, const struct peer *who,
    const struct attempts *attempts)
{
	unsigned i;

	if (p->full == 0 || p->options.stubborn || attempts->abuse ||
	    !pool_permits(p, who))
		return false;
	if (attempts->allowed != NULL)
		return has_full(p, attempts->allowed, who);
	if (p->with_acl == 0)
		return true;
	for (i = SLOTS_SPECIAL; i < p->slots; i++)
		if (p->servers[i]->full &&
		    pool_server_permits(p->servers[i], who))
			return true;
	return false;
}

bool
pool_may_recover(const struct pool *p)
{
	return p->full > 0 || p->revive.count > 0;
}

bool
pool_has_eligible(const struct pool *p)
{
	return p->eligible.count > 0;
}

bool
pool_takes_back(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	const struct server *s = pool_remembered(p, who, attempts, now);

	return (s != NULL && pool_is_serving(s) &&
		   pool_server_permits(s, who)) ||
	    wanted_by(p, who, attempts) != NULL;
}

void
pool_on_eligible(
    struct pool *p, void (*fn)(void *arg, unsigned slot), void *arg)
{
	p->on_eligible = fn;
	p->on_eligible_arg = arg;
}

bool
pool_cuts_sessions(const struct pool *p, const struct server *s)
{
	enum server_on_down what = s->set.on_down;

	if (what == SERVER_ON_DOWN_AS_SET)
		what = p->options.on_down;
	return what == SERVER_ON_DOWN_CUT && s->present && pool_keeps_out(s);
}

/* ---- the choice ---- */

struct decision
pool_decide(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct decision d = { .rule = RULE_NONE };

	if (attempts->abuse || !pool_permits(p, who))
		return pool_special_choice(
		    p->servers[SLOT_ABUSE], attempts, RULE_ABUSE);
	if (attempts->flags & ATTEMPTED_ABUSE ||
	    !pool_has_tries_left(p, attempts))
		return d;
	if (attempts->count == 0)
		d = first_choice(p, who, attempts, now);
	else if (!p->options.stubborn)
		d = pool_next_choice(p, who, attempts);
	if (d.server == NULL && !p->options.stubborn)
		d = pool_special_choice(
		    p->servers[SLOT_EMERGENCY], attempts, RULE_EMERGENCY);
	if (d.server == NULL)
		d = pool_last_resort(p, who, attempts, now);
	return d;
}

/* How many connections the server may have with this one; 0: any number. */
static uint64_t
limit_of(const struct server *s, enum decision_rule rule)
{
	bool old = rule == RULE_STICKY || rule == RULE_FAILBACK ||
	    s->role != SERVER_REGULAR;
	uint64_t soft = old ? 0 : s->set.soft;

	return soft > 0 && (s->set.hard == 0 || soft < s->set.hard)
	    ? soft
	    : s->set.hard;
}

/* Decides, and reserves a place at the server. Another process may take the
 * last place in between: then it decides again. */
static struct decision
decide_and_reserve(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	struct decision d = { .rule = RULE_NONE };
	unsigned i;

	pool_unreserve(p);
	pool_refresh_full(p, now);
	for (i = 0; i < p->slots + RESERVE_TRIES; i++) {
		d = pool_decide(p, who, attempts, now);
		if (d.server == NULL ||
		    pool_reserve(d.server, limit_of(d.server, d.rule)))
			return d;
		pool_refresh(d.server);
	}
	return (struct decision){ .rule = RULE_NONE };
}

/* Whether nothing but the algorithm counts for a client: it has been given no
 * server yet and may get any, none is remembered or claimed, and neither a
 * server's access list, nor a setting, nor another process matters. */
static bool
is_plain(const struct pool *p, const struct peer *who,
    const struct attempts *attempts)
{
	return (attempts->given | attempts->flags | attempts->wanted) == 0 &&
	    attempts->count == 0 && attempts->allowed == NULL &&
	    !attempts->abuse && p->sticky == NULL && p->share == NULL &&
	    p->with_acl == 0 && !p->options.stubborn &&
	    p->eligible.count > 0 &&
	    log_level < LOG_LEVEL_DEBUG && pool_permits(p, who);
}

/* The server that pool_decide() would find for a client without anything
 * special, as most clients of pools without a client table are, in a third of
 * the instructions. NULL: pool_decide() is needed. */
static struct server *
plain_choice(struct pool *p, const struct peer *who, struct attempts *attempts)
{
	struct server *s = p->options.balance->next(p->order, who);

	if (s == NULL)
		return NULL;
	pool_take_turn(p, s);
	attempts->old = false;
	pool_note_server(attempts, s);
	return s;
}

struct server *
pool_choose(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct server *s = NULL;
	struct decision d;

	if (p->slow.count + p->revive.count > 0)
		pool_revive(p, now);
	if (is_plain(p, who, attempts))
		s = plain_choice(p, who, attempts);
	if (s != NULL)
		return s;
	d = p->share == NULL ? pool_decide(p, who, attempts, now)
			     : decide_and_reserve(p, who, attempts, now);
	if (log_level >= LOG_LEVEL_DEBUG)
		pool_log_choice(p, who, attempts, &d, now);
	if (d.turn != NULL && d.among == NULL)
		pool_take_turn(p, d.turn);
	if (d.server == NULL)
		return NULL;
	if (d.among != NULL)
		pool_take_among(
		    p, p->order, d.among, who, attempts->set, d.server);
	attempts->old = d.rule == RULE_STICKY;
	pool_note_attempt(attempts, &d, now);
	return d.server;
}
