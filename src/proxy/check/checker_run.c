/* checker_run.c: when each server is checked, and the results. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/sock.h"
#include "proxy/check/checker_private.h"
#include "proxy/core/frontend_core.h"

/* Checks begun by one tick, so that clients are served in between; and from one
 * tick to the next, ms: with many servers several begin together, and their
 * answers come together, which spares as many wake-ups. */
enum { BEGIN_AT_ONCE = 256, TICK_MS = 10 };

/* The part of the interval after which a server that could not be checked, when
 * descriptors were short, is checked again. */
enum { UNASKED = 8 };

/* A check and the memory of its kind, in one piece. */
struct checker_memory {
	struct check check;
	_Alignas(max_align_t) unsigned char state[];
};

/* ---- when ---- */

uint64_t
checker_draw(struct checker *c, uint64_t below)
{
	c->drawn++;
	return hash_keyed(&c->key, &c->drawn, sizeof(c->drawn)) % below;
}

/* Wakes up when there is something to do. The timer stays set for something
 * earlier: it does no harm. */
void
checker_arm(struct checker *c)
{
	uint64_t at = UINT64_MAX, ms = checker_now(c);

	if (heap_top(&c->deadlines) != HEAP_EMPTY)
		at = heap_top_key(&c->deadlines);
	if (heap_top(&c->due) != HEAP_EMPTY && heap_top_key(&c->due) < at &&
	    c->stats.running < c->options.running_max)
		at = heap_top_key(&c->due);
	if (at < c->ticked + TICK_MS)
		at = c->ticked + TICK_MS;
	if (at >= c->armed)
		return;
	if (timer_start(c->loop, &c->timer, at > ms ? at - ms : 0) == 0)
		c->armed = at;
	else
		log_error("out of memory");
}

void
checker_wait_until(struct checker *c, unsigned slot, uint64_t ms)
{
	c->records[slot]->due = ms;
	heap_set(&c->due, slot, ms);
	checker_arm(c);
}

/* The time from the beginning of a check to that of the next one. A server that
 * could not be checked is checked again soon, as it may get no clients until
 * its state is known. */
static uint64_t
next_wait(const struct checker *c, const struct checker_record *r,
    const struct health *h, bool bad)
{
	uint64_t one = c->options.interval_ms, most = CHECKER_BACKOFF * one,
		 wait;

	if (r->result == CHECK_NONE)
		return one / UNASKED;
	if (!bad || !h->down)
		return h->against > 0 ? one / 2 : one;
	if (c->options.interval_down_ms > 0)
		return c->options.interval_down_ms;
	if (!pool_has_eligible(c->pool) || pool_panic(c->pool)->on)
		return one;
	if (most > CHECKER_BACKOFF_MS)
		most = CHECKER_BACKOFF_MS;
	wait = 2 * (r->wait_ms > one ? r->wait_ms : one);
	if (wait > most)
		wait = most;
	return wait > one ? wait : one;
}

/* Give or take a tenth. */
static void
wait_for_next(struct checker *c, unsigned slot, bool bad)
{
	struct checker_record *r = c->records[slot];
	uint64_t stray, due;

	r->wait_ms =
	    next_wait(c, r, &pool_slot(c->pool, slot)->health, bad);
	stray = r->wait_ms / 5 + 1;
	due = r->began_ms + r->wait_ms - stray / 2 + checker_draw(c, stray);
	checker_wait_until(
	    c, slot, due > checker_now(c) ? due : checker_now(c));
}

/* ---- the end of a check ---- */

static void
checker_run_free_task(struct task *t)
{
	struct check *k = container_of(t, struct check, free_task);

	check_spec_drop(k->spec);
	free(k);
}

/* Events that were fetched already may still come to the memory, but do
 * nothing. */
void
checker_stop(struct checker *c, struct check *k)
{
	struct checker_record *r = c->records[k->slot];

	k->ended = true;
	check_spec_kind(k->spec)->stop(k);
	r->running = NULL;
	c->stats.running--;
	heap_remove(&c->deadlines, k->slot);
	loop_soon(c->loop, &k->free_task);
}

static void
report_to_pool(struct checker *c, struct checker_record *r, struct server *s)
{
	char reason[CHECK_REASON_MAX + 32];

	snprintf(reason, sizeof(reason), "check %s: %s",
	    check_spec_kind(r->spec)->name, r->reason);
	(void)pool_checked(
	    c->pool, s, r->result == CHECK_GOOD, reason, checker_now(c));
}

/* ---- one check ---- */

static void checker_run_begin(
    struct checker *c, unsigned slot, unsigned first, unsigned tried);

/* Whether another address of the server may answer. */
static bool
has_more_addresses(const struct checker *c, const struct check *k)
{
	return !k->reached && c->records[k->slot]->at.len == 0 &&
	    k->tried + 1 < k->server->addrs.count;
}

/* A check has ended: after a failure the server's next address is checked.
 * Otherwise the result goes into the record and to the pool, and the next check
 * is planned. */
static void
checker_run_conclude(
    struct check *k, enum check_result result, const char *reason)
{
	struct checker *c = k->checker;
	unsigned slot = k->slot;

	k->result = result;
	checker_stop(c, k);
	if (result == CHECK_BAD && has_more_addresses(c, k)) {
		checker_run_begin(c, slot, k->first, k->tried + 1);
		return;
	}
	if (result == CHECK_NONE) {
		log_warn("server not checked server=%u name=%s error=\"%s\"%s",
		    k->server->number, k->server->name, reason,
		    c->frontend != NULL ? c->frontend->label : "");
	} else {
		struct checker_record *r = c->records[k->slot];

		r->result = result;
		r->address = k->at;
		r->ended_ms = checker_now(c);
		r->took_us = clock_monotonic_us() - k->began_us;
		snprintf(r->reason, sizeof(r->reason), "%s", reason);
		report_to_pool(c, c->records[slot], pool_slot(c->pool, slot));
	}
	wait_for_next(c, slot, result == CHECK_BAD);
}

void
check_end(struct check *c, enum check_result result, const char *fmt, ...)
{
	char reason[CHECK_REASON_MAX], *at;
	va_list args;

	if (c->ended)
		return;
	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	for (at = reason; *at != '\0'; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
		else if (*at == '"')
			*at = '\'';
	checker_run_conclude(c, result, reason);
}

void
check_end_errno(struct check *c, int error)
{
	check_end(c, sock_error_is_ours(error) ? CHECK_NONE : CHECK_BAD, "%s",
	    strerror(error));
}

/* Starts the timeout of the check. */
static void
set_deadline(struct check *c)
{
	struct checker *all = c->checker;

	c->timeout_ms = all->options.timeout_ms;
	heap_set(
	    &all->deadlines, c->slot, checker_now(all) + c->timeout_ms);
}

void
check_reached(struct check *c)
{
	if (!c->reached && c->tried > 0)
		set_deadline(c);
	c->reached = true;
}

void
check_begins(struct check *c)
{
	c->began_us = clock_monotonic_us();
	set_deadline(c);
}

const char *
check_host(const struct check *c)
{
	return server_host(c->server);
}

bool
check_is_where_clients_go(const struct check *c)
{
	uint16_t port = addr_port(&c->server->addrs.addr[0]);
	uint16_t asked = addr_port(&c->at);

	return port == asked ||
	    (port == 0 && c->frontend->serves_port(c->frontend, asked));
}

/* A check of one address of the server: `tried` addresses after `first`. NULL
 * without memory. */
static struct check *
new_check(struct checker *c, unsigned slot, unsigned first, unsigned tried)
{
	struct checker_record *r = c->records[slot];
	const struct server *s = pool_slot(c->pool, slot);
	size_t state = check_spec_kind(r->spec)->state_size;
	struct checker_memory *m =
	    calloc(1, offsetof(struct checker_memory, state) + state + 1);

	if (m == NULL)
		return NULL;
	m->check = (struct check){ .settings = check_spec_settings(r->spec),
		.state = m->state,
		.loop = c->loop,
		.frontend = c->frontend,
		.programs = c->programs,
		.server = s,
		.timeout_ms = c->options.timeout_ms,
		.waiting = "an answer",
		.checker = c,
		.spec = check_spec_hold(r->spec),
		.slot = slot,
		.first = first,
		.tried = tried,
		.began_us = clock_monotonic_us(),
		.free_task = { .run = checker_run_free_task } };
	list_init(&m->check.free_task.link);
	/* Silent addresses behind the first share the time of one, so that a
	 * server of many does not take as many times as long to be found
	 * down. */
	if (tried > 0 && m->check.timeout_ms > s->addrs.count - 1)
		m->check.timeout_ms /= s->addrs.count - 1;
	/* Traffic begins with the address that worked last, and so does a
	 * check; it goes on from there even if that is another one by then. */
	m->check.at = r->at.len > 0
	    ? r->at
	    : s->addrs.addr[(first + tried) % s->addrs.count];
	if (r->port != 0)
		addr_set_port(&m->check.at, r->port);
	return &m->check;
}

/* The memory of a check stays until this wake-up is over, whatever start()
 * does. */
static void
checker_run_begin(
    struct checker *c, unsigned slot, unsigned first, unsigned tried)
{
	struct check *k = new_check(c, slot, first, tried);

	if (k == NULL) {
		log_error("out of memory");
		wait_for_next(c, slot, false);
		return;
	}
	heap_remove(&c->due, slot);
	c->records[slot]->running = k;
	c->stats.running++;
	c->stats.begun++;
	heap_set(&c->deadlines, slot, checker_now(c) + k->timeout_ms);
	check_spec_kind(k->spec)->start(k);
	checker_arm(c);
}

/* ---- time ---- */

/* A server that answers its clients needs no check. */
static bool
answers_clients(const struct checker *c, struct server *s)
{
	if (!c->options.lazy || !server_is_healthy(s))
		return false;
	if (c->on_lazy != NULL)
		c->on_lazy(c->on_lazy_arg, s);
	return s->counters->answered_ms != 0 &&
	    checker_now(c) - s->counters->answered_ms < c->options.interval_ms;
}

static void
begin_due(struct checker *c, unsigned slot)
{
	struct checker_record *r = c->records[slot];
	struct server *s = pool_slot(c->pool, slot);

	r->began_ms = checker_now(c);
	r->hurry = r->hurry == HURRY_DUE ? HURRY_DONE : HURRY_NONE;
	if (r->hurry == HURRY_NONE && answers_clients(c, s)) {
		c->stats.skipped++;
		wait_for_next(c, slot, false);
	} else {
		checker_run_begin(c, slot, s->addr_first, 0);
	}
}

static bool
is_time(const struct heap *h, uint64_t at)
{
	return heap_top(h) != HEAP_EMPTY && heap_top_key(h) <= at;
}

void
checker_tick(struct checker *c)
{
	uint64_t at = checker_now(c);
	unsigned begun = 0;
	struct check *k;

	c->armed = UINT64_MAX;
	c->ticked = at;
	while (is_time(&c->deadlines, at)) {
		k = c->records[heap_top(&c->deadlines)]->running;
		if (k->good)
			check_end(k, CHECK_GOOD, "answered");
		else if (k->waiting != NULL)
			check_end(k, CHECK_BAD, "timed out waiting for %s",
			    k->waiting);
		else
			check_end(
			    k, CHECK_NONE, "timed out waiting for its turn");
	}
	while (is_time(&c->due, at) && begun++ < BEGIN_AT_ONCE &&
	    c->stats.running < c->options.running_max)
		begin_due(c, (unsigned)heap_top(&c->due));
	checker_arm(c);
}

void
checker_hurry(struct checker *c, const struct server *s)
{
	struct checker_record *r = checker_record_of(c, s->slot);

	if (r == NULL || r->spec == NULL)
		return;
	if (r->running != NULL || r->hurry != HURRY_NONE)
		return;
	r->hurry = HURRY_DUE;
	checker_wait_until(c, s->slot, checker_now(c));
}
