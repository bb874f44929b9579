/* apply_pool.c: servers and settings of the pool. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/expand.h"
#include "control/life/states.h"

/* A server that is the same stays drained or down where the draft does not set
 * it: then the plan gets it, or it would be lost when that is written. */
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

/* A one-time command is no part of the plan that is kept. Before the start
 * there are no clients to keep away. */
static void
take_out_now(struct service *svc, struct plan *draft, struct server *set)
{
	struct server_plan *s;

	if (!plan_slot(draft, set->slot)->out_now)
		return;
	s = plan_edit(draft, set->slot);
	if (s != NULL)
		s->out_now = false;
	if (svc->pen->phase >= PHASE_SERVING)
		pool_take_out(svc->pool, set, loop_now(svc->pen->loop));
}

/* Names move to other hosts unnoticed; what they have at startup is not
 * logged. */
static void
log_addresses(const struct service *svc, const struct server_plan *new,
    const struct change *c)
{
	const struct server_plan *old = plan_slot(svc->plan, c->slot);
	const struct server *s = pool_slot(svc->pool, c->slot);
	unsigned number = server_number(c->slot);
	char text[ADDR_TEXT_MAX];

	if (svc->pen->phase < PHASE_SERVING)
		return;
	if (c->addrs.count == 0) {
		if ((new == NULL || new->host == NULL) && old != NULL &&
		    old->parent != 0)
			log_info("server address removed server=%u name=%s "
				 "address=%s%s",
			    number, old->host, old->address, svc->label);
		return;
	}
	addr_format(&c->addrs.addr[0], text);
	if (s != NULL && s->present && strcmp(s->name, new->host) == 0) {
		if (!server_has_addrs(s, &c->addrs))
			log_info("server addresses changed server=%u name=%s "
				 "address=%s addresses=%u%s",
			    number, new->host, text, c->addrs.count,
			    svc->label);
	} else if (new->parent != 0) {
		log_info("server address added server=%u name=%s address=%s%s",
		    number, new->host, text, svc->label);
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

/* What the server is called in TLS and HTTP, if that is not its name: the
 * target of a service, which its certificate is for (RFC 6125, 6.2.1); or the
 * name without its star. NULL: the name itself. */
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
apply_pool_set_server(struct service *svc, const struct process_plan *process,
    struct plan *draft, const struct change *c)
{
	const struct server_plan *s = plan_slot(draft, c->slot);
	struct server_spec spec;
	char text[SPEC_TEXT_MAX], host[SPEC_TEXT_MAX];
	struct server *set;

	log_addresses(svc, s, c);
	if (s == NULL || s->host == NULL) {
		pool_remove_server(svc->pool, pool_slot(svc->pool, c->slot));
		return 0;
	}
	server_spec_init(&spec);
	spec.name = s->host;
	spec.host = host_name(s, host);
	spec.addrs = c->addrs;
	spec.set = s->set;
	spec.set.acl = apply_acls_number(process, &s->acl);
	spec.admin = s->admin;
	if (s->service.there)
		take_service(&spec.set, &s->service);
	set = pool_set_slot(svc->pool, c->slot, &spec);
	if (set == NULL)
		return -1;
	log_debug("server set server=%u %s", set->number,
	    spec_format_limits(s, text));
	note_admin(draft, set);
	take_out_now(svc, draft, set);
	return 0;
}

/* Takes the draft's settings, but keeps the memory of clients: that is given up
 * when nothing can fail any more. */
int
apply_servers_prepare(struct apply *a, struct error *e)
{
	struct pool *pool = a->service->pool;
	struct pool_options o = a->wanted->config->pool;

	o.sticky = o.sticky || pool_options(pool)->sticky;
	if (pool_set_options(pool, &o) == 0)
		return 0;
	return error_set(e, "out of memory");
}

void
apply_servers_cancel(struct apply *a)
{
	(void)pool_set_options(a->service->pool, &a->now->config->pool);
}

void
apply_servers_commit(struct apply *a)
{
	struct pool *pool = a->service->pool;
	const struct pool_options *wanted = &a->wanted->config->pool;
	size_t i;

	pool_begin_changes(pool, states_who(a->pen));
	for (i = 0; i < a->servers.count; i++)
		if (apply_pool_set_server(a->service, a->draft->process,
			a->wanted, &a->servers.list[i]) < 0)
			log_error("out of memory server=%u",
			    server_number(a->servers.list[i].slot));
	if (pool_end_changes(pool) < 0)
		log_error("out of memory");
	/* giving the memory of clients up cannot fail */
	if (pool_options(pool)->sticky != wanted->sticky)
		(void)pool_set_options(pool, wanted);
}
