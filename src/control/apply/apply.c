/* apply.c: how a plan comes into force: the order of its participants. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/apply_changes.h"
#include "control/apply/refresh.h"
#include "control/apply/services.h"

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

/* Cancels what the participant has prepared for the services before `end`. */
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

/* Prepares a participant for the process and for each service. If one of these
 * fails, what was prepared is undone. */
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

/* ---- a plan comes into force ---- */

/* Lets services leave that the running plan does not have. */
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
apply_finish(struct apply_all *all)
{
	struct plan *before = all->pen->plan;
	struct apply *a;
	struct error e;

	all->draft->process->derived = true;
	for (a = all->one; a < all->one + all->count; a++) {
		a->wanted->derived = true;
		service_take_plan(a->service, a->wanted);
		a->service->descriptors = a->descriptors;
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
	refresh_settle(all->pen, all->names);
	shares_settle(all->pen);
	plan_free(before);
}

static void
apply_drop(struct apply_all *all)
{
	struct apply *a;

	for (a = all->one; a < all->one + all->count; a++)
		if (a->new)
			service_free(a->service);
	plan_free(all->draft);
}

/* Makes the draft the running plan. With `flawed` also if errors were kept:
 * more of them are to be found then. */
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

	rc = apply_changes_find(&all, e);
	if (rc == 0)
		rc = apply_check(&all, e);
	if (rc == 0 && !flawed && errors_at(p->errors, 0, e))
		rc = -1;
	if (rc == 0)
		same = apply_changes_none(&all);
	if (rc == 0 && !same && keep_lists(p, draft) < 0)
		rc = error_set(e, "out of memory");
	if (rc == 0 && !same) {
		apply_listen_mark(p, draft);
		rc = apply_prepare(&all, e);
	}
	if (rc == 0 && !same) {
		apply_commit(&all);
		apply_finish(&all);
	} else {
		share_lists(p);
		apply_drop(&all);
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
