/* command.c: finds the row of a line and carries it out. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/language/command.h"
#include "control/language/defaults.h"
#include "control/plan/origin.h"
#include "control/life/context.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "control/value/choices.h"
#include "control/value/value.h"

/* ---- all rows ---- */

const struct command *
command_next(const struct command_group *all, const struct command *row)
{
	const struct command *const *part, *last;

	if (row == NULL)
		return all->part[0];
	if (row[1].name != NULL)
		return row + 1;
	/* the last of its part */
	for (; all->key != NULL; all++)
		for (part = all->part; *part != NULL; part++) {
			for (last = *part; last[1].name != NULL; last++)
				;
			if (last == row)
				return part[1] != NULL ? part[1]
						       : all[1].part[0];
		}
	return NULL;
}

const struct command_group *
command_group_of(const struct command_group *all, const struct command *row)
{
	const struct command *const *part, *r;

	for (; all->key != NULL; all++)
		for (part = all->part; *part != NULL; part++)
			for (r = *part; r->name != NULL; r++)
				if (r == row)
					return all;
	return NULL;
}

unsigned
command_index(const struct command_group *all, const struct command *row)
{
	const struct command *const *part, *r;
	unsigned i = 0;

	for (; all->key != NULL; all++)
		for (part = all->part; *part != NULL; part++)
			for (r = *part; r->name != NULL; r++, i++)
				if (r == row)
					return i;
	return i;
}

const struct command *
command_find(const struct command_group *all, const char *name)
{
	const struct command *const *part, *row;

	for (; all->key != NULL; all++)
		for (part = all->part; *part != NULL; part++)
			for (row = *part; row->name != NULL; row++)
				if (row->name[0] == name[0] &&
				    strcmp(row->name, name) == 0 &&
				    !(row->flags & ROW_OPTION))
					return row;
	return NULL;
}

/* Whether the name is that of the row's option, in which "_" may stand for
 * "-". */
static bool
is_option_name(const struct command *row, const char *name)
{
	char text[ROW_OPTION_MAX];
	const char *o = row_option(row, text);

	for (; o != NULL && *o != '\0'; o++, name++)
		if (*o != *name && (*o != '-' || *name != '_'))
			return false;
	return o != NULL && *name == '\0';
}

/* The row of a long option, whose command may have another name; or NULL. */
static const struct command *
find_option(const struct command_group *all, const char *name)
{
	const struct command *row;

	name += strncmp(name, "--", 2) == 0 ? 2 : 0;
	COMMAND_EACH (all, row)
		if (is_option_name(row, name))
			return row;
	return NULL;
}

static const char *const server_verbs[] = {
	[SERVER_ENABLED] = "server N up",
	[SERVER_DRAINING] = "server N drain",
	[SERVER_DISABLED] = "server N maint",
};

/* The command that other programs call by this name; NULL: none. */
static const char *
find_habit(const char *name)
{
	static const char *const habits[][2] = { { "stop", "shutdown" },
		{ "restart", "upgrade" }, { "list", "servers" },
		{ "stats", "statistics" }, { "remove", "server N remove" },
		{ "disable", "server N maint" }, { "enable", "server N up" },
		{ "set", "server N weight W" }, { "bind", "listen" },
		{ "frontend", "service" }, { "backend", "service" },
		{ "upstream", "service" } };
	const struct choice *c = choices_admin;
	size_t i;

	for (i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (strcmp(habits[i][0], name) == 0)
			return habits[i][1];
	for (; c->word != NULL; c++)
		if (strcmp(c->word, name) == 0)
			return server_verbs[c->value];
	return NULL;
}

/* The nearest name is for typing errors. */
int
command_unknown(
    const struct command_group *all, const char *name, struct error *e)
{
	struct words_nearest n = words_nearest_to(name, true);
	const struct command *row = find_option(all, name);
	char text[ROW_OPTION_MAX];

	if (strcmp(name, "{") == 0 || strcmp(name, "}") == 0)
		return error_set(e,
		    "\"%s\": a section has no braces, it ends where the next "
		    "one begins",
		    name);
	if (row != NULL && (row->flags & ROW_OPTION))
		return error_set(e,
		    "unknown command \"%.100s\" (only an option: --%s)", name,
		    row_option(row, text));
	n.best = row != NULL ? row->name : find_habit(name);
	if (n.best == NULL)
		COMMAND_EACH (all, row)
			if (!(row->flags & ROW_OPTION))
				words_nearest_offer(&n, row->name);
	if (n.best != NULL)
		return error_set(e,
		    "unknown command \"%.100s\" (did you mean %s?)", name,
		    n.best);
	return error_set(e, "unknown command \"%.100s\"", name);
}

/* ---- what a row is ---- */

/* A word that its value may be, or NULL after the last one. */
static const char *
word_of(const struct command *row, unsigned i)
{
	const struct choice *c = row->choices;

	if (row->names != NULL)
		return row->names(i);
	for (; c->word != NULL; c++)
		if (c->refused == NULL && i-- == 0)
			break;
	return c->word;
}

const char *
command_help(const struct command *row, char text[COMMAND_TEXT_MAX])
{
	const char *rest = strchr(row->help, '#'), *name;
	size_t n, room = COMMAND_TEXT_MAX;
	unsigned i;

	if (rest == NULL)
		return row->help;
	n = (size_t)snprintf(
	    text, room, "%.*s", (int)(rest - row->help), row->help);
	for (i = 0; (name = word_of(row, i)) != NULL && n < room; i++)
		n += (size_t)snprintf(
		    text + n, room - n, "%s%s", i > 0 ? ", " : "", name);
	if (n < room)
		snprintf(text + n, room - n, "%s", rest + 1);
	return text;
}

const char *
command_args(const struct command *row, char text[COMMAND_TEXT_MAX])
{
	const char *rest = row->args != NULL ? strchr(row->args, '#') : NULL;
	const struct command *of = rows_server;
	size_t n, room = COMMAND_TEXT_MAX;

	if (rest == NULL)
		return row_args(row, text);
	n = (size_t)snprintf(
	    text, room, "%.*s", (int)(rest - row->args), row->args);
	for (; of->name != NULL && n < room; of++)
		if (!(of->flags & ROW_BARE))
			n += (size_t)snprintf(text + n, room - n, "%s[%s %s]",
			    of > rows_server ? " " : "", of->name, of->args);
	if (n < room)
		snprintf(text + n, room - n, "%s", rest + 1);
	return text;
}

/* Whether it names a file, or does what only callers may do that could name
 * one. */
static bool
is_local(const struct command *row, int arguments, bool no)
{
	if (row->flags & ROW_LOCAL)
		return row->kind > KIND_CHANGE ||
		    row_changes(row, arguments, no);
	return arguments > 0 &&
	    (row->kind == KIND_FILE || row->kind == KIND_CERTIFICATES ||
		row->kind == KIND_KEYS);
}

/* ---- carrying out ---- */

/* Whether the service is only in a file so far, so that the running process has
 * nothing to report of it. */
static bool
is_draft_alone(const struct call *c)
{
	return c->pen->phase >= PHASE_SERVING && c->service != NULL &&
	    c->service == c->pen->blank;
}

static bool
is_setting(const struct command *row)
{
	const struct command *one;

	SETTING_EACH (one)
		if (one == row)
			return true;
	return false;
}

/* A setting with a default has no form without a value: the error has the
 * line that returns to the default. */
static int
refuse_no(const struct command *row, struct error *e)
{
	struct plan *plain = is_setting(row) ? plan_new() : NULL;
	struct buffer line;

	error_set(e, "there is no \"no %s\"", row->name);
	buffer_init(&line);
	if (plain != NULL)
		value_print(row, setting_base(plain, plain, row), &line);
	if (buffer_append(&line, "", 1) == 0 && buffer_bytes(&line)[0] != '\0')
		error_set(e,
		    "there is no \"no %s\"; \"%.*s\" is the default",
		    row->name, (int)strcspn(buffer_bytes(&line), "\n"),
		    buffer_bytes(&line));
	buffer_fini(&line);
	plan_free(plain);
	return -1;
}

int
command_run(struct call *c, struct error *e)
{
	const struct command *row = c->row;

	if (row->kind == KIND_OBSOLETE ||
	    (row->kind == KIND_REPORT && (c->dry || is_draft_alone(c))))
		return 0;
	if (c->no && row->kind != KIND_FLAG && !(row->flags & ROW_NO))
		return refuse_no(row, e);
	/* a file may be refused yet, or only be looked at */
	if (row->kind == KIND_ACTION && c->origin != NULL)
		return error_set(e, "only on the control socket");
	if (row->scope == SCOPE_PROCESS && c->plan != c->draft &&
	    row_changes(row, c->words->count, c->no))
		return error_set(e,
		    "applies to the whole process, not to one service (in a "
		    "file, set it before the first \"service\")");
	if (row_changes(row, c->words->count, c->no) &&
	    defaults_check_row(c, e) < 0)
		return -1;
	if (is_local(row, c->words->count, c->no) && call_needs_local(c, e) < 0)
		return -1;
	if (c->words->count > 0 && !row_has_args(row))
		return error_set(
		    e, "takes no argument, got \"%.100s\"", c->words->word[0]);
	if ((row->kind < KIND_CHANGE ? setting_run(c, e) : row->run(c, e)) < 0)
		return -1;
	if (row_changes(row, c->words->count, c->no) && origin_note(c) < 0)
		return error_set(e, "out of memory");
	return 0;
}

int
command_parse(const struct command_group *all, char *line,
    const struct command **row, struct words *arguments, bool *no, char **rest,
    struct error *e)
{
	struct words w;
	int i;

	*row = NULL;
	if (words_split(&w, line, rest) < 0)
		return error_set(e, "%s",
		    errno == EINVAL ? "missing closing quote"
				    : "too many words");
	arguments->end = w.end;
	if (w.count == 0)
		return 0;
	*no = w.count > 1 && strcmp(w.word[0], "no") == 0;
	*row = command_find(all, w.word[*no]);
	if (*row == NULL)
		return command_unknown(all, w.word[*no], e);
	arguments->count = w.count - 1 - *no;
	for (i = 0; i <= arguments->count; i++)
		arguments->word[i] = w.word[i + 1 + *no];
	return 0;
}

/* "service web drain [wait [SEC]]" is "server all drain [..]" for that one.
 * Returns whether it was that. */
static bool
take_verb(const struct command_group *all, const struct command **row,
    struct words *arguments)
{
	static char every[] = "all";

	if ((arguments->count != 2 &&
		(arguments->count > 4 ||
		    strcmp(arguments->word[2], "wait") != 0)) ||
	    choice_find(choices_admin, arguments->word[1]) == NULL)
		return false;
	*row = command_find(all, "server");
	arguments->word[0] = every;
	return true;
}

const char *
command_take_service(const struct command_group *all,
    const struct command **row, struct words *arguments, bool *no)
{
	const struct command *behind;
	const char *name;
	bool negated;
	int i;

	/* "service add web" is no command "web" */
	if (*row == NULL || *no || !((*row)->flags & ROW_PREFIX) ||
	    arguments->count < 2 || strcmp(arguments->word[0], "add") == 0)
		return NULL;
	negated = arguments->count > 2 && strcmp(arguments->word[1], "no") == 0;
	behind = command_find(all, arguments->word[1 + negated]);
	name = arguments->word[0];
	if (behind == NULL)
		return take_verb(all, row, arguments) ? name : NULL;
	if (behind->flags & ROW_PREFIX) /* it carries one name only */
		return NULL;
	*row = behind;
	*no = negated;
	arguments->count -= 2 + negated;
	for (i = 0; i <= arguments->count; i++)
		arguments->word[i] = arguments->word[i + 2 + negated];
	return name;
}

int
command_name_error(const struct command *row, bool no, const struct error *why,
    struct error *e)
{
	size_t n = strlen(row->name);

	if (strcmp(row->name, "server") == 0 &&
	    strncmp(why->text, row->name, n) == 0 && why->text[n] == ' ')
		return error_set(e, "%.500s", why->text);
	return error_set(
	    e, "%s%s: %.400s", no ? "no " : "", row->name, why->text);
}

static int
run_one(struct call *c, char *line, char **rest, struct error *e)
{
	struct words arguments;
	struct error why;

	if (command_parse(c->pen->commands, line, &c->row, &arguments, &c->no,
		rest, e) < 0)
		return -1;
	if (c->row == NULL)
		return 0;
	c->words = &arguments;
	if (command_run(c, &why) == 0) {
		if (c->note != NULL)
			c->note(c);
		if (c->pen->phase < PHASE_SERVING)
			c->reply->more = NULL; /* it would not be read */
		reply_finish(c->reply, c->service);
		return 0;
	}
	return command_name_error(c->row, c->no, &why, e);
}

int
command_run_line(struct call *c, const char *line, struct error *e)
{
	char *copy = strdup(line), *next = copy;
	int rc = 0;

	if (copy == NULL)
		return error_set(e, "out of memory");
	while (rc == 0 && next != NULL)
		rc = run_one(c, next, &next, e);
	free(copy);
	return rc;
}

/* ---- what handlers begin with ---- */

void
call_set_service(struct call *c, struct service *svc)
{
	bool in_force = c->preopened != NULL && svc != c->pen->blank;

	c->service = svc;
	c->grows = in_force ? svc->plan : NULL;
}

int
call_needs_serving(const struct call *c, struct error *e)
{
	return c->pen->phase >= PHASE_SERVING
	    ? 0
	    : error_set(e, "only while pen is running");
}
