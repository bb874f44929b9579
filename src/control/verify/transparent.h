/* transparent.h: servers see the addresses of clients: what that needs. */
#ifndef PEN_CONTROL_TRANSPARENT_H
#define PEN_CONTROL_TRANSPARENT_H

#include <stdbool.h>

#include "control/apply/apply.h"

/* Whether sockets to servers are to have the addresses of clients. */
bool transparent_is_wanted(const struct plan *p);
/* Whether this process may have such sockets, if the draft wants them anew.
 * Returns 0, or -1 with a full message. */
int transparent_prepare(struct apply *a, struct error *e);

/* Whether what servers answer to clients comes back here, by rules, routes and
 * rp_filter: prints what is wrong on standard error, for --check. Sends
 * nothing. Returns 1 when something keeps it from working, 0 when nothing does
 * or it is not wanted. */
int transparent_inspect(const struct service *svc);
/* The same for the log at startup. */
void transparent_warn(const struct service *svc);

#endif
