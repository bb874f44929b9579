/* pool_choose.c: which server a client gets.
 *
 *     first choice    the remembered server, else the algorithm's choice
 *     next choice     another eligible server, after a failure
 *     special choice  the emergency server; the abuse server
 *     last resort     a blacklisted server
 *
 * Which servers are eligible is decided in pool_state.c. */
#include "config.h"

#include "pool/pool_private.h"

bool
pool_permits(const struct pool *p, const struct peer *who)
{
	return acl_permits(&p->acls[p->options.client_acl], who);
}

bool
pool_tells_clients_apart(const struct pool *p)
{
	return p->sticky != NULL || p->options.balance->owner != NULL;
}

static bool
server_permits(const struct server *s, const struct peer *who)
{
	return s->set.acl < 0 || acl_permits(&s->pool->acls[s->set.acl], who);
}

/* The server the client used last, or NULL. */
static struct server *
remembered(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct sticky_client *c;

	if (p->sticky == NULL)
		return NULL;
	c = sticky_find(
	    p->sticky, who, &attempts->hint, now, p->options.tracking_ms);
	return c != NULL ? pool_server(p, c->server) : NULL;
}

/* The first eligible server from `s` on, around the list, whose access list
 * lets the client in. Walks the list, but only if servers have access lists. */
static struct server *
first_permitting(struct pool *p, struct server *s, const struct peer *who)
{
	unsigned start = s->slot;
	long i = start;

	while (!server_permits(s, who)) {
		i = eligible_next_around(&p->eligible, (unsigned)i + 1);
		if (i == ELIGIBLE_NONE || (unsigned)i == start)
			return NULL;
		s = p->servers[i];
	}
	return s;
}

static struct server *
first_choice(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	const struct balance *b = p->options.balance;
	struct server *s = remembered(p, who, attempts, now), *own;

	if (s != NULL && pool_is_serving(s) && server_permits(s, who))
		return s;
	if (p->options.stubborn && s != NULL)
		return NULL;
	if (p->options.stubborn && b->owner != NULL) {
		own = b->owner(p->order, who);
		if (own == NULL || !eligible_has(&p->eligible, own->slot))
			return NULL;
	}
	if (p->eligible.count == 0)
		return NULL;
	s = b->choose(p->order, who);
	return s != NULL && p->with_acl > 0 ? first_permitting(p, s, who) : s;
}

/* ---- choosing after a failure ---- */

/* With more than 64 servers one bit stands for several. A client that was given
 * one of these is given none of the others. */
static uint64_t
attempt_bit(unsigned slot)
{
	return UINT64_C(1) << slot % 64;
}

/* Whether the client may be given this server and has not been yet. */
static bool
may_attempt(const struct server *s, const struct peer *who,
    const struct attempts *attempts)
{
	if (s->role != SERVER_REGULAR)
		return !(attempts->flags & ATTEMPTED_EMERGENCY);
	return !(attempts->set & attempt_bit(s->slot)) &&
	    server_permits(s, who);
}

/* The first eligible server behind the last one given that was not given
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

/* The next eligible server behind the last one given, until all had their
 * turn. */
static struct server *
listed_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	unsigned last = attempts->last;
	long i;

	do {
		i = eligible_next_around(&p->eligible, last + 1);
		if (i == ELIGIBLE_NONE)
			return NULL;
		/* The round is over when the distance from the first server
		 * given no longer grows. */
		if (((unsigned)i + p->slots - attempts->first) % p->slots <=
		    (last + p->slots - attempts->first) % p->slots)
			return NULL;
		last = (unsigned)i;
	} while (!server_permits(p->servers[i], who));
	return p->servers[i];
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
		s = p->options.balance->choose(p->order, who);
		if (s != NULL && may_attempt(s, who, attempts))
			return s;
	}
	return unattempted_choice(p, who, attempts);
}

/* The server after a failure. With more than 64 servers the bits do not tell
 * which were given: then it must be the next one in list order. */
static struct server *
next_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	if (attempts->flags & ATTEMPTED_BLACKLISTED)
		return unattempted_choice(p, who, attempts);
	if (p->options.balance->turns && pool_count(p) <= 64)
		return turn_choice(p, who, attempts);
	return listed_choice(p, who, attempts);
}

static struct server *
special_choice(struct server *s, struct attempts *attempts, unsigned flag)
{
	if (attempts->flags & flag || !pool_is_serving(s))
		return NULL;
	attempts->flags |= flag;
	return s;
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
	const struct balance *b = p->options.balance;
	struct server *own = remembered(p, who, attempts, now);

	if (own == NULL && b->owner != NULL)
		own = b->owner(p->order, who);
	if (own == NULL)
		return first_blacklisted(p, who, attempts);
	return heap_has(&p->last_resort, own->slot) &&
		server_permits(own, who)
	    ? own
	    : NULL;
}

/* A blacklisted server. Until it answers it counts as one that has just failed,
 * so that clients that come meanwhile are given the others. */
static struct server *
last_resort(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct server *s;
	uint64_t due;

	if (p->last_resort.count == 0)
		return NULL;
	if (!p->options.stubborn)
		s = first_blacklisted(p, who, attempts);
	else if (attempts->count == 0 && p->eligible.count == 0)
		s = stubborn_last_resort(p, who, attempts, now);
	else
		s = NULL;
	if (s == NULL)
		return NULL;
	due = now + pool_blacklist_ms(s);
	if (due < s->blacklisted_until)
		due = s->blacklisted_until;
	heap_set(&p->last_resort, s->slot, due);
	attempts->flags |= ATTEMPTED_BLACKLISTED;
	if (s->role == SERVER_EMERGENCY)
		attempts->flags |= ATTEMPTED_EMERGENCY;
	return s;
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

bool
pool_may_wait(const struct pool *p, const struct peer *who)
{
	unsigned i;

	if (p->full == 0 || p->options.stubborn || !pool_permits(p, who))
		return false;
	if (p->with_acl == 0)
		return true;
	for (i = SLOTS_SPECIAL; i < p->slots; i++)
		if (p->servers[i]->full && server_permits(p->servers[i], who))
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

void
pool_on_eligible(struct pool *p, void (*fn)(void *arg), void *arg)
{
	p->on_eligible = fn;
	p->on_eligible_arg = arg;
}

void
pool_restart_round(struct attempts *attempts)
{
	bool has_last = attempts->count > 0;

	attempts->set = has_last ? attempt_bit(attempts->last) : 0;
	attempts->first = attempts->last;
	attempts->count = attempts->flags == 0 && has_last;
	attempts->given = (uint16_t)attempts->count;
	attempts->flags = 0;
}

/* ---- the choice ---- */

struct server *
pool_choose(struct pool *p, const struct peer *who, struct attempts *attempts,
    uint64_t now)
{
	struct server *s = NULL;

	pool_revive(p, now);
	if (!pool_permits(p, who))
		return special_choice(
		    p->servers[SLOT_ABUSE], attempts, ATTEMPTED_ABUSE);
	if (attempts->flags & ATTEMPTED_ABUSE ||
	    !pool_has_tries_left(p, attempts))
		return NULL;
	if (attempts->count == 0)
		s = first_choice(p, who, attempts, now);
	else if (!p->options.stubborn)
		s = next_choice(p, who, attempts);
	if (s == NULL && !p->options.stubborn)
		s = special_choice(
		    p->servers[SLOT_EMERGENCY], attempts, ATTEMPTED_EMERGENCY);
	if (s == NULL)
		s = last_resort(p, who, attempts, now);
	if (s == NULL)
		return NULL;
	attempts->given++;
	if (s->role != SERVER_REGULAR)
		return s;
	if (attempts->count++ == 0)
		attempts->first = s->slot;
	attempts->last = s->slot;
	attempts->set |= attempt_bit(s->slot);
	return s;
}
