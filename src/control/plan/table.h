/* table.h: the parts of the command table, one file each; see command.h. */
#ifndef PEN_CONTROL_TABLE_H
#define PEN_CONTROL_TABLE_H

#include "control/language/command.h"

/* Where a member of struct config is. */
#define AT(member) offsetof(struct config, member)

/* Each is ended by a row without a name. */
extern const struct command rows_choosing[], rows_servers[], rows_connections[],
    rows_log[], rows_limits[],
    rows_http[],
    rows_ends[], rows_tls[], rows_dsr[], rows_checks[], rows_configuration[],
    rows_process[], rows_obsolete[];
/* Those of a server, which are no commands; see table_server.c. */
extern const struct command rows_server[];

#endif
