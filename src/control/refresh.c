/* refresh.c: see refresh.h. */
#include "config.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "control/refresh.h"
#include "control/upgrade.h"

struct refresh {
	struct pen *pen;
	struct timer timer;
	struct names names; /* of the lookups under way */
	unsigned failing;   /* names that failed the last time */
	uint64_t ttl_ms;    /* of what was found then; 0: not known */
	uint64_t draws;	    /* of the next interval's length */
};

/* ---- when ---- */

/* The interval, a tenth more or less, so that many directors that start at the
 * same time do not ask a name server at the same time for ever. */
static uint64_t
vary(struct refresh *r, uint64_t ms)
{
	return ms - ms / 10 + hash_mix(++r->draws) % (ms / 5 + 1);
}

/* Addresses that expire sooner are looked up sooner. */
static void
start_timer(struct refresh *r, uint64_t interval_ms)
{
	if (r->ttl_ms > 0 && r->ttl_ms < interval_ms)
		interval_ms = r->ttl_ms;
	timer_stop(&r->timer);
	if (interval_ms > 0 &&
	    timer_start(r->pen->loop, &r->timer, vary(r, interval_ms)) < 0)
		log_error("names are not looked up again error=\"out of "
			  "memory\"");
}

void
refresh_start(struct refresh *r)
{
	start_timer(r, r->pen->plan->config.names.interval_ms);
}

/* ---- what ---- */

/* One line when names begin to fail, and one when none does any more, however
 * long that takes. */
static void
tell_failures(struct refresh *r)
{
	const struct name *first;
	unsigned failing = names_failed(&r->names, &first);

	if (failing > 0 && r->failing == 0)
		log_warn("names not resolved, addresses kept names=%u "
			 "first=%s error=\"%s\"",
		    failing, first->host, first->query.error.text);
	else if (failing == 0 && r->failing > 0)
		log_info("names resolved again");
	r->failing = failing;
}

/* The plan in force, with the addresses that its names have now. It may have
 * changed while the lookups were under way: a name that was not looked up keeps
 * its addresses. */
static void
take_answers(struct refresh *r)
{
	struct plan *draft = plan_copy(r->pen->plan);
	struct error e;

	if (draft == NULL)
		error_set(&e, "out of memory");
	r->pen->who = "addresses of its name";
	if (draft == NULL || apply_plan(r->pen, draft, &r->names, &e) < 0)
		log_error("addresses of names not changed error=\"%s\"",
		    e.text);
	r->pen->who = NULL;
}

static void
on_names(struct names *n)
{
	struct refresh *r = list_entry(n, struct refresh, names);

	tell_failures(r);
	take_answers(r);
	r->ttl_ms = names_ttl_ms(n);
	names_forget(n);
	refresh_start(r);
}

static void
on_time(struct timer *t)
{
	struct refresh *r = container_of(t, struct refresh, timer);
	struct pen *p = r->pen;

	/* an upgrade lets nothing change the configuration */
	if (r->names.missing == 0 && !upgrade_is_under_way(p) &&
	    apply_want_names(p, p->plan, true, &r->names) == 0 &&
	    r->names.missing > 0) {
		names_look_up(&r->names, p->resolver, on_names);
		return;
	}
	refresh_start(r);
}

/* ---- life ---- */

struct refresh *
refresh_new(struct pen *p)
{
	struct refresh *r = calloc(1, sizeof(*r));
	struct hash_key seed;

	if (r == NULL)
		return NULL;
	hash_key_init(&seed);
	r->pen = p;
	r->draws = seed.k0;
	names_init(&r->names);
	r->names.quiet = true;
	timer_init(&r->timer, on_time);
	return r;
}

void
refresh_free(struct refresh *r)
{
	if (r == NULL)
		return;
	timer_fini(&r->timer);
	names_fini(&r->names);
	free(r);
}

void
refresh_commit(struct apply *a)
{
	uint64_t wanted = a->wanted->config.names.interval_ms;

	if (a->pen->refresh != NULL &&
	    wanted != a->now->config.names.interval_ms)
		start_timer(a->pen->refresh, wanted);
}
