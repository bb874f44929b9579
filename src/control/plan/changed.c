/* changed.c: see changed.h. */
#include "config.h"

#include <stddef.h>

#include "base/words.h"
#include "control/plan/changed.h"
#include "control/plan/table.h"
#include "control/value/value.h"

/* ---- of settings ---- */

struct member {
	uint64_t changed;
	enum row_scope scope;
	size_t from, size;
};

#define MEMBER(scope, of, member, changed)                       \
	{                                                        \
		(changed), (scope), offsetof(struct of, member), \
		    sizeof(((struct of *)0)->member)             \
	}
#define SERVICE(member, changed) MEMBER(SCOPE_SERVICE, config, member, changed)
#define PROCESS(member, changed) \
	MEMBER(SCOPE_PROCESS, process_plan, member, changed)

/* The first that has the value counts; what is in none is of the last two. */
static const struct member members[] = {
	SERVICE(pool, CHANGED_POOL),
	SERVICE(mode, CHANGED_POOL | CHANGED_FRONTEND),
	SERVICE(frontend.source, CHANGED_SOURCE | CHANGED_FRONTEND),
	SERVICE(frontend.transparent, CHANGED_SOURCE | CHANGED_FRONTEND),
	SERVICE(frontend.dns, CHANGED_DNS | CHANGED_FRONTEND),
	SERVICE(frontend, CHANGED_FRONTEND),
	SERVICE(tls, CHANGED_TLS),
	SERVICE(dsr, CHANGED_DSR),
	SERVICE(checks, CHANGED_CHECKS),
	SERVICE(conn_max, CHANGED_FRONTEND),
	SERVICE(idlers, CHANGED_FRONTEND),
	SERVICE(udp, CHANGED_FRONTEND),
	SERVICE(client_acl, CHANGED_POOL),
	SERVICE(client_exempt_acl, CHANGED_FRONTEND),
	SERVICE(forwarded, CHANGED_FRONTEND),
	SERVICE(http_errors, CHANGED_FRONTEND),
	SERVICE(observe, CHANGED_FRONTEND),
	SERVICE(accept_proxy, CHANGED_FRONTEND),
	SERVICE(session_log, CHANGED_SESSION_LOG),
	SERVICE(log_format, CHANGED_LOG_FORMAT),
	SERVICE(log_sample, CHANGED_LOG_SAMPLE),
	SERVICE(request_log.to, CHANGED_REQUEST_LOG),
	SERVICE(request_log.format, CHANGED_REQUEST_FORMAT),
	PROCESS(web, CHANGED_WEB | CHANGED_PROCESS),
	PROCESS(web_stats, CHANGED_WEB_STATS),
	PROCESS(on_state, CHANGED_ON_STATE),
	PROCESS(geoip, CHANGED_GEOIP),
	PROCESS(log, CHANGED_LOG),
	PROCESS(debug, CHANGED_DEBUG | CHANGED_DUMP | CHANGED_PROCESS),
	PROCESS(ascii, CHANGED_DUMP),
	PROCESS(drain_ms, CHANGED_DRAIN | CHANGED_PROCESS),
	PROCESS(peers, CHANGED_PEERS),
	PROCESS(peer_listen, CHANGED_PEERS),
	PROCESS(workers, CHANGED_WORKERS),
	{ CHANGED_SERVICE, SCOPE_SERVICE, 0, sizeof(struct config) },
	{ CHANGED_PROCESS, SCOPE_PROCESS, 0, sizeof(struct process_plan) },
};

uint64_t
changed_setting(const struct command *row)
{
	const struct member *m = members;
	uint64_t changed;

	while (m->scope != row->scope || row->offset < m->from ||
	    row->offset - m->from >= m->size)
		m++;
	changed = m->changed;
	if (row->kind == KIND_ACL || row->kind == KIND_FORWARDED)
		changed |= CHANGED_REFERENCES;
	if (row->flags & ROW_START)
		changed |= CHANGED_AT_START;
	return changed;
}

/* `a` and `b`: what the offsets of rows of that scope are in. */
static uint64_t
settings_changed(enum row_scope scope, const void *a, const void *b)
{
	const struct command *row;
	uint64_t changed = 0;

	TABLE_EACH_OF (scope, row)
		if (!value_equal(row, a, b))
			changed |= changed_setting(row);
	return changed;
}

/* ---- of plans ---- */

uint64_t
plan_changed(const struct plan *a, const struct plan *b)
{
	uint64_t changed;

	if (a == b)
		return 0;
	changed = plan_servers_changed(a, b);
	if (a->config != b->config)
		changed |=
		    settings_changed(SCOPE_SERVICE, a->config, b->config);
	if (!listen_list_equal(&a->listen, &b->listen))
		changed |= CHANGED_LISTEN;
	if (!text_equal(a->listen_text, b->listen_text))
		changed |= CHANGED_SERVICE;
	if (!route_plans_equal(a->routes, b->routes))
		changed |= CHANGED_ROUTES;
	return changed;
}

/* Whether the words of both mean the same address of the pages. */
static bool
has_same_web(const struct process_plan *a, const struct process_plan *b)
{
	struct addr x, y;
	struct error e;

	return a->web != NULL && b->web != NULL &&
	    spec_parse_web(&x, a->web, &e) == 0 &&
	    spec_parse_web(&y, b->web, &e) == 0 && addr_equal(&x, &y);
}

uint64_t
process_plan_changed(const struct process_plan *a, const struct process_plan *b)
{
	uint64_t changed;

	if (a == b)
		return 0;
	changed = settings_changed(SCOPE_PROCESS, a, b);
	if (has_same_web(a, b))
		changed &= ~CHANGED_WEB;
	if (!plan_acls_equal(&a->acls, &b->acls))
		changed |= CHANGED_ACLS;
	if (!process_plan_controls_equal(a, b))
		changed |= CHANGED_PROCESS;
	return changed;
}
