/* plan.c: making, copying and freeing plans; see plan_print.c for their
 * text. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/plan/plan.h"

/* ---- its own strings ---- */

/* Calls `visit` for each; goes on after a failure, so that text_own()
 * leaves nothing that belongs to another plan. Returns 0 if all went well. */
static int
plan_each_text(struct plan *p, int (*visit)(char **text))
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < TLS_PAIRS_MAX; i++) {
		rc |= visit(&p->pair_origin[i].cert);
		rc |= visit(&p->pair_origin[i].key);
	}
	for (i = 0; i < p->origin_count; i++)
		rc |= visit(&p->origins[i].text);
	rc |= visit(&p->listen_text);
	return rc;
}

/* ---- life ---- */

bool
plan_is_from_stdin(const struct plan *p)
{
	return p->process->file != NULL &&
	    strcmp(p->process->file, PLAN_STDIN) == 0;
}

static struct plan *
plan_make(const char *name)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->config = config_new();
	plan_servers_init(&p->servers);
	if (p->config != NULL && text_set(&p->name, name) == 0)
		return p;
	plan_free(p);
	errno = ENOMEM;
	return NULL;
}

struct plan *
plan_new(void)
{
	struct plan *p = plan_make(NULL);

	if (p == NULL)
		return NULL;
	p->process = process_plan_new();
	if (p->process != NULL)
		return p;
	plan_free(p);
	errno = ENOMEM;
	return NULL;
}

struct plan *
plan_new_service(const char *name)
{
	return plan_make(name);
}

static void
plan_fini(struct plan *p)
{
	plan_each_text(p, text_free);
	config_drop(p->config);
	free(p->origins);
	listen_list_fini(&p->listen);
	plan_servers_fini(&p->servers);
	process_plan_drop(p->process);
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

/* Copies the origins; before the copy gets strings of its own. */
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
	p->config = config_hold(from->config);
	p->process = process_plan_hold(from->process);
	rc = plan_servers_copy(&p->servers, &from->servers);
	rc |= copy_origins(p, from);
	rc |= plan_each_text(p, text_own);
	rc |= listen_list_copy(&p->listen, &from->listen);
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

/* ---- of the process ---- */

struct process_plan *
plan_edit_process(struct plan *p)
{
	struct process_plan *own;

	if (p->process->owners == 1)
		return p->process;
	own = process_plan_copy(p->process);
	if (own == NULL)
		return NULL;
	process_plan_drop(p->process);
	return p->process = own;
}

struct process_plan *
call_edit_process(const struct call *c, struct error *e)
{
	struct process_plan *p = plan_edit_process(c->draft);

	if (p == NULL)
		error_set(e, "out of memory");
	return p;
}

/* Lines may have moved. Only errors have them, so that all who share it may get
 * others. */
static void
swap_control_origins(struct process_plan *a, struct process_plan *b)
{
	char *origin;
	unsigned i;

	for (i = 0; i < a->control_count; i++) {
		origin = a->controls[i].origin;
		a->controls[i].origin = b->controls[i].origin;
		b->controls[i].origin = origin;
	}
}

void
plan_share_process(struct plan *p, const struct plan *now)
{
	if (p->process == now->process ||
	    process_plan_changed(p->process, now->process) != 0)
		return;
	swap_control_origins(now->process, p->process);
	process_plan_drop(p->process);
	p->process = process_plan_hold(now->process);
}
