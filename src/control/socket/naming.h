/* naming.h: the service that a command is for, and whether it may name it.
 *
 *     service web COMMAND        the command carries a name
 *     service web; COMMAND       the session has chosen one
 *     COMMAND                    none: of the first service, or the process
 *
 * A name is obeyed: what is of the process is refused behind one, and what is
 * of a service is refused without one where the first service is not there. */
#ifndef PEN_CONTROL_NAMING_H
#define PEN_CONTROL_NAMING_H

#include "control/socket/request.h"

/* Sets q->service and q->prefixed: the service `name` of the command, NULL if
 * it carries none: then that of the session. Returns 0, or -1 with a full
 * message. */
int naming_choose(struct request *q, const struct command *row,
    const char *name, struct error *e);
/* Whether the row may be carried out with this name, or without one, by a
 * caller of the level `needed`: what is of the process is only reported in a
 * session that has chosen a service. Returns 0, or -1 with a short message. */
int naming_check(const struct request *q, const struct command *row,
    enum access needed, struct error *e);
/* The same of what the command has made of the draft: a file without sections
 * is for the first service. */
int naming_check_draft(const struct request *q, const struct command *row,
    const struct plan *draft, struct error *e);

#endif
