/* checker.c: the list of servers that are checked, and how. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "proxy/check/checker_private.h"

/* ---- servers and settings ---- */

static int
reserve_slots(struct checker *c, unsigned slots)
{
	struct checker_record **grown;

	if (heap_reserve(&c->due, slots) < 0 ||
	    heap_reserve(&c->deadlines, slots) < 0)
		return -1;
	grown = array_grow(
	    c->records, &c->slots, sizeof(struct checker_record *), slots - 1);
	if (grown == NULL)
		return -1;
	c->records = grown;
	return 0;
}

int
checker_reserve(struct checker *c, unsigned slot)
{
	if (reserve_slots(c, slot + 1) < 0)
		return -1;
	if (c->records[slot] == NULL)
		c->records[slot] = calloc(1, sizeof(**c->records));
	return c->records[slot] != NULL ? 0 : -1;
}

/* Until the next check of the server in the slot, at most: a server that is
 * down may have an interval of its own. */
static uint64_t
longest_wait(const struct checker *c, unsigned slot)
{
	const struct checker_options *o = &c->options;
	const struct server *s = pool_slot(c->pool, slot);
	bool down = s != NULL && s->health.down && o->interval_down_ms > 0;

	return down && o->interval_down_ms < o->interval_ms
	    ? o->interval_down_ms
	    : o->interval_ms;
}

/* An interval of servers that are down may be shorter than the one before
 * although its number is greater: 0 stands for one that grows. */
void
checker_set_options(struct checker *c, const struct checker_options *o)
{
	bool sooner = o->interval_ms < c->options.interval_ms ||
	    o->interval_down_ms != c->options.interval_down_ms;
	uint64_t now = checker_now(c), most;
	unsigned slot;

	c->options = *o;
	for (slot = 0; sooner && slot < c->slots; slot++) {
		most = longest_wait(c, slot);
		if (heap_has(&c->due, slot) &&
		    c->records[slot]->due > now + most)
			checker_wait_until(
			    c, slot, now + checker_draw(c, most + 1));
	}
	checker_arm(c);
}

static bool
checker_is_same(const struct checker_record *r, const struct checker_target *t,
    const struct server *s)
{
	return check_spec_equal(r->spec, t->spec) && r->port == t->port &&
	    r->generation == s->generation && r->at.len == t->at.len &&
	    (r->at.len == 0 || addr_equal(&r->at, &t->at));
}

static void
checker_remove(struct checker *c, unsigned slot)
{
	struct checker_record *r = checker_record_of(c, slot);

	if (r == NULL)
		return;
	if (r->running != NULL)
		checker_stop(c, r->running);
	heap_remove(&c->due, slot);
	check_spec_drop(r->spec);
	memset(r, 0, sizeof(*r));
}

void
checker_set(
    struct checker *c, unsigned slot, const struct checker_target *t, bool soon)
{
	struct checker_record *r = checker_record_of(c, slot);
	const struct server *s = pool_slot(c->pool, slot);

	if (t->spec == NULL || s == NULL || !s->present) {
		checker_remove(c, slot);
		return;
	}
	if (r->spec != NULL && checker_is_same(r, t, s))
		return;
	checker_remove(c, slot);
	r->spec = check_spec_hold(t->spec);
	r->port = t->port;
	r->at = t->at;
	r->generation = s->generation;
	r->wait_ms = c->options.interval_ms;
	checker_wait_until(c, slot,
	    checker_now(c) +
		(soon ? 0 : checker_draw(c, c->options.interval_ms + 1)));
}

/* ---- reports ---- */

bool
checker_report(const struct checker *c, unsigned slot, struct checker_report *w)
{
	const struct checker_record *r = checker_record_of(c, slot);

	if (r == NULL || r->spec == NULL)
		return false;
	*w = (struct checker_report){ .spec = r->spec,
		.result = r->result,
		.reason = r->reason,
		.address = &r->address,
		.took_us = r->took_us,
		.ended_ms = r->ended_ms };
	if (r->running == NULL && r->due > checker_now(c))
		w->next_ms = r->due - checker_now(c);
	return true;
}

const struct checker_stats *
checker_stats(const struct checker *c)
{
	return &c->stats;
}

void
checker_clear_stats(struct checker *c)
{
	c->stats = (struct checker_stats){ .running = c->stats.running };
}

/* ---- life ---- */

static void
checker_on_time(struct timer *t)
{
	checker_tick(container_of(t, struct checker, timer));
}

struct checker *
checker_new(struct loop *l, struct pool *p, struct frontend_core *f)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->loop = l;
	c->pool = p;
	c->frontend = f;
	c->armed = UINT64_MAX;
	c->options = (struct checker_options){
		.interval_ms = 2000, .timeout_ms = 1000, .running_max = 256
	};
	heap_init(&c->due);
	heap_init(&c->deadlines);
	hash_key_init(&c->key);
	timer_init(&c->timer, checker_on_time);
	return c;
}

void
checker_on_lazy(
    struct checker *c, void (*fn)(void *arg, struct server *s), void *arg)
{
	c->on_lazy = fn;
	c->on_lazy_arg = arg;
}

void
checker_set_programs(struct checker *c, struct programs *p)
{
	c->programs = p;
}

void
checker_free(struct checker *c)
{
	unsigned slot;

	if (c == NULL)
		return;
	for (slot = 0; slot < c->slots; slot++) {
		checker_remove(c, slot);
		free(c->records[slot]);
	}
	timer_fini(&c->timer);
	heap_fini(&c->due);
	heap_fini(&c->deadlines);
	free(c->records);
	free(c);
}
