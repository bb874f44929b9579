/* explain.h: which server a client would get now, by which rule, and what keeps
 * the other servers from it: the command explain while pen serves, the option
 * --explain without serving. */
#ifndef PEN_CONTROL_EXPLAIN_H
#define PEN_CONTROL_EXPLAIN_H

#include "base/error.h"
#include "control/answer/reply.h"
#include "control/value/row.h"

struct pen;

/* Explains what a client would get of the plan in force. `line` is "ADDRESS",
 * "ADDRESS:PORT" or "unix", then perhaps the properties of its first bytes, in
 * pairs as "sni NAME": alpn, host and protocol are the others. All that may
 * stand after "service NAME", for a client of another service than the first.
 * Returns 0, or -1 with a short message. */
int explain_client(
    struct pen *p, const char *line, struct reply *r, struct error *e);

extern const struct command explain_commands[];

#endif
