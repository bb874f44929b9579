/* pool_choose.c: who may be chosen, and who serves the next client.
 *
 *     list ---refresh()---> usable, order     who may take a new client
 *       '---revive heap---> refresh()         when a blacklisting ends
 *
 * Whatever changes a server ends in refresh(), which alone decides whether it
 * may be chosen. */
#include "config.h"

#include <stdlib.h>

#include "pool/pool_private.h"

const struct usable *
pool_usable(const struct pool *p)
{
	return &p->usable;
}

unsigned
pool_weight(const struct pool *p, const struct server *s)
{
	return p->weighted > 0 ? s->weight : 1;
}

bool
pool_is_listed(const struct server *s)
{
	return s != s->pool->emergency && s != s->pool->abuse;
}

/* ---- who may be chosen ---- */

/* May serve somebody: a client that was there before. */
static bool
is_serving(const struct server *s)
{
	return s->present && s->blacklisted_until == 0 && !s->health.down &&
	    s->admin != SERVER_DISABLED &&
	    (s->hard == 0 || s->connections < s->hard);
}

/* May serve a new client. */
static bool
is_usable(const struct server *s)
{
	const struct pool *p = s->pool;

	return is_serving(s) && s->admin == SERVER_ENABLED &&
	    (s->soft == 0 || s->connections < s->soft) &&
	    (!p->options.balance->weighted || pool_weight(p, s) > 0);
}

/* Brings the sets in step with the server. When memory for the order is short
 * the server stays out until its next change. */
static void
refresh(struct server *s)
{
	struct pool *p = s->pool;
	const struct balance *b = p->options.balance;
	bool was = usable_has(&p->usable, s->index);

	if (p->changing || !pool_is_listed(s) || was == is_usable(s))
		return;
	if (was) {
		usable_remove(&p->usable, s->index);
		if (b->leave != NULL)
			b->leave(p->order, s);
	} else if (b->enter == NULL || b->enter(p->order, s) == 0) {
		usable_add(&p->usable, s->index);
	}
}

static void
order_changed(struct server *s)
{
	struct pool *p = s->pool;

	refresh(s);
	if (p->options.balance->changed != NULL && pool_is_listed(s) &&
	    usable_has(&p->usable, s->index))
		p->options.balance->changed(p->order, s);
}

void
pool_leave_all(struct pool *p)
{
	unsigned i;

	for (i = 0; i < p->count; i++)
		if (usable_has(&p->usable, i)) {
			usable_remove(&p->usable, i);
			if (p->options.balance->leave != NULL)
				p->options.balance->leave(
				    p->order, p->servers[i]);
		}
}

void
pool_enter_all(struct pool *p)
{
	unsigned i;

	for (i = 0; i < p->count; i++)
		refresh(p->servers[i]);
}

void
pool_begin_changes(struct pool *p)
{
	pool_leave_all(p);
	p->changing = true;
}

int
pool_end_changes(struct pool *p)
{
	p->changing = false;
	return pool_list_changed(p);
}

int
pool_list_changed(struct pool *p)
{
	int rc = 0;

	if (p->changing)
		return 0;
	pool_leave_all(p);
	if (p->options.balance->listed != NULL)
		rc = p->options.balance->listed(p->order);
	pool_enter_all(p);
	return rc;
}

void
pool_set_admin(struct pool *p, struct server *s, enum server_admin admin)
{
	(void)p;
	s->admin = admin;
	refresh(s);
}

/* The servers outside the list have the numbers 0 and 1, the others follow. */
uint32_t
pool_revive_number(const struct server *s)
{
	const struct pool *p = s->pool;

	return s == p->emergency ? 0 : s == p->abuse ? 1 : s->index + 2;
}

static struct server *
revive_server(const struct pool *p, uint32_t number)
{
	return number == 0 ? p->emergency
	    : number == 1  ? p->abuse
			   : p->servers[number - 2];
}

void
pool_revive(struct pool *p, uint64_t now)
{
	int64_t number;

	while ((number = heap_top(&p->revive)) != HEAP_EMPTY &&
	    heap_top_key(&p->revive) <= now) {
		struct server *s = revive_server(p, (uint32_t)number);

		heap_remove(&p->revive, (uint32_t)number);
		s->blacklisted_until = 0;
		refresh(s);
	}
}

/* ---- choosing ---- */

bool
pool_permits(const struct pool *p, const struct peer *who)
{
	return acl_permits(&p->acls[p->options.client_acl], who);
}

static bool
server_permits(const struct server *s, const struct peer *who)
{
	return s->acl < 0 || acl_permits(&s->pool->acls[s->acl], who);
}

/* The server the client used last, if it still may; `known` tells whether there
 * was one at all. */
static struct server *
remembered(struct pool *p, const struct peer *who, struct tried *tried,
    uint64_t now, bool *known)
{
	struct sticky_client *c;
	struct server *s;

	*known = false;
	if (p->sticky == NULL)
		return NULL;
	c = sticky_find(
	    p->sticky, who, &tried->hint, now, p->options.tracking_ms);
	s = c != NULL ? pool_server(p, c->server) : NULL;
	*known = s != NULL;
	return s != NULL && is_serving(s) && server_permits(s, who) ? s : NULL;
}

/* From `s` on around the list, the first usable server that takes the client.
 * A walk, but only of pools where servers have access lists. */
static struct server *
first_permitting(struct pool *p, struct server *s, const struct peer *who)
{
	unsigned start = s->index;
	long i = start;

	while (!server_permits(s, who)) {
		i = usable_next_around(&p->usable, (unsigned)i + 1);
		if (i == USABLE_NONE || (unsigned)i == start)
			return NULL;
		s = p->servers[i];
	}
	return s;
}

static struct server *
first_choice(
    struct pool *p, const struct peer *who, struct tried *tried, uint64_t now)
{
	const struct balance *b = p->options.balance;
	bool stubborn = p->options.stubborn, known;
	struct server *s = remembered(p, who, tried, now, &known), *own;

	if (s != NULL || (known && stubborn))
		return s;
	if (stubborn && b->owner != NULL) {
		own = b->owner(p->order, who);
		if (own == NULL || !usable_has(&p->usable, own->index))
			return NULL;
	}
	if (p->usable.count == 0)
		return NULL;
	s = b->choose(p->order, who);
	return s != NULL && p->with_acl > 0 ? first_permitting(p, s, who) : s;
}

/* The next usable server behind the last one tried, until the round is over. */
static struct server *
next_choice(struct pool *p, const struct peer *who, const struct tried *tried)
{
	unsigned last = tried->last;
	long i;

	do {
		i = usable_next_around(&p->usable, last + 1);
		if (i == USABLE_NONE)
			return NULL;
		/* Steps from the first server on: the round must not wrap. */
		if (((unsigned)i + p->count - tried->first) % p->count <=
		    (last + p->count - tried->first) % p->count)
			return NULL;
		last = (unsigned)i;
	} while (!server_permits(p->servers[i], who));
	return p->servers[i];
}

static struct server *
reserve_choice(struct server *s, struct tried *tried, unsigned flag)
{
	if (s == NULL || tried->flags & flag || !is_serving(s))
		return NULL;
	tried->flags |= flag;
	return s;
}

struct server *
pool_choose(
    struct pool *p, const struct peer *who, struct tried *tried, uint64_t now)
{
	struct server *s = NULL;

	pool_revive(p, now);
	if (!pool_permits(p, who))
		return reserve_choice(p->abuse, tried, TRIED_ABUSE);
	if (tried->flags != 0)
		return NULL;
	if (tried->count == 0)
		s = first_choice(p, who, tried, now);
	else if (!p->options.stubborn)
		s = next_choice(p, who, tried);
	if (s == NULL)
		return p->options.stubborn
		    ? NULL
		    : reserve_choice(p->emergency, tried, TRIED_EMERGENCY);
	if (tried->count++ == 0)
		tried->first = s->index;
	tried->last = s->index;
	return s;
}

void
pool_opened(struct pool *p, struct server *s, const struct peer *who,
    struct tried *tried, uint64_t now)
{
	s->connections++;
	s->connects++;
	order_changed(s);
	if (p->sticky != NULL && pool_is_listed(s))
		sticky_remember(p->sticky, who, &tried->hint, s->index,
		    tried->proven, now);
}

void
pool_proven(struct pool *p, const struct peer *who, struct tried *tried)
{
	tried->proven = true;
	if (p->sticky != NULL)
		sticky_prove(p->sticky, who, &tried->hint);
}

void
pool_connected(struct pool *p, struct server *s, uint64_t now)
{
	(void)now;
	if (s->blacklisted_until == 0)
		return;
	heap_remove(&p->revive, pool_revive_number(s));
	s->blacklisted_until = 0;
	refresh(s);
}

bool
pool_wants_times(const struct pool *p)
{
	return p->options.balance->took != NULL;
}

void
pool_took(struct pool *p, struct server *s, uint64_t us)
{
	if (p->options.balance->took != NULL && pool_is_listed(s))
		p->options.balance->took(p->order, s, us);
}

void
pool_failed(struct pool *p, struct server *s, uint64_t now)
{
	uint64_t ms =
	    s->blacklist_ms > 0 ? s->blacklist_ms : p->options.blacklist_ms;

	s->failures++;
	if (ms == 0)
		return;
	s->blacklisted_until = now + ms;
	heap_set(&p->revive, pool_revive_number(s), s->blacklisted_until);
	refresh(s);
}

bool
pool_checked(struct pool *p, struct server *s, bool good, uint64_t now)
{
	if (!health_take(&s->health, &p->options.health, good, now))
		return false;
	refresh(s);
	return true;
}

void
pool_unchecked(struct pool *p, struct server *s)
{
	(void)p;
	s->health = (struct health){ .down = false };
	refresh(s);
}

void
pool_moved(struct pool *p, struct server *s, const struct peer *who,
    struct tried *tried, uint64_t up, uint64_t down)
{
	s->sent += up;
	s->received += down;
	if (p->sticky != NULL)
		sticky_count_bytes(p->sticky, who, &tried->hint, down, up);
}

void
pool_closed(struct pool *p, struct server *s, const struct peer *who,
    struct tried *tried, uint64_t up, uint64_t down)
{
	s->connections--;
	pool_moved(p, s, who, tried, up, down);
	order_changed(s);
	if (!s->present && s->connections == 0)
		pool_forget_server(s);
}
