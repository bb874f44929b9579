/* refresh.c: see refresh.h. */
#include "config.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/refresh.h"
#include "control/apply/services.h"

/* A round goes in portions, between which traffic has its turn: there may be
 * very many names. */
enum { PORTION = 500, UPGRADE_MS = 1000 };

/* The system's resolver, which finds names at startup, has no times to live:
 * they are looked up once more after this part of it. */
enum { UNKNOWN_TTL_MS = 1000 };

/* While a server waits for its address. */
enum { UNRESOLVED_MS = 2000 };

enum step {
	STEP_WAIT,    /* until the next round is due */
	STEP_COLLECT, /* the names of some servers more */
	STEP_ASK,     /* the resolver */
	STEP_TAKE,    /* the addresses of some servers more */
	STEP_FORGET   /* some names more */
};

struct refresh {
	struct pen *pen;
	struct timer timer;
	enum step step;
	struct names names; /* of the round; its range is the portion's */
	unsigned at;	    /* the number of its service, in the list */
	unsigned failing;   /* names that failed the last time */
	uint64_t ttl_ms;    /* of what was found then; 0: not known */
	unsigned waiting;   /* servers without an address, then */
	uint64_t interval_ms; /* that was in force then */
	uint64_t draws;	    /* of the next interval's length */
};

/* ---- when ---- */

/* The interval, a tenth more or less, so that many directors that start at the
 * same time do not query a name server at the same time for ever. */
static uint64_t
vary(struct refresh *r, uint64_t ms)
{
	return ms - ms / 10 + hash_mix(++r->draws) % (ms / 5 + 1);
}

/* Servers without an address. */
static unsigned
count_unresolved(const struct pen *p)
{
	const struct service *svc;
	unsigned n = 0;

	SERVICE_EACH (p, svc)
		n += pool_unresolved(svc->pool);
	return n;
}

/* Addresses that expire sooner are looked up sooner. */
static void
refresh_start_timer(struct refresh *r)
{
	uint64_t interval_ms = r->pen->plan->process->resolve_interval_ms;

	r->interval_ms = interval_ms;
	if (r->ttl_ms > 0 && r->ttl_ms < interval_ms)
		interval_ms = r->ttl_ms;
	r->waiting = count_unresolved(r->pen);
	if (r->waiting > 0 && interval_ms > UNRESOLVED_MS)
		interval_ms = UNRESOLVED_MS;
	timer_stop(&r->timer);
	if (interval_ms > 0 &&
	    timer_start(r->pen->loop, &r->timer, vary(r, interval_ms)) < 0)
		log_error("names are not looked up again error=\"out of "
			  "memory\"");
}

static void
wait_for_round(struct refresh *r)
{
	r->step = STEP_WAIT;
	refresh_start_timer(r);
}

void
refresh_start(struct refresh *r)
{
	r->ttl_ms = r->pen->names_ttl_ms;
	wait_for_round(r);
}

/* The next portion of a step; a round whose timer fails ends there. */
static void
refresh_go_on(struct refresh *r, enum step step, uint64_t ms)
{
	r->step = step;
	if (timer_start(r->pen->loop, &r->timer, ms) == 0)
		return;
	names_clear(&r->names);
	wait_for_round(r);
}

/* ---- what ---- */

/* Logs a line when names begin to fail, and another when none fails any more,
 * however long that takes. */
static void
refresh_emit_failures(struct refresh *r)
{
	const struct name *first = r->names.first_failed;
	unsigned failing = r->names.failed;

	if (failing > 0 && r->failing == 0)
		log_warn("name lookups failed, keeping addresses names=%u "
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
		log_error(
		    "addresses of names not changed error=\"%s\"", e.text);
	r->pen->who = NULL;
}

/* ---- a round ---- */

/* The range is that of the next portion with names; false when there is none.
 * One of a service that is added or removed meanwhile may be left out, until
 * the next round. */
static bool
next_portion(struct refresh *r)
{
	struct names *n = &r->names;

	for (;;) {
		n->service = service_at(r->pen, r->at);
		if (n->service == NULL)
			return false;
		n->from = n->past;
		n->past += PORTION;
		if (n->from >= plan_slots(n->service->plan)) {
			n->past = 0;
			r->at++;
		} else if (!n->service->leaves &&
		    apply_servers_have_names(
			n->service->plan, names_range(n, n->service))) {
			return true;
		}
	}
}

static void
first_portion(struct refresh *r, enum step step)
{
	r->names.from = r->names.past = r->at = 0;
	refresh_go_on(r, step, 0);
}

static void
refresh_on_names(struct names *n)
{
	struct refresh *r = list_entry(n, struct refresh, names);

	refresh_emit_failures(r);
	r->ttl_ms = n->ttl_ms;
	first_portion(r, STEP_TAKE);
}

static void
refresh_collect(struct refresh *r)
{
	struct names *n = &r->names;

	if (next_portion(r) &&
	    apply_servers_want_names(n->service, n->service->plan, n) == 0) {
		refresh_go_on(r, STEP_COLLECT, 0);
	} else if (n->missing > 0) {
		r->step = STEP_ASK;
		names_look_up(n, r->pen->resolver, refresh_on_names);
	} else {
		wait_for_round(r);
	}
}

/* An upgrade lets nothing change the configuration. */
static void
refresh_take(struct refresh *r)
{
	if (r->pen->upgrade != NULL) {
		refresh_go_on(r, STEP_TAKE, UPGRADE_MS);
	} else if (next_portion(r)) {
		take_answers(r);
		refresh_go_on(r, STEP_TAKE, 0);
	} else {
		refresh_go_on(r, STEP_FORGET, 0);
	}
}

static void
refresh_on_time(struct timer *t)
{
	struct refresh *r = container_of(t, struct refresh, timer);

	switch (r->step) {
	case STEP_WAIT:
		if (r->pen->upgrade != NULL)
			wait_for_round(r);
		else
			first_portion(r, STEP_COLLECT);
		break;
	case STEP_COLLECT:
		refresh_collect(r);
		break;
	case STEP_ASK: /* refresh_on_names() goes on */
		break;
	case STEP_TAKE:
		refresh_take(r);
		break;
	case STEP_FORGET:
		if (names_clear_some(&r->names, PORTION))
			refresh_go_on(r, STEP_FORGET, 0);
		else
			wait_for_round(r);
		break;
	}
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
	timer_init(&r->timer, refresh_on_time);
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

uint64_t
refresh_ttl(const struct names *n)
{
	return n->ttl_ms > 0 || list_is_empty(&n->all) ? n->ttl_ms
						       : UNKNOWN_TTL_MS;
}

void
refresh_settle(struct pen *p, const struct names *n)
{
	struct refresh *r = p->refresh;
	bool sooner;

	if (r == NULL || r->step != STEP_WAIT)
		return;
	sooner = n->ttl_ms > 0 && (r->ttl_ms == 0 || n->ttl_ms < r->ttl_ms);
	if (sooner)
		r->ttl_ms = n->ttl_ms;
	if (sooner || r->interval_ms != p->plan->process->resolve_interval_ms ||
	    count_unresolved(p) > r->waiting)
		refresh_start_timer(r);
}
