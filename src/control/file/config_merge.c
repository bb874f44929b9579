/* config_merge.c: see config_merge.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/apply/services.h"
#include "control/file/config_edit.h"
#include "control/file/config_merge.h"

struct merge {
	struct pen *pen;
	struct pen start;
	struct plan *plain; /* nothing but defaults */
	const char *path;
	bool all;
	struct config_lines want;  /* of the plan in force */
	struct config_lines usual; /* of `plain` */
	struct config_lines have; /* of the file as it was */
};

/* What a start has: no server is in force. Lists that are in force are shared
 * with what is read, and so are addresses that were looked up. */
static int
open_start(struct pen *start, const struct pen *p)
{
	*start = (struct pen){ .commands = p->commands,
		.phase = p->phase,
		.plan = plan_copy(p->plan) };
	if (start->plan != NULL)
		start->service = service_new(start, "default", start->plan);
	if (start->service == NULL)
		return -1;
	plan_servers_fini(&start->plan->servers);
	return plan_servers_init(&start->plan->servers);
}

/* ---- what differs ---- */

static bool
is_server(const struct config_line *x)
{
	return strcmp(x->row->name, "server") == 0;
}

/* Where a server is gone, "server add" may give its number to another one. */
static void
number_servers(struct merge *m, const struct config_line *gone)
{
	static const char add[] = "server add ";
	bool any = config_lines_find(&m->have, gone).count == 0;
	struct config_line *i, *x;

	for (i = m->have.line; i < config_lines_end(&m->have); i++) {
		x = config_lines_find(&m->want, i).line;
		if (strncmp(i->words, add, strlen(add)) == 0 && x != NULL &&
		    x->way == CONFIG_KEPT && (any || x > gone) &&
		    strcmp(x->service, gone->service) == 0)
			x->wrong = true;
	}
}

/* What `got` has and is not in force is to be undone. */
static int
add_undo(struct merge *m, const struct config_line *got)
{
	struct config_line one = { .row = got->row, .gone = true };
	char undo[100];

	memcpy(one.service, got->service, sizeof(one.service));
	if (config_line_is_header(got))
		snprintf(undo, sizeof(undo), "%s remove", got->words);
	else
		snprintf(undo, sizeof(undo),
		    is_server(got) ? "%.80s remove" : "no %.80s", got->key);
	one.key = strdup(got->key);
	one.words = strdup(undo);
	return config_lines_add(&m->want, one);
}

/* With a service goes all that is its own. */
static int
add_undos(struct merge *m, const struct config_lines *got)
{
	const struct config_line *header;
	struct config_range is;
	bool gone = false;
	uint32_t i;

	for (i = 0; i < got->count; i += is.count) {
		is = config_lines_at(got, i);
		if (config_line_is_header(is.line)) {
			header = config_lines_header(&m->want, is.line);
			gone = header == NULL || header->gone;
		} else if (gone) {
			continue;
		}
		if (config_lines_find(&m->want, is.line).count == 0 &&
		    add_undo(m, is.line) < 0)
			return -1;
	}
	config_lines_sort(&m->want);
	return 0;
}

/* Notes where `got` is not what is in force. */
static int
merge_note(struct merge *m, struct config_lines *got)
{
	struct config_range is, want;
	uint32_t i;

	if (config_lines_add_defaults(&m->want, got, &m->usual) < 0 ||
	    add_undos(m, got) < 0 ||
	    config_lines_add_defaults(got, &m->want, &m->usual) < 0)
		return -1;
	for (i = 0; i < m->want.count; i += want.count) {
		want = config_lines_at(&m->want, i);
		is = config_lines_find(got, want.line);
		if (want.line->gone ? is.count == 0
				    : config_range_equal(want, is))
			continue;
		want.line->wrong = true;
		if (want.line->gone && is_server(want.line))
			number_servers(m, want.line);
	}
	return 0;
}

static enum config_detail
detail_of(const struct merge *m)
{
	return m->all ? CONFIG_ALL : CONFIG_BRIEF;
}

/* Reads the text on top of `base`, in the context of a start or a reload, and
 * notes what that gives; `have`, unless it is NULL, gets its commands. */
static int
try_text(struct merge *m, struct pen *where, const struct plan *base,
    const struct buffer *text, struct config_lines *have, struct error *e)
{
	struct config_lines got = { .commands = m->pen->commands };
	struct config_lines unused = got;
	struct reply unheard;
	struct call c = { .pen = where,
		.service = where->service,
		.plan = plan_copy(base),
		.reply = &unheard,
		.depth = 1,
		.dry = true };
	int rc;

	c.draft = c.plan;
	if (c.draft == NULL)
		return error_set(e, "out of memory");
	reply_init(&unheard);
	rc = config_lines_read(
	    have != NULL ? have : &unused, &c, m->path, text, e);
	if (rc == 0 &&
	    (config_lines_of_plan(&got, c.draft, detail_of(m)) < 0 ||
		merge_note(m, &got) < 0))
		rc = error_set(e, "out of memory");
	reply_fini(&unheard);
	config_lines_fini(&got);
	config_lines_fini(&unused);
	plan_free(c.draft);
	return rc;
}

/* As a reload does, and a start, with the command line and without: a file
 * that needs it cannot be read without it. */
static int
try_everywhere(struct merge *m, const struct buffer *text, struct error *e)
{
	const struct plan *given = m->pen->given;
	struct error why;

	if (try_text(m, m->pen, given, text, NULL, e) < 0 ||
	    try_text(m, &m->start, given, text, NULL, e) < 0)
		return -1;
	(void)try_text(m, &m->start, m->plain, text, NULL, &why);
	return 0;
}

/* ---- the file ---- */

/* The lines needed: all that an empty file does not give. */
static int
find_needed(struct merge *m, struct error *e)
{
	const struct buffer none = { .data = NULL };
	struct config_line *x;

	if (try_everywhere(m, &none, e) < 0)
		return -1;
	for (x = m->want.line; x < config_lines_end(&m->want); x++) {
		x->said = x->wrong ||
		    (m->all && !x->gone && x->row->kind < KIND_CHANGE);
		x->wrong = false;
	}
	return 0;
}

/* Each wrong line moves on to the next method of writing it. Returns whether
 * there was one, or -1 with a full message. */
static int
raise_wrong(struct merge *m, struct error *e)
{
	struct config_line *x;
	int some = 0;

	for (x = m->want.line; x < config_lines_end(&m->want); x++) {
		if (!x->wrong)
			continue;
		if (x->way++ == CONFIG_AT_END)
			return error_set(e,
			    "%s%s%s: no command reproduces the running value",
			    x->service, x->service[0] != '\0' ? ": " : "",
			    x->key);
		x->wrong = false;
		some = 1;
	}
	return some;
}

static int
merge_file(struct merge *m, const struct buffer *old, struct buffer *out,
    struct error *e)
{
	int rc;

	if (find_needed(m, e) < 0 ||
	    try_text(m, &m->start, m->pen->given, old, &m->have, e) < 0)
		return -1;
	rc = raise_wrong(m, e);
	do {
		buffer_cut(out, 0);
		if (config_edit(&m->have, &m->want, m->all, out) < 0)
			return error_set(e, "out of memory");
		if (try_everywhere(m, out, e) < 0)
			return -1;
		rc = raise_wrong(m, e);
	} while (rc > 0);
	return rc;
}

int
config_merge(struct pen *p, const char *path, const struct buffer *old,
    bool all, struct buffer *out, struct error *e)
{
	struct merge m = { .pen = p,
		.plain = plan_new(),
		.path = path,
		.all = all,
		.want.commands = p->commands,
		.usual.commands = p->commands,
		.have.commands = p->commands };
	int rc = -1;

	if (open_start(&m.start, p) < 0 || m.plain == NULL ||
	    config_lines_of_plan(&m.want, p->plan, detail_of(&m)) < 0 ||
	    config_lines_of_plan(&m.usual, m.plain, detail_of(&m)) < 0)
		error_set(e, "out of memory");
	else
		rc = merge_file(&m, old, out, e);
	config_lines_fini(&m.want);
	config_lines_fini(&m.usual);
	config_lines_fini(&m.have);
	service_free(m.start.blank);
	service_free(m.start.service);
	plan_free(m.start.plan);
	plan_free(m.plain);
	return rc;
}
