/* config_command.c: commands about the configuration as a whole. */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/language/defaults.h"
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
	bool defaults = defaults_are_meant(c);
	int rc;

	snprintf(name, sizeof(name), "%s", plan_service_name(c->plan));
	rc = config_load(&within, path, e);
	if (defaults) /* whose plan stays the same one */
		return rc;
	if (plan_service(c->draft, name) == NULL) {
		snprintf(name, sizeof(name), "default");
		call_set_service(c, c->pen->service);
	}
	c->plan = plan_service_edit(c->draft, name);
	if (rc == 0 && c->plan == NULL)
		return error_set(e, "out of memory");
	return rc;
}

/* A path that does not exist matches nothing; one that cannot be read is an
 * error, since services would be lost. */
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
		(void)buffer_append(&c->pen->included, word, strlen(word) + 1);
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
	new = config_draft(c->pen, true, e);
	if (new == NULL)
		return -1;
	plan_share_process(new, c->pen->plan);
	plan_share_services(new, c->pen->plan);
	rc = plan_become(c->draft, new);
	plan_free(new);
	c->fresh = true;
	return rc == 0 ? 0 : error_set(e, "out of memory");
}

/* ---- diff ---- */

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

/* Emits a line as a command that is valid outside of a section. */
static void
emit_prefixed(struct reply *r, const char *mark, const struct config_key *k,
    const char *words, size_t n)
{
	struct buffer line;

	buffer_init(&line);
	if (k == k->section)
		reply_add(&line, "service add %s", k->service);
	else if (strcmp(k->service, "default") != 0)
		reply_add(&line, "service %s ", k->service);
	if (buffer_append(&line, words, k == k->section ? 0 : n) == 0 &&
	    buffer_append(&line, "", 1) == 0)
		emit_line(r, mark, buffer_bytes(&line));
	buffer_fini(&line);
}

/* Emits the lines of `of` that differ from those of `other`. Of an access list
 * that is all entries, since the first one that matches is used; the line that
 * empties the list is left out if both have it. */
static void
emit_differences(struct reply *r, const struct config_lines *l,
    enum config_of of, enum config_of other)
{
	const char *mark = of == CONFIG_FILE ? "-" : "+", *text, *before;
	uint32_t i;
	size_t n;

	for (i = 0; i < l->count; i++) {
		text = config_lines_of(l->key[i], of);
		before = config_lines_of(l->key[i], other);
		if (text == NULL || text_equal(text, before))
			continue;
		n = strcspn(text, "\n");
		if (before != NULL && strncmp(text, before, n + 1) == 0)
			text += n + 1;
		for (; *text != '\0'; text += n + (text[n] != '\0')) {
			n = strcspn(text, "\n");
			emit_prefixed(r, mark, l->key[i], text, n);
		}
	}
}

/* "diff - TEXT": the text of a file, in which a carriage return ends a line, as
 * a command is one line. */
static struct plan *
draft_of_text(struct call *c, struct error *e)
{
	char *text, *at;
	struct plan *draft;

	if (c->words->count != 2) {
		error_set(e,
		    "- is the standard input of penctl: penctl ADDRESS diff -");
		return NULL;
	}
	text = strdup(c->words->word[1]);
	if (text == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	for (at = text; (at = strchr(at, '\r')) != NULL; at++)
		*at = '\n';
	draft = config_draft_of_text(c->pen, text, e);
	free(text);
	return draft;
}

static bool
is_text(const struct call *c)
{
	return c->words->count > 0 && strcmp(c->words->word[0], "-") == 0;
}

/* A draft of the file: pen's own, or another one. Errors of another file may
 * quote it. */
static struct plan *
draft_to_compare(struct call *c, struct error *e)
{
	const char *path = c->words->count > 0 ? c->words->word[0] : NULL;
	enum log_level level = log_level;
	struct plan *draft;

	if (path != NULL && call_needs_local(c, e) < 0)
		return NULL;
	/* a start or a reload has logged what is wrong with it */
	log_level = LOG_LEVEL_NONE;
	draft = is_text(c)    ? draft_of_text(c, e)
	    : path != NULL ? config_draft_of(c->pen, path, e)
			   : config_draft(c->pen, false, e);
	log_level = level;
	return draft;
}

static int
run_diff(struct call *c, struct error *e)
{
	struct config_lines l;
	struct plan *draft;
	int rc = 0;

	if (c->depth > 0) /* it would read that file again, and again */
		return error_set(e, "not allowed in a configuration file");
	if (c->words->count > (is_text(c) ? 2 : 1))
		return error_set(e, "expects %s", c->row->args);
	if (c->draft->process->file == NULL && c->words->count == 0)
		return error_set(e, "pen was started without -F: give a FILE");
	draft = draft_to_compare(c, e);
	if (draft == NULL)
		return -1;
	/* to a caller who may not read them, secrets are the same */
	if (c->draft != c->pen->plan)
		rc = check_plan_hide_secrets(draft);
	if (config_lines_init(&l, c->pen->commands, plan_print_set) < 0 ||
	    rc < 0 || config_lines_read(&l, CONFIG_FILE, draft) < 0 ||
	    config_lines_read(&l, CONFIG_RUNNING, c->draft) < 0)
		rc = error_set(e, "out of memory");
	plan_free(draft);
	if (rc == 0) {
		fields_list_begin(c->reply);
		emit_differences(c->reply, &l, CONFIG_FILE, CONFIG_RUNNING);
		emit_differences(c->reply, &l, CONFIG_RUNNING, CONFIG_FILE);
		fields_list_end(c->reply);
	}
	config_lines_fini(&l);
	return rc;
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
	    .flags = ROW_OPERATE,
	    .scope = SCOPE_PROCESS,
	    .run = run_reload,
	    .help =
		"reloads the configuration; unchanged servers and sockets are "
		"kept" },
	{ .name = "diff",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_SECRETS,
	    .scope = SCOPE_PROCESS,
	    .run = run_diff,
	    .args = "[FILE]",
	    .help = "prints what a reload would change, of FILE if given, or "
		    "with - of what penctl reads: - in the file, + running" },
	{ .name = NULL },
};
