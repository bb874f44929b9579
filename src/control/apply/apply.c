/* apply.c: how a plan comes into force. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/derive.h"
#include "control/apply/expand.h"
#include "control/apply/refresh.h"
#include "control/apply/services.h"
#include "control/life/v6_only.h"

/* ---- the participants ---- */

static bool
takes_part(const struct participant *who, const struct apply_all *all)
{
	return who->since <= all->pen->phase &&
	    !(who->of_leader && all->pen->role.member > 0);
}

/* Whether the draft changes what they depend on. */
static bool
concerns_process(const struct participant *who, const struct apply_all *all)
{
	return (who->process.on & all->changed) != 0;
}

static bool
concerns_service(const struct participant *who, const struct apply *a)
{
	return (who->service.on & a->changed) != 0;
}

/* Settings that need others may lack those of lines that were refused. */
static bool
may_check(const struct participant *who, const struct plan *wanted)
{
	return who->of_each || !wanted->flawed;
}

static int
check_process(
    struct apply_all *all, const struct participant *who, struct error *e)
{
	unsigned from = errors_count(all->pen->errors);

	if (who->process.check == NULL || !concerns_process(who, all) ||
	    !may_check(who, all->draft))
		return 0;
	return plan_service_errors(
	    all->draft, all->pen->errors, from, who->process.check(all, e), e);
}

static int
check_services(
    struct apply_all *all, const struct participant *who, struct error *e)
{
	struct errors *errors = all->pen->errors;
	struct apply *a;
	unsigned from;
	int rc;

	if (who->service.check == NULL)
		return 0;
	for (a = all->one; a < all->one + all->count; a++) {
		if (!concerns_service(who, a) || !may_check(who, a->wanted))
			continue;
		from = errors_count(errors);
		rc = who->service.check(a, e);
		if (plan_service_errors(a->wanted, errors, from, rc, e) < 0)
			return -1;
	}
	return 0;
}

/* Opens nothing. */
static int
apply_check(struct apply_all *all, struct error *e)
{
	const struct participant *who;

	for (who = all->pen->participants; who->name != NULL; who++)
		if (check_process(all, who, e) < 0 ||
		    check_services(all, who, e) < 0)
			return -1;
	return 0;
}

/* Of the services before `end`. */
static void
cancel_services(const struct apply_all *all, const struct participant *who,
    struct apply *end)
{
	while (end-- > all->one)
		if (who->service.cancel != NULL && concerns_service(who, end))
			who->service.cancel(end);
}

static void
cancel_process(struct apply_all *all, const struct participant *who)
{
	if (who->process.cancel != NULL && concerns_process(who, all))
		who->process.cancel(all);
}

/* Undoes what those before `failed` have prepared. */
static void
apply_cancel(struct apply_all *all, const struct participant *failed)
{
	const struct participant *who = failed;

	while (who-- > all->pen->participants) {
		if (!takes_part(who, all))
			continue;
		cancel_services(all, who, all->one + all->count);
		cancel_process(all, who);
	}
}

static int
prepare_services(
    struct apply_all *all, const struct participant *who, struct error *e)
{
	struct apply *a;

	for (a = all->one; a < all->one + all->count; a++) {
		if (who->service.prepare == NULL || !concerns_service(who, a) ||
		    who->service.prepare(a, e) == 0)
			continue;
		cancel_services(all, who, a);
		return plan_service_blame(a->wanted, e);
	}
	return 0;
}

/* One that fails has undone it. */
static int
prepare_one(
    struct apply_all *all, const struct participant *who, struct error *e)
{
	if (who->process.prepare != NULL && concerns_process(who, all) &&
	    who->process.prepare(all, e) < 0)
		return -1;
	if (prepare_services(all, who, e) == 0)
		return 0;
	cancel_process(all, who);
	return -1;
}

static int
apply_prepare(struct apply_all *all, struct error *e)
{
	const struct participant *who;

	for (who = all->pen->participants; who->name != NULL; who++)
		if (takes_part(who, all) && prepare_one(all, who, e) < 0) {
			apply_cancel(all, who);
			return -1;
		}
	return 0;
}

static void
apply_commit(struct apply_all *all)
{
	const struct participant *who;
	struct apply *a;

	for (who = all->pen->participants; who->name != NULL; who++) {
		if (!takes_part(who, all))
			continue;
		if (who->process.commit != NULL && concerns_process(who, all))
			who->process.commit(all);
		for (a = all->one; a < all->one + all->count; a++)
			if (who->service.commit != NULL &&
			    concerns_service(who, a))
				who->service.commit(a);
	}
}

/* ---- which services ---- */

/* conn_max never gets smaller by a command, but a file that is read again may
 * have less. */
static size_t
kept_sessions(const struct service *svc, const struct plan *draft)
{
	uint64_t now = svc->plan->config->frontend.sessions_max,
		 wanted = draft->config->conn_max;

	if (svc->pen->phase < PHASE_SERVING)
		return 0;
	return (size_t)(wanted > 0 && wanted < now ? wanted : now);
}

/* Whether addresses that were looked up may change it. */
static bool
has_names_of(const struct names *n, const struct service *svc)
{
	return apply_servers_have_names(svc->plan, names_range(n, svc));
}

/* Whether neither the draft nor names that were looked up change it. */
static bool
is_the_same(
    const struct plan *wanted, const struct service *svc, const struct names *n)
{
	return svc != NULL && svc->plan == wanted && !has_names_of(n, svc);
}

/* What services obey, of the process: lists that their settings name and the
 * countries in these, what is derived for their frontends, whether all sessions
 * have a line; and of the first service where these lines go. */
#define FOLLOWED_BY_SERVICES                                           \
	(CHANGED_ACLS | CHANGED_GEOIP | CHANGED_DUMP | CHANGED_DRAIN | \
	    CHANGED_DEBUG | CHANGED_SESSION_LOG | CHANGED_LOG_SAMPLE)

/* One that is as it was is left alone. */
static bool
is_untouched(const struct apply_all *all, const struct plan *wanted,
    const struct service *svc, const struct names *n)
{
	return wanted != all->draft &&
	    (all->changed & FOLLOWED_BY_SERVICES) == 0 &&
	    all->pen->phase == PHASE_SERVING && is_the_same(wanted, svc, n);
}

/* `svc` is NULL: it is a new one. */
static int
applies_add(struct apply_all *all, const char *name, struct service *svc,
    const struct names *n)
{
	struct plan *draft = plan_service_edit(all->draft, name);
	struct apply *a = &all->one[all->count];
	bool new = svc == NULL;

	if (new)
		svc = service_new(all->pen, name, NULL);
	if (svc == NULL || draft == NULL) {
		if (new)
			service_free(svc);
		return -1;
	}
	*a = (struct apply){ .pen = all->pen,
		.all = all,
		.draft = all->draft,
		.service = svc,
		.now = svc->plan,
		.wanted = draft,
		.names = n,
		.new = new,
		.first = svc->frontend == NULL &&
		    all->pen->phase >= PHASE_STARTING };
	all->count++;
	return 0;
}

/* The draft has the plan of the process alone if that changes: numbers of lists
 * are part of it. */
static int
own_process(struct apply_all *all)
{
	if (apply_acls_remove_unused(all->draft) < 0)
		return -1;
	return (all->pen->phase == PHASE_SERVING &&
		   all->draft->process == all->now->process) ||
		plan_edit_process(all->draft) != NULL
	    ? 0
	    : -1;
}

/* Of the process alone. */
static uint64_t
process_changed(const struct apply_all *all)
{
	const struct process_plan *wanted = all->draft->process;

	if (all->pen->phase < PHASE_SERVING)
		return CHANGED_ALL;
	return process_plan_changed(all->now->process, wanted) |
	    (wanted->derived ? 0 : CHANGED_ANEW);
}

static int
applies_collect(struct apply_all *all, const struct names *n)
{
	struct service *svc = NULL;
	const struct plan *wanted;
	unsigned i;

	all->one = calloc(all->draft->service_count + 1, sizeof(*all->one));
	if (all->one == NULL || own_process(all) < 0 ||
	    v6_only_settle(all->pen, all->draft) < 0)
		return -1;
	all->changed = process_changed(all);
	if (apply_log_concerns_services(all->now, all->draft))
		all->changed |= CHANGED_SESSION_LOG | CHANGED_LOG_SAMPLE;
	for (i = 0; (wanted = plan_service_at(all->draft, i)) != NULL; i++) {
		const char *name = plan_service_name(wanted);

		svc = service_find_behind(all->pen, svc, name);
		if (!is_untouched(all, wanted, svc, n) &&
		    applies_add(all, name, svc, n) < 0)
			return -1;
	}
	return 0;
}

/* One of datagrams that is there keeps its part when others are added. */
static size_t
share_of(const struct apply_all *all, const struct apply *a)
{
	size_t share = shares_limit(&all->shares, a->wanted);

	return !plan_service_takes_connections(a->wanted) &&
		a->service->descriptors > share
	    ? a->service->descriptors
	    : share;
}

/* It may have been added when only the process was known. */
static uint64_t
service_changed(const struct apply_all *all, const struct apply *a)
{
	struct names_range looked_up = names_range(a->names, a->service);
	uint64_t changed;

	if (a->first || all->pen->phase < PHASE_SERVING)
		return CHANGED_ALL;
	changed = all->changed | plan_changed(a->now, a->wanted) |
	    derived_changed(a->now, a->wanted);
	if (!list_is_empty(&a->names->all) || looked_up.from < looked_up.past)
		changed |= CHANGED_NAMES;
	if (!a->wanted->derived)
		changed |= CHANGED_ANEW;
	return changed;
}

/* Whether a service leaves. */
static bool
lacks_service(const struct pen *p, const struct plan *draft)
{
	const struct service *svc;
	unsigned i = 0;

	SERVICE_EACH (p, svc)
		if (!svc->leaves &&
		    plan_service_near(draft, i++, svc->name) == NULL)
			return true;
	return false;
}

/* What the first service has warnings of, of another one. */
#define SEEN_BY_FIRST                                              \
	((CHANGED_OF_SERVICE & ~CHANGED_SERVERS) | CHANGED_HOSTS | \
	    CHANGED_SERVICES)

/* What has changed of the process is in all of them before. */
static void
applies_compare(struct apply_all *all)
{
	uint64_t others = 0;
	struct apply *a;

	for (a = all->one; a < all->one + all->count; a++) {
		a->changed = service_changed(all, a) | CHANGED_DRAFT;
		if (a > all->one)
			others |= a->new ? CHANGED_SERVICES : a->changed;
	}
	all->leaves = lacks_service(all->pen, all->draft);
	if (all->leaves)
		others |= CHANGED_SERVICES;
	if (others & SEEN_BY_FIRST)
		all->one->changed |= CHANGED_OTHERS;
	all->changed |= all->one->changed | others | CHANGED_DRAFT;
}

static int
applies_derive(struct apply_all *all, struct error *e)
{
	struct apply *a;
	int rc = 0;

	shares_find(&all->shares, all->draft,
	    all->pen->descriptors * all->pen->role.size);
	for (a = all->one; a < all->one + all->count && rc == 0; a++) {
		if (expand_names(a, e) < 0)
			rc = plan_service_errors(a->wanted, all->pen->errors,
			    errors_count(all->pen->errors), -1, e);
		if (derive_settings(all->draft->process, a->wanted,
			share_of(all, a),
			all->shares.count > 0 ? all->shares.count : 1,
			kept_sessions(a->service, a->wanted)) < 0)
			return error_set(e, "out of memory");
	}
	applies_compare(all);
	return rc;
}

/* ---- a plan comes into force ---- */

/* Of services that the draft does not have. */
static void
remove_services(struct pen *p)
{
	struct service *svc, *next;
	unsigned i = 0;

	for (svc = p->service; svc != NULL; svc = next) {
		next = svc->next;
		if (!svc->leaves &&
		    plan_service_near(p->plan, i++, svc->name) == NULL)
			service_retire(svc);
	}
	SERVICE_EACH (p, svc)
		if (svc->leaves)
			frontend_close_moved(svc->frontend);
}

/* The lists that clients of a service must pass stay as they are until its last
 * one has a server; those of others change, and their numbers. */
static int
keep_lists(struct pen *p, const struct plan *draft)
{
	struct service *svc;
	unsigned i = 0;

	SERVICE_EACH (p, svc)
		if (!svc->leaves &&
		    plan_service_near(draft, i++, svc->name) == NULL &&
		    pool_freeze_lists(svc->pool) < 0)
			return -1;
	return 0;
}

/* No service leaves after all. */
static void
share_lists(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		if (!svc->leaves && !service_is_first(svc))
			pool_share_lists(svc->pool, p->service->pool);
}

/* A new service serves as soon as it is in force. */
static void
applies_finish(struct apply_all *all, const struct names *n)
{
	struct plan *before = all->pen->plan;
	struct apply *a;
	struct error e;

	all->draft->process->derived = true;
	for (a = all->one; a < all->one + all->count; a++) {
		a->wanted->derived = true;
		service_take_plan(a->service, a->wanted);
		a->service->descriptors = share_of(all, a);
		if (!a->new)
			continue;
		service_add(a->service);
		if (all->pen->phase == PHASE_SERVING &&
		    service_start(a->service, &e) < 0)
			log_error("service not started service=%s "
				  "error=\"%s\"",
			    a->service->name, e.text);
	}
	for (a = all->one; a < all->one + all->count; a++)
		apply_routes_connect(a);
	services_join(all->pen);
	remove_services(all->pen);
	refresh_settle(all->pen, n);
	shares_settle(all->pen);
	plan_free(before);
}

static void
applies_drop(struct apply_all *all)
{
	struct apply *a;

	for (a = all->one; a < all->one + all->count; a++)
		if (a->new)
			service_free(a->service);
	plan_free(all->draft);
}

#define IN_FORCE_WITH (CHANGED_NAMES | CHANGED_ANEW | CHANGED_DRAFT)

/* Names that were looked up again have what they had. A worker does as its
 * leader. */
static bool
is_in_force(const struct apply_all *all)
{
	const struct process_role *t = &all->pen->role;
	const struct apply *a;

	if (t->change.line != NULL || t->member > 0 ||
	    (all->changed & ~IN_FORCE_WITH) != 0)
		return false;
	for (a = all->one; a < all->one + all->count; a++)
		if (a->servers.count > 0)
			return false;
	return true;
}

/* One with errors that were kept is in force only if more are to be found. */
static int
apply_draft(struct pen *p, struct plan *draft, const struct names *n,
    bool flawed, struct error *e)
{
	struct apply_all all = { .pen = p,
		.draft = draft,
		.now = p->plan,
		.names = n,
		.first = p->service->frontend == NULL &&
		    p->phase >= PHASE_STARTING };
	bool same = false;
	unsigned i;
	int rc;

	rc = applies_collect(&all, n) == 0 ? 0 : error_set(e, "out of memory");
	if (rc == 0)
		rc = applies_derive(&all, e);
	if (rc == 0)
		rc = apply_check(&all, e);
	if (rc == 0 && !flawed && errors_at(p->errors, 0, e))
		rc = -1;
	if (rc == 0)
		same = is_in_force(&all);
	if (rc == 0 && !same && keep_lists(p, draft) < 0)
		rc = error_set(e, "out of memory");
	if (rc == 0 && !same) {
		apply_listen_mark(p, draft);
		rc = apply_prepare(&all, e);
	}
	if (rc == 0 && !same) {
		apply_commit(&all);
		applies_finish(&all, n);
	} else {
		share_lists(p);
		applies_drop(&all);
	}
	if (p->phase == PHASE_SERVING)
		inherited_fini(&p->sockets.inherited);
	for (i = 0; i < all.count; i++)
		free(all.one[i].servers.list);
	free(all.one);
	return rc;
}

int
apply_plan(
    struct pen *p, struct plan *draft, const struct names *n, struct error *e)
{
	return apply_draft(p, draft, n, false, e);
}

int
apply_want_names(const struct pen *p, const struct plan *draft, struct names *n)
{
	const struct service *svc = NULL;
	const struct plan *wanted;
	unsigned i;

	for (i = 0; (wanted = plan_service_at(draft, i)) != NULL; i++) {
		svc = service_find_behind(p, svc, plan_service_name(wanted));
		if (!is_the_same(wanted, svc, n) &&
		    apply_servers_want_names(svc, wanted, n) < 0)
			return -1;
	}
	return 0;
}

static void
look_up_now(const struct plan *draft, struct names *n)
{
	const char *server = draft->process->resolver;
	struct addr at;

	if (server != NULL && spec_parse_ip(&at, server, NAMES_DNS_PORT) == 0)
		names_look_up_now(n, &at);
	else
		names_look_up_now(n, NULL);
}

int
apply_plan_now(struct pen *p, struct plan *draft, struct error *e)
{
	struct names n;
	int rc;

	names_init(&n);
	if (apply_want_names(p, draft, &n) == 0) {
		look_up_now(draft, &n);
		if (refresh_ttl(&n) > 0)
			p->names_ttl_ms = refresh_ttl(&n);
		rc = apply_draft(p, draft, &n, true, e);
	} else {
		plan_free(draft);
		rc = error_set(e, "out of memory");
	}
	names_fini(&n);
	return rc;
}
