/* table.c: walks over the rows of all settings. */
#include "config.h"

#include <string.h>

#include "control/plan/table.h"

static const struct command *const tables[] = { rows_choosing, rows_servers,
	rows_connections, rows_log, rows_limits, rows_http, rows_ends, rows_tls,
	rows_dsr, rows_checks, rows_configuration, rows_process,
	rows_obsolete };

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

const struct command *
table_behind(const struct command *row)
{
	uintptr_t at, begin = 0;
	size_t i, list = 0;

	if (row == NULL)
		return tables[0];
	/* it is in the list that begins in front of it, but behind others */
	for (i = 0; i < TABLES; i++) {
		at = (uintptr_t)tables[i];
		if (at <= (uintptr_t)row && at >= begin) {
			begin = at;
			list = i;
		}
	}
	return list + 1 < TABLES ? tables[list + 1] : NULL;
}

const struct command *
table_next_of(enum row_scope scope, const struct command *row)
{
	do
		row = table_next(row);
	while (
	    row != NULL && (row->kind >= KIND_CHANGE || row->scope != scope));
	return row;
}

const struct command *
table_find(const char *name)
{
	const struct command *row;

	TABLE_EACH (row)
		if (strcmp(row->name, name) == 0 && !(row->flags & ROW_OPTION))
			return row;
	return NULL;
}
