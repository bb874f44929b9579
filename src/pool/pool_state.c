/* pool_state.c: the state of servers, and which are eligible because of it.
 *
 *     list ---pool_refresh()---> eligible, order  may take a new client
 *       |                    '-> last_resort      only blacklisted
 *       '---revive heap---> pool_refresh()        a blacklisting has ended
 *
 * Every change of a server ends in pool_refresh(), which alone decides whether
 * the server is eligible; of all servers at once when panic begins or ends. */
#include "config.h"

#include "pool/panic.h"
#include "pool/pool_private.h"

const struct eligible *
pool_eligible(const struct pool *p)
{
	return &p->eligible;
}

unsigned
pool_weight(const struct pool *p, const struct server *s)
{
	return p->weighted > 0 ? s->set.weight : 1;
}

/* ---- which servers are eligible ---- */

bool
pool_keeps_out(const struct server *s)
{
	return s->health.down && !(s->failing && s->pool->panic.on);
}

static bool
is_in_service(const struct server *s)
{
	return s->present && !pool_keeps_out(s) && s->admin != SERVER_DISABLED;
}

/* Whether the operator wants it to have new clients. */
static bool
is_in_rotation(const struct server *s)
{
	const struct pool *p = s->pool;

	return s->admin == SERVER_ENABLED &&
	    (!p->options.balance->weighted || pool_weight(p, s) > 0);
}

/* Whether it may serve a client that was there before, blacklisted or not. */
static bool
takes_old_clients(const struct server *s)
{
	return is_in_service(s) &&
	    (s->set.hard == 0 || pool_connections(s) < s->set.hard);
}

/* The same for a new client. The soft limit keeps out new clients only. */
static bool
takes_new_clients(const struct server *s)
{
	return takes_old_clients(s) &&
	    (s->set.soft == 0 || pool_connections(s) < s->set.soft) &&
	    is_in_rotation(s);
}

bool
pool_is_serving(const struct server *s)
{
	return s->blacklisted_until == 0 && takes_old_clients(s);
}

/* Whether nothing but its blacklisting for a failure keeps it out. */
static bool
is_last_resort(const struct server *s)
{
	if (s->blacklisted_until == 0 || s->by_operator ||
	    s->role == SERVER_ABUSE)
		return false;
	/* Neither its soft limit nor drain keeps clients from the emergency
	 * server. */
	return s->role == SERVER_EMERGENCY ? takes_old_clients(s)
					   : takes_new_clients(s);
}

static void
refresh_full(struct server *s)
{
	bool full = s->blacklisted_until == 0 && is_in_service(s) &&
	    is_in_rotation(s) && !takes_new_clients(s);

	if (full != s->full)
		s->pool->full += full ? 1u : -1u;
	s->full = full;
}

void
pool_set_ineligible(struct server *s)
{
	struct pool *p = s->pool;

	if (!eligible_has(&p->eligible, s->slot))
		return;
	eligible_remove(&p->eligible, s->slot);
	if (p->options.balance->leave != NULL)
		p->options.balance->leave(p->order, s);
}

/* Brings the sets in step with the server. If memory for the order is short,
 * the server stays out until its next change. */
static void
refresh_sets(struct server *s)
{
	struct pool *p = s->pool;
	const struct balance *b = p->options.balance;
	bool was = eligible_has(&p->eligible, s->slot), is, served;

	if (s->blacklisted_until != 0 && !is_last_resort(s))
		heap_remove(&p->last_resort, s->slot);
	else if (s->blacklisted_until != 0 &&
	    !heap_has(&p->last_resort, s->slot))
		heap_set(&p->last_resort, s->slot, s->blacklisted_until);
	if (s->role != SERVER_REGULAR)
		return;
	is = s->blacklisted_until == 0 && takes_new_clients(s);
	if (was && is)
		return;
	refresh_full(s);
	served = s->serving;
	s->serving = pool_is_serving(s);
	if (was) {
		pool_set_ineligible(s);
		return;
	}
	if (is && (b->enter == NULL || b->enter(p->order, s) == 0))
		eligible_add(&p->eligible, s->slot);
	else if (is || !s->serving || served)
		return;
	if (p->on_eligible != NULL)
		p->on_eligible(p->on_eligible_arg, s->slot);
}

static void
refresh_all_sets(struct pool *p)
{
	unsigned i;

	for (i = SLOTS_SPECIAL; i < p->slots; i++)
		refresh_sets(p->servers[i]);
}

/* ---- too few are up ---- */

const struct pool_panic *
pool_panic(const struct pool *p)
{
	return &p->panic;
}

static void
count_for_panic(struct server *s)
{
	panic_count(&s->pool->panic, s,
	    s->role == SERVER_REGULAR && s->present && s->checked &&
		!s->by_operator && is_in_rotation(s));
}

/* Whether panic has begun or ended: the sets of all are out of step then. */
static bool
review_panic(struct pool *p)
{
	const struct pool_watcher *w = &p->watcher;

	if (!panic_review(&p->panic, p->options.panic))
		return false;
	if (w->on_panic != NULL)
		w->on_panic(w->arg, &p->panic);
	return true;
}

void
pool_refresh(struct server *s)
{
	struct pool *p = s->pool;

	count_for_panic(s);
	p->reweighted |= p->was_weighted != (p->weighted > 0);
	if (!p->changing && review_panic(p))
		refresh_all_sets(p);
	else
		refresh_sets(s);
}

/* ---- slow starts ---- */

static void
set_cold(struct server *s, unsigned cold)
{
	struct pool *p = s->pool;

	s->cold = (uint8_t)cold;
	if (p->options.balance->changed != NULL &&
	    eligible_has(&p->eligible, s->slot))
		p->options.balance->changed(p->order, s);
}

static uint64_t
slow_start_ms(const struct server *s)
{
	return s->set.slow_start_ms > 0 ? s->set.slow_start_ms
					: s->pool->options.slow_start_ms;
}

/* The share that the time since it came up gives it, and when the next step is
 * due. */
static void
step_slow_start(struct server *s, uint64_t now)
{
	struct heap *h = &s->pool->slow;
	uint64_t ms = slow_start_ms(s), since = s->history.since_ms, steps;

	steps = ms > 0 ? (now - since) * SERVER_SHARES / ms : SERVER_SHARES;
	if (steps >= SERVER_SHARES - 1) {
		heap_remove(h, s->slot);
		set_cold(s, 0);
		return;
	}
	heap_set(h, s->slot, since + ((steps + 1) * ms / SERVER_SHARES) + 1);
	set_cold(s, SERVER_SHARES - 1 - (unsigned)steps);
}

void
pool_resume_slow_start(struct server *s, uint64_t now)
{
	if (s->role == SERVER_REGULAR && s->history.state == SERVER_UP &&
	    s->history.changes > 0)
		step_slow_start(s, now);
}

void
pool_report(struct server *s, const char *reason)
{
	enum server_state was = s->history.state;

	history_report(s, &s->pool->watcher, reason);
	if (s->history.state == was || s->role != SERVER_REGULAR)
		return;
	/* A server that came up begins with the smallest share; one that is not
	 * up has nothing to begin. */
	if (s->history.state == SERVER_UP && slow_start_ms(s) > 0) {
		step_slow_start(s, s->history.since_ms);
	} else if (s->cold > 0) {
		heap_remove(&s->pool->slow, s->slot);
		set_cold(s, 0);
	}
}

void
pool_report_down(struct server *s, const char *reason)
{
	const struct pool_watcher *w = &s->pool->watcher;

	if (server_state(s) != SERVER_DOWN && w->on_down != NULL)
		w->on_down(w->arg, s, reason);
}

void
pool_report_up(struct server *s)
{
	const struct pool_watcher *w = &s->pool->watcher;

	if (w->on_well != NULL)
		w->on_well(w->arg, s);
}

/* ---- all servers ---- */

void
pool_reorder(struct pool *p)
{
	unsigned i;

	for (i = SLOTS_SPECIAL; i < p->slots; i++)
		pool_set_ineligible(p->servers[i]);
}

void
pool_enter_all(struct pool *p)
{
	unsigned i;

	for (i = SLOTS_SPECIAL; i < p->slots; i++)
		count_for_panic(p->servers[i]);
	(void)review_panic(p);
	refresh_all_sets(p);
}

void
pool_begin_changes(struct pool *p, const char *why)
{
	p->changing = true;
	p->why = why != NULL ? why : "";
	p->was_weighted = p->weighted > 0;
	p->reweighted = false;
}

/* A server that changed is in its place already. All are only moved when all of
 * their weights mean something else, or did when one of them was set. */
int
pool_end_changes(struct pool *p)
{
	const struct balance *b = p->options.balance;
	bool all = p->reweighted;
	int rc = 0;

	p->changing = false;
	p->why = "";
	if (all)
		pool_reorder(p);
	if ((all || p->list_changed) && b->listed != NULL)
		rc = b->listed(p->order);
	if (all || review_panic(p))
		pool_enter_all(p);
	p->list_changed = false;
	return rc;
}

void
pool_end_blacklisting(struct server *s)
{
	heap_remove(&s->pool->revive, s->slot);
	heap_remove(&s->pool->last_resort, s->slot);
	s->blacklisted_until = 0;
	s->by_operator = s->observed = false;
}

void
pool_revive(struct pool *p, uint64_t now)
{
	struct server *s;
	int64_t slot;
	uint64_t ms;

	while ((slot = heap_top(&p->slow)) != HEAP_EMPTY &&
	    heap_top_key(&p->slow) <= now)
		step_slow_start(p->servers[slot], now);
	while ((slot = heap_top(&p->revive)) != HEAP_EMPTY &&
	    heap_top_key(&p->revive) <= now) {
		s = p->servers[slot];
		/* A suspect server whose last check failed is not cleared by
		 * time: further checks clear it, or mark it down. */
		if (!s->by_operator && server_state(s) == SERVER_SUSPECT &&
		    s->health.against > 0) {
			ms = pool_blacklist_ms(s);
			pool_set_blacklisted(s,
			    now + (ms > REFUSED_MS ? ms : REFUSED_MS), false);
			continue;
		}
		pool_end_blacklisting(s);
		pool_refresh(s);
		pool_report(s, "blacklist time expired");
	}
}

uint64_t
pool_next_revival(const struct pool *p)
{
	return heap_top(&p->revive) != HEAP_EMPTY ? heap_top_key(&p->revive)
						  : UINT64_MAX;
}

uint64_t
pool_blacklist_ms(const struct server *s)
{
	return s->set.blacklist_ms > 0 ? s->set.blacklist_ms
				   : s->pool->options.blacklist_ms;
}

void
pool_set_blacklisted(struct server *s, uint64_t until, bool by_operator)
{
	pool_end_blacklisting(s);
	s->blacklisted_until = until;
	s->by_operator = by_operator;
	heap_set(&s->pool->revive, s->slot, until);
	pool_refresh(s);
}
