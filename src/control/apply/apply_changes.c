/* apply_changes.c: see apply_changes.h. */
#include "config.h"

#include <stdlib.h>

#include "control/apply/apply.h"
#include "control/apply/apply_changes.h"
#include "control/apply/derive.h"
#include "control/apply/expand.h"
#include "control/apply/services.h"
#include "control/life/v6_only.h"

/* ---- which services it may change ---- */

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

/* Whether the draft leaves the service as it is. */
static bool
is_untouched(const struct apply_all *all, const struct plan *wanted,
    const struct service *svc)
{
	return wanted != all->draft &&
	    (all->changed & FOLLOWED_BY_SERVICES) == 0 &&
	    all->pen->phase == PHASE_SERVING &&
	    is_the_same(wanted, svc, all->names);
}

/* `svc` is NULL: it is a new one. */
static int
add_service(struct apply_all *all, const char *name, struct service *svc)
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
		.names = all->names,
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

/* What the draft changes of the process. */
static uint64_t
process_changed(const struct apply_all *all)
{
	const struct process_plan *wanted = all->draft->process;

	if (all->pen->phase < PHASE_SERVING)
		return CHANGED_ALL;
	return process_plan_changed(all->now->process, wanted) |
	    (wanted->derived ? 0 : CHANGED_ANEW);
}

/* Collects the services that the draft may change, and what it changes of the
 * process. */
static int
collect_services(struct apply_all *all)
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
		if (!is_untouched(all, wanted, svc) &&
		    add_service(all, name, svc) < 0)
			return -1;
	}
	return 0;
}

/* ---- what it changes ---- */

/* The service's share of descriptors. A running service of datagrams keeps its
 * share when others are added. */
static size_t
share_of(const struct apply_all *all, const struct apply *a)
{
	size_t share = shares_limit(&all->shares, a->wanted);

	return !plan_service_takes_connections(a->wanted) &&
		a->service->descriptors > share
	    ? a->service->descriptors
	    : share;
}

/* What the draft changes of the service, which may have been added because of
 * the process only. */
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

/* Compares the plans of all collected services. What has changed of the process
 * is a change of each of them, too. */
static void
compare_plans(struct apply_all *all)
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

void
apply_changes_share(struct apply *a)
{
	enum { BEFORE = 8 };
	struct apply *other = a;

	while (other > a->all->one && a - other < BEFORE &&
	    !plan_share_config(a->wanted, (--other)->wanted))
		;
}

/* Derives settings of these services from others: servers from names, shares of
 * descriptors. Then compares the plans. */
static int
derive_services(struct apply_all *all, struct error *e)
{
	struct apply *a;
	int rc = 0;

	shares_find(&all->shares, all->draft,
	    all->pen->descriptors * all->pen->role.size);
	for (a = all->one; a < all->one + all->count && rc == 0; a++) {
		if (expand_names(a, e) < 0)
			rc = plan_service_errors(a->wanted, all->pen->errors,
			    errors_count(all->pen->errors), -1, e);
		a->descriptors = share_of(all, a);
		if (derive_settings(all->draft->process, a->wanted,
			a->descriptors,
			all->shares.count > 0 ? all->shares.count : 1,
			kept_sessions(a->service, a->wanted)) < 0)
			return error_set(e, "out of memory");
		apply_changes_share(a);
	}
	compare_plans(all);
	return rc;
}

int
apply_changes_find(struct apply_all *all, struct error *e)
{
	if (collect_services(all) < 0)
		return error_set(e, "out of memory");
	return derive_services(all, e);
}

/* Names that were looked up again have what they had. */
#define IN_FORCE_WITH (CHANGED_NAMES | CHANGED_ANEW | CHANGED_DRAFT)

/* A worker does as its leader. */
bool
apply_changes_none(const struct apply_all *all)
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

/* ---- names ---- */

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
