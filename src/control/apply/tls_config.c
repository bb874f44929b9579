/* tls_config.c: TLS of the plan in force. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/watched_file.h"
#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/plan/origin.h"

/* Names of a directory looked at each time, and how often to warn. */
enum { LOOK_AT = 2000, DAY_S = 24 * 3600 };

/* ---- servers that TLS is spoken to ---- */

bool
tls_config_is_upstream(const struct plan *p, const struct server_plan *s)
{
	return s->host != NULL &&
	    (s->set.tls == SERVER_TLS_ON ||
		(s->set.tls == SERVER_TLS_AS_SET && p->config.tls.upstream));
}

bool
tls_config_wants_client(const struct plan *p)
{
	return p->config.tls.upstream ||
	    check_plan_traits(p) & (TRAIT_TLS | TRAIT_CHECK_TLS);
}

/* Checks alone may verify nothing, and the certificates of all CAs of the
 * system take tens of milliseconds to read. */
static bool
tls_config_verifies(const struct plan *p)
{
	return p->config.tls.upstream_verify &&
	    (p->config.tls.upstream ||
		check_plan_traits(p) & (TRAIT_TLS | TRAIT_CHECK_VERIFY));
}

/* ---- opening ---- */

static void
close_change(struct tls_config_change *c)
{
	tls_server_free(c->server);
	tls_client_free(c->client);
	tls_memory_free(c->memory);
	*c = (struct tls_config_change){ .changed = false };
}

static int
open_both(struct pen *p, const struct plan *draft, struct tls_config_change *c,
    struct error *e)
{
	const struct tls_settings *t = &draft->config.tls;
	struct tls_settings towards = *t;
	struct tls_memory *m = p->tls_config->memory;

	if (m == NULL)
		m = c->memory = tls_memory_new();
	if (m == NULL)
		return error_set(e, "out of memory");
	if (tls_settings_serve(t) &&
	    (c->server = tls_server_new(t, m, p->tls_config->server, e)) ==
		NULL)
		return -1;
	towards.upstream_verify = tls_config_verifies(draft);
	if (tls_config_wants_client(draft) &&
	    (c->client = tls_client_new(&towards, m, e)) == NULL)
		return -1;
	return 0;
}

static int
open_change(struct pen *p, const struct plan *draft,
    struct tls_config_change *c, struct error *e)
{
	bool serve = tls_settings_serve(&draft->config.tls);
	bool call = tls_config_wants_client(draft);
	bool same = serve == (p->tls_config->server != NULL) &&
	    call == (p->tls_config->client != NULL) &&
	    tls_config_verifies(draft) == tls_config_verifies(p->plan) &&
	    tls_settings_equal(&draft->config.tls, &p->plan->config.tls);

	*c = (struct tls_config_change){ .changed = !same };
	if (same || (!serve && !call) || open_both(p, draft, c, e) == 0)
		return 0;
	origin_blame(draft, e);
	close_change(c);
	return -1;
}

bool
tls_config_may_differ(const struct apply *a)
{
	return a->first || a->changes & (PLAN_HOSTS | PLAN_TLS) ||
	    checks_may_differ(a) ||
	    !tls_settings_equal(&a->now->config.tls, &a->wanted->config.tls);
}

int
tls_config_prepare(struct apply *a, struct error *e)
{
	if (!tls_config_may_differ(a))
		return 0;
	return open_change(a->pen, a->wanted, &a->tls, e);
}

void
tls_config_cancel(struct apply *a)
{
	close_change(&a->tls);
}

int
tls_config_try(struct pen *p, struct error *e)
{
	struct tls_config_change c;

	if (open_change(p, p->plan, &c, e) < 0)
		return -1;
	close_change(&c);
	return 0;
}

/* ---- warnings ---- */

int64_t
tls_config_days_left(time_t ends)
{
	int64_t left = (int64_t)ends - (int64_t)time(NULL);

	return (left < 0 ? left - DAY_S + 1 : left) / DAY_S;
}

bool
tls_config_certificate(
    const struct pen *p, unsigned at, struct tls_certificate *c)
{
	unsigned own = 0;

	if (p->tls_config->client != NULL &&
	    tls_client_certificate(p->tls_config->client, c)) {
		c->to_servers = true;
		if (at == 0)
			return true;
		own = 1;
	}
	return p->tls_config->server != NULL &&
	    tls_server_certificate(p->tls_config->server, at - own, c);
}

static void
warn_of_ends(struct pen *p)
{
	int64_t most = (int64_t)p->plan->config.tls.warn_days, left;
	struct tls_certificate c;
	unsigned i;

	for (i = 0; most > 0 && tls_config_certificate(p, i, &c); i++) {
		left = tls_config_days_left(c.ends);
		if (left < 0)
			log_warn("certificate has expired name=%s file=%s",
			    c.name, c.file);
		else if (left < most)
			log_warn(
			    "certificate expires name=%s file=%s days=%lld",
			    c.name, c.file, (long long)left);
	}
}

static void
on_warn(struct timer *t)
{
	struct pen *p = container_of(t, struct tls_config, warn)->pen;

	warn_of_ends(p);
	(void)timer_start(p->loop, t, UINT64_C(1000) * DAY_S);
}

/* ---- files that change ---- */

static void
set_look(struct pen *p, uint64_t watch_ms)
{
	struct tls_config *s = p->tls_config;
	uint64_t ms = watch_ms;

	s->looking = s->rest_ms > 0 && (ms == 0 || s->rest_ms < ms);
	if (s->looking)
		ms = s->rest_ms;
	timer_stop(&s->look);
	if ((s->server != NULL || s->client != NULL) && ms > 0)
		(void)timer_start(p->loop, &s->look, ms);
}

static void
tls_config_refresh_some(struct pen *p, unsigned most)
{
	struct tls_config *s = p->tls_config;
	uint64_t now;

	s->rest_ms = 0;
	if (s->server == NULL && s->client == NULL)
		return;
	now = loop_now(p->loop);
	if (s->server != NULL)
		s->rest_ms = tls_server_refresh(s->server, most, now);
	if (s->client != NULL)
		s->rest_ms = sooner_ms(
		    s->rest_ms, tls_client_refresh(s->client, most > 0, now));
}

void
tls_config_refresh(struct pen *p)
{
	tls_config_refresh_some(p, UINT_MAX);
	if (p->tls_config->rest_ms > 0)
		set_look(p, p->plan->config.tls.watch_ms);
}

static void
on_look(struct timer *t)
{
	struct pen *p = container_of(t, struct tls_config, look)->pen;

	tls_config_refresh_some(p, p->tls_config->looking ? 0 : LOOK_AT);
	set_look(p, p->plan->config.tls.watch_ms);
}

/* ---- in force ---- */

/* A core file would hold the keys. */
static void
forbid_core(void)
{
	const struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
}

static void
tls_config_replace(struct pen *p, struct tls_config_change *c)
{
	tls_server_free(p->tls_config->server);
	tls_client_free(p->tls_config->client);
	p->tls_config->server = c->server;
	p->tls_config->client = c->client;
	if (c->memory != NULL)
		p->tls_config->memory = c->memory;
	*c = (struct tls_config_change){ .changed = false };
}

static void
set_timers(struct pen *p, uint64_t watch_ms)
{
	struct tls_config *s = p->tls_config;

	timer_stop(&s->warn);
	set_look(p, watch_ms);
	if (s->server == NULL && s->client == NULL)
		return;
	(void)timer_start(p->loop, &s->warn, 0);
}

void
tls_config_commit(struct apply *a)
{
	const struct tls_settings *t = &a->wanted->config.tls;
	bool changed = a->tls.changed;
	struct pen *p = a->pen;
	struct frontend_tls tls;

	if (changed) {
		tls_config_replace(p, &a->tls);
		if (p->tls_config->server != NULL ||
		    p->tls_config->client != NULL)
			forbid_core();
	}
	tls = (struct frontend_tls){ .server = p->tls_config->server,
		.client = p->tls_config->client,
		.handshake_ms = t->handshake_ms,
		.upstream = t->upstream,
		.require_close_notify = t->require_close_notify };
	frontend_set_tls(p->frontend, &tls);
	if (changed || t->watch_ms != a->now->config.tls.watch_ms)
		set_timers(p, t->watch_ms);
}

struct tls_config *
tls_config_new(struct pen *p)
{
	struct tls_config *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->pen = p;
	timer_init(&s->look, on_look);
	timer_init(&s->warn, on_warn);
	return s;
}

void
tls_config_free(struct tls_config *s)
{
	if (s == NULL)
		return;
	timer_fini(&s->look);
	timer_fini(&s->warn);
	tls_server_free(s->server);
	tls_client_free(s->client);
	tls_memory_free(s->memory);
	free(s);
}
