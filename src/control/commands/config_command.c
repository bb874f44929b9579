/* config_command.c: commands about the configuration as a whole. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/apply/apply.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/file/config_file.h"
#include "control/answer/fields.h"
#include "control/apply/geoip.h"
#include "control/life/context.h"

static int
run_include(struct call *c, struct error *e)
{
	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	return config_load(c, c->words->word[0], NULL, e);
}

/* The draft becomes what a restart would give; what is the same stays as it is
 * when that is applied. */
static int
run_reload(struct call *c, struct error *e)
{
	struct plan *new;
	int rc;

	c->reloads = true;
	if (c->depth > 0)
		return error_set(e, "not allowed in a configuration file");
	new = config_draft(c->pen, NULL, e);
	if (new == NULL)
		return -1;
	rc = plan_become(c->plan, new);
	plan_free(new);
	c->fresh = true;
	tls_config_refresh(c->pen);
	geoip_refresh(c->pen->geoip);
	return rc == 0 ? 0 : error_set(e, "out of memory");
}

/* ---- diff ---- */

/* What is compared: lines alone, and those that mean nothing by themselves
 * together, as the entries of an access list, of which the first that fits
 * counts. */
struct parts {
	char **part;   /* into the text, in its order */
	char **sorted; /* the same */
	size_t count;
};

static int
config_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether the next line belongs to the part that this one is in. */
static bool
config_goes_on(const char *line, const char *next)
{
	if (strncmp(line, "acl ", 4) == 0)
		return strncmp(line, next, 4 + strcspn(line + 4, " ") + 1) == 0;
	if (strncmp(line, "route ", 6) == 0)
		return strncmp(next, "route ", 6) == 0;
	return strncmp(line, "control_level ", 14) == 0 ||
	    strncmp(line, "control_mode ", 13) == 0;
}

/* The end of the part that begins there. */
static char *
end_of(char *line)
{
	char *end = line + strcspn(line, "\n");

	while (*end != '\0' && config_goes_on(line, end + 1)) {
		line = end + 1;
		end = line + strcspn(line, "\n");
	}
	return end;
}

/* Cuts the text into its parts, in place. */
static int
cut_parts(struct buffer *text, struct parts *l)
{
	char *at, *end;
	size_t room = 1, i;

	*l = (struct parts){ .part = NULL };
	if (buffer_append(text, "", 1) < 0)
		return -1;
	for (i = 0; i < buffer_length(text); i++)
		room += buffer_bytes(text)[i] == '\n';
	l->part = calloc(room, sizeof(char *));
	l->sorted = calloc(room, sizeof(char *));
	if (l->part == NULL || l->sorted == NULL)
		return -1;
	for (at = text->data + text->start; *at != '\0'; at = end) {
		l->part[l->count++] = at;
		end = end_of(at);
		if (*end != '\0')
			*end++ = '\0';
	}
	memcpy(l->sorted, l->part, l->count * sizeof(char *));
	qsort(l->sorted, l->count, sizeof(char *), config_compare);
	return 0;
}

static void
free_parts(struct parts *l)
{
	free(l->part);
	free(l->sorted);
}

static void
emit_line(struct reply *r, const char *mark, const char *line)
{
	struct fields f;

	fields_begin(&f, r, FIELDS_SILENT);
	fields_text(&f, mark[0] == '+' ? "running" : "file", line);
	fields_end(&f);
	if (r->json)
		return;
	(void)buffer_append(&r->out, mark, 1);
	reply_line(&r->out, line);
}

/* Its lines, one by one. */
static void
emit_part(struct reply *r, const char *mark, char *part)
{
	char *end;

	while ((end = strchr(part, '\n')) != NULL) {
		*end = '\0';
		emit_line(r, mark, part);
		*end = '\n';
		part = end + 1;
	}
	emit_line(r, mark, part);
}

/* A plan is printed the same way each time, so what differs are parts that only
 * one of the two texts has. */
static void
emit_only_in(struct reply *r, const struct parts *mine,
    const struct parts *other, const char *mark)
{
	size_t i;

	for (i = 0; i < mine->count; i++)
		if (bsearch(&mine->part[i], other->sorted, other->count,
			sizeof(char *), config_compare) == NULL)
			emit_part(r, mark, mine->part[i]);
}

static int
emit_differences(struct reply *r, struct buffer *file, struct buffer *running)
{
	struct parts there = { .part = NULL }, now = { .part = NULL };
	int rc = cut_parts(file, &there);

	if (rc == 0)
		rc = cut_parts(running, &now);
	if (rc == 0) {
		fields_list_begin(r);
		emit_only_in(r, &there, &now, "-");
		emit_only_in(r, &now, &there, "+");
		fields_list_end(r);
	}
	free_parts(&there);
	free_parts(&now);
	return rc;
}

static int
run_diff(struct call *c, struct error *e)
{
	struct buffer file, running;
	struct plan *draft;
	int rc;

	if (c->depth > 0) /* it would read that file again, and again */
		return error_set(e, "not allowed in a configuration file");
	if (c->plan->config.file == NULL)
		return error_set(e, "pen was started without -F");
	draft = config_draft(c->pen, NULL, e);
	if (draft == NULL)
		return -1;
	apply_acls_forget(draft);
	buffer_init(&file);
	buffer_init(&running);
	plan_print(draft, &file);
	plan_print(c->plan, &running);
	plan_free(draft);
	rc = emit_differences(c->reply, &file, &running);
	buffer_fini(&file);
	buffer_fini(&running);
	return rc == 0 ? 0 : error_set(e, "out of memory");
}

const struct command config_commands[] = {
	{ .name = "include",
	    .kind = KIND_CHANGE,
	    .flags = ROW_LOCAL,
	    .run = run_include,
	    .args = "FILE",
	    .help = "runs the commands of a file" },
	{ .name = "reload",
	    .kind = KIND_CHANGE,
	    .flags = ROW_OPERATE,
	    .run = run_reload,
	    .help =
		"reads the configuration again; servers and sockets that stay "
		"the same are not disturbed" },
	{ .name = "diff",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK,
	    .run = run_diff,
	    .help = "prints the differences: - in the file, + running" },
	{ .name = NULL },
};
