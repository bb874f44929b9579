/* command.c: finds the row of a line and carries it out. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/command.h"
#include "control/pen.h"
#include "control/setting.h"

const struct command *
command_find(const char *name)
{
	const struct command *row;

	for (row = command_table; row->name != NULL; row++)
		if (strcmp(row->name, name) == 0 && !(row->flags & ROW_OPTION))
			return row;
	return NULL;
}

/* ---- the nearest name, for typing errors ---- */

enum { NAME_MAX_LENGTH = 40, FAR = 3 };

/* Letters to change to get from one word to the other (Levenshtein). */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LENGTH + 1], i, k, n = (unsigned)strlen(b);

	if (strlen(a) > NAME_MAX_LENGTH || n > NAME_MAX_LENGTH)
		return FAR;
	for (k = 0; k <= n; k++)
		row[k] = k;
	for (i = 0; a[i] != '\0'; i++) {
		unsigned diagonal = row[0];

		row[0] = i + 1;
		for (k = 0; k < n; k++) {
			unsigned best = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			if (diagonal + 1 < best)
				best = diagonal + 1;
			if (row[k] + 1 < best)
				best = row[k] + 1;
			row[k + 1] = best;
		}
	}
	return row[n];
}

static int
unknown(const char *name, struct error *e)
{
	const struct command *row, *nearest = NULL;
	unsigned best = strlen(name) < 5 ? 2 : FAR, d;

	for (row = command_table; row->name != NULL; row++) {
		if (row->flags & ROW_OPTION || row->kind == KIND_LATER ||
		    row->kind == KIND_TLS)
			continue;
		d = distance(name, row->name);
		if (d < best) {
			best = d;
			nearest = row;
		}
	}
	if (nearest != NULL)
		return error_set(e,
		    "unknown command \"%.100s\" (did you mean %s?)", name,
		    nearest->name);
	return error_set(e, "unknown command \"%.100s\"", name);
}

/* ---- carrying out ---- */

static int
not_there(const struct command *row, struct error *e)
{
#ifndef HAVE_OPENSSL
	if (row->kind == KIND_TLS)
		return error_set(e, "built without TLS");
#endif
	(void)row;
	return error_set(e, "not implemented yet");
}

int
command_run_row(struct pen *p, const struct command *row,
    const struct words *arguments, bool no, struct buffer *reply,
    struct error *e)
{
	struct call c = { p, row, arguments, no, reply };

	if (row->kind == KIND_LATER || row->kind == KIND_TLS)
		return not_there(row, e);
	if (row->kind == KIND_OBSOLETE)
		return 0;
	if (row->flags & ROW_START && p->loop != NULL)
		return error_set(e, "only at the start");
	if (no && row->kind != KIND_FLAG && !(row->flags & ROW_NO))
		return error_set(e, "there is no \"no %s\"", row->name);
	if (arguments->count > 0 && row->args == NULL)
		return error_set(
		    e, "takes no argument, got \"%.100s\"", arguments->word[0]);
	return row->kind == KIND_RUN ? row->run(&c, e) : setting_run(&c, e);
}

static int
run_words(struct pen *p, struct words *w, struct buffer *reply, struct error *e)
{
	bool no = w->count > 1 && strcmp(w->word[0], "no") == 0;
	const struct command *row = command_find(w->word[no]);
	const char *name = w->word[no];
	struct words arguments;
	struct error why;
	int i;

	if (row == NULL)
		return unknown(name, e);
	arguments.count = w->count - 1 - no;
	for (i = 0; i <= arguments.count; i++)
		arguments.word[i] = w->word[i + 1 + no];
	if (command_run_row(p, row, &arguments, no, reply, &why) < 0)
		return error_set(
		    e, "%s%s: %.400s", no ? "no " : "", name, why.text);
	return 0;
}

int
command_run_line(
    struct pen *p, const char *line, struct buffer *reply, struct error *e)
{
	char *copy = strdup(line);
	struct words w;
	int rc = 0;

	if (copy == NULL)
		return error_set(e, "out of memory");
	if (words_split(&w, copy) < 0)
		rc = error_set(e, "\"%.200s\": %s", line,
		    errno == EINVAL ? "a quote is not closed"
				    : "too many words");
	else if (w.count > 0)
		rc = run_words(p, &w, reply, e);
	free(copy);
	return rc;
}
