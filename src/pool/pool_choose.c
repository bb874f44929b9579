/* pool_choose.c: who may be chosen, and who serves the next client.
 *
 *     list ---refresh()---> usable, order     who may take a new client
 *       |               '-> last_resort       who could, but for the blacklist
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

/* May serve a client that was there before, unless it is blacklisted. */
static bool
takes_old_clients(const struct server *s)
{
	return s->present && !s->health.down && s->admin != SERVER_DISABLED &&
	    (s->hard == 0 || s->connections < s->hard);
}

/* The same for a new client. */
static bool
takes_new_clients(const struct server *s)
{
	const struct pool *p = s->pool;

	return takes_old_clients(s) && s->admin == SERVER_ENABLED &&
	    (s->soft == 0 || s->connections < s->soft) &&
	    (!p->options.balance->weighted || pool_weight(p, s) > 0);
}

static bool
is_serving(const struct server *s)
{
	return s->blacklisted_until == 0 && takes_old_clients(s);
}

static bool
is_usable(const struct server *s)
{
	return s->blacklisted_until == 0 && takes_new_clients(s);
}

/* The servers outside the list have the numbers 0 and 1, the others follow. */
static uint32_t
heap_number(const struct server *s)
{
	const struct pool *p = s->pool;

	return s == p->emergency ? 0 : s == p->abuse ? 1 : s->index + 2;
}

static struct server *
heap_server(const struct pool *p, uint32_t number)
{
	return number == 0 ? p->emergency
	    : number == 1  ? p->abuse
			   : p->servers[number - 2];
}

/* Whether nothing but its blacklisting keeps it out. */
static bool
is_last_resort(const struct server *s)
{
	if (s->blacklisted_until == 0 || s == s->pool->abuse)
		return false;
	return pool_is_listed(s) ? takes_new_clients(s) : takes_old_clients(s);
}

static void
refresh_last_resort(struct server *s)
{
	struct heap *h = &s->pool->last_resort;
	uint32_t number = heap_number(s);

	if (!is_last_resort(s))
		heap_remove(h, number);
	else if (!heap_has(h, number))
		heap_set(h, number, s->blacklisted_until);
}

/* Brings the sets in step with the server. When memory for the order is short
 * the server stays out until its next change. */
static void
refresh(struct server *s)
{
	struct pool *p = s->pool;
	const struct balance *b = p->options.balance;
	bool was = usable_has(&p->usable, s->index);

	if (s->blacklisted_until != 0)
		refresh_last_resort(s);
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

void
pool_end_blacklisting(struct server *s)
{
	uint32_t number = heap_number(s);

	heap_remove(&s->pool->revive, number);
	heap_remove(&s->pool->last_resort, number);
	s->blacklisted_until = 0;
}

void
pool_revive(struct pool *p, uint64_t now)
{
	int64_t number;

	while ((number = heap_top(&p->revive)) != HEAP_EMPTY &&
	    heap_top_key(&p->revive) <= now) {
		struct server *s = heap_server(p, (uint32_t)number);

		pool_end_blacklisting(s);
		refresh(s);
	}
}

static uint64_t
blacklist_ms(const struct server *s)
{
	return s->blacklist_ms > 0 ? s->blacklist_ms
				   : s->pool->options.blacklist_ms;
}

static void
blacklist(struct server *s, uint64_t until)
{
	pool_end_blacklisting(s);
	s->blacklisted_until = until;
	heap_set(&s->pool->revive, heap_number(s), until);
	refresh(s);
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

/* The server the client used last, or NULL. */
static struct server *
remembered(
    struct pool *p, const struct peer *who, struct tried *tried, uint64_t now)
{
	struct sticky_client *c;

	if (p->sticky == NULL)
		return NULL;
	c = sticky_find(
	    p->sticky, who, &tried->hint, now, p->options.tracking_ms);
	return c != NULL ? pool_server(p, c->server) : NULL;
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
	struct server *s = remembered(p, who, tried, now), *own;

	if (s != NULL && is_serving(s) && server_permits(s, who))
		return s;
	if (p->options.stubborn && s != NULL)
		return NULL;
	if (p->options.stubborn && b->owner != NULL) {
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

/* ---- choosing when nobody is left ---- */

/* With more than 64 servers one bit stands for several: a client that has tried
 * one of them does without the others. */
static uint64_t
tried_bit(unsigned index)
{
	return UINT64_C(1) << index % 64;
}

/* Whether the client may have this server and has not had it. */
static bool
is_untried(
    const struct server *s, const struct peer *who, const struct tried *tried)
{
	if (!pool_is_listed(s))
		return !(tried->flags & TRIED_EMERGENCY);
	return !(tried->set & tried_bit(s->index)) && server_permits(s, who);
}

/* A server that came back while the client tried blacklisted ones. */
static struct server *
returned_choice(
    struct pool *p, const struct peer *who, const struct tried *tried)
{
	unsigned n, last = tried->last;

	for (n = p->usable.count; n > 0; n--) {
		last = (unsigned)usable_next_around(&p->usable, last + 1);
		if (is_untried(p->servers[last], who, tried))
			return p->servers[last];
	}
	return NULL;
}

/* Of the servers that only their blacklisting keeps out, the one whose time is up
 * first and that the client has not tried. A walk only when that is not the
 * first of the heap. */
static struct server *
first_blacklisted(
    struct pool *p, const struct peer *who, const struct tried *tried)
{
	const struct heap *h = &p->last_resort;
	const struct heap_item *best = NULL, *i;

	for (i = h->items; i < h->items + h->count; i++) {
		if ((best == NULL || i->key < best->key) &&
		    is_untried(heap_server(p, i->number), who, tried))
			best = i;
		if (best == h->items)
			break;
	}
	return best == NULL ? NULL : heap_server(p, best->number);
}

/* A client of a stubborn pool tries the server that it belongs to. */
static struct server *
stubborn_last_resort(
    struct pool *p, const struct peer *who, struct tried *tried, uint64_t now)
{
	const struct balance *b = p->options.balance;
	struct server *own = remembered(p, who, tried, now);

	if (own == NULL && b->owner != NULL)
		own = b->owner(p->order, who);
	if (own == NULL)
		return first_blacklisted(p, who, tried);
	return heap_has(&p->last_resort, heap_number(own)) &&
		server_permits(own, who)
	    ? own
	    : NULL;
}

/* The server counts as one that has just failed until it answers: clients that
 * come meanwhile try the others. */
static struct server *
last_resort(
    struct pool *p, const struct peer *who, struct tried *tried, uint64_t now)
{
	struct server *s;
	uint64_t due;

	if (p->last_resort.count == 0)
		return NULL;
	if (!p->options.stubborn)
		s = first_blacklisted(p, who, tried);
	else if (tried->count == 0 && p->usable.count == 0)
		s = stubborn_last_resort(p, who, tried, now);
	else
		s = NULL;
	if (s == NULL)
		return NULL;
	due = now + blacklist_ms(s);
	if (due < s->blacklisted_until)
		due = s->blacklisted_until;
	heap_set(&p->last_resort, heap_number(s), due);
	tried->flags |= TRIED_BLACKLISTED;
	if (!pool_is_listed(s))
		tried->flags |= TRIED_EMERGENCY;
	return s;
}

bool
pool_has_nobody_left(const struct pool *p)
{
	return p->usable.count == 0 &&
	    (p->emergency == NULL || !is_serving(p->emergency));
}

void
pool_restart_round(struct tried *tried)
{
	bool has_last = tried->count > 0;

	tried->set = has_last ? tried_bit(tried->last) : 0;
	tried->first = tried->last;
	tried->count = tried->flags == 0 && has_last;
	tried->flags = 0;
}

/* ---- the choice ---- */

struct server *
pool_choose(
    struct pool *p, const struct peer *who, struct tried *tried, uint64_t now)
{
	struct server *s = NULL;

	pool_revive(p, now);
	if (!pool_permits(p, who))
		return reserve_choice(p->abuse, tried, TRIED_ABUSE);
	if (tried->flags & TRIED_ABUSE)
		return NULL;
	if (tried->count == 0)
		s = first_choice(p, who, tried, now);
	else if (tried->flags & TRIED_BLACKLISTED && !p->options.stubborn)
		s = returned_choice(p, who, tried);
	else if (!p->options.stubborn)
		s = next_choice(p, who, tried);
	if (s == NULL && !p->options.stubborn)
		s = reserve_choice(p->emergency, tried, TRIED_EMERGENCY);
	if (s == NULL)
		s = last_resort(p, who, tried, now);
	if (s == NULL || !pool_is_listed(s))
		return s;
	if (tried->count++ == 0)
		tried->first = s->index;
	tried->last = s->index;
	tried->set |= tried_bit(s->index);
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
	(void)p;
	(void)now;
	if (s->blacklisted_until == 0)
		return;
	pool_end_blacklisting(s);
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
	uint64_t ms = blacklist_ms(s);

	(void)p;
	s->failures++;
	if (ms > 0)
		blacklist(s, now + ms);
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
