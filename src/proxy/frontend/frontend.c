/* frontend.c: what it is made of, and what is set of it; moves no byte itself.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "net/sink.h"
#include "pool/level.h"
#include "proxy/frontend/frontend_private.h"
#include "proxy/log/sessionlog.h"

/* ---- settings ---- */

void
frontend_set_routes(struct frontend *f, struct routes *r)
{
	struct routes *old = f->core.routes;

	f->core.routes = r;
	sessions_reroute(&f->sessions);
	routes_free(old);
	f->core.hello = (uint8_t)session_hello_steps(&f->core);
}

void
frontend_servers_changed(struct frontend *f)
{
	preopened_adjust(&f->core.preopened);
	dns_adjust(&f->dns);
}

struct routes *
frontend_routes(const struct frontend *f)
{
	return f->core.routes;
}

const struct frontend_options *
frontend_options(const struct frontend *f)
{
	return &f->core.options;
}

static void
apply_options(struct frontend *f)
{
	f->core.hello = (uint8_t)session_hello_steps(&f->core);
	frontend_tune_listeners(f);
	frontend_core_adjust(&f->core);
	flows_adjust(&f->flows);
	dns_adjust(&f->dns);
}

/* Whatever was set anew, it may be a time that sessions wait by; clients that
 * are delayed may be in the list of the exempt ones now. */
void
frontend_set_options(struct frontend *f, const struct frontend_options *o)
{
	struct sock_keepalive before = frontend_keepalive(&f->core), now;
	struct frontend_options own = *o;
	bool same;

	frontend_take_part(f, &own);
	same = memcmp(&f->core.options, &own, sizeof(own)) == 0;
	f->core.options = own;
	apply_options(f);
	now = frontend_keepalive(&f->core);
	if (!same ||
	    (own.limits.exempt >= 0 && f->core.stats->limits.waiting > 0))
		sessions_reschedule(
		    &f->sessions, !sock_keepalive_equal(&before, &now));
}

void
frontend_set_service(struct frontend *f, const char *name, const char *label)
{
	f->core.service = name;
	f->core.label = label;
}

/* Sessions that are there when a log comes no longer report what they read. */
void
frontend_set_requestlog(struct frontend *f, struct sink *r)
{
	bool comes = f->core.requestlog == NULL && r != NULL;

	f->core.requestlog = r;
	sink_count_lost(r, &f->core.stats->lines_lost.requests);
	if (comes)
		sessions_reschedule(&f->sessions, false);
}

void
frontend_set_sessionlog(struct frontend *f, struct sessionlog *g)
{
	sessionlog_free(f->core.sessionlog);
	f->core.sessionlog = g;
	sessionlog_count_lost(g, &f->core.stats->lines_lost.sessions);
}

void
frontend_count_log(struct frontend *f)
{
	log_count_lost(&f->core.stats->lines_lost.own);
}

void
frontend_set_log_format(struct frontend *f, struct log_format *format)
{
	log_format_free(f->core.log_format);
	f->core.log_format = format;
}

void
frontend_set_httplog(struct frontend *f, struct sessionlog *g)
{
	sessionlog_free(f->core.httplog);
	f->core.httplog = g;
	f->core.logging.on = g != NULL;
	sessionlog_count_lost(g, &f->core.stats->lines_lost.requests);
}

void
frontend_set_request_format(struct frontend *f, struct log_format *format)
{
	log_format_free(f->core.request_format);
	f->core.request_format = format;
}

void
frontend_set_tls(struct frontend *f, const struct frontend_tls *tls)
{
	bool same = f->core.tls.handshake_ms == tls->handshake_ms;
	bool tunes = (f->core.tls.server == NULL) != (tls->server == NULL);

	f->core.tls = *tls;
	if (tunes)
		frontend_tune_listeners(f);
	f->core.hello = (uint8_t)session_hello_steps(&f->core);
	if (!same)
		sessions_reschedule(&f->sessions, false);
}

const struct frontend_stats *
frontend_stats(const struct frontend *f)
{
	return f->core.stats;
}

/* Restores counters of an older process. Gauges of what this process has now
 * stay as they are. */
void
frontend_restore_stats(struct frontend *f, const struct frontend_stats *past)
{
	const struct frontend_stats now = *f->core.stats;

	*f->core.stats = *past;
	f->core.stats->sessions = now.sessions;
	f->core.stats->connecting = now.connecting;
	f->core.stats->queued = now.queued;
	f->core.stats->flows.now = now.flows.now;
	f->core.stats->flows.ports = now.flows.ports;
	f->core.stats->flows.ports_max = now.flows.ports_max;
	f->core.stats->dns.waiting = now.dns.waiting;
	f->core.stats->limits.waiting = now.limits.waiting;
	f->core.stats->preopened = now.preopened;
}

void
frontend_clear_stats(struct frontend *f)
{
	const struct frontend_stats *st = f->core.stats;
	struct frontend_stats new = {
		.sessions_peak = st->sessions,
		.flows = { .peak = st->flows.now },
		.dns = { .peak = st->dns.waiting },
	};

	frontend_restore_stats(f, &new);
}

struct frontend_core *
frontend_core_of(struct frontend *f)
{
	return &f->core;
}

struct sessions *
frontend_sessions(struct frontend *f)
{
	return &f->sessions;
}

struct flows *
frontend_flows(struct frontend *f)
{
	return &f->flows;
}

uint64_t
frontend_left(const struct frontend *f)
{
	const struct frontend_stats *st = f->core.stats;

	return st->sessions + st->flows.now + st->dns.waiting;
}

uint64_t
frontend_preopened(const struct frontend *f)
{
	return f->core.stats->preopened;
}

const struct source_limits *
frontend_sources(const struct frontend *f)
{
	return &f->core.sources;
}

/* ---- a server is down, or a better one is up ---- */

static void
cut_on_turn(struct task *t)
{
	struct frontend *f = list_entry(t, struct frontend, cut.task);

	f->core.best_level = level_best(f->core.pool);
	id_table_walk(&f->sessions.ids, &f->cut.sessions, session_cut);
	id_table_walk(&f->flows.ids, &f->cut.flows, flow_cut);
	if (f->cut.sessions.left > 0 || f->cut.flows.left > 0)
		loop_soon(f->core.loop, t);
}

/* A server has the number of its sessions, but no list: that would cost each of
 * them memory. All are visited once from now on, those too that a walk under
 * way has passed: they may be of the server that went down just now. */
void
frontend_cut_sessions(struct frontend *f)
{
	f->cut.sessions.left = f->sessions.ids.end;
	f->cut.flows.left = f->flows.ids.end;
	loop_soon(f->core.loop, &f->cut.task);
}

/* ---- life ---- */

struct frontend *
frontend_new(struct loop *l, struct pool *p, const struct frontend_options *o,
    struct error *e)
{
	struct frontend *f = calloc(1, sizeof(*f));

	if (f == NULL || frontend_core_init(&f->core, l, p, o) < 0) {
		free(f);
		error_set(e, "out of memory");
		return NULL;
	}
	f->core.sessions = &f->sessions;
	f->core.flows = &f->flows;
	f->core.dns = &f->dns;
	f->core.dummies = &f->dummies;
	f->core.hold = frontend_hold;
	f->core.serves_port = frontend_serves_port;
	list_init(&f->listeners);
	f->members = f->parts = 1;
	list_init(&f->cut.task.link);
	f->cut.task.run = cut_on_turn;
	/* each begins, so that all may be freed */
	if ((sessions_init(&f->sessions, &f->core) |
		dummies_init(&f->dummies, &f->core) |
		flows_init(&f->flows, &f->core) |
		dns_init(&f->dns, &f->core)) < 0) {
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
	sessions_fini(&f->sessions);
	flows_fini(&f->flows);
	dns_fini(&f->dns);
	dummies_fini(&f->dummies);
	list_remove(&f->cut.task.link);
	frontend_set_log_format(f, NULL);
	frontend_set_sessionlog(f, NULL);
	frontend_set_httplog(f, NULL);
	frontend_set_request_format(f, NULL);
	log_stop_counting_lost(&f->core.stats->lines_lost.own);
	frontend_core_fini(&f->core);
	free(f);
}
