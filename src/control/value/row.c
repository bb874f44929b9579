/* row.c: see row.h. */
#include "config.h"

#include "base/number.h"
#include "control/value/row.h"

/* "NAME" alone, where an argument would set it. */
static bool
is_question(const struct command *row, int arguments, bool no)
{
	return arguments == 0 && !no && row->args != NULL &&
	    row->args[0] == '[';
}

bool
row_asks(const struct command *row, int arguments, bool no)
{
	return row->flags & ROW_ASKS && !no &&
	    arguments <= (row->args[0] != '[');
}

bool
row_changes(const struct command *row, int arguments, bool no)
{
	if (row_asks(row, arguments, no))
		return false;
	return row->kind <= KIND_CHANGE && !is_question(row, arguments, no);
}

bool
row_is_of_service(const struct command *row)
{
	return row->flags & ROW_SERVICE ||
	    (row->kind < KIND_CHANGE && !(row->flags & ROW_PROCESS));
}

enum access
row_access(const struct command *row, int arguments, bool no)
{
	if (row->flags & ROW_LOOK || row_asks(row, arguments, no) ||
	    (row->kind <= KIND_CHANGE && is_question(row, arguments, no)))
		return ACCESS_LOOK;
	return row->flags & ROW_OPERATE ? ACCESS_OPERATE : ACCESS_ADMIN;
}

bool
row_takes_argument(const struct command *row)
{
	return row->args != NULL && !(row->flags & ROW_COUNT);
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
