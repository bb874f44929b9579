/* frontend_core.c: the settings in force, and the limits of all clients: is one
 * more accepted? */
#include "config.h"

#include "base/hash.h"
#include "net/ports.h"
#include "net/sink.h"
#include "proxy/core/frontend_core.h"
#include "proxy/core/limits.h"
#include "proxy/log/dump.h"
#include "proxy/log/sessionlog.h"
#include "proxy/wire/route.h"

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
		.dns = { .retry_ms = 1000, .timeout_ms = 5000, .max = 65536 },
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

bool
frontend_has_room(const struct frontend_core *f)
{
	const struct frontend_options *o = &f->options;

	return !f->rate_reached && f->stats->sessions < o->sessions_max &&
	    (o->pending_max == 0 || f->stats->connecting < o->pending_max) &&
	    shared_limit_has(f);
}

void
frontend_check_limits(struct frontend_core *f)
{
	const struct frontend_options *o = &f->options;
	bool full = !frontend_has_room(f);

	if (full == f->full || !f->started || (o->udp.on && !o->dns.on))
		return;
	f->full = full;
	f->hold(f, full);
}

/* Counts a client in what conn_rate allows. With the last one that it allows,
 * the listeners pause until there is more. */
static void
take_rate(struct frontend_core *f)
{
	const struct rate_limit *l = &f->options.limits.all;
	uint64_t now = loop_now(f->loop), wait;

	(void)rate_limit_take(l, &f->rate, now);
	wait = rate_limit_wait(l, &f->rate, now);
	if (wait == 0 || f->rate_reached ||
	    timer_start(f->loop, &f->rate_timer, wait) < 0)
		return;
	f->rate_reached = true;
	f->stats->limits.pauses++;
}

/* The timer may be some ms early: no client is accepted without a token. */
static void
on_rate(struct timer *t)
{
	struct frontend_core *f =
	    container_of(t, struct frontend_core, rate_timer);
	uint64_t wait = rate_limit_wait(
	    &f->options.limits.all, &f->rate, loop_now(f->loop));

	if (wait > 0 && timer_start(f->loop, t, wait) == 0)
		return;
	f->rate_reached = false;
	frontend_check_limits(f);
}

void
frontend_client_in(struct frontend_core *f)
{
	f->stats->accepted++;
	f->stats->sessions++;
	shared_limit_more(f);
	if (f->stats->sessions > f->stats->sessions_peak)
		f->stats->sessions_peak = f->stats->sessions;
	if (f->options.limits.all.count > 0)
		take_rate(f);
	frontend_check_limits(f);
}

void
frontend_client_out(struct frontend_core *f, enum reason why)
{
	f->stats->sessions--;
	shared_limit_less(f);
	f->stats->reasons[why]++;
	frontend_check_limits(f);
}

void
frontend_client_moves(struct frontend_core *from, struct frontend_core *to)
{
	from->stats->sessions--;
	shared_limit_less(from);
	frontend_check_limits(from);
	frontend_client_in(to);
}

void
frontend_connecting(struct frontend_core *f, bool begins)
{
	if (begins)
		f->stats->connecting++;
	else
		f->stats->connecting--;
	if (f->options.pending_max > 0)
		frontend_check_limits(f);
}

/* ---- settings ---- */

void
frontend_core_adjust(struct frontend_core *f)
{
	const struct frontend_options *o = &f->options;

	f->share.keep_max = o->buffer;
	f->share.splice = o->splice;
	f->share.kernel_pipes_max = o->kernel_pipes_max;
	f->share.tap = o->dump > 0 ? dump_bytes : NULL;
	f->share.tap_arg = &f->options.dump;
	f->up_tuning = (struct sock_tuning){ o->sndbuf, o->rcvbuf, o->rate_up };
	f->tuned = o->sndbuf > 0 || o->rcvbuf > 0 || o->rate_up > 0;
	f->limited = limits_are_set(&o->limits);
	http_identities_set(&f->identities, o->http.request_id);
	timer_stop(&f->rate_timer); /* another conn_rate holds at once */
	f->rate_reached = false;
	frontend_check_limits(f);
	preopened_adjust(&f->preopened);
}

void
frontend_core_count_in(struct frontend_core *f, struct frontend_stats *st)
{
	f->stats = st;
	sessionlog_count_lost(f->sessionlog, &st->lines_lost.sessions);
	sessionlog_count_lost(f->httplog, &st->lines_lost.requests);
}

/* ---- life ---- */

void
frontend_core_begin_ids(struct frontend_core *f)
{
	struct hash_key any;

	hash_key_init(&any);
	f->ids = any.k0;
	hash_key_init(&any);
	f->identities.high = any.k0;
	f->identities.next = any.k1;
}

int
frontend_core_init(struct frontend_core *f, struct loop *l, struct pool *p,
    const struct frontend_options *o)
{
	f->loop = l;
	f->stats = &f->own_stats;
	if (loop_scratch(l) == NULL || preopened_init(&f->preopened, f) < 0)
		return -1;
	pipe_share_init(&f->share, loop_scratch(l));
	f->pool = p;
	f->options = *o;
	f->label = "";
	f->near_ports = ports_first(PORTS_SETTINGS);
	frontend_core_begin_ids(f);
	source_limits_init(&f->sources, &f->options.limits);
	timer_init(&f->rate_timer, on_rate);
	list_init(&f->shared.link);
	return 0;
}

void
frontend_core_fini(struct frontend_core *f)
{
	preopened_fini(&f->preopened);
	shared_limit_part(f);
	routes_free(f->routes);
	source_limits_fini(&f->sources);
	timer_fini(&f->rate_timer);
	pipe_share_fini(&f->share);
}
