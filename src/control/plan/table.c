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
table_next(const struct command *row)
{
	const struct command *last;
	size_t i;

	if (row == NULL)
		return tables[0];
	if (row[1].name != NULL)
		return row + 1;
	for (i = 0; i + 1 < TABLES; i++) {
		for (last = tables[i]; last[1].name != NULL; last++)
			;
		if (last == row)
			return tables[i + 1];
	}
	return NULL;
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

unsigned
table_index(const struct command *row)
{
	const struct command *r;
	unsigned i = 0;

	TABLE_EACH (r) {
		if (r == row)
			break;
		i++;
	}
	return i;
}
