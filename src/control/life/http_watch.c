/* http_watch.c: see http_watch.h. */
#include "config.h"

#include <stdlib.h>

#include "base/array.h"
#include "control/life/context.h"
#include "control/life/http_watch.h"
#include "pool/pool.h"

/* A minute; so few errors are none. */
enum { SAMPLES = 12, SAMPLE_MS = 5000, ERRORS_MIN = 3 };

/* What a server has counted: the low bits, which are enough for a minute. */
struct mark {
	uint32_t answers, errors;
};

struct http_window {
	struct mark marks[SAMPLES];
	unsigned generation; /* of the server whose these are */
	bool begun;
};

/* Of a service, by slot. */
struct http_windows {
	struct http_window *list;
	uint32_t room;
};

struct http_watch {
	struct pen *pen;
	struct timer timer;
	unsigned next; /* the oldest mark */
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
	w->generation = s->generation;
	w->begun = true;
}

/* What memory has no room for is missing. */
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

/* With none of them left no more are taken. */
static void
http_watch_on_time(struct timer *t)
{
	struct http_watch *w = list_entry(t, struct http_watch, timer);
	struct service *svc;

	pen_count(w->pen);
	w->runs = false;
	SERVICE_EACH (w->pen, svc)
		if (svc->http_windows != NULL) {
			sample_service(w, svc);
			w->runs = true;
		}
	w->next = (w->next + 1) % SAMPLES;
	if (w->runs)
		w->runs = timer_start(w->pen->loop, t, SAMPLE_MS) == 0;
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
	uint64_t least = svc->plan->config.http_errors, answers, errors;
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

/* ---- life ---- */

static bool
is_watched(const struct plan *p)
{
	return p->config.frontend.http.on && p->config.http_errors > 0;
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
	if (svc->http_windows == NULL)
		return;
	sample_service(w, svc);
	if (!w->runs)
		w->runs =
		    timer_start(w->pen->loop, &w->timer, SAMPLE_MS) == 0;
}

/* Without memory there are no samples. */
void
http_watch_follow(struct service *svc, const struct plan *wanted)
{
	struct pen *p = svc->pen;

	if (!is_watched(wanted)) {
		http_watch_forget(svc);
		return;
	}
	if (p->http_watch == NULL)
		p->http_watch = http_watch_new(p);
	if (p->http_watch != NULL && svc->http_windows == NULL)
		begin(p->http_watch, svc);
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
http_watch_forget(struct service *svc)
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
