/* apply.c: how a plan comes into force. */
#include "config.h"

#include <stdlib.h>

#include "control/apply/apply.h"
#include "control/apply/derive.h"
#include "control/apply/expand.h"
#include "control/apply/refresh.h"

/* ---- the participants ---- */

static bool
takes_part(const struct participant *who, const struct apply *a)
{
	return who->since <= a->pen->phase;
}

/* Opens nothing. */
static int
apply_check(struct apply *a, struct error *e)
{
	const struct participant *who;

	for (who = a->pen->participants; who->name != NULL; who++)
		if (who->check != NULL && who->check(a, e) < 0)
			return -1;
	return 0;
}

/* Undoes what the participants before `failed` have prepared. */
static void
apply_cancel(struct apply *a, const struct participant *failed)
{
	const struct participant *who = failed;

	while (who-- > a->pen->participants)
		if (takes_part(who, a) && who->cancel != NULL)
			who->cancel(a);
}

static int
apply_prepare(struct apply *a, struct error *e)
{
	const struct participant *who;

	for (who = a->pen->participants; who->name != NULL; who++) {
		if (!takes_part(who, a) || who->prepare == NULL ||
		    who->prepare(a, e) == 0)
			continue;
		apply_cancel(a, who);
		return -1;
	}
	return 0;
}

static void
apply_commit(struct apply *a)
{
	const struct participant *who;

	for (who = a->pen->participants; who->name != NULL; who++)
		if (takes_part(who, a) && who->commit != NULL)
			who->commit(a);
}

/* ---- a plan comes into force ---- */

/* conn_max never gets smaller by a command, but a file that is read again may
 * say less. */
static size_t
kept_sessions(const struct pen *p, const struct plan *draft)
{
	uint64_t now = p->plan->config.frontend.sessions_max,
		 wanted = draft->config.conn_max;

	if (p->phase < PHASE_SERVING)
		return 0;
	return (size_t)(wanted > 0 && wanted < now ? wanted : now);
}

int
apply_plan(
    struct pen *p, struct plan *draft, const struct names *n, struct error *e)
{
	struct apply a = { .pen = p,
		.service = p->service,
		.now = p->plan,
		.wanted = draft,
		.names = n,
		.first = p->phase == PHASE_STARTING };
	struct plan *out = draft; /* of force */
	int rc;

	rc = expand_names(p->service, draft, n, e);
	a.changes =
	    p->phase < PHASE_SERVING ? ~0u : plan_changes(p->plan, draft);
	derive_settings(draft, p->descriptors, kept_sessions(p, draft));
	if (rc == 0)
		rc = apply_check(&a, e);
	if (rc == 0)
		rc = apply_prepare(&a, e);
	if (rc == 0) {
		apply_commit(&a);
		out = p->plan;
		p->plan = p->service->plan = draft;
	}
	plan_free(out);
	free(a.servers.list);
	return rc;
}

static void
look_up_now(const struct plan *draft, struct names *n)
{
	const char *server = draft->config.names.server;
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
	if (apply_want_names(p->service, draft, &n) == 0) {
		look_up_now(draft, &n);
		if (refresh_ttl(&n) > 0)
			p->names_ttl_ms = refresh_ttl(&n);
		rc = apply_plan(p, draft, &n, e);
	} else {
		plan_free(draft);
		rc = error_set(e, "out of memory");
	}
	names_fini(&n);
	return rc;
}
