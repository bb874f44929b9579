/* pool_choose.c: which server a client gets.
 *
 *     first choice    the wanted or remembered server, else the algorithm's
 *                     choice
 *     next choice     another eligible server, after a failure
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
#include "pool/explain.h"
#include "pool/pool_among.h"
#include "pool/pool_private.h"

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
pool_forget_client(struct pool *p, const struct peer *who)
{
	if (p->sticky != NULL)
		(void)sticky_forget(p->sticky, who);
}

bool
pool_server_permits(const struct server *s, const struct peer *who)
{
	return s->set.acl < 0 ||
	    acl_permits(&s->pool->lists->acls[s->set.acl], who);
}

static bool
is_allowed(const struct server *s, const struct attempts *attempts)
{
	return attempts->allowed == NULL ||
	    server_set_has(attempts->allowed, s->slot);
}

/* The next eligible server that is allowed, from slot `from` on, around the
 * list. */
static long
next_around(
    const struct pool *p, const struct attempts *attempts, unsigned from)
{
	return attempts->allowed == NULL
	    ? eligible_next_around(&p->eligible, from)
	    : server_set_next_around(attempts->allowed, &p->eligible, from);
}

/* The server that the client used last and may go back to, or NULL: it does not
 * drain. */
static struct server *
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
		is_allowed(s, attempts)
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
static struct server *
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
		pool_server_permits(s, who) && is_allowed(s, attempts)
	    ? s
	    : NULL;
}

/* All servers, with turns of their own. NULL without memory, and where clients
 * belong to servers: then the next one in the list is chosen. */
static struct server_set *
everyone(struct pool *p)
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
	struct server_set *all = everyone(p);

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
		is_allowed(s, attempts)
	    ? s
	    : NULL;
}

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

/* ---- choosing after a failure ---- */

/* With more than 64 servers one bit stands for several. A client that was given
 * one of these is given none of the others. */
static uint64_t
attempt_bit(unsigned slot)
{
	return UINT64_C(1) << slot % 64;
}

static unsigned
attempted_flag(enum decision_rule rule)
{
	return rule == RULE_ABUSE	? ATTEMPTED_ABUSE
	    : rule == RULE_EMERGENCY	? ATTEMPTED_EMERGENCY
	    : rule == RULE_LAST_RESORT ? ATTEMPTED_BLACKLISTED
				       : 0;
}

bool
pool_was_attempted(const struct attempts *attempts, const struct server *s)
{
	return (attempts->set & attempt_bit(s->slot)) != 0;
}

/* Whether the client may be given this server and has not been yet. */
static bool
may_attempt(const struct server *s, const struct peer *who,
    const struct attempts *attempts)
{
	if (s->role != SERVER_REGULAR)
		return !(attempts->flags & ATTEMPTED_EMERGENCY);
	return !pool_was_attempted(attempts, s) &&
	    pool_server_permits(s, who) && is_allowed(s, attempts);
}

/* The first eligible server after the last one given that was not given
 * yet. */
static struct server *
unattempted_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	unsigned n, last = attempts->last;

	for (n = p->eligible.count; n > 0; n--) {
		last = (unsigned)eligible_next_around(&p->eligible, last + 1);
		if (may_attempt(p->servers[last], who, attempts))
			return p->servers[last];
	}
	return NULL;
}

/* The next eligible server after the last one given, until all had their
 * turn. */
static struct server *
listed_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	unsigned last = attempts->last;
	long i;

	do {
		i = next_around(p, attempts, last + 1);
		if (i == ELIGIBLE_NONE)
			return NULL;
		/* The round is over when the distance from the first server
		 * given no longer grows. */
		if (((unsigned)i + p->slots - attempts->first) % p->slots <=
		    (last + p->slots - attempts->first) % p->slots)
			return NULL;
		last = (unsigned)i;
	} while (!pool_server_permits(p->servers[i], who));
	return p->servers[i];
}

static void
take_turn(struct pool *p, struct server *s)
{
	if (p->options.balance->take != NULL)
		p->options.balance->take(p->order, s);
}

/* The server whose turn it is, as for a new client. A server that the client
 * was given before loses its turn. With weights, a light server may have no
 * turn within the loop; it is then found in list order. */
static struct server *
turn_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	struct server *s;
	unsigned n;

	for (n = p->eligible.count; n > 0; n--) {
		s = p->options.balance->next(p->order, who);
		if (s == NULL)
			break;
		take_turn(p, s);
		if (may_attempt(s, who, attempts))
			return s;
	}
	return unattempted_choice(p, who, attempts);
}

/* The server after a failure: with a cost the best of the others. With more
 * than 64 servers the bits do not identify those that were given: then it must
 * be the next one in list order. */
static struct decision
next_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	const struct balance *b = p->options.balance;
	struct decision d = { .rule = RULE_RETRY, .among = attempts->allowed };
	bool listed = !b->turns || pool_count(p) > 64;

	if (!listed && d.among == NULL && b->cost != NULL)
		d.among = everyone(p);
	if (attempts->flags & ATTEMPTED_BLACKLISTED)
		d.server = unattempted_choice(p, who, attempts);
	else if (listed)
		d.server = listed_choice(p, who, attempts);
	else if (d.among == NULL)
		d.server = turn_choice(p, who, attempts);
	else
		d.server =
		    pool_among(p, p->order, d.among, who, attempts->set);
	return d;
}

/* The abuse or the emergency server, once. */
static struct decision
special_choice(struct server *s, const struct attempts *attempts,
    enum decision_rule rule)
{
	struct decision d = { .rule = rule, .server = s };

	if (attempts->flags & attempted_flag(rule) || !pool_is_serving(s))
		d = (struct decision){ .rule = RULE_NONE };
	return d;
}

/* ---- choosing when no server is left ---- */

/* Of the servers that only their blacklisting keeps out, the one whose time
 * ends first and that the client has not been given. That is mostly the first
 * of the heap; only if it is not is the heap walked. */
static struct server *
first_blacklisted(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	const struct heap *h = &p->last_resort;
	const struct heap_item *best = NULL, *i;

	for (i = h->items; i < h->items + h->count; i++) {
		if ((best == NULL || i->key < best->key) &&
		    may_attempt(p->servers[i->number], who, attempts))
			best = i;
		if (best == h->items)
			break;
	}
	return best == NULL ? NULL : p->servers[best->number];
}

/* In a stubborn pool, the server that the client belongs to. */
static struct server *
stubborn_last_resort(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	struct server *own = pool_remembered(p, who, attempts, now);

	if (own == NULL)
		own = pool_owner_of(p, who, attempts);
	if (own == NULL)
		return first_blacklisted(p, who, attempts);
	return heap_has(&p->last_resort, own->slot) &&
		pool_server_permits(own, who)
	    ? own
	    : NULL;
}

static struct decision
last_resort(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct server *s = NULL;

	if (p->last_resort.count > 0 && !p->options.stubborn)
		s = first_blacklisted(p, who, attempts);
	else if (p->last_resort.count > 0 && attempts->count == 0 &&
	    p->eligible.count == 0)
		s = stubborn_last_resort(p, who, attempts, now);
	return (struct decision){
		.rule = s != NULL ? RULE_LAST_RESORT : RULE_NONE, .server = s
	};
}

/* Until it answers, it counts as one that has just failed, so that clients that
 * come meanwhile are given the others. */
static void
take_last_resort(struct server *s, struct attempts *attempts, uint64_t now)
{
	uint64_t due = now + pool_blacklist_ms(s);

	if (due < s->blacklisted_until)
		due = s->blacklisted_until;
	heap_set(&s->pool->last_resort, s->slot, due);
	if (s->role == SERVER_EMERGENCY)
		attempts->flags |= ATTEMPTED_EMERGENCY;
}

bool
pool_has_tries_left(const struct pool *p, const struct attempts *attempts)
{
	return p->options.tries == 0 || attempts->given < p->options.tries;
}

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

void
pool_restart_round(struct attempts *attempts)
{
	bool has_last = attempts->count > 0;

	attempts->set = has_last ? attempt_bit(attempts->last) : 0;
	attempts->first = attempts->last;
	attempts->count = attempts->flags == 0 && has_last;
	attempts->given = attempts->count;
	attempts->flags = 0;
}

/* ---- the choice ---- */

struct decision
pool_decide(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct decision d = { .rule = RULE_NONE };

	if (attempts->abuse || !pool_permits(p, who))
		return special_choice(
		    p->servers[SLOT_ABUSE], attempts, RULE_ABUSE);
	if (attempts->flags & ATTEMPTED_ABUSE ||
	    !pool_has_tries_left(p, attempts))
		return d;
	if (attempts->count == 0)
		d = first_choice(p, who, attempts, now);
	else if (!p->options.stubborn)
		d = next_choice(p, who, attempts);
	if (d.server == NULL && !p->options.stubborn)
		d = special_choice(
		    p->servers[SLOT_EMERGENCY], attempts, RULE_EMERGENCY);
	if (d.server == NULL)
		d = last_resort(p, who, attempts, now);
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

/* Of several processes two may find the same last place: who does not get it
 * decides again. */
static struct decision
decide_and_reserve(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now)
{
	struct decision d = { .rule = RULE_NONE };
	unsigned i;

	pool_let_go(p);
	pool_look_again(p, now);
	for (i = 0; i < p->slots + RESERVE_TRIES; i++) {
		d = pool_decide(p, who, attempts, now);
		if (d.server == NULL ||
		    pool_reserve(d.server, limit_of(d.server, d.rule)))
			return d;
		pool_refresh(d.server);
	}
	return (struct decision){ .rule = RULE_NONE };
}

static void
note_attempt(struct attempts *attempts, const struct server *s)
{
	if (attempts->given < ATTEMPTS_GIVEN_MAX)
		attempts->given++;
	if (s->role != SERVER_REGULAR)
		return;
	if (attempts->count == 0)
		attempts->first = s->slot & ATTEMPTS_SLOT_MAX;
	if (attempts->count < 2)
		attempts->count++;
	attempts->last = s->slot & ATTEMPTS_SLOT_MAX;
	attempts->set |= attempt_bit(s->slot);
}

struct server *
pool_choose(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct decision d;

	pool_revive(p, now);
	d = p->share == NULL ? pool_decide(p, who, attempts, now)
			     : decide_and_reserve(p, who, attempts, now);
	if (log_level >= LOG_LEVEL_DEBUG)
		pool_log_choice(p, who, attempts, &d, now);
	if (d.turn != NULL && d.among == NULL)
		take_turn(p, d.turn);
	if (d.server == NULL)
		return NULL;
	if (d.among != NULL)
		pool_take_among(
		    p, p->order, d.among, who, attempts->set, d.server);
	attempts->flags |= attempted_flag(d.rule) & ATTEMPTED_ALL;
	attempts->old = d.rule == RULE_STICKY;
	if (d.rule == RULE_LAST_RESORT)
		take_last_resort(d.server, attempts, now);
	note_attempt(attempts, d.server);
	return d.server;
}
