/* http_watch.c: see http_watch.h. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "control/life/context.h"
#include "control/life/http_watch.h"
#include "pool/pool.h"

/* A minute; so few errors are none; how often `observe` looks. */
enum { SAMPLES = 12, SAMPLE_MS = 5000, ERRORS_MIN = 3, OBSERVE_MS = 1000 };

/* What a server has counted: the low bits, which are enough for a minute. */
struct mark {
	uint32_t answers, errors;
};

struct http_window {
	struct mark marks[SAMPLES];
	uint32_t observed;   /* errors until the period of `observe` began */
	unsigned generation; /* of the server whose these are */
	bool begun;
	bool out; /* `observe` had taken it out when it was looked at last */
};

/* Of a service, by slot. */
struct http_windows {
	struct http_window *list;
	uint32_t room;
	uint64_t observed_ms; /* when the period of `observe` began */
};

struct http_watch {
	struct pen *pen;
	struct timer timer;
	unsigned next; /* the oldest mark */
	uint64_t sample_ms; /* when it is replaced */
	bool runs;
};

/* ---- samples ---- */

/* An interim response is followed by another one. */
static struct mark
mark_now(const struct server *s)
{
	const uint64_t *n = s->counters->http;

	return (struct mark){ (uint32_t)(n[1] + n[2] + n[3] + n[4]),
		(uint32_t)n[4] };
}

/* Another server in the slot begins with nothing. */
static void
take_mark(struct http_window *w, const struct server *s, unsigned next)
{
	struct mark now = mark_now(s);
	unsigned i;

	w->marks[next] = now;
	if (w->begun && w->generation == s->generation)
		return;
	for (i = 0; i < SAMPLES; i++)
		w->marks[i] = now;
	w->observed = now.errors;
	w->out = false;
	w->generation = s->generation;
	w->begun = true;
}

/* Samples the servers of a service; those that memory has no room for are left
 * out. */
static void
sample_service(const struct http_watch *w, const struct service *svc)
{
	struct http_windows *all = svc->http_windows;
	unsigned slots = pool_slots(svc->pool), i;
	struct http_window *more = slots == 0
	    ? NULL
	    : array_grow(all->list, &all->room, sizeof(*more), slots - 1);

	if (more != NULL)
		all->list = more;
	for (i = 0; i < slots && i < all->room; i++)
		take_mark(&all->list[i], pool_slot(svc->pool, i), w->next);
}

/* ---- the last minute ---- */

/* Since `clear`, when that came later. */
static uint32_t
since(uint32_t now, uint32_t then)
{
	return (int32_t)(now - then) >= 0 ? now - then : now;
}

unsigned
http_watch_errors(const struct service *svc, const struct server *s)
{
	const struct http_windows *all = svc->http_windows;
	uint64_t least = svc->plan->config->http_errors, answers, errors;
	const struct http_window *w;
	struct mark now, then;

	if (all == NULL || s->slot >= all->room || least == 0)
		return 0;
	w = &all->list[s->slot];
	if (!w->begun || w->generation != s->generation)
		return 0;
	now = mark_now(s);
	then = w->marks[svc->pen->http_watch->next];
	answers = since(now.answers, then.answers);
	errors = since(now.errors, then.errors);
	if (answers < errors) /* `clear` came in between */
		answers = errors;
	if (errors < ERRORS_MIN || errors * 100 <= least * answers)
		return 0;
	return (unsigned)(errors * 100 / answers);
}

/* ---- observe: servers that answer errors are taken out ---- */

/* Those in rotation, and those of them that fail now, or failed before and are
 * out for it. */
struct observation {
	unsigned up, failing;
};

/* The errors of the period so far. */
static uint32_t
period_errors(const struct http_window *w, const struct server *s)
{
	return w->begun && w->generation == s->generation
	    ? since(mark_now(s).errors, w->observed)
	    : 0;
}

/* A server of the list that counts here, or NULL. */
static struct server *
observed_server(const struct service *svc, unsigned slot)
{
	struct server *s = pool_slot(svc->pool, slot);

	return s->role == SERVER_REGULAR &&
		(s->observed || server_state(s) == SERVER_UP)
	    ? s
	    : NULL;
}

/* With half as many errors as are too many it is not one server's fault. */
static struct observation
observe(const struct service *svc, uint64_t most)
{
	const struct http_windows *all = svc->http_windows;
	struct observation o = { 0, 0 };
	const struct server *s;
	unsigned i;

	for (i = 0; i < pool_slots(svc->pool) && i < all->room; i++) {
		s = observed_server(svc, i);
		if (s == NULL)
			continue;
		o.up++;
		o.failing += s->observed ||
		    (uint64_t)period_errors(&all->list[i], s) * 2 >= most;
	}
	return o;
}

static void
take_out(
    struct server *s, uint32_t errors, uint64_t period_ms, uint64_t now)
{
	char reason[SERVER_REASON_MAX];

	snprintf(reason, sizeof(reason),
	    "%" PRIu32 " errors (5xx) in %" PRIu64 " s", errors,
	    (period_ms + 999) / 1000);
	pool_observed(s, reason, now);
}

/* Begins anew to count errors of a server that gets clients again, so that it
 * is not taken out for those that it was out for. */
static void
reset_returned(const struct service *svc)
{
	const struct http_windows *all = svc->http_windows;
	struct http_window *w;
	struct server *s;
	unsigned i;

	for (i = 0; i < pool_slots(svc->pool) && i < all->room; i++) {
		w = &all->list[i];
		s = pool_slot(svc->pool, i);
		if (w->out && !s->observed)
			w->observed = mark_now(s).errors;
		w->out = s->observed;
	}
}

/* Where more than half fail, all serve; their errors still count. */
static void
judge(const struct service *svc, uint64_t now)
{
	const struct rate_limit *most = &svc->plan->config->observe;
	const struct http_windows *all = svc->http_windows;
	struct observation o = observe(svc, most->count);
	struct server *s;
	uint32_t errors;
	unsigned i;

	for (i = 0; i < pool_slots(svc->pool) && i < all->room; i++) {
		s = observed_server(svc, i);
		if (s == NULL)
			continue;
		errors = period_errors(&all->list[i], s);
		if (o.failing * 2 > o.up)
			pool_observed_enough(
			    s, "others answer errors (5xx), too");
		else if (!s->observed && errors >= most->count)
			take_out(s, errors, now - all->observed_ms, now);
		all->list[i].out = s->observed;
	}
}

static void
begin_period(const struct service *svc, uint64_t now)
{
	struct http_windows *all = svc->http_windows;
	unsigned i;

	all->observed_ms = now;
	for (i = 0; i < pool_slots(svc->pool) && i < all->room; i++)
		all->list[i].observed =
		    mark_now(pool_slot(svc->pool, i)).errors;
}

static void
observe_service(const struct service *svc, uint64_t now)
{
	const struct rate_limit *most = &svc->plan->config->observe;

	if (most->count == 0)
		return;
	reset_returned(svc);
	judge(svc, now);
	if (now - svc->http_windows->observed_ms >= most->period_ms)
		begin_period(svc, now);
}

/* ---- again and again ---- */

/* Takes the next sample; the timer stops when no service is watched any
 * more. */
static void
http_watch_on_time(struct timer *t)
{
	struct http_watch *w = list_entry(t, struct http_watch, timer);
	uint64_t now = loop_now(w->pen->loop), ms = SAMPLE_MS;
	bool sample = now >= w->sample_ms;
	struct service *svc;

	pen_count(w->pen);
	w->runs = false;
	SERVICE_EACH (w->pen, svc) {
		if (svc->http_windows == NULL)
			continue;
		w->runs = true;
		if (sample)
			sample_service(w, svc);
		observe_service(svc, now);
		if (svc->plan->config->observe.count > 0)
			ms = OBSERVE_MS;
	}
	if (sample) {
		w->next = (w->next + 1) % SAMPLES;
		w->sample_ms = now + SAMPLE_MS;
	}
	if (w->runs)
		w->runs = timer_start(w->pen->loop, t, ms) == 0;
}

/* ---- life ---- */

static bool
is_watched(const struct plan *p)
{
	return p->config->frontend.http.on &&
	    (p->config->http_errors > 0 || p->config->observe.count > 0);
}

static struct http_watch *
http_watch_new(struct pen *p)
{
	struct http_watch *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->pen = p;
	timer_init(&w->timer, http_watch_on_time);
	return w;
}

static void
begin(struct http_watch *w, struct service *svc)
{
	svc->http_windows = calloc(1, sizeof(*svc->http_windows));
	if (svc->http_windows != NULL)
		sample_service(w, svc);
}

/* The first look comes soon: it may be that of `observe`. */
static void
run(struct http_watch *w)
{
	w->runs = timer_start(w->pen->loop, &w->timer, OBSERVE_MS) == 0;
}

/* Gives the servers that were taken out clients again. */
static void
end_observation(const struct service *svc)
{
	unsigned i;

	for (i = 0; i < pool_slots(svc->pool); i++)
		pool_observed_enough(
		    pool_slot(svc->pool, i), "no longer observed");
}

/* Begins or ends the watch of a service, as `wanted` sets it. Without memory
 * there are no samples. */
void
http_watch_follow(struct service *svc, const struct plan *wanted)
{
	struct pen *p = svc->pen;

	if (wanted->config->observe.count == 0)
		end_observation(svc);
	if (!is_watched(wanted)) {
		http_watch_remove(svc);
		return;
	}
	if (p->http_watch == NULL)
		p->http_watch = http_watch_new(p);
	if (p->http_watch == NULL)
		return;
	if (svc->http_windows == NULL)
		begin(p->http_watch, svc);
	if (svc->http_windows == NULL)
		return;
	if (wanted->config->observe.count == 0)
		svc->http_windows->observed_ms = 0;
	else if (svc->http_windows->observed_ms == 0)
		begin_period(svc, loop_now(p->loop));
	run(p->http_watch);
}

void
http_watch_restart(struct pen *p)
{
	struct service *svc;
	uint32_t i;

	SERVICE_EACH (p, svc) {
		if (svc->http_windows == NULL)
			continue;
		for (i = 0; i < svc->http_windows->room; i++)
			svc->http_windows->list[i].begun = false;
		sample_service(p->http_watch, svc);
	}
}

void
http_watch_remove(struct service *svc)
{
	if (svc->http_windows != NULL)
		free(svc->http_windows->list);
	free(svc->http_windows);
	svc->http_windows = NULL;
}

void
http_watch_free(struct http_watch *w)
{
	if (w == NULL)
		return;
	timer_fini(&w->timer);
	free(w);
}
