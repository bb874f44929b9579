/* plan.c: making, copying and freeing plans; see plan_print.c for their
 * text. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "base/words.h"
#include "control/plan/plan.h"
#include "control/plan/table.h"
#include "control/value/dsr_fast.h"
#include "control/value/value.h"

/* ---- all strings of a plan but its servers' ---- */

/* Calls `visit` for each; goes on after a failure, so that text_own()
 * leaves nothing that belongs to another plan. Returns 0 if all went well. */
static int
plan_each_text(struct plan *p, int (*visit)(char **text))
{
	const struct command *row;
	unsigned i;
	int rc = 0;

	TABLE_EACH (row)
		if (row->kind < KIND_CHANGE)
			rc |= value_each_text(row, &p->config, visit);
	for (i = 0; i < TLS_PAIRS_MAX; i++) {
		rc |= visit(&p->pair_origin[i].cert);
		rc |= visit(&p->pair_origin[i].key);
	}
	for (i = 0; i < p->origin_count; i++)
		rc |= visit(&p->origins[i].text);
	rc |= visit(&p->listen_text);
	for (i = 0; i < p->control_count; i++) {
		rc |= visit(&p->controls[i].text);
		rc |= visit(&p->controls[i].origin);
	}
	return rc;
}

/* Visits the lists of addresses. Returns whether one visit returned true. */
static int
each_list(struct plan *p, int (*visit)(struct listen_list *))
{
	int rc = visit(&p->listen);
	unsigned i;

	for (i = 0; i < p->control_count; i++)
		rc |= visit(&p->controls[i].at);
	return rc;
}

static int
own_list(struct listen_list *list)
{
	const struct listen_list shared = *list;

	return listen_list_copy(list, &shared);
}

static int
free_list(struct listen_list *list)
{
	listen_list_fini(list);
	return 0;
}

/* ---- life ---- */

static void
config_init(struct config *c)
{
	pool_options_init(&c->pool);
	frontend_options_init(&c->frontend);
	tls_settings_init(&c->tls);
	c->dsr = (struct dsr_settings){
		.flows = 1000000,
		.tcp_timeout_ms = 900000,
		.fin_timeout_ms = 120000,
		.udp_timeout_ms = 300000,
		.announce = true,
		.fast = DSR_FAST_AUTO,
		.forward = SERVER_FORWARD_MAC,
		.tarpit_acl = ACL_REF_NONE,
	};
	c->client_exempt_acl = (struct acl_ref)ACL_REF_NONE;
	c->forwarded.number = HTTP_FORWARDED_APPEND;
	c->http_errors = 10;
	c->checks = (struct check_settings){
		.interval_ms = 2000, .timeout_ms = 1000, .running_max = 256
	};
	c->accept_proxy = c->web_acl = (struct acl_ref)ACL_REF_NONE;
	c->session_log.sample = 1;
	c->syslog_facility = LOG_DAEMON;
	c->process.workers = 1;
	c->process.worker_watchdog_ms = 5000;
	c->names = (struct name_settings){ .interval_ms = 60000 };
}

bool
plan_is_from_stdin(const struct plan *p)
{
	return p->config.file != NULL &&
	    strcmp(p->config.file, PLAN_STDIN) == 0;
}

struct plan *
plan_new(void)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	config_init(&p->config);
	p->next_control = (struct control_plan)CONTROL_PLAN_NEW;
	plan_acls_init(&p->acls);
	p->config.session_log.to = strdup("auto");
	p->config.session_log.format = strdup("logfmt");
	p->config.request_log.format = strdup("combined");
	plan_servers_init(&p->servers);
	if (p->config.session_log.to != NULL &&
	    p->config.session_log.format != NULL &&
	    p->config.request_log.format != NULL)
		return p;
	plan_free(p);
	errno = ENOMEM;
	return NULL;
}

static void
plan_fini(struct plan *p)
{
	plan_each_text(p, text_free);
	free(p->origins);
	each_list(p, free_list);
	plan_servers_fini(&p->servers);
	plan_acls_fini(&p->acls);
	route_plans_drop(p->routes);
	plan_services_fini(p);
	free(p->name);
}

void
plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	plan_fini(p);
	free(p);
}

/* Before the strings are the copy's own. */
static int
copy_origins(struct plan *p, const struct plan *from)
{
	uint32_t n = from->origin_count;

	p->origins = NULL;
	p->origin_count = p->origin_room = 0;
	if (n == 0)
		return 0;
	p->origins = malloc(n * sizeof(*p->origins));
	if (p->origins == NULL)
		return -1;
	memcpy(p->origins, from->origins, n * sizeof(*p->origins));
	p->origin_count = p->origin_room = n;
	return 0;
}

struct plan *
plan_copy(const struct plan *from)
{
	struct plan *p = malloc(sizeof(*p));
	int rc;

	if (p == NULL)
		return NULL;
	*p = *from;
	rc = plan_servers_copy(&p->servers, &from->servers);
	rc |= copy_origins(p, from);
	rc |= plan_each_text(p, text_own);
	rc |= each_list(p, own_list);
	rc |= plan_acls_copy(&p->acls, &from->acls);
	p->routes = route_plans_hold(from->routes);
	p->owners = 0;
	rc |= plan_services_copy(p, from);
	rc |= text_own(&p->name);
	if (rc == 0)
		return p;
	plan_free(p);
	errno = ENOMEM;
	return NULL;
}

int
plan_become(struct plan *p, const struct plan *from)
{
	struct plan *copy = plan_copy(from);

	if (copy == NULL)
		return -1;
	plan_fini(p);
	*p = *copy;
	free(copy);
	return 0;
}
