/* row.c: see row.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/rate_limit.h"
#include "control/value/choices.h"
#include "control/value/row.h"

/* Arguments, and largest numbers, of rows that have no other ones. */
static const struct {
	const char *args;
	uint64_t max;
} usual[KIND_OBSOLETE + 1] = {
	[KIND_NUMBER] = { "[N]", 1 << 30 },
	[KIND_UNSIGNED] = { "[N]", 1 << 30 },
	[KIND_INT] = { "[N]", INT32_MAX },
	[KIND_SIZE] = { "[SIZE]", UINT64_C(1) << 40 },
	[KIND_SECONDS] = { "[SEC]", LONG_MS },
	[KIND_RATE] = { "[N/SEC]", RATE_LIMIT_COUNT },
	[KIND_MODE] = { .args = "[MODE]" },
	[KIND_ACL] = { .args = "[LIST]" },
	[KIND_FILE] = { .args = "[FILE]" },
	[KIND_KEYS] = { .args = "[FILE]" },
	[KIND_COOKIE] = { .args = "[NAME]" },
	[KIND_OBSERVE] = { "[off|5xx N/SEC]", RATE_LIMIT_COUNT },
	[KIND_IDENTITY] = { .args = "[on|off|HEADER]" },
};

const char *
row_option(const struct command *row, char text[ROW_OPTION_MAX])
{
	char *at;

	if (row->option != NULL)
		return row->option[0] != '\0' ? row->option : NULL;
	if (row->kind >= KIND_CHANGE)
		return NULL;
	snprintf(text, ROW_OPTION_MAX, "%s", row->name);
	for (at = text; (at = strchr(at, '_')) != NULL;)
		*at = '-';
	return text;
}

const char *
row_args(const struct command *row, char text[COMMAND_TEXT_MAX])
{
	const struct choice *c;
	size_t n = 0;

	if (row->args != NULL || row->kind != KIND_CHOICE)
		return row->args != NULL ? row->args : usual[row->kind].args;
	for (c = row->choices; c->word != NULL && n < COMMAND_TEXT_MAX; c++)
		n += (size_t)snprintf(text + n, COMMAND_TEXT_MAX - n, "%c%s",
		    n > 0 ? '|' : '[', c->word);
	if (n < COMMAND_TEXT_MAX)
		snprintf(text + n, COMMAND_TEXT_MAX - n, "]");
	return text;
}

bool
row_has_args(const struct command *row)
{
	return row->args != NULL || row->kind == KIND_CHOICE ||
	    usual[row->kind].args != NULL;
}

uint64_t
row_max(const struct command *row)
{
	return row->max > 0 ? row->max : usual[row->kind].max;
}

/* The usual ones begin with a bracket, too. */
static bool
may_be_alone(const struct command *row)
{
	return row_has_args(row) && (row->args == NULL || row->args[0] == '[');
}

/* "NAME" alone, where an argument would set it. */
static bool
is_question(const struct command *row, int arguments, bool no)
{
	return arguments == 0 && !no && may_be_alone(row);
}

bool
row_only_prints(const struct command *row, int arguments, bool no)
{
	int without_value = may_be_alone(row) ? 0 : 1;

	return row->flags & ROW_PRINTS && !no && arguments <= without_value;
}

bool
row_changes(const struct command *row, int arguments, bool no)
{
	if (row_only_prints(row, arguments, no))
		return false;
	return row->kind <= KIND_CHANGE && !is_question(row, arguments, no);
}

bool
row_is_of_service(const struct command *row)
{
	return row->flags & ROW_SERVICE ||
	    (row->kind < KIND_CHANGE && row->scope == SCOPE_SERVICE &&
		!(row->flags & ROW_FIRST));
}

enum access
row_access(const struct command *row, int arguments, bool no)
{
	if (row->flags & ROW_LOOK || row_only_prints(row, arguments, no) ||
	    (row->kind <= KIND_CHANGE && is_question(row, arguments, no)))
		return ACCESS_LOOK;
	return row->flags & ROW_OPERATE ? ACCESS_OPERATE : ACCESS_ADMIN;
}

bool
row_takes_argument(const struct command *row)
{
	return row_has_args(row) && !(row->flags & ROW_COUNT);
}

/* A client of a TCP port may be any user of this host, or others: a log with
 * lines that a client chooses may become a configuration, or a program. One
 * with less than all would be what pen is: its user, or its own client. */
int
call_needs_local(const struct call *c, struct error *e)
{
	if (c->caller == NULL)
		return 0;
	if (c->caller->access < ACCESS_ADMIN)
		return error_set(e,
		    "a file, a program or a Unix socket needs the level admin, "
		    "yours is %s",
		    access_name(c->caller->access));
	return !c->caller->remote
	    ? 0
	    : error_set(e,
		  "not on TCP: only in a file, on the command line or on a "
		  "Unix socket");
}

int
call_duration(const struct call *c, uint64_t *ms, struct error *e)
{
	const struct words *w = c->words;

	if (w->count > 1)
		return error_set(e, "expects %s", c->row->args);
	if (w->count == 1 && number_parse_ms(w->word[0], 0, LONG_MS, ms) < 0)
		return error_set(e,
		    "\"%.100s\" is not a valid duration (5, 0.5, 200ms, 5m, "
		    "2h)",
		    w->word[0]);
	return 0;
}
