/* commands.h: the commands of this directory, each beside its handler, in
 * arrays that a row without a name ends. */
#ifndef PEN_CONTROL_COMMANDS_H
#define PEN_CONTROL_COMMANDS_H

#include "control/value/row.h"

extern const struct command acl_commands[], client_commands[],
    config_commands[], connection_commands[], control_commands[],
    counter_commands[], help_commands[], limit_commands[], mode_commands[],
    process_commands[], recent_commands[], route_commands[], server_commands[],
    service_commands[], tls_commands[], write_commands[];

#endif
