/* service_command.c: commands about services. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/answer/fields.h"
#include "control/apply/services.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/life/context.h"
#include "pool/pool.h"

/* ---- services ---- */

struct counts {
	unsigned up, all;
};

static struct counts
count_servers(const struct pool *pool)
{
	struct counts n = { 0 };
	const struct server *s;
	unsigned i;

	for (i = 0; i < pool_slots(pool); i++) {
		s = pool_slot(pool, i);
		if (s == NULL || !s->present || s->role != SERVER_REGULAR)
			continue;
		n.all++;
		n.up += server_state(s) == SERVER_UP;
	}
	return n;
}

/* In one word. */
static const char *
state_of(const struct service *svc, struct counts n)
{
	if (svc->leaves)
		return "leaving";
	return n.all == 0		    ? "empty"
	    : n.up == n.all		    ? "up"
	    : !pool_has_eligible(svc->pool) ? "down"
					    : "degraded";
}

static void
emit_service(struct reply *r, const struct service *svc)
{
	const struct frontend_stats *st = frontend_stats(svc->frontend);
	struct counts n = count_servers(svc->pool);
	const char *listen = svc->plan->listen_text;
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "service", svc->name);
	fields_text(&f, "state", state_of(svc, n));
	fields_text(&f, "listen", listen != NULL ? listen : "");
	fields_number(&f, "up", n.up);
	fields_number(&f, "servers", n.all);
	fields_number(&f, "sessions", st->sessions);
	fields_number(&f, "flows", st->flows.now);
	fields_number(&f, "accepted", st->accepted);
	fields_end(&f);
}

/* The first one is shown if it serves anybody. */
static int
run_services(struct call *c, struct error *e)
{
	const struct service *svc;

	if (call_needs_serving(c, e) < 0)
		return -1;
	fields_list_begin(c->reply);
	SERVICE_EACH (c->pen, svc)
		if (svc != c->pen->service || svc->plan->listen.count > 0 ||
		    !service_has_others(c->pen))
			emit_service(c->reply, svc);
	fields_list_end(c->reply);
	return 0;
}

/* ---- service ---- */

static int
remove_service(struct call *c, const char *name, struct error *e)
{
	if (strcmp(name, "default") == 0)
		return error_set(e, "the service default cannot be removed");
	if (plan_service_remove(c->draft, name) == 0)
		return 0;
	return error_set(e, "there is no service \"%.100s\"", name);
}

/* What follows in the session is for that one. */
static int
prefer_service(struct call *c, const char *name, struct error *e)
{
	if (service_find(c->pen, name) == NULL)
		return error_set(e, "there is no service \"%.100s\"", name);
	snprintf(c->caller->service, sizeof(c->caller->service), "%s", name);
	return 0;
}

/* What follows in the line, or the file, is for that one. */
static int
begin_service(struct call *c, const char *name, struct error *e)
{
	if (!plan_service_is_name(name))
		return error_set(e,
		    "\"%.100s\" is not a valid name (a letter, then letters, "
		    "digits, \".\", \"-\", \"_\"; at most %d)",
		    name, SERVICE_NAME_MAX);
	c->plan = plan_service_edit(c->draft, name);
	if (c->plan == NULL && errno == E2BIG)
		return error_set(
		    e, "there are %d services already", SERVICES_MAX);
	c->service = service_find(c->pen, name);
	if (c->service == NULL)
		c->service = service_blank(c->pen);
	return c->plan != NULL && c->service != NULL
	    ? 0
	    : error_set(e, "out of memory");
}

static int
add_service(struct call *c, const char *name, struct error *e)
{
	if (plan_service(c->draft, name) != NULL)
		return error_set(
		    e, "there is a service \"%.100s\" already", name);
	return begin_service(c, name, e);
}

static int
run_service(struct call *c, struct error *e)
{
	const struct words *w = c->words;

	if (w->count == 1)
		return c->caller != NULL && c->depth == 0
		    ? prefer_service(c, w->word[0], e)
		    : begin_service(c, w->word[0], e);
	if (w->count == 2 && strcmp(w->word[0], "add") == 0)
		return add_service(c, w->word[1], e);
	if (w->count == 2 && strcmp(w->word[1], "remove") == 0)
		return remove_service(c, w->word[0], e);
	if (w->count > 1 && c->caller != NULL && c->depth == 0 &&
	    plan_service(c->draft, w->word[0]) != NULL)
		return command_unknown(c->pen->commands, w->word[1], e);
	return error_set(e, "expects %s", c->row->args);
}

const struct command service_commands[] = {
	{ .name = "services",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK,
	    .run = run_services,
	    .help =
		"lists the services: state, servers that are up, sessions" },
	{ .name = "service",
	    .kind = KIND_CHANGE,
	    .flags = ROW_PREFIX | ROW_ASKS,
	    .run = run_service,
	    .args = "NAME [COMMAND ..|remove]|add NAME",
	    .help = "a command for that service; in a file NAME begins the "
		    "service" },
	{ .name = NULL },
};
