/* frontend.c: limits and settings; moves no byte itself. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "proxy/dummy.h"
#include "proxy/dump.h"
#include "proxy/limits.h"
#include "proxy/frontend_private.h"
#include "proxy/requestlog.h"
#include "proxy/route.h"
#include "proxy/session.h"
#include "proxy/sessionlog.h"

void
frontend_options_init(struct frontend_options *o)
{
	*o = (struct frontend_options){
		.connect_timeout_ms = 3000,
		.retry_ms = 3000,
		.retry_requests = 1,
		.hello_ms = 10 * 1000,
		.accept_proxy = -1,
		.half_timeout_ms = 3600 * 1000,
		.linger_ms = 30 * 1000,
		.accept_max = 64,
		.backlog = 4096,
		.nodelay = true,
		.keepalive = true,
		.keepalive_ms = 60 * 1000,
		.keepalive_interval_ms = 10 * 1000,
		.keepalive_count = 6,
		.splice = true,
		.udp = { .timeout_ms = 60 * 1000, .fail = 10 },
		.dns = { .retry_ms = 1000, .timeout_ms = 5000 },
		.limits = { .prefix4 = 32,
		    .prefix6 = 64,
		    .wait_ms = 10 * 1000,
		    .wait_max = 1000,
		    .exempt = -1,
		    .sources_max = 100 * 1000 },
		.http = { .forwarded = HTTP_FORWARDED_APPEND },
		.end = { .quiet_ms = 5000, .drain_ms = 30 * 1000 },
	};
}

/* ---- limits ---- */

/* Pauses or resumes the listeners when a limit has been reached or left. */
static void
check_limits(struct frontend *f)
{
	const struct frontend_options *o = &f->core.options;
	bool full = f->rate_reached ||
	    f->core.stats.sessions >= o->sessions_max ||
	    (o->pending_max > 0 && f->core.stats.connecting >= o->pending_max);

	if (full == f->full || !f->core.started || (o->udp.on && !o->dns.on))
		return;
	f->full = full;
	frontend_hold(f, full);
}

/* Counts a client in what conn_rate allows. With the last one that it allows,
 * the listeners pause until there is more. */
static void
take_rate(struct frontend *f)
{
	const struct rate_limit *l = &f->core.options.limits.all;
	uint64_t now = loop_now(f->core.loop), wait;

	(void)rate_limit_take(l, &f->rate, now);
	wait = rate_limit_wait(l, &f->rate, now);
	if (wait == 0 || f->rate_reached ||
	    timer_start(f->core.loop, &f->rate_timer, wait) < 0)
		return;
	f->rate_reached = true;
	f->core.stats.limits.pauses++;
}

/* The timer may be some ms early: nobody comes in without a token. */
static void
on_rate(struct timer *t)
{
	struct frontend *f = container_of(t, struct frontend, rate_timer);
	uint64_t wait = rate_limit_wait(&f->core.options.limits.all, &f->rate,
	    loop_now(f->core.loop));

	if (wait > 0 && timer_start(f->core.loop, t, wait) == 0)
		return;
	f->rate_reached = false;
	check_limits(f);
}

/* Another conn_rate holds at once. */
static void
apply_rate(struct frontend *f)
{
	timer_stop(&f->rate_timer);
	f->rate_reached = false;
}

void
frontend_client_in(struct frontend_core *core)
{
	struct frontend *f = container_of(core, struct frontend, core);

	f->core.stats.accepted++;
	f->core.stats.sessions++;
	if (!f->count.walking)
		session_count_start(f);
	if (f->core.stats.sessions > f->core.stats.sessions_peak)
		f->core.stats.sessions_peak = f->core.stats.sessions;
	if (f->core.options.limits.all.count > 0)
		take_rate(f);
	check_limits(f);
}

void
frontend_client_out(struct frontend_core *core, enum reason why)
{
	struct frontend *f = container_of(core, struct frontend, core);

	f->core.stats.sessions--;
	f->core.stats.reasons[why]++;
	check_limits(f);
}

void
frontend_connecting(struct frontend *f, bool begins)
{
	if (begins)
		f->core.stats.connecting++;
	else
		f->core.stats.connecting--;
	if (f->core.options.pending_max > 0)
		check_limits(f);
}

/* ---- settings ---- */

static void
apply_options(struct frontend *f)
{
	f->core.share.keep_max = f->core.options.buffer;
	f->core.share.splice = f->core.options.splice;
	f->core.share.kernel_pipes_max = f->core.options.kernel_pipes_max;
	f->core.share.tap = f->core.options.dump > 0 ? dump_bytes : NULL;
	f->core.share.tap_arg = &f->core.options.dump;
	frontend_tune_listeners(f);
	f->core.up_tuning = (struct sock_tuning){ f->core.options.sndbuf,
		f->core.options.rcvbuf, f->core.options.rate_up };
	f->core.tuned = f->core.options.sndbuf > 0 ||
	    f->core.options.rcvbuf > 0 || f->core.options.rate_up > 0;
	f->core.hello = (uint8_t)session_hello_steps(&f->core);
	f->core.limited = limits_are_set(&f->core.options.limits);
	apply_rate(f);
	check_limits(f);
	preopened_adjust(&f->preopened);
	flows_adjust(&f->flows);
	dns_adjust(&f->dns);
}

void
frontend_set_routes(struct frontend *f, struct routes *r)
{
	struct routes *old = f->core.routes;

	f->core.routes = r;
	session_queue_reroute(f);
	routes_free(old);
	f->core.hello = (uint8_t)session_hello_steps(&f->core);
}

struct routes *
frontend_routes(const struct frontend *f)
{
	return f->core.routes;
}

struct sock_keepalive
frontend_keepalive(const struct frontend_core *f)
{
	const struct frontend_options *o = &f->options;

	return (struct sock_keepalive){
		.on = o->keepalive,
		.idle_s = (unsigned)((o->keepalive_ms + 999) / 1000),
		.interval_s =
		    (unsigned)((o->keepalive_interval_ms + 999) / 1000),
		.count = o->keepalive_count,
		.user_ms = (unsigned)o->user_timeout_ms,
	};
}

const struct frontend_options *
frontend_options(const struct frontend *f)
{
	return &f->core.options;
}

/* Those that clients that are delayed wait for. */
static bool
are_limits_equal(const struct limit_options *a, const struct limit_options *b)
{
	return a->conns == b->conns && a->wait_ms == b->wait_ms &&
	    a->rate.count == b->rate.count &&
	    a->rate.period_ms == b->rate.period_ms;
}

static bool
are_times_equal(
    const struct frontend_options *a, const struct frontend_options *b)
{
	return a->connect_timeout_ms == b->connect_timeout_ms &&
	    a->queue_ms == b->queue_ms && a->hello_ms == b->hello_ms &&
	    a->idle_timeout_ms == b->idle_timeout_ms &&
	    a->half_timeout_ms == b->half_timeout_ms &&
	    a->linger_ms == b->linger_ms && a->end.quiet == b->end.quiet &&
	    a->end.quiet_ms == b->end.quiet_ms &&
	    a->end.drain_ms == b->end.drain_ms &&
	    a->end.max_age_ms == b->end.max_age_ms &&
	    are_limits_equal(&a->limits, &b->limits);
}

void
frontend_set_options(struct frontend *f, const struct frontend_options *o)
{
	struct sock_keepalive before = frontend_keepalive(&f->core), now;
	bool same = are_times_equal(&f->core.options, o);

	f->core.options = *o;
	apply_options(f);
	now = frontend_keepalive(&f->core);
	if (!sock_keepalive_equal(&before, &now)) {
		f->retune = true;
		same = false;
	}
	if (!same)
		session_reschedule_all(f);
}

/* Sessions that are there when a log comes no longer report what they read. */
void
frontend_set_requestlog(struct frontend *f, struct requestlog *r)
{
	bool comes = f->requestlog == NULL && r != NULL;

	f->requestlog = r;
	if (r != NULL)
		requestlog_count_lost(r, &f->core.stats.lines_lost.requests);
	if (comes)
		session_reschedule_all(f);
}

void
frontend_set_sessionlog(struct frontend *f, struct sessionlog *g)
{
	f->core.sessionlog = g;
	if (g != NULL)
		sessionlog_count_lost(g, &f->core.stats.lines_lost.sessions);
}

void
frontend_set_tls(struct frontend *f, const struct frontend_tls *tls)
{
	bool same = f->core.tls.handshake_ms == tls->handshake_ms;

	f->core.tls = *tls;
	f->core.hello = (uint8_t)session_hello_steps(&f->core);
	if (!same)
		session_reschedule_all(f);
}

const struct frontend_stats *
frontend_stats(const struct frontend *f)
{
	return &f->core.stats;
}

/* What is there now counts on, whatever becomes of the rest. */
static void
set_stats(struct frontend *f, const struct frontend_stats *new)
{
	const struct frontend_stats now = f->core.stats;

	f->core.stats = *new;
	f->core.stats.sessions = now.sessions;
	f->core.stats.connecting = now.connecting;
	f->core.stats.queued = now.queued;
	f->core.stats.flows.now = now.flows.now;
	f->core.stats.flows.ports = now.flows.ports;
	f->core.stats.flows.ports_max = now.flows.ports_max;
	f->core.stats.dns.waiting = now.dns.waiting;
	f->core.stats.limits.waiting = now.limits.waiting;
}

const struct frontend_durations *
frontend_durations(const struct frontend *f)
{
	return &f->core.durations;
}

void
frontend_clear_stats(struct frontend *f)
{
	const struct frontend_stats *st = &f->core.stats;
	struct frontend_stats new = {
		.sessions_peak = st->sessions,
		.flows = { .peak = st->flows.now },
		.dns = { .peak = st->dns.waiting },
	};

	set_stats(f, &new);
	memset(&f->core.durations, 0, sizeof(f->core.durations));
}

void
frontend_restore_stats(struct frontend *f, const struct frontend_stats *past)
{
	set_stats(f, past);
}

const struct frontend_core *
frontend_core(const struct frontend *f)
{
	return &f->core;
}

struct frontend_core *
frontend_core_of(struct frontend *f)
{
	return &f->core;
}

uint64_t
frontend_left(const struct frontend *f)
{
	const struct frontend_stats *st = &f->core.stats;

	return st->sessions + st->flows.now + st->dns.waiting;
}

const struct source_limits *
frontend_sources(const struct frontend *f)
{
	return &f->core.sources;
}

uint64_t
frontend_preopened(const struct frontend *f)
{
	return f->preopened.idle;
}

/* ---- life ---- */

struct frontend *
frontend_new(struct loop *l, struct pool *p, const struct frontend_options *o,
    struct error *e)
{
	struct frontend *f = calloc(1, sizeof(*f));
	struct hash_key any;

	if (f == NULL || pipe_share_init(&f->core.share) < 0) {
		free(f);
		error_set(e, "out of memory");
		return NULL;
	}
	f->core.loop = l;
	f->core.pool = p;
	f->core.share.on_read = session_on_read;
	hash_key_init(&any);
	f->core.ids = any.k0;
	list_init(&f->listeners);
	id_table_init(&f->connections);
	list_init(&f->sessions);
	f->core.flows = &f->flows;
	f->core.dns = &f->dns;
	f->core.dummies = &f->dummies;
	session_init_timeouts(f);
	session_count_init(f);
	session_turns_init(f);
	list_init(&f->cut.task.link);
	f->cut.task.run = session_cut_on_turn;
	session_rebalance_init(f);
	dummies_init(&f->dummies, &f->core);
	preopened_init(&f->preopened, &f->core);
	f->core.options = *o;
	source_limits_init(&f->core.sources, &f->core.options.limits);
	timer_init(&f->rate_timer, on_rate);
	if (flows_init(&f->flows, &f->core) < 0 ||
	    dns_init(&f->dns, &f->core) < 0) {
		error_set(e, "out of memory");
		frontend_free(f);
		return NULL;
	}
	apply_options(f);
	return f;
}

void
frontend_free(struct frontend *f)
{
	if (f == NULL)
		return;
	frontend_stop(f);
	session_close_all(f);
	session_turns_fini(f);
	session_fini_timeouts(f);
	preopened_fini(&f->preopened);
	flows_fini(&f->flows);
	dns_fini(&f->dns);
	routes_free(f->core.routes);
	dummies_fini(&f->dummies);
	source_limits_fini(&f->core.sources);
	timer_fini(&f->rate_timer);
	session_count_fini(f);
	list_remove(&f->cut.task.link);
	session_rebalance_fini(f);
	free(f->http_room);
	pipe_share_fini(&f->core.share);
	id_table_fini(&f->connections);
	free(f);
}
