/* tls_config.c: TLS of the plan in force. */
#include "config.h"

#include <errno.h>
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
enum { REFRESH_BATCH = 2000, DAY_S = 24 * 3600 };

/* ---- servers that TLS is spoken to ---- */

bool
tls_config_is_upstream(const struct plan *p, const struct server_plan *s)
{
	return s->host != NULL &&
	    (s->set.tls == SERVER_TLS_ON ||
		(s->set.tls == SERVER_TLS_AS_SET && p->config->tls.upstream));
}

bool
tls_config_wants_client(const struct plan *p)
{
	return p->config->tls.upstream ||
	    check_plan_any(p, TRAIT_TLS | TRAIT_CHECK_TLS);
}

/* Checks alone may verify nothing, and the certificates of all CAs of the
 * system take tens of milliseconds to read. */
static bool
tls_config_verifies(const struct plan *p)
{
	return p->config->tls.upstream_verify &&
	    (p->config->tls.upstream ||
		check_plan_any(p, TRAIT_TLS | TRAIT_CHECK_VERIFY));
}

/* ---- opening ---- */

static void
close_change(struct tls_config_change *c)
{
	tls_server_free(c->server);
	tls_client_free(c->client);
	*c = (struct tls_config_change){ .changed = false };
}

static int
open_server_and_client(struct service *svc, const struct plan *draft,
    struct tls_config_change *c, struct error *e)
{
	const struct tls_settings *t = &draft->config->tls;
	struct tls_settings towards = *t;
	struct pen *p = svc->pen;

	if (p->tls_memory == NULL)
		p->tls_memory = tls_memory_new();
	if (p->tls_memory == NULL)
		return error_set(e, "out of memory");
	if (tls_settings_serve(t) &&
	    (c->server = tls_server_new(
		 t, p->tls_memory, svc->tls_config->server, e)) == NULL)
		return -1;
	towards.upstream_verify = tls_config_verifies(draft);
	if (tls_config_wants_client(draft) &&
	    (c->client = tls_client_new(&towards, p->tls_memory, e)) == NULL)
		return -1;
	return 0;
}

static int
open_change(struct service *svc, const struct plan *draft,
    struct tls_config_change *c, struct error *e)
{
	bool serve = tls_settings_serve(&draft->config->tls);
	bool call = tls_config_wants_client(draft);
	bool same = serve == (svc->tls_config->server != NULL) &&
	    call == (svc->tls_config->client != NULL) &&
	    tls_config_verifies(draft) == tls_config_verifies(svc->plan) &&
	    tls_settings_equal(&draft->config->tls, &svc->plan->config->tls);

	*c = (struct tls_config_change){ .changed = !same };
	if (same || (!serve && !call) ||
	    open_server_and_client(svc, draft, c, e) == 0)
		return 0;
	origin_blame(draft, e);
	close_change(c);
	return -1;
}

int
tls_config_prepare(struct apply *a, struct error *e)
{
	return open_change(a->service, a->wanted, &a->tls, e);
}

void
tls_config_cancel(struct apply *a)
{
	close_change(&a->tls);
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
    const struct service *svc, unsigned at, struct tls_certificate *c)
{
	unsigned own = 0;

	if (svc->tls_config->client != NULL &&
	    tls_client_certificate(svc->tls_config->client, c)) {
		c->to_servers = true;
		if (at == 0)
			return true;
		own = 1;
	}
	return svc->tls_config->server != NULL &&
	    tls_server_certificate(svc->tls_config->server, at - own, c);
}

/* While a list has expired, OpenSSL refuses the certificates of its CA. Returns
 * how many seconds the others last. */
static int64_t
warn_of_lists(const struct service *svc)
{
	const struct tls_settings *o = &svc->plan->config->tls;
	const struct tls_server *t = svc->tls_config->server;
	char issuer[TLS_ISSUER_MAX];
	time_t now = time(NULL), next;

	if (t == NULL || !(o->require || o->request))
		return INT64_MAX;
	next = tls_server_lists(t, now, issuer);
	if (issuer[0] != '\0')
		log_warn("revocation list has expired, certificates of its CA "
			 "are invalid issuer=\"%s\"%s",
		    issuer, svc->label);
	return next != 0 ? (int64_t)next - (int64_t)now : INT64_MAX;
}

/* Certificates of no use, or none at all; and files of which the user of -u
 * could not read the next version. */
static void
warn_of_use(struct service *svc)
{
	struct tls_server *t = svc->tls_config->server;
	struct tls_certificate c;
	const char *file;
	unsigned i;

	if (t == NULL)
		return;
	if (!tls_server_certificate(t, 0, &c))
		log_warn("no certificate, all clients are refused path=%s%s",
		    svc->plan->config->tls.sni_path, svc->label);
	for (i = 0; tls_config_certificate(svc, i, &c); i++)
		if (c.unused)
			log_warn("certificate not used name=%s file=%s "
				 "error=\"a later ssl_cert has a key of the "
				 "same kind, see ssl_sni_path\"%s",
			    c.name, c.file, svc->label);
	file = tls_server_find_unreadable(t);
	if (file != NULL)
		log_warn("certificates cannot be replaced file=%s "
			 "error=\"%s\"%s",
		    file, strerror(errno), svc->label);
}

/* Warns of certificates that expire soon or have expired. Without `all` only of
 * expired ones, and of those only the ones of ssl_cert and
 * ssl_upstream_cert. */
static void
warn_of_ends(struct service *svc, bool all)
{
	int64_t most = (int64_t)svc->plan->config->tls.warn_days, left;
	struct tls_certificate c;
	unsigned i;

	for (i = 0; most > 0 && tls_config_certificate(svc, i, &c); i++) {
		left = tls_config_days_left(c.ends);
		if (left < 0 && (all || !c.by_name))
			log_warn("certificate has expired name=%s file=%s%s",
			    c.name, c.file, svc->label);
		else if (left >= 0 && left < most && all)
			log_warn(
			    "certificate expires name=%s file=%s days=%lld%s",
			    c.name, c.file, (long long)left, svc->label);
	}
}

/* Once a day; in between when files were replaced, or a list expires. */
static void
on_warn(struct timer *t)
{
	struct service *svc = container_of(t, struct tls_config, warn)->service;
	struct tls_config *s = svc->tls_config;
	uint64_t now = loop_now(svc->pen->loop), ms;
	bool all = now >= s->warn_all;
	int64_t left;

	process_role_mute(svc->pen, true);
	if (s->warn_all == 0)
		warn_of_use(svc);
	warn_of_ends(svc, all);
	left = warn_of_lists(svc);
	process_role_mute(svc->pen, false);
	if (left >= DAY_S)
		left = DAY_S - 1;
	ms = UINT64_C(1000) * ((uint64_t)left + 1);
	if (all)
		s->warn_all = now + UINT64_C(1000) * DAY_S;
	else if (ms > s->warn_all - now)
		ms = s->warn_all - now;
	(void)timer_start(svc->pen->loop, t, ms);
}

/* ---- files that change ---- */

static void
schedule_refresh(struct service *svc, uint64_t watch_ms)
{
	struct tls_config *s = svc->tls_config;
	uint64_t ms = watch_ms;

	s->resumes = s->rest_ms > 0 && (ms == 0 || s->rest_ms < ms);
	if (s->resumes)
		ms = s->rest_ms;
	timer_stop(&s->refresh);
	if ((s->server != NULL || s->client != NULL) && ms > 0)
		(void)timer_start(svc->pen->loop, &s->refresh, ms);
}

/* Reads changed TLS files again, of at most `most` names; rest_ms is when to go
 * on. */
static void
tls_config_refresh_some(struct service *svc, unsigned most)
{
	struct tls_config *s = svc->tls_config;
	unsigned before;
	uint64_t now;

	s->rest_ms = 0;
	if (s->server == NULL && s->client == NULL)
		return;
	now = loop_now(svc->pen->loop);
	process_role_mute(svc->pen, true);
	if (s->server != NULL) {
		before = tls_server_replaced(s->server);
		s->rest_ms = tls_server_refresh(s->server, most, now);
		if (tls_server_replaced(s->server) != before)
			(void)timer_start(svc->pen->loop, &s->warn, 0);
	}
	if (s->client != NULL)
		s->rest_ms = sooner_ms(
		    s->rest_ms, tls_client_refresh(s->client, most, now));
	process_role_mute(svc->pen, false);
}

void
tls_config_refresh(struct service *svc)
{
	tls_config_refresh_some(svc, UINT_MAX);
	if (svc->tls_config->rest_ms > 0)
		schedule_refresh(svc, svc->plan->config->tls.watch_ms);
}

static void
on_refresh(struct timer *t)
{
	struct service *svc =
	    container_of(t, struct tls_config, refresh)->service;

	tls_config_refresh_some(
	    svc, svc->tls_config->resumes ? 0 : REFRESH_BATCH);
	schedule_refresh(svc, svc->plan->config->tls.watch_ms);
}

/* ---- in force ---- */

static void
tls_config_replace(struct service *svc, struct tls_config_change *c)
{
	tls_server_free(svc->tls_config->server);
	tls_client_free(svc->tls_config->client);
	svc->tls_config->server = c->server;
	svc->tls_config->client = c->client;
	*c = (struct tls_config_change){ .changed = false };
}

int
tls_config_try(struct service *svc, struct error *e)
{
	struct tls_config_change c;

	if (open_change(svc, svc->plan, &c, e) < 0)
		return -1;
	tls_config_replace(svc, &c);
	warn_of_use(svc);
	warn_of_ends(svc, true);
	(void)warn_of_lists(svc);
	tls_config_replace(svc, &c);
	return 0;
}

/* A core file would hold the keys. */
static void
forbid_core(void)
{
	const struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
}

static void
set_timers(struct service *svc, uint64_t watch_ms)
{
	struct tls_config *s = svc->tls_config;

	timer_stop(&s->warn);
	schedule_refresh(svc, watch_ms);
	if (s->server == NULL && s->client == NULL)
		return;
	s->warn_all = 0;
	(void)timer_start(svc->pen->loop, &s->warn, 0);
}

void
tls_config_commit(struct apply *a)
{
	const struct tls_settings *t = &a->wanted->config->tls;
	bool changed = a->tls.changed;
	struct service *svc = a->service;
	struct frontend_tls tls;

	if (changed) {
		tls_config_replace(svc, &a->tls);
		if (svc->tls_config->server != NULL ||
		    svc->tls_config->client != NULL)
			forbid_core();
	}
	tls = (struct frontend_tls){ .server = svc->tls_config->server,
		.client = svc->tls_config->client,
		.handshake_ms = t->handshake_ms,
		.upstream = t->upstream,
		.require_close_notify = t->require_close_notify };
	frontend_set_tls(svc->frontend, &tls);
	if (changed || t->watch_ms != a->now->config->tls.watch_ms)
		set_timers(svc, t->watch_ms);
}

struct tls_config *
tls_config_new(struct service *svc)
{
	struct tls_config *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->service = svc;
	timer_init(&s->refresh, on_refresh);
	timer_init(&s->warn, on_warn);
	return s;
}

void
tls_config_free(struct tls_config *s)
{
	if (s == NULL)
		return;
	timer_fini(&s->refresh);
	timer_fini(&s->warn);
	tls_server_free(s->server);
	tls_client_free(s->client);
	free(s);
}
