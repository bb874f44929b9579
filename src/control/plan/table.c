/* table.c: the groups of the command table, and walks over all its rows. */
#include "config.h"

#include "control/plan/table.h"

const struct command_group command_groups[] = {
	{ "choosing", "choosing", rows_choosing },
	{ "servers", "servers", rows_servers },
	{ "connections", "connections", rows_connections },
	{ "logs", "logs", rows_log },
	{ "limits", "limits", rows_limits },
	{ "http", "HTTP", rows_http },
	{ "ends", "ends of sessions", rows_ends },
	{ "tls", "TLS", rows_tls },
	{ "dsr", "direct server return", rows_dsr },
	{ "checks", "checks", rows_checks },
	{ "configuration", "configuration", rows_configuration },
	{ "process", "process", rows_process },
	{ "obsolete", "obsolete", rows_obsolete },
	{ NULL, NULL, NULL },
};

const struct command *
command_next(const struct command *row)
{
	const struct command_group *g = command_groups;
	const struct command *r;

	if (row == NULL)
		return g->rows;
	if (row[1].name != NULL)
		return row + 1;
	/* it was the last of its group, whose end stands behind it */
	for (;; g++) {
		for (r = g->rows; r->name != NULL; r++)
			;
		if (r == row + 1)
			return g[1].rows;
	}
}

const char *
command_group_of(const struct command *row)
{
	const struct command_group *g;
	const struct command *r;

	for (g = command_groups; g->rows != NULL; g++)
		for (r = g->rows; r->name != NULL; r++)
			if (r == row)
				return g->title;
	return "";
}

unsigned
command_index(const struct command *row)
{
	const struct command_group *g;
	const struct command *r;
	unsigned i = 0;

	for (g = command_groups; g->rows != NULL; g++)
		for (r = g->rows; r->name != NULL; r++, i++)
			if (r == row)
				return i;
	return ROWS_MAX;
}

const struct command *
command_at(unsigned index)
{
	const struct command *row = command_next(NULL);

	while (row != NULL && index-- > 0)
		row = command_next(row);
	return row;
}
