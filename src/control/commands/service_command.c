/* service_command.c: commands about services. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/apply/services.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/language/defaults.h"
#include "control/life/context.h"
#include "control/report/service_report.h"

/* ---- services ---- */

static int
run_services(struct call *c, struct error *e)
{
	if (call_needs_serving(c, e) < 0)
		return -1;
	report_services(c->reply);
	return 0;
}

/* ---- service ---- */

static int
remove_service(struct call *c, const char *name, struct error *e)
{
	const struct plan *from;

	if (strcmp(name, "default") == 0)
		return error_set(e, "the service default cannot be removed");
	from = plan_service_leading_to(c->draft, name);
	if (from != NULL && c->depth == 0)
		return error_set(e, "a route of service %s leads to %s",
		    plan_service_name(from), name);
	if (plan_service(c->draft, name) == c->plan) {
		c->plan = c->draft; /* what follows is for that one */
		call_set_service(c, c->pen->service);
	}
	if (plan_service_remove(c->draft, name) == 0)
		return 0;
	if (c->depth > 0) /* a file may be read with other options */
		return 0;
	return error_set(e, "there is no service \"%.100s\"", name);
}

/* Chooses the service of the commands that follow in the control session. */
static int
prefer_service(struct call *c, const char *name, struct error *e)
{
	if (service_find(c->pen, name) == NULL)
		return error_set(e, "there is no service \"%.100s\"", name);
	snprintf(c->caller->service, sizeof(c->caller->service), "%s", name);
	return 0;
}

/* Begins the part of a line or file that is about the service. */
static int
begin_service(struct call *c, const char *name, struct error *e)
{
	bool fresh = plan_service(c->draft, name) == NULL;
	struct service *svc;

	if (!plan_service_is_name(name))
		return error_set(e,
		    "\"%.100s\" is not a valid name (a letter, then letters, "
		    "digits, \".\", \"-\", \"_\"; at most %d)",
		    name, SERVICE_NAME_MAX);
	c->plan = plan_service_edit(c->draft, name);
	if (c->plan == NULL && errno == E2BIG)
		return error_set(
		    e, "there are %d services already", SERVICES_MAX);
	svc = service_find_behind(c->pen, c->service, name);
	if (svc == NULL)
		svc = service_blank(c->pen);
	if (c->plan == NULL || svc == NULL ||
	    (fresh && defaults_copy(c, c->plan) < 0) ||
	    (c->plan == c->draft && defaults_note_first(c) < 0))
		return error_set(e, "out of memory");
	call_set_service(c, svc);
	return 0;
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
	if (w->count == 2 && strcmp(w->word[1], "{") == 0)
		return command_unknown(c->pen->commands, w->word[1], e);
	if (w->count > 1 && c->origin != NULL && strcmp(w->word[0], "add") != 0)
		return error_set(e,
		    "\"service %.40s\" begins a section: \"%.40s\" is for a "
		    "line of its own",
		    w->word[0], w->word[1]);
	if (w->count > 1 && plan_service(c->draft, w->word[0]) != NULL &&
	    command_find(c->pen->commands, w->word[1]) == NULL)
		return command_unknown(c->pen->commands, w->word[1], e);
	return error_set(e, "expects %s", c->row->args);
}

/* ---- defaults ---- */

/* Begins the part of a file that has the defaults of all services that begin
 * after it. */
static int
run_defaults(struct call *c, struct error *e)
{
	struct service *svc = service_blank(c->pen);

	if (svc == NULL)
		return error_set(e, "out of memory");
	if (defaults_begin(c, e) < 0)
		return -1;
	call_set_service(c, svc);
	return 0;
}

const struct command service_commands[] = {
	{ .name = "services",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_COUNTERS,
	    .scope = SCOPE_PROCESS,
	    .run = run_services,
	    .help =
		"lists the services: state, servers that are up, sessions" },
	{ .name = "service",
	    .kind = KIND_CHANGE,
	    .flags = ROW_PREFIX | ROW_PRINTS,
	    .run = run_service,
	    .args = "NAME [COMMAND ..|remove] | add NAME",
	    .help = "runs a command for this service; in a file, begins its "
		    "section" },
	{ .name = "defaults",
	    .kind = KIND_CHANGE,
	    .run = run_defaults,
	    .help = "in a file, begins a section of settings that each "
		    "service after it begins with" },
	{ .name = NULL },
};
