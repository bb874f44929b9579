/* origin.c: a string a setting, by its name; certificates have one each, as
 * their row may be repeated. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/words.h"
#include "control/plan/origin.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"

/* Either what stands on the command line or FILE:LINE and the row's name. */
static const char *
origin_describe(const struct call *c, char text[ORIGIN_TEXT_MAX])
{
	if (c->option != NULL)
		return c->option;
	if (c->origin == NULL)
		return NULL;
	snprintf(text, ORIGIN_TEXT_MAX, "%.400s: %s", c->origin, c->row->name);
	return text;
}

/* The certificate set just now: that of the same file, or the last one, which a
 * key belongs to. */
static unsigned
pair_of(const struct call *c)
{
	const struct tls_settings *s = &c->plan->config->tls;
	unsigned i;

	for (i = 0; i + 1 < s->pairs; i++)
		if (strcmp(c->row->name, "ssl_cert") == 0 &&
		    strcmp(s->pair[i].cert, c->words->word[0]) == 0)
			break;
	return i;
}

/* `origin` set a certificate, or its key in the same breath, or there are none
 * now. */
static int
note_certificate(const struct call *c, const char *origin)
{
	struct pair_origin *pair = c->plan->pair_origin;
	unsigned i, at = pair_of(c);

	for (i = 0; c->no && i < TLS_PAIRS_MAX; i++) {
		(void)text_set(&pair[i].cert, NULL);
		(void)text_set(&pair[i].key, NULL);
	}
	if (c->no)
		return 0;
	return text_set(&pair[at].cert, origin) < 0 ||
		(c->words->count == 2 && text_set(&pair[at].key, origin) < 0)
	    ? -1
	    : 0;
}

/* Each control socket has its own; none is left when they were removed. */
static int
origin_note_control(const struct call *c, const char *origin)
{
	struct process_plan *p = plan_edit_process(c->draft);

	if (p == NULL)
		return -1;
	return p->control_count > 0
	    ? text_set(&p->controls[p->control_count - 1].origin, origin)
	    : 0;
}

void
origin_warn_twice(const struct call *c, const char *before, const char *what)
{
	const char *colon;
	size_t file, line;

	if (c->dry || c->caller != NULL || c->origin == NULL || before == NULL)
		return;
	colon = strrchr(c->origin, ':');
	if (colon == NULL) /* an option */
		return;
	file = (size_t)(colon + 1 - c->origin);
	line = strncmp(before, c->origin, file) == 0
	    ? strspn(before + file, "0123456789")
	    : 0;
	if (line > 0)
		log_write(NULL, LOG_LEVEL_WARN,
		    "%s: %s was set in line %.*s already; this one applies",
		    c->origin, what, (int)line, before + file);
}

/* Whether a value takes the place of the one before, and is not added to it. */
static bool
replaces_value(const struct command *row)
{
	if (strcmp(row->name, "listen") == 0)
		return true;
	return row->kind < KIND_CHANGE && row->kind != KIND_BITS &&
	    row->kind != KIND_SOURCE && row->kind != KIND_OWN_ADDRESSES &&
	    row->kind != KIND_CERTIFICATES && row->kind != KIND_KEYS &&
	    row->kind != KIND_PEERS;
}

/* Commands whose origin errors name, too. */
static bool
has_origin(const struct command *row)
{
	static const char *const names[] = { "listen", "abuse", "emergency",
		"route" };
	size_t i = 0;

	/* --check is not the setting check */
	if (row->flags & ROW_OPTION && table_find(row->name) != NULL)
		return false;
	while (i < 4 && strcmp(row->name, names[i]) != 0)
		i++;
	return row->kind < KIND_CHANGE || i < 4;
}

/* NULL: it is not known. */
static struct setting_origin *
origin_find(const struct plan *p, const char *name)
{
	unsigned i;

	for (i = 0; i < p->origin_count; i++)
		if (p->origins[i].name[0] == name[0] &&
		    strcmp(p->origins[i].name, name) == 0)
			return &p->origins[i];
	return NULL;
}

static const char *
origin_of(const struct plan *p, const char *name)
{
	const struct setting_origin *o = origin_find(p, name);

	return o != NULL ? o->text : NULL;
}

/* Where the section of a service has set it. */
static const char *
origin_of_own(const struct plan *p, const char *name)
{
	const struct setting_origin *o = origin_find(p, name);

	return o != NULL && !o->inherited ? o->text : NULL;
}

bool
origin_is_shared(
    const struct plan *a, const struct plan *b, const char *setting)
{
	const struct setting_origin *x = origin_find(a, setting),
				    *y = origin_find(b, setting);

	return x != NULL && y != NULL && x->inherited && y->inherited &&
	    text_equal(x->text, y->text);
}

/* `name` is that of a row. */
static int
origin_set(struct plan *p, const char *name, const char *text)
{
	struct setting_origin *o = origin_find(p, name), *list;

	if (o != NULL) {
		o->inherited = false;
		return text_set(&o->text, text);
	}
	if (text == NULL)
		return 0;
	list = array_grow(
	    p->origins, &p->origin_room, sizeof(*list), p->origin_count);
	if (list == NULL)
		return -1;
	p->origins = list;
	list[p->origin_count] = (struct setting_origin){ .name = name };
	return text_set(&list[p->origin_count++].text, text);
}

int
origin_note(const struct call *c)
{
	char text[ORIGIN_TEXT_MAX];
	const struct command *row = c->row;
	const char *origin;

	if (c->dry || (!has_origin(row) && strcmp(row->name, "control") != 0))
		return 0;
	origin = origin_describe(c, text);
	if (replaces_value(row))
		origin_warn_twice(
		    c, origin_of_own(c->plan, row->name), row->name);
	if (strcmp(row->name, "ssl_cert") == 0 &&
	    note_certificate(c, origin) < 0)
		return -1;
	if (strcmp(row->name, "ssl_key") == 0 &&
	    text_set(&c->plan->pair_origin[pair_of(c)].key, origin) < 0)
		return -1;
	if (strcmp(row->name, "control") == 0 &&
	    origin_note_control(c, origin) < 0)
		return -1;
	if (!has_origin(row))
		return 0;
	/* an alias sets the other one */
	return origin_set(
	    c->plan, row->alias != NULL ? row->alias : row->name, origin);
}

bool
origin_is_there(const struct plan *p, const char *setting)
{
	return origin_of(p, setting) != NULL;
}

const char *
origin_name(const struct plan *p, const char *setting)
{
	const char *origin = origin_of(p, setting);

	return origin != NULL ? origin : setting;
}

static bool
quotes_value(const struct error *e, const char *value)
{
	char quoted[256];

	if (value == NULL)
		return false;
	snprintf(quoted, sizeof(quoted), "\"%.200s\"", value);
	return strstr(e->text, quoted) != NULL;
}

static const char *
origin_quoted(const struct plan *p, const struct error *e, const char **name)
{
	const struct command *row;
	unsigned i;

	*name = "";
	for (i = 0; i < p->config->tls.pairs; i++) {
		if (quotes_value(e, p->config->tls.pair[i].cert))
			return p->pair_origin[i].cert;
		if (quotes_value(e, p->config->tls.pair[i].key))
			return p->pair_origin[i].key;
	}
	TABLE_EACH (row)
		if (row->kind < KIND_CHANGE &&
		    quotes_value(e, setting_string(p, row))) {
			*name = row->name;
			return origin_of(p, row->name);
		}
	return NULL;
}

/* The origin names the setting: once is enough. */
void
origin_put(const char *origin, const char *name, struct error *e)
{
	size_t n = strlen(name);
	struct error why = *e;
	const char *rest = why.text;

	if (origin == NULL)
		return;
	if (n > 0 && strncmp(rest, name, n) == 0) {
		if (strncmp(rest + n, ": ", 2) == 0)
			rest += n + 2;
		else if (rest[n] == ' ')
			rest += n + 1;
	}
	error_set(e, "%.250s: %.250s", origin, rest);
}

void
origin_add(const struct plan *p, const char *setting, struct error *e)
{
	origin_put(origin_of(p, setting), setting, e);
}

void
origin_blame(const struct plan *p, struct error *e)
{
	const char *name, *origin = origin_quoted(p, e, &name);

	origin_put(origin, name, e);
}

int
origin_find_web(const struct plan *p, struct addr *at, struct error *e)
{
	const char *text = p->process->web;
	struct error why;

	at->len = 0;
	if (text == NULL || spec_parse_web(at, text, &why) == 0)
		return 0;
	error_set(e, "\"%.200s\": %.250s", text, why.text);
	origin_add(p, "web", e);
	return -1;
}
