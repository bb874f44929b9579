/* pool_next.c: the servers that a client was given, and the next one when they
 * have failed: another eligible one, the emergency server, or a blacklisted
 * one. */
#include "config.h"

#include "pool/pool_among.h"
#include "pool/pool_choice.h"

/* ---- the servers given ---- */

/* The bit of a slot in the set of servers that a client was given. With more
 * than 64 servers, several have the same bit: a client that was given one of
 * them is given none of the others. */
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

bool
pool_has_tries_left(const struct pool *p, const struct attempts *attempts)
{
	return p->options.tries == 0 || attempts->given < p->options.tries;
}

/* Gives the client a blacklisted server. That is blacklisted anew until it
 * answers, so that other clients are given other ones. */
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

void
pool_note_server(struct attempts *attempts, const struct server *s)
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

void
pool_note_attempt(
    struct attempts *attempts, const struct decision *d, uint64_t now)
{
	attempts->flags |= attempted_flag(d->rule) & ATTEMPTED_ALL;
	if (d->rule == RULE_LAST_RESORT)
		take_last_resort(d->server, attempts, now);
	pool_note_server(attempts, d->server);
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

/* ---- the next one ---- */

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

/* Whether the client may be given this server and has not been yet. */
static bool
may_attempt(const struct server *s, const struct peer *who,
    const struct attempts *attempts)
{
	if (s->role != SERVER_REGULAR)
		return !(attempts->flags & ATTEMPTED_EMERGENCY);
	return !pool_was_attempted(attempts, s) &&
	    pool_server_permits(s, who) && pool_is_allowed(s, attempts);
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
		pool_take_turn(p, s);
		if (may_attempt(s, who, attempts))
			return s;
	}
	return unattempted_choice(p, who, attempts);
}

/* The server after a failure. An algorithm that has a cost gives the cheapest
 * of the others. With more than 64 servers the bits of `attempts` do not
 * identify those that the client was given: then it is the next one in the
 * order of the list. */
struct decision
pool_next_choice(
    struct pool *p, const struct peer *who, const struct attempts *attempts)
{
	const struct balance *b = p->options.balance;
	struct decision d = { .rule = RULE_RETRY, .among = attempts->allowed };
	bool listed = !b->turns || pool_count(p) > 64;

	if (!listed && d.among == NULL && b->cost != NULL)
		d.among = pool_everyone(p);
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
struct decision
pool_special_choice(struct server *s, const struct attempts *attempts,
    enum decision_rule rule)
{
	struct decision d = { .rule = rule, .server = s };

	if (attempts->flags & attempted_flag(rule) || !pool_is_serving(s))
		d = (struct decision){ .rule = RULE_NONE };
	return d;
}

/* ---- choosing when no server is left ---- */

/* The server whose blacklisting ends first, of those that nothing else keeps
 * out and that the client was not given. That is mostly the first of the heap;
 * only if not, the heap is walked. */
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

/* The last resort of a stubborn pool: only the server that the client belongs
 * to. */
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

struct decision
pool_last_resort(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now)
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
