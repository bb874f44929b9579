/* trend.c: samples of what the program counts. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/apply/tls_config.h"
#include "control/life/context.h"
#include "control/answer/reply.h"
#include "control/report/trend.h"

/* ---- samples ---- */

static uint64_t
total_now(const struct trend *t, enum trend_total what)
{
	const struct frontend_stats *st =
	    frontend_stats(t->pen->service->frontend);

	switch (what) {
	case TREND_ACCEPTED:
		return st->accepted;
	case TREND_UP:
		return st->up;
	case TREND_DOWN:
		return st->down;
	default:
		return st->sessions;
	}
}

/* Counters may begin again, at `clear`. */
static uint64_t
growth(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void
sample_totals(struct trend *t)
{
	int i;

	for (i = 0; i < TREND_TOTALS; i++) {
		uint64_t now = total_now(t, (enum trend_total)i);

		t->totals[i][t->next] = i == TREND_SESSIONS
		    ? now
		    : growth(now, t->before[i]) * 1000 / TREND_STEP_MS;
		t->before[i] = now;
	}
}

/* Another server in the slot begins with nothing. */
static void
sample_server(struct trend *t, struct trend_server *ts, const struct server *s)
{
	uint64_t n = growth(s->connects, ts->before);

	if (ts->generation != s->generation) {
		*ts = (struct trend_server){ .generation = s->generation };
		n = 0;
	}
	ts->connects[t->next] = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX);
	ts->before = s->connects;
}

/* What memory has no room for is missing. */
static void
sample_servers(struct trend *t)
{
	unsigned slots = pool_slots(t->pen->service->pool), i;
	struct trend_server *more = slots == 0
	    ? NULL
	    : array_grow(t->servers, &t->room, sizeof(*more), slots - 1);

	if (more != NULL)
		t->servers = more;
	for (i = 0; i < slots && i < t->room; i++)
		sample_server(
		    t, &t->servers[i], pool_slot(t->pen->service->pool, i));
}

static void
mark_now(const struct trend *t, struct trend_mark *m)
{
	const struct frontend_stats *st =
	    frontend_stats(t->pen->service->frontend);
	const struct duration *d =
	    &frontend_durations(t->pen->service->frontend)->first_byte;
	int i;

	memcpy(m->reasons, st->reasons, sizeof(m->reasons));
	m->lines_lost = st->lines_lost.sessions + st->lines_lost.requests;
	m->first_us = d->sum_us;
	m->answers = 0;
	for (i = 0; i < DURATION_BUCKETS; i++)
		m->answers += d->bucket[i];
}

static void
find_certificate(struct trend *t)
{
	struct tls_certificate c;
	unsigned i;

	t->certificate[0] = '\0';
	for (i = 0; tls_config_certificate(t->pen->service, i, &c); i++)
		if (t->certificate[0] == '\0' || c.ends < t->certificate_ends) {
			snprintf(t->certificate, sizeof(t->certificate), "%s",
			    c.name);
			t->certificate_ends = c.ends;
		}
}

static void
trend_on_time(struct timer *timer)
{
	struct trend *t = list_entry(timer, struct trend, timer);

	sample_totals(t);
	mark_now(t, &t->marks[t->mark_next]);
	t->mark_next = (t->mark_next + 1) % TREND_MINUTE;
	if (t->mark_next == 0)
		find_certificate(t);
	sample_servers(t);
	t->next = (t->next + 1) % TREND_SAMPLES;
	if (t->count < TREND_SAMPLES)
		t->count++;
	(void)timer_start(t->pen->loop, timer, TREND_STEP_MS);
}

/* ---- the last minute ---- */

/* Since the mark; since `clear` when that came later. */
static uint64_t
since(uint64_t now, uint64_t then)
{
	return now >= then ? now - then : now;
}

/* Whom the operator has ended has not failed. */
static bool
is_failure(enum reason r)
{
	return reason_status(r, false) >= 500 && r != REASON_STOPPED &&
	    r != REASON_EVICTED;
}

static bool
is_refusal(enum reason r)
{
	unsigned status = reason_status(r, false);

	return status == 400 || status == 403 || status == 429;
}

void
trend_last_minute(const struct trend *t, struct trend_minute *m)
{
	const struct trend_mark *then = &t->marks[t->mark_next];
	uint64_t n, most_failed = 0, most_refused = 0, answers;
	struct trend_mark now;
	enum reason r;

	*m = (struct trend_minute){ .ended = 0 };
	mark_now(t, &now);
	for (r = REASON_DONE; r < REASONS; r++) {
		n = since(now.reasons[r], then->reasons[r]);
		m->ended += n;
		if (is_failure(r)) {
			m->failed += n;
			if (n > most_failed) {
				most_failed = n;
				m->failed_most = r;
			}
		} else if (is_refusal(r)) {
			m->refused += n;
			if (n > most_refused) {
				most_refused = n;
				m->refused_most = r;
			}
		}
	}
	m->lines_lost = since(now.lines_lost, then->lines_lost);
	answers = since(now.answers, then->answers);
	if (answers > 0)
		m->first_byte_us =
		    since(now.first_us, then->first_us) / answers;
}

/* ---- life ---- */

struct trend *
trend_new(struct pen *p)
{
	struct trend *t = calloc(1, sizeof(*t));
	int i;

	if (t == NULL)
		return NULL;
	t->pen = p;
	for (i = 0; i < TREND_TOTALS; i++)
		t->before[i] = total_now(t, (enum trend_total)i);
	for (i = 0; i < TREND_MINUTE; i++)
		mark_now(t, &t->marks[i]);
	find_certificate(t);
	timer_init(&t->timer, trend_on_time);
	if (timer_start(p->loop, &t->timer, TREND_STEP_MS) == 0)
		return t;
	free(t);
	return NULL;
}

void
trend_free(struct trend *t)
{
	if (t == NULL)
		return;
	timer_fini(&t->timer);
	free(t->servers);
	free(t);
}

/* ---- as JSON ---- */

/* The position of the i-th sample from the oldest on. */
static unsigned
trend_position(const struct trend *t, unsigned i)
{
	return (t->next + TREND_SAMPLES - t->count + i) % TREND_SAMPLES;
}

static void
add_total(const struct trend *t, unsigned what, struct buffer *out)
{
	static const char *const names[TREND_TOTALS] = { "sessions", "accepted",
		"up", "down" };
	unsigned i;

	reply_add(out, "%s\"total %s\":[", what == 0 ? "{" : ",", names[what]);
	for (i = 0; i < t->count; i++)
		reply_add(out, "%s%llu", i > 0 ? "," : "",
		    (unsigned long long)t->totals[what][trend_position(t, i)]);
	reply_add(out, "]");
}

static void
trend_add_server(const struct trend *t, unsigned slot, struct buffer *out)
{
	const struct server *s = pool_slot(t->pen->service->pool, slot);
	const struct trend_server *ts = &t->servers[slot];
	unsigned i;

	if (s == NULL || !server_is_known(s))
		return;
	reply_add(out, ",\"server %u\":[", s->number);
	for (i = 0; i < t->count; i++)
		reply_add(out, "%s%.1f", i > 0 ? "," : "",
		    ts->connects[trend_position(t, i)] * 1000.0 /
			TREND_STEP_MS);
	reply_add(out, "]");
}

bool
trend_more(const struct trend *t, unsigned *at, struct buffer *out)
{
	unsigned most = TREND_TOTALS + t->room;

	while (*at < most && buffer_length(out) < REPLY_PIECE) {
		if (*at < TREND_TOTALS)
			add_total(t, *at, out);
		else
			trend_add_server(t, *at - TREND_TOTALS, out);
		++*at;
	}
	if (*at < most)
		return true;
	reply_add(out, "}\n");
	return false;
}
