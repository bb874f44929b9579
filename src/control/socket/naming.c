/* naming.c: see naming.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/socket/naming.h"

/* In a session whose service is gone another one can be chosen, and it can
 * end. */
static bool
needs_no_service(const struct command *row)
{
	return row->flags & ROW_PREFIX || strcmp(row->name, "quit") == 0;
}

int
naming_choose(struct request *q, const struct command *row, const char *name,
    struct error *e)
{
	q->prefixed = name != NULL;
	if (name == NULL && q->caller != NULL && !needs_no_service(row))
		name = q->caller->service;
	if (name != NULL && strlen(name) > SERVICE_NAME_MAX)
		return error_set(
		    e, "%s: there is no service \"%.100s\"", row->name, name);
	snprintf(
	    q->service, sizeof(q->service), "%s", name != NULL ? name : "");
	return 0;
}

static int
check_process(const struct request *q, enum access needed, struct error *e)
{
	bool first =
	    q->service[0] == '\0' || strcmp(q->service, "default") == 0;

	if (q->prefixed)
		return error_set(e,
		    "applies to the whole process, not to one service (give it "
		    "without \"service %s\")",
		    q->service);
	if (first || needed == ACCESS_LOOK)
		return 0;
	return error_set(e,
	    "applies to the whole process, not to one service (give it after "
	    "\"service default\")");
}

int
naming_check(const struct request *q, const struct command *row,
    enum access needed, struct error *e)
{
	const struct pen *p = q->pen;

	if (row->scope == SCOPE_PROCESS)
		return check_process(q, needed, e);
	if (q->service[0] != '\0' || !row_is_of_service(row))
		return 0;
	return service_must_be_named(p->service, row->name, e);
}

int
naming_check_draft(const struct request *q, const struct command *row,
    const struct plan *draft, struct error *e)
{
	const struct pen *p = q->pen;

	if (q->service[0] != '\0' || row->scope == SCOPE_PROCESS ||
	    row->flags & ROW_FIRST || plan_first_is_there(draft) ||
	    plan_changed(draft, p->plan) == 0)
		return 0;
	return service_must_be_named(p->service, row->name, e);
}
