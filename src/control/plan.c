/* plan.c: making, copying and freeing plans; see plan_print.c for their text. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/command.h"
#include "control/plan.h"
#include "control/table.h"
#include "control/value.h"

int
plan_set_text(char **place, const char *text)
{
	char *new = NULL;

	if (text != NULL && (new = strdup(text)) == NULL)
		return -1;
	free(*place);
	*place = new;
	return 0;
}

/* Gives `place`, a copy of somebody else's pointer, a string of its own. */
static int
own_text(char **place)
{
	if (*place == NULL)
		return 0;
	*place = strdup(*place);
	return *place != NULL ? 0 : -1;
}

/* ---- all strings of a plan, in one place ---- */

static int
each_server_text(struct server_plan *s, int (*visit)(char **place))
{
	const struct command *row;
	int rc = visit(&s->place);

	for (row = rows_server; row->name != NULL; row++)
		rc |= value_each_text(row, s, visit);
	return rc;
}

/* Calls `visit` for each; goes on after a failure, so that own_text() leaves
 * nothing that belongs to another plan. Returns 0 if all went well. */
static int
each_text(struct plan *p, int (*visit)(char **place))
{
	const struct command *row;
	unsigned i;
	int rc = 0;

	COMMAND_EACH (row)
		if (row->kind < KIND_CHANGE)
			rc |= value_each_text(row, &p->config, visit);
	for (i = 0; i < TLS_PAIRS_MAX; i++) {
		rc |= visit(&p->pair_origin[i].cert);
		rc |= visit(&p->pair_origin[i].key);
	}
	for (i = 0; i < ROWS_MAX; i++)
		rc |= visit(&p->origin[i]);
	rc |= visit(&p->listen_text);
	for (i = 0; i < p->control_count; i++)
		rc |= visit(&p->controls[i].text);
	for (i = 0; i < p->count; i++)
		rc |= each_server_text(&p->servers[i], visit);
	rc |= each_server_text(&p->emergency, visit);
	rc |= each_server_text(&p->abuse, visit);
	return rc;
}

static int
free_text(char **place)
{
	free(*place);
	*place = NULL;
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
		.announce = true,
		.forward = SERVER_FORWARD_MAC,
		.tarpit_acl = -1,
	};
	c->checks =
	    (struct check_settings){ .interval_ms = 2000, .timeout_ms = 1000 };
}

struct plan *
plan_new(void)
{
	struct plan *p = calloc(1, sizeof(*p));
	int i;

	if (p == NULL)
		return NULL;
	config_init(&p->config);
	server_plan_init(&p->emergency);
	server_plan_init(&p->abuse);
	p->next_control = (struct control_plan){
		.level = ACCESS_ADMIN, .others = ACCESS_LOOK, .mode = 0600
	};
	for (i = 0; i < ACL_LISTS; i++)
		acl_init(&p->acls[i]);
	return p;
}

static void
plan_fini(struct plan *p)
{
	int i;

	each_text(p, free_text);
	free(p->servers);
	for (i = 0; i < ACL_LISTS; i++)
		acl_fini(&p->acls[i]);
}

void
plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	plan_fini(p);
	free(p);
}

struct plan *
plan_copy(const struct plan *from)
{
	struct plan *p = malloc(sizeof(*p));
	int rc = 0, i;

	if (p == NULL)
		return NULL;
	*p = *from;
	p->room = p->count > 0 ? p->count : 1;
	p->servers = malloc(p->room * sizeof(*p->servers));
	if (p->servers == NULL) {
		free(p);
		return NULL;
	}
	if (p->count > 0)
		memcpy(
		    p->servers, from->servers, p->count * sizeof(*p->servers));
	rc = each_text(p, own_text);
	for (i = 0; i < ACL_LISTS; i++)
		acl_copy(&p->acls[i], &from->acls[i]);
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

/* ---- servers ---- */

struct server_plan *
plan_server(struct plan *p, unsigned index)
{
	unsigned room = p->room > 0 ? p->room : 16;
	struct server_plan *new;

	while (room <= index)
		room *= 2;
	if (room > p->room) {
		new = realloc(p->servers, room * sizeof(*new));
		if (new == NULL)
			return NULL;
		p->servers = new;
		p->room = room;
	}
	for (; p->count <= index; p->count++)
		server_plan_init(&p->servers[p->count]);
	return &p->servers[index];
}

const struct server_plan *
plan_slot(const struct plan *p, unsigned slot)
{
	return slot == SLOT_EMERGENCY	   ? &p->emergency
	    : slot == SLOT_ABUSE	   ? &p->abuse
	    : slot < server_slot(p->count) ? &p->servers[slot - SLOTS_SPECIAL]
					   : NULL;
}

void
server_plan_clear(struct server_plan *s)
{
	each_server_text(s, free_text);
	server_plan_init(s);
}

bool
server_plan_equal(const struct server_plan *a, const struct server_plan *b)
{
	const struct command *row;

	for (row = rows_server; row->name != NULL; row++)
		if (!value_equal(row, a, b))
			return false;
	return true;
}
