/* route_warnings.h: routes that are right and yet of no use, as warnings.h has
 * other settings. */
#ifndef PEN_CONTROL_ROUTE_WARNINGS_H
#define PEN_CONTROL_ROUTE_WARNINGS_H

#include "control/apply/apply.h"

/* A line for each of a plan that `before`, which may be NULL, has not: a string
 * that the caller frees, or NULL. */
char *route_warnings_new(
    struct service *svc, const struct plan *before, const struct plan *plan);
/* Logs each line; NULL is fine. */
void route_warnings_log(const struct plan *service, const char *lines);

/* As a participant, after the routes: logs those that are new. */
int route_warnings_prepare(struct apply *a, struct error *e);
void route_warnings_commit(struct apply *a);
void route_warnings_cancel(struct apply *a);

#endif
