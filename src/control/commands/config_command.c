/* config_command.c: commands about the configuration as a whole. */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/file/config_file.h"
#include "control/file/config_lines.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/plan/check_plan.h"

/* ---- include ---- */

/* The section goes on after it, unless the file has removed the service. */
static int
include_file(struct call *c, const char *path, struct error *e)
{
	char name[SERVICE_NAME_MAX + 1];
	struct call within = *c;
	int rc;

	snprintf(name, sizeof(name), "%s", plan_service_name(c->plan));
	rc = config_load(&within, path, NULL, e);
	if (plan_service(c->draft, name) == NULL) {
		snprintf(name, sizeof(name), "default");
		call_set_service(c, c->pen->service);
	}
	c->plan = plan_service_edit(c->draft, name);
	if (rc == 0 && c->plan == NULL)
		return error_set(e, "out of memory");
	return rc;
}

/* What is not there is nothing; what must not be read would lose services. */
static int
on_glob_error(const char *path, int error)
{
	(void)path;
	return error != ENOENT && error != ENOTDIR;
}

static int
include_pattern(struct call *c, const char *pattern, struct error *e)
{
	glob_t found;
	size_t i;
	int rc = glob(pattern, 0, on_glob_error, &found);

	if (rc == GLOB_NOMATCH)
		return 0;
	if (rc == GLOB_ABORTED)
		rc = error_set(
		    e, "\"%.300s\": a directory cannot be read", pattern);
	else if (rc != 0)
		rc = error_set(e, "out of memory");
	for (i = 0; rc == 0 && i < found.gl_pathc; i++)
		rc = include_file(c, found.gl_pathv[i], e);
	globfree(&found);
	return rc;
}

static int
run_include(struct call *c, struct error *e)
{
	const char *word = c->words->word[0];

	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (c->pen->phase < PHASE_SERVING && !c->dry)
		(void)buffer_append(
		    &c->pen->included, word, strlen(word) + 1);
	if (strpbrk(word, "*?[") != NULL && access(word, F_OK) != 0)
		return include_pattern(c, word, e);
	return include_file(c, word, e);
}

/* ---- reload ---- */

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
	new = config_draft(c->pen, true, NULL, e);
	if (new == NULL)
		return -1;
	plan_share_services(new, c->pen->plan);
	rc = plan_become(c->draft, new);
	plan_free(new);
	c->fresh = true;
	return rc == 0 ? 0 : error_set(e, "out of memory");
}

/* ---- diff ---- */

/* Marks the lines of keys that are not the same: all entries of an access list,
 * as the first that fits counts; but not what empties both lists first. */
static void
mark_differences(struct config_lines *mine, const struct config_lines *other)
{
	struct config_range a, b;
	uint32_t i, k;

	for (i = 0; i < mine->count; i += a.count) {
		a = config_lines_find(mine, &mine->line[i]);
		b = config_lines_find(other, a.line);
		if (config_range_equal(a, b))
			continue;
		k = b.count > 0 && strcmp(a.line->words, b.line->words) == 0;
		for (; k < a.count; k++)
			a.line[k].wrong = true;
	}
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

/* As a command that can be given anywhere. */
static void
emit_prefixed(struct reply *r, const char *mark, const struct config_line *l)
{
	struct buffer line;

	buffer_init(&line);
	if (config_line_is_header(l)) {
		reply_add(&line, "service add %s", l->service);
	} else {
		reply_add(&line, "service %s ", l->service);
		(void)buffer_append(&line, l->words, strlen(l->words));
	}
	if (buffer_append(&line, "", 1) == 0)
		emit_line(r, mark, buffer_bytes(&line));
	buffer_fini(&line);
}

static void
emit_marked(struct reply *r, struct config_lines *l, const char *mark)
{
	const struct config_line *i;

	config_lines_restore_order(l);
	for (i = l->line; i < l->line + l->count; i++)
		if (i->wrong && i->service[0] != '\0')
			emit_prefixed(r, mark, i);
		else if (i->wrong)
			emit_line(r, mark, i->words);
}

static void
emit_differences(
    struct reply *r, struct config_lines *file, struct config_lines *running)
{
	mark_differences(file, running);
	mark_differences(running, file);
	fields_list_begin(r);
	emit_marked(r, file, "-");
	emit_marked(r, running, "+");
	fields_list_end(r);
}

/* What sections leave out, as it is the default, is there where the other one
 * has something else. */
static int
read_lines(const struct plan *from_file, const struct plan *in_force,
    struct config_lines *file, struct config_lines *running)
{
	struct config_lines usual = { .commands = file->commands };
	struct plan *plain = plan_new();
	int rc = 0;

	if (plain == NULL ||
	    config_lines_of_plan(file, from_file, CONFIG_SET) < 0 ||
	    config_lines_of_plan(running, in_force, CONFIG_SET) < 0 ||
	    config_lines_of_plan(&usual, plain, CONFIG_SET) < 0 ||
	    config_lines_add_defaults(file, running, &usual) < 0 ||
	    config_lines_add_defaults(running, file, &usual) < 0)
		rc = -1;
	config_lines_fini(&usual);
	plan_free(plain);
	return rc;
}

static int
run_diff(struct call *c, struct error *e)
{
	struct config_lines file = { .commands = c->pen->commands };
	struct config_lines running = file;
	enum log_level level = log_level;
	struct plan *draft;
	int rc = 0;

	if (c->depth > 0) /* it would read that file again, and again */
		return error_set(e, "not allowed in a configuration file");
	if (c->plan->config.file == NULL)
		return error_set(e, "pen was started without -F");
	/* a start or a reload has logged what is wrong with it */
	log_level = LOG_LEVEL_NONE;
	draft = config_draft(c->pen, false, NULL, e);
	log_level = level;
	if (draft == NULL)
		return -1;
	/* to a caller who may not read them, secrets are the same */
	if (c->draft != NULL)
		rc = check_plan_hide_secrets(draft);
	if (rc == 0)
		rc = read_lines(draft,
		    c->draft != NULL ? c->draft : c->pen->plan, &file,
		    &running);
	if (rc == 0)
		emit_differences(c->reply, &file, &running);
	plan_free(draft);
	config_lines_fini(&file);
	config_lines_fini(&running);
	return rc == 0 ? 0 : error_set(e, "out of memory");
}

const struct command config_commands[] = {
	{ .name = "include",
	    .kind = KIND_CHANGE,
	    .flags = ROW_LOCAL,
	    .run = run_include,
	    .args = "FILE",
	    .help = "runs the commands of a file, or of all files that match a "
		    "pattern" },
	{ .name = "reload",
	    .kind = KIND_CHANGE,
	    .flags = ROW_OPERATE | ROW_PROCESS,
	    .run = run_reload,
	    .help =
		"reloads the configuration; unchanged servers and sockets are "
		"kept" },
	{ .name = "diff",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_PROCESS | ROW_SECRETS,
	    .run = run_diff,
	    .help = "prints the differences: - in the file, + running" },
	{ .name = NULL },
};
