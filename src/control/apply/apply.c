/* apply.c: who takes part when a plan comes into force, and in which order. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/language/command.h"
#include "control/apply/derive.h"
#include "control/apply/direct.h"
#include "control/verify/doubts.h"
#include "control/apply/expand.h"
#include "control/apply/geoip.h"
#include "control/verify/preflight.h"
#include "control/apply/refresh.h"
#include "control/plan/server_index.h"
#include "control/plan/setting.h"
#include "control/upgrade/upgrade.h"
#include "control/life/states.h"

/* ---- the process: settings of the start, and how much is logged ---- */

static bool
are_controls_equal(const struct plan *a, const struct plan *b)
{
	unsigned i;

	if (a->control_count != b->control_count)
		return false;
	for (i = 0; i < a->control_count; i++) {
		const struct control_plan *x = &a->controls[i],
					  *y = &b->controls[i];

		if (strcmp(x->text, y->text) != 0 || x->level != y->level ||
		    x->others != y->others || x->mode != y->mode)
			return false;
	}
	return true;
}

static int
process_check(struct apply *a, struct error *e)
{
	const struct command *row;

	if (a->pen->phase < PHASE_SERVING)
		return 0;
	if (upgrade_is_under_way(a->pen))
		return error_set(e, "an upgrade is under way");
	COMMAND_EACH(row)
		if (row->flags & ROW_START &&
		    !setting_equal(a->now, a->wanted, row))
			return error_set(e, "%s: only at the start", row->name);
	if (!are_controls_equal(a->now, a->wanted))
		return error_set(e, "control sockets change only at the start");
	if (a->pen->phase == PHASE_DRAINING &&
	    !listen_list_equal(&a->now->listen, &a->wanted->listen))
		return error_set(e,
		    "pen is stopping and opens no new listening sockets");
	return 0;
}

static void
process_commit(struct apply *a)
{
	log_level =
	    a->wanted->config.debug > 0 ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
}

/* ---- servers and settings of the pool ---- */

/* A server that is the same stays drained or down where the draft does not say:
 * then the plan says so, or it would be lost when that is written. */
static void
note_admin(struct plan *draft, const struct server *set)
{
	struct server_plan *s;

	if (set->role != SERVER_REGULAR || set->admin == SERVER_ENABLED)
		return;
	s = plan_edit(draft, set->slot);
	if (s != NULL)
		s->admin = (int)set->admin;
}

/* What is asked for once is no part of the plan that is kept. Before the start
 * there are no clients to keep away. */
static void
take_out_now(struct pen *p, struct plan *draft, struct server *set)
{
	struct server_plan *s;

	if (!plan_slot(draft, set->slot)->out_now)
		return;
	s = plan_edit(draft, set->slot);
	if (s != NULL)
		s->out_now = false;
	if (p->phase >= PHASE_SERVING)
		pool_take_out(p->pool, set, loop_now(p->loop));
}

/* Names move to other hosts while nobody watches; what they have at the start
 * is no news. */
static void
log_addresses(const struct pen *p, const struct server_plan *new,
    const struct change *c)
{
	const struct server_plan *old = plan_slot(p->plan, c->slot);
	const struct server *s = pool_slot(p->pool, c->slot);
	unsigned number = server_number(c->slot);
	char text[ADDR_TEXT_MAX];

	if (p->phase < PHASE_SERVING)
		return;
	if (c->addrs.count == 0) {
		if ((new == NULL || new->host == NULL) && old != NULL &&
		    old->parent != 0)
			log_info("name has lost an address server=%u name=%s "
				 "address=%s",
			    number, old->host, old->address);
		return;
	}
	addr_format(&c->addrs.addr[0], text);
	if (s != NULL && s->present && strcmp(s->name, new->host) == 0) {
		if (!server_addrs_equal(&s->addrs, &c->addrs))
			log_info("name has other addresses server=%u name=%s "
				 "address=%s addresses=%u",
			    number, new->host, text, c->addrs.count);
	} else if (new->parent != 0) {
		log_info("name has another address server=%u name=%s "
			 "address=%s",
		    number, new->host, text);
	}
}

/* Weight 0 is a small share there (RFC 2782), and none here. */
static void
take_service(
    struct server_settings *set, const struct resolved_service *service)
{
	set->weight = service->weight > 0 ? service->weight : 1;
	set->prio = service->prio;
}

static int
remove_server(struct pen *p, unsigned slot)
{
	struct server *s = pool_slot(p->pool, slot);

	pool_remove_server(p->pool, s);
	return s != NULL ? server_index_set(p->index, s) : 0;
}

/* One of the hosts that a name stands for: the target of a service, which its
 * certificate is for (RFC 6125, 6.2.1); else the name without its star. NULL:
 * the name itself. */
static const char *
host_name(const struct server_plan *s, char text[SPEC_TEXT_MAX])
{
	if (s->target != NULL)
		return s->target;
	return (s->parent != 0 || expand_is_wanted(s)) && expand_name(s, text)
	    ? text
	    : NULL;
}

static int
set_server(struct pen *p, struct plan *draft, const struct change *c)
{
	const struct server_plan *s = plan_slot(draft, c->slot);
	struct server_spec spec;
	char text[SPEC_TEXT_MAX], host[SPEC_TEXT_MAX];
	struct server *set;

	log_addresses(p, s, c);
	if (s == NULL || s->host == NULL)
		return remove_server(p, c->slot);
	server_spec_init(&spec);
	spec.name = s->host;
	spec.host = host_name(s, host);
	spec.addrs = c->addrs;
	spec.set = s->set;
	spec.set.acl = apply_acls_number(draft, &s->acl);
	spec.admin = s->admin;
	if (s->service.there)
		take_service(&spec.set, &s->service);
	set = pool_set_slot(p->pool, c->slot, &spec);
	if (set == NULL)
		return -1;
	log_debug("server set server=%u %s", set->number,
	    spec_format_limits(s, text));
	note_admin(draft, set);
	take_out_now(p, draft, set);
	return server_index_set(p->index, set);
}

/* Takes the draft's settings, but keeps the memory of clients: that is given up
 * when nothing can fail any more. */
static int
servers_prepare(struct apply *a, struct error *e)
{
	struct pool *pool = a->pen->pool;
	struct pool_options o = a->wanted->config.pool;

	o.sticky = o.sticky || pool_options(pool)->sticky;
	if (pool_set_options(pool, &o) == 0)
		return 0;
	return error_set(e, "out of memory");
}

static void
servers_cancel(struct apply *a)
{
	(void)pool_set_options(a->pen->pool, &a->now->config.pool);
}

static void
servers_commit(struct apply *a)
{
	struct pool *pool = a->pen->pool;
	const struct pool_options *wanted = &a->wanted->config.pool;
	size_t i;

	pool_begin_changes(pool, states_who(a->pen));
	for (i = 0; i < a->servers.count; i++)
		if (set_server(a->pen, a->wanted, &a->servers.list[i]) < 0)
			log_error("out of memory server=%u",
			    server_number(a->servers.list[i].slot));
	if (pool_end_changes(pool) < 0)
		log_error("out of memory");
	/* giving the memory of clients up cannot fail */
	if (pool_options(pool)->sticky != wanted->sticky)
		(void)pool_set_options(pool, wanted);
}

/* ---- control sockets: only a start opens them ---- */

static int
control_prepare(struct apply *a, struct error *e)
{
	return a->first ? pen_open_control(a->pen, a->wanted, e) : 0;
}

static void
control_cancel(struct apply *a)
{
	if (a->first)
		pen_close_control(a->pen);
}

/* ---- the participants ---- */

/* Each part may be left out. A prepare that fails has undone itself; commit or
 * cancel follows one that succeeded. */
struct participant {
	const char *name;
	/* Before that it only checks: there is no loop to open anything in. */
	enum phase since;
	int (*check)(struct apply *a, struct error *e);
	int (*prepare)(struct apply *a, struct error *e);
	void (*commit)(struct apply *a);
	void (*cancel)(struct apply *a);
};

/* Servers come before those who use them. The listeners, which the world sees,
 * come when little is left that could fail. */
static const struct participant participants[] = {
	{ .name = "process",
	    .since = PHASE_PLANNING,
	    .check = process_check,
	    .commit = process_commit },
	{ .name = "page and sources",
	    .since = PHASE_STARTING,
	    .prepare = preflight_prepare },
	{ .name = "director",
	    .since = PHASE_STARTING,
	    .check = direct_check,
	    .prepare = direct_prepare,
	    .cancel = direct_cancel },
	{ .name = "tls",
	    .since = PHASE_STARTING,
	    .check = secure_check,
	    .prepare = secure_prepare,
	    .commit = secure_commit,
	    .cancel = secure_cancel },
	{ .name = "access lists",
	    .since = PHASE_PLANNING,
	    .check = apply_acls_check,
	    .commit = apply_acls_commit },
	{ .name = "countries",
	    .since = PHASE_STARTING,
	    .prepare = geoip_prepare,
	    .commit = geoip_commit,
	    .cancel = geoip_cancel },
	{ .name = "servers",
	    .since = PHASE_PLANNING,
	    .check = apply_servers_check,
	    .prepare = servers_prepare,
	    .commit = servers_commit,
	    .cancel = servers_cancel },
	{ .name = "frontend",
	    .since = PHASE_STARTING,
	    .check = apply_frontend_check,
	    .prepare = apply_frontend_prepare,
	    .commit = apply_frontend_commit,
	    .cancel = apply_frontend_cancel },
	{ .name = "logs",
	    .since = PHASE_STARTING,
	    .prepare = apply_log_prepare,
	    .commit = apply_log_commit,
	    .cancel = apply_log_cancel },
	{ .name = "pages",
	    .since = PHASE_STARTING,
	    .prepare = apply_web_prepare,
	    .commit = apply_web_commit,
	    .cancel = apply_web_cancel },
	{ .name = "routes",
	    .since = PHASE_STARTING,
	    .prepare = apply_routes_prepare,
	    .commit = apply_routes_commit,
	    .cancel = apply_routes_cancel },
	{ .name = "tunnels",
	    .since = PHASE_STARTING,
	    .prepare = direct_prepare_forward,
	    .commit = direct_commit_forward },
	{ .name = "listeners",
	    .since = PHASE_STARTING,
	    .prepare = apply_listen_prepare,
	    .cancel = apply_listen_cancel },
	{ .name = "checks",
	    .since = PHASE_STARTING,
	    .check = checks_check,
	    .prepare = checks_prepare,
	    .commit = checks_commit,
	    .cancel = checks_cancel },
	{ .name = "names",
	    .since = PHASE_SERVING,
	    .commit = refresh_commit },
	{ .name = "control sockets",
	    .since = PHASE_STARTING,
	    .prepare = control_prepare,
	    .cancel = control_cancel },
};
enum { PARTICIPANTS = sizeof(participants) / sizeof(participants[0]) };

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

	for (who = participants; who < participants + PARTICIPANTS; who++)
		if (who->check != NULL && who->check(a, e) < 0)
			return -1;
	return 0;
}

/* Undoes what the participants before `failed` have prepared. */
static void
apply_cancel(struct apply *a, const struct participant *failed)
{
	const struct participant *who = failed;

	while (who-- > participants)
		if (takes_part(who, a) && who->cancel != NULL)
			who->cancel(a);
}

static int
apply_prepare(struct apply *a, struct error *e)
{
	const struct participant *who;

	for (who = participants; who < participants + PARTICIPANTS; who++) {
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

	for (who = participants; who < participants + PARTICIPANTS; who++)
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
		.now = p->plan,
		.wanted = draft,
		.names = n,
		.first = p->phase == PHASE_STARTING };
	struct plan *out = draft; /* of force */
	int rc;

	rc = expand_names(p, draft, n, e);
	a.changes =
	    p->phase < PHASE_SERVING ? ~0u : plan_changes(p->plan, draft);
	derive_settings(draft, p->descriptors, kept_sessions(p, draft));
	if (rc == 0)
		rc = apply_check(&a, e);
	if (rc == 0)
		rc = apply_prepare(&a, e);
	if (rc == 0) {
		apply_commit(&a);
		if (p->phase >= PHASE_SERVING)
			doubts_log(p->plan, draft, p->index);
		out = p->plan;
		p->plan = draft;
	}
	plan_free(out);
	free(a.servers.list);
	free(a.route_doubts);
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
	if (apply_want_names(p, draft, &n) == 0) {
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
