/* direct_inspect.h: whether direct server return can work on this machine and
 * segment. */
#ifndef PEN_CONTROL_DIRECT_INSPECT_H
#define PEN_CONTROL_DIRECT_INSPECT_H

#include "control/apply/apply.h"

/* Inspects the host and probes the segment, whether the running plan can work,
 * for up to three seconds; prints what it finds on standard error, a line each.
 * Returns 1 when something keeps it from working, 0 when nothing does or it is
 * not wanted, -1 with a full message when it could not inspect. */
int direct_inspect(const struct service *svc, struct error *e);
/* Writes the worst findings about this host to the log, as a participant of the
 * start; see apply.h. */
int direct_warn(struct apply *a, struct error *e);

#endif
