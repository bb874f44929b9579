/* defaults.c: see defaults.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/words.h"
#include "control/language/defaults.h"

static bool
sets_something(const struct call *c)
{
	const struct defaults *d = c->defaults;

	return !c->dry && d != NULL && d->plan != NULL &&
	    d->plan->origin_count > 0;
}

static void
warn_unused(const struct call *c)
{
	if (sets_something(c) && !c->defaults->used)
		log_write(NULL, LOG_LEVEL_WARN,
		    "%s: defaults: no service begins after it, so its settings "
		    "have no effect",
		    c->defaults->origin);
}

int
defaults_begin(struct call *c, struct error *e)
{
	struct defaults *d = c->defaults;
	struct plan *fresh;
	int rc = 0;

	if (d == NULL)
		return error_set(e, "only in a file: it begins a section");
	warn_unused(c);
	fresh = plan_new_service(DEFAULTS_NAME);
	if (fresh == NULL || text_set(&d->origin, c->origin) < 0)
		rc = -1;
	else if (d->plan != NULL)
		rc = plan_become(d->plan, fresh);
	if (rc == 0 && d->plan == NULL) {
		d->plan = fresh;
		fresh = NULL;
	}
	plan_free(fresh);
	if (rc < 0)
		return error_set(e, "out of memory");
	d->used = false;
	c->plan = d->plan;
	return 0;
}

bool
defaults_are_meant(const struct call *c)
{
	return c->defaults != NULL && c->plan == c->defaults->plan;
}

int
defaults_check_row(const struct call *c, struct error *e)
{
	const struct command *row = c->row;

	if (!defaults_are_meant(c) || row->kind != KIND_CHANGE ||
	    (!(row->flags & ROW_SERVICE) && strcmp(row->name, "listen") != 0))
		return 0;
	return error_set(e,
	    "not in \"defaults\", as each service has its own: below \"service "
	    "NAME\"");
}

int
defaults_copy(const struct call *c, struct plan *service)
{
	struct defaults *d = c->defaults;
	unsigned owners = service->owners, i;
	char *name = service->name;

	if (d == NULL || d->plan == NULL)
		return 0;
	service->name = NULL;
	if (plan_become(service, d->plan) < 0) {
		service->name = name;
		return -1;
	}
	free(service->name);
	service->name = name;
	service->owners = owners;
	for (i = 0; i < service->origin_count; i++)
		service->origins[i].inherited = true;
	d->used = true;
	return 0;
}

int
defaults_note_first(const struct call *c)
{
	return sets_something(c) && c->draft->listen.count == 0
	    ? text_set(&c->defaults->first, c->origin)
	    : 0;
}

/* Warns that the service default, which comes before all sections, has no part
 * in "defaults"; not if only the process has settings there. */
static void
warn_first(const struct call *c)
{
	const char *at = c->defaults->first;

	if (at != NULL && c->draft->listen.count > 0)
		log_write(NULL, LOG_LEVEL_WARN,
		    "%s: service default does not begin with \"defaults\": it "
		    "is there before all sections",
		    at);
}

void
defaults_end(const struct call *c)
{
	struct defaults *d = c->defaults;

	warn_unused(c);
	warn_first(c);
	plan_free(d->plan);
	free(d->origin);
	free(d->first);
}
