/* trend.c: samples of what the program counts. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "control/apply/services.h"
#include "control/apply/tls_config.h"
#include "control/life/context.h"
#include "control/answer/reply.h"
#include "control/report/trend.h"
#include "dsr/director/director.h"

/* ---- samples ---- */

static struct frame_count
frames_now(const struct service *svc)
{
	return svc->director != NULL ? director_forwarded(svc->director)
				     : (struct frame_count){ 0, 0 };
}

static uint64_t
total_now(const struct service *svc, enum trend_total what)
{
	const struct frontend_stats *st = frontend_stats(svc->frontend);

	switch (what) {
	case TREND_ACCEPTED:
		return st->accepted;
	case TREND_UP:
		return st->up;
	case TREND_DOWN:
		return st->down;
	case TREND_FRAMES:
		return frames_now(svc).frames;
	case TREND_FRAME_BYTES:
		return frames_now(svc).bytes;
	case TREND_QUERIES:
		return st->dns.queries;
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
sample_totals(struct trend *t, const struct service *svc, unsigned next)
{
	int i;

	for (i = 0; i < TREND_TOTALS; i++) {
		uint64_t now = total_now(svc, (enum trend_total)i);

		t->totals[i][next] = (float)(i == TREND_SESSIONS
			? now
			: growth(now, t->before[i]) * 1000 / TREND_STEP_MS);
		t->before[i] = now;
	}
}

/* Another server in the slot begins with nothing. */
static void
sample_server(struct trend_server *ts, const struct server *s, unsigned next)
{
	uint64_t n = growth(s->counters->connects, ts->before);

	if (ts->generation != s->generation) {
		*ts = (struct trend_server){ .generation = s->generation };
		n = 0;
	}
	ts->connects[next] = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX);
	ts->before = s->counters->connects;
}

/* Samples all servers; those that memory has no room for are left out. */
static void
sample_servers(struct trend *t, const struct pool *pool, unsigned next)
{
	unsigned slots = pool_slots(pool), i;
	struct trend_server *more = slots == 0
	    ? NULL
	    : array_grow(t->servers, &t->room, sizeof(*more), slots - 1);

	if (more != NULL)
		t->servers = more;
	for (i = 0; i < slots && i < t->room; i++)
		sample_server(&t->servers[i], pool_slot(pool, i), next);
}

/* Reads the counters that the difference of two marks is made of. */
static void
read_mark(const struct service *svc, struct trend_mark *m)
{
	const struct frontend_stats *st = frontend_stats(svc->frontend);
	const struct duration *d = &st->durations.first_byte;
	int i;

	for (i = 0; i < REASONS; i++)
		m->reasons[i] = (uint32_t)st->reasons[i];
	m->lines_lost = (uint32_t)(st->lines_lost.sessions +
	    st->lines_lost.requests + st->lines_lost.own);
	m->dns = 0;
	for (i = 0; i < DNS_ANSWER_KINDS; i++)
		m->dns += st->dns.answers[i];
	m->servfail = st->dns.answers[DNS_ANSWER_SERVFAIL];
	m->first_us = d->sum_us;
	m->answers = 0;
	for (i = 0; i < DURATION_BUCKETS; i++)
		m->answers += d->bucket[i];
}

static void
find_certificate(struct trend *t, const struct service *svc)
{
	struct tls_certificate c;
	unsigned i;

	t->looked = true;
	t->certificate[0] = '\0';
	for (i = 0; tls_config_certificate(svc, i, &c); i++)
		if (t->certificate[0] == '\0' || c.ends < t->certificate_ends) {
			snprintf(t->certificate, sizeof(t->certificate), "%s",
			    c.name);
			t->certificate_ends = c.ends;
		}
}

static void
take_sample(const struct trends *ts, struct trend *t, const struct service *svc)
{
	sample_totals(t, svc, ts->next);
	read_mark(svc, &t->marks[ts->mark_next]);
	if (ts->mark_next == TREND_MINUTE - 1)
		t->looked = false;
	sample_servers(t, svc->pool, ts->next);
}

static void
trends_on_time(struct timer *timer)
{
	struct trends *ts = list_entry(timer, struct trends, timer);
	struct service *svc;

	pen_count(ts->pen);
	trends_follow(ts);
	SERVICE_EACH (ts->pen, svc)
		if (svc->trend != NULL)
			take_sample(ts, svc->trend, svc);
	ts->mark_next = (ts->mark_next + 1) % TREND_MINUTE;
	ts->next = (ts->next + 1) % TREND_SAMPLES;
	if (ts->count < TREND_SAMPLES)
		ts->count++;
	(void)timer_start(ts->pen->loop, timer, TREND_STEP_MS);
}

/* ---- the last minute ---- */

/* Since the mark; since `clear` when that came later. */
static uint64_t
since(uint64_t now, uint64_t then)
{
	return now >= then ? now - then : now;
}

/* A session that the operator has ended has not failed. */
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
trend_last_minute(
    const struct trends *ts, const struct service *svc, struct trend_minute *m)
{
	const struct trend *t = svc->trend;
	const struct trend_mark *then;
	uint64_t n, most_failed = 0, most_refused = 0;
	struct trend_mark now;
	enum reason r;

	*m = (struct trend_minute){ .ended = 0 };
	if (t == NULL)
		return;
	then = &t->marks[ts->mark_next];
	read_mark(svc, &now);
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
	m->answers = since(now.answers, then->answers);
	m->dns = since(now.dns, then->dns);
	m->servfail = since(now.servfail, then->servfail);
	if (m->answers > 0)
		m->first_byte_us =
		    since(now.first_us, then->first_us) / m->answers;
}

/* ---- life ---- */

static struct trend *
trend_new(const struct service *svc)
{
	struct trend *t = calloc(1, sizeof(*t));
	int i;

	if (t == NULL)
		return NULL;
	for (i = 0; i < TREND_TOTALS; i++)
		t->before[i] = total_now(svc, (enum trend_total)i);
	for (i = 0; i < TREND_MINUTE; i++)
		read_mark(svc, &t->marks[i]);
	return t;
}

static void
trend_free(struct service *svc)
{
	if (svc->trend != NULL)
		free(svc->trend->servers);
	free(svc->trend);
	svc->trend = NULL;
}

void
trends_stop(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		trend_free(svc);
}

/* While the program starts, certificates are still to be loaded. */
void
trends_follow(struct trends *ts)
{
	struct service *svc;

	SERVICE_EACH (ts->pen, svc) {
		if (svc->trend == NULL && svc->frontend != NULL)
			svc->trend = trend_new(svc);
		svc->forget = trend_free;
		if (svc->trend != NULL && !svc->trend->looked &&
		    ts->pen->phase >= PHASE_SERVING)
			find_certificate(svc->trend, svc);
	}
}

struct trends *
trends_new(struct pen *p)
{
	struct trends *ts = calloc(1, sizeof(*ts));

	if (ts == NULL)
		return NULL;
	ts->pen = p;
	trends_follow(ts);
	timer_init(&ts->timer, trends_on_time);
	if (timer_start(p->loop, &ts->timer, TREND_STEP_MS) == 0)
		return ts;
	free(ts);
	return NULL;
}

void
trends_free(struct trends *ts)
{
	if (ts == NULL)
		return;
	timer_fini(&ts->timer);
	free(ts);
}

/* ---- as JSON ---- */

/* The position of the i-th sample from the oldest on. */
static unsigned
trend_position(const struct trends *ts, unsigned i)
{
	return (ts->next + TREND_SAMPLES - ts->count + i) % TREND_SAMPLES;
}

/* The total at that position, of the service `only`, or of all. */
static uint64_t
total_at(const struct trends *ts, const struct trend *only, unsigned what,
    unsigned position)
{
	const struct service *svc;
	uint64_t sum = 0;

	if (only != NULL)
		return (uint64_t)only->totals[what][position];
	SERVICE_EACH (ts->pen, svc)
		if (svc->trend != NULL)
			sum += (uint64_t)svc->trend->totals[what][position];
	return sum;
}

static void
add_total(const struct trends *ts, const struct trend *only, unsigned what,
    struct buffer *out)
{
	static const char *const names[TREND_TOTALS] = { "sessions", "accepted",
		"up", "down", "frames", "frame_bytes", "queries" };
	unsigned i;

	reply_add(out, "%s\"total %s\":[", what == 0 ? "{" : ",", names[what]);
	for (i = 0; i < ts->count; i++)
		reply_add(out, "%s%llu", i > 0 ? "," : "",
		    (unsigned long long)total_at(
			ts, only, what, trend_position(ts, i)));
	reply_add(out, "]");
}

static void
trend_add_server(const struct trends *ts, const struct trend_server *server,
    const struct server *s, struct buffer *out)
{
	unsigned i;

	if (s == NULL || !server_is_known(s))
		return;
	reply_add(out, ",\"server %u\":[", s->number);
	for (i = 0; i < ts->count; i++)
		reply_add(out, "%s%.1f", i > 0 ? "," : "",
		    server->connects[trend_position(ts, i)] * 1000.0 /
			TREND_STEP_MS);
	reply_add(out, "]");
}

bool
trends_more(const struct trends *ts, const struct service *svc, unsigned *at,
    struct buffer *out)
{
	const struct trend *t = svc != NULL ? svc->trend : NULL;
	unsigned most = TREND_TOTALS + (t != NULL ? t->room : 0), slot;

	for (; *at < most && buffer_length(out) < REPLY_PIECE; ++*at) {
		slot = *at - TREND_TOTALS;
		if (*at < TREND_TOTALS)
			add_total(ts, t, *at, out);
		else
			trend_add_server(ts, &t->servers[slot],
			    pool_slot(svc->pool, slot), out);
	}
	if (*at < most)
		return true;
	reply_add(out, "}\n");
	return false;
}
