/* explain.h: which server a client would get now, by which rule, and what keeps
 * the other servers from it: the command explain while pen serves, the option
 * --explain without serving. */
#ifndef PEN_CONTROL_EXPLAIN_H
#define PEN_CONTROL_EXPLAIN_H

#include "base/error.h"
#include "control/reply.h"

struct pen;

/* Explains what `client`, "ADDRESS", "ADDRESS:PORT" or "unix", would get of the
 * plan in force. Returns 0, or -1 with a phrase. */
int explain_client(
    struct pen *p, const char *client, struct reply *r, struct error *e);

#endif
