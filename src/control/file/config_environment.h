/* config_environment.h: ${NAME} in values of a file.
 *
 *     server 0 address ${APP_HOST} port ${APP_PORT-8080}
 *
 * It stands for the environment variable, as it was when pen was started, or
 * for the text behind "-" where there is none of that name. A value is one
 * word, or a part of one, whatever it contains. As in a shell, nothing is
 * replaced between single quotes, and nothing in comments; names of commands
 * and what is between the braces are as they stand. Lines of control sockets
 * and of -O have no variables. */
#ifndef PEN_CONTROL_CONFIG_ENVIRONMENT_H
#define PEN_CONTROL_CONFIG_ENVIRONMENT_H

#include "base/buffer.h"
#include "base/error.h"

/* Appends the line with the values in it, ended by a NUL. Returns 0, or -1 with
 * a full message. */
int config_environment_put(
    const char *line, struct buffer *out, struct error *e);

#endif
