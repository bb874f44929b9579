/* process_plan.c: see process_plan.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "base/words.h"
#include "control/plan/process_plan.h"
#include "control/plan/table.h"
#include "control/value/value.h"

/* ---- all that it owns ---- */

/* Calls `visit` for each string; goes on after a failure, so that text_own()
 * leaves nothing that belongs to another plan. Returns 0 if all went well. */
static int
each_text(struct process_plan *p, int (*visit)(char **text))
{
	const struct command *row;
	unsigned i;
	int rc = 0;

	TABLE_EACH_OF (SCOPE_PROCESS, row)
		rc |= value_each_text(row, p, visit);
	for (i = 0; i < p->control_count; i++) {
		rc |= visit(&p->controls[i].text);
		rc |= visit(&p->controls[i].origin);
	}
	return rc;
}

static int
own_lists(struct process_plan *p)
{
	struct listen_list shared;
	unsigned i;
	int rc = 0;

	for (i = 0; i < p->control_count; i++) {
		shared = p->controls[i].at;
		rc |= listen_list_copy(&p->controls[i].at, &shared);
	}
	return rc;
}

static void
process_plan_free(struct process_plan *p)
{
	unsigned i;

	each_text(p, text_free);
	for (i = 0; i < p->control_count; i++)
		listen_list_fini(&p->controls[i].at);
	plan_acls_fini(&p->acls);
	free(p);
}

/* ---- life ---- */

struct process_plan *
process_plan_new(void)
{
	struct process_plan *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->owners = 1;
	p->workers = 1;
	p->worker_watchdog_ms = 5000;
	p->drain_ms = 30000;
	p->resolve_interval_ms = 60000;
	p->syslog_facility = LOG_DAEMON;
	p->web_acl = (struct acl_ref)ACL_REF_NONE;
	p->next_control = (struct control_plan)CONTROL_PLAN_NEW;
	plan_acls_init(&p->acls);
	return p;
}

struct process_plan *
process_plan_copy(const struct process_plan *from)
{
	struct process_plan *p = malloc(sizeof(*p));
	int rc;

	if (p == NULL)
		return NULL;
	*p = *from;
	p->owners = 1;
	rc = each_text(p, text_own);
	rc |= own_lists(p);
	rc |= plan_acls_copy(&p->acls, &from->acls);
	if (rc == 0)
		return p;
	process_plan_free(p);
	errno = ENOMEM;
	return NULL;
}

struct process_plan *
process_plan_hold(struct process_plan *p)
{
	if (p != NULL)
		p->owners++;
	return p;
}

void
process_plan_drop(struct process_plan *p)
{
	if (p != NULL && --p->owners == 0)
		process_plan_free(p);
}

/* ---- comparing ---- */

bool
process_plan_controls_equal(
    const struct process_plan *a, const struct process_plan *b)
{
	const struct control_plan *x, *y;
	unsigned i;

	if (a->control_count != b->control_count)
		return false;
	for (i = 0; i < a->control_count; i++) {
		x = &a->controls[i];
		y = &b->controls[i];
		if (strcmp(x->text, y->text) != 0 || x->level != y->level ||
		    x->others != y->others || x->mode != y->mode)
			return false;
	}
	return true;
}

unsigned
process_plan_dump(const struct process_plan *p)
{
	return p->debug < 2 ? 0 : p->ascii ? 2 : 1;
}
