/* route_warnings.h: routes that are right and yet of no use, as warnings.h has
 * other settings. */
#ifndef PEN_CONTROL_ROUTE_WARNINGS_H
#define PEN_CONTROL_ROUTE_WARNINGS_H

#include "control/apply/apply.h"

/* Appends a line for each of a plan of the service. */
void route_warnings_print(
    struct service *svc, const struct plan *plan, struct buffer *text);

/* Logs new warnings about routes; as a participant, after the routes. */
int route_warnings_prepare(struct apply *a, struct error *e);
void route_warnings_commit(struct apply *a);
void route_warnings_cancel(struct apply *a);

#endif
