/* frontend.c: limits and settings; moves no byte itself. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "proxy/dummy.h"
#include "proxy/dump.h"
#include "proxy/frontend_private.h"
#include "proxy/session_private.h"

void
frontend_options_init(struct frontend_options *o)
{
	*o = (struct frontend_options){
		.connect_timeout_ms = 3000,
		.retry_ms = 3000,
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
		.udp_timeout_ms = 60 * 1000,
		.udp_fail = 10,
		.dns_retry_ms = 1000,
	};
}

/* ---- limits ---- */

/* Pauses or resumes the listeners when a limit has been reached or left. */
static void
check_limits(struct frontend *f)
{
	const struct frontend_options *o = &f->options;
	bool full = f->stats.sessions >= o->sessions_max ||
	    (o->pending_max > 0 && f->stats.connecting >= o->pending_max);

	if (full == f->full || !f->started || (o->udp && !o->dns))
		return;
	f->full = full;
	frontend_hold(f, full);
}

void
frontend_client_in(struct frontend *f)
{
	f->stats.accepted++;
	f->stats.sessions++;
	if (!f->count.walking)
		session_count_start(f);
	if (f->stats.sessions > f->stats.sessions_peak)
		f->stats.sessions_peak = f->stats.sessions;
	check_limits(f);
}

void
frontend_client_out(struct frontend *f, enum reason why)
{
	f->stats.sessions--;
	f->stats.reasons[why]++;
	check_limits(f);
}

void
frontend_connecting(struct frontend *f, bool begins)
{
	if (begins)
		f->stats.connecting++;
	else
		f->stats.connecting--;
	check_limits(f);
}

/* ---- settings ---- */

static void
apply_options(struct frontend *f)
{
	f->share.keep_max = f->options.buffer;
	f->share.splice = f->options.splice;
	f->share.kernel_pipes_max = f->options.kernel_pipes_max;
	f->share.tap = f->options.dump > 0 ? dump_bytes : NULL;
	f->share.tap_arg = &f->options.dump;
	frontend_tune_listeners(f);
	f->up_tuning = (struct sock_tuning){ f->options.sndbuf,
		f->options.rcvbuf, f->options.rate_up };
	f->tuned = f->options.sndbuf > 0 || f->options.rcvbuf > 0 ||
	    f->options.rate_up > 0;
	check_limits(f);
	preopened_adjust(&f->preopened);
	flows_adjust(&f->flows);
	dns_adjust(&f->dns);
}

struct sock_keepalive
frontend_keepalive(const struct frontend *f)
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

struct sock_connect_options
frontend_connect_options(struct frontend *f, uint16_t port)
{
	const struct frontend_options *o = &f->options;

	return (struct sock_connect_options){
		.sources = &o->source,
		.turn = &f->source_turn,
		.port = port,
		.tuning = f->tuned ? &f->up_tuning : NULL,
	};
}

const struct frontend_options *
frontend_options(const struct frontend *f)
{
	return &f->options;
}

static bool
are_times_equal(
    const struct frontend_options *a, const struct frontend_options *b)
{
	return a->connect_timeout_ms == b->connect_timeout_ms &&
	    a->queue_ms == b->queue_ms &&
	    a->idle_timeout_ms == b->idle_timeout_ms &&
	    a->half_timeout_ms == b->half_timeout_ms &&
	    a->linger_ms == b->linger_ms;
}

void
frontend_set_options(struct frontend *f, const struct frontend_options *o)
{
	struct sock_keepalive before = frontend_keepalive(f), now;
	bool same = are_times_equal(&f->options, o);

	f->options = *o;
	apply_options(f);
	now = frontend_keepalive(f);
	if (!sock_keepalive_equal(&before, &now)) {
		f->retune = true;
		same = false;
	}
	if (!same)
		session_reschedule_all(f);
}

void
frontend_set_requestlog(struct frontend *f, struct requestlog *r)
{
	f->requestlog = r;
	f->share.on_read = r != NULL ? session_log_request : NULL;
}

void
frontend_set_tls(struct frontend *f, const struct frontend_tls *tls)
{
	bool same = f->tls.handshake_ms == tls->handshake_ms;

	f->tls = *tls;
	if (!same)
		session_reschedule_all(f);
}

bool
frontend_server_is_tls(const struct frontend *f, const struct server *s)
{
	return f->tls.client != NULL &&
	    (s->set.tls == SERVER_TLS_ON ||
		(s->set.tls == SERVER_TLS_AS_SET && f->tls.upstream));
}

void
frontend_server_failed(
    struct frontend *f, struct server *s, int error, const char *why)
{
	uint64_t now = loop_now(f->loop);

	log_warn("server failed server=%u name=%s error=\"%s\"", s->number,
	    s->name, why != NULL ? why : strerror(error));
	if (sock_error_is_refusal(error))
		pool_refused(f->pool, s, now);
	else
		pool_failed(f->pool, s, now);
}

const struct frontend_stats *
frontend_stats(const struct frontend *f)
{
	return &f->stats;
}

void
frontend_clear_stats(struct frontend *f)
{
	const struct frontend_stats *st = &f->stats;

	f->stats = (struct frontend_stats){
		.sessions = st->sessions,
		.sessions_peak = st->sessions,
		.connecting = st->connecting,
		.queued = st->queued,
		.flows = st->flows,
		.flows_peak = st->flows,
		.flow_ports = st->flow_ports,
		.flow_ports_max = st->flow_ports_max,
		.dns_waiting = st->dns_waiting,
		.dns_peak = st->dns_waiting,
	};
}

/* ---- life ---- */

struct frontend *
frontend_new(struct loop *l, struct pool *p, const struct frontend_options *o,
    struct error *e)
{
	struct frontend *f = calloc(1, sizeof(*f));

	if (f == NULL || pipe_share_init(&f->share) < 0) {
		free(f);
		error_set(e, "out of memory");
		return NULL;
	}
	f->loop = l;
	f->pool = p;
	list_init(&f->listeners);
	id_table_init(&f->connections);
	list_init(&f->sessions);
	list_init(&f->dummies);
	session_init_timeouts(f);
	session_count_init(f);
	dummy_init_timeouts(f);
	preopened_init(&f->preopened, f);
	f->options = *o;
	if (flows_init(&f->flows, f) < 0 || dns_init(&f->dns, f) < 0) {
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
	session_queue_fini(f);
	list_remove(&f->rescheduling.link); /* the loop may outlive us */
	preopened_fini(&f->preopened);
	flows_fini(&f->flows);
	dns_fini(&f->dns);
	dummy_close_all(f);
	session_count_fini(f);
	timeouts_fini(&f->session_times);
	timer_fini(&f->aging);
	timeouts_fini(&f->dummies_silent);
	pipe_share_fini(&f->share);
	id_table_fini(&f->connections);
	free(f);
}
