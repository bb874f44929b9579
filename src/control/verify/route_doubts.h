/* route_doubts.h: routes that are right and yet of no use, as doubts.h has them
 * of other settings. */
#ifndef PEN_CONTROL_ROUTE_DOUBTS_H
#define PEN_CONTROL_ROUTE_DOUBTS_H

#include "control/apply/apply.h"

/* A line for each of a plan that `before`, which may be NULL, has not: a string
 * that the caller frees, or NULL. */
char *route_doubts_new(
    struct pen *p, const struct plan *before, const struct plan *plan);
/* Logs each line; NULL is fine. */
void route_doubts_log(const char *lines);

/* As a participant, behind the routes: logs those that are new. */
int route_doubts_prepare(struct apply *a, struct error *e);
void route_doubts_commit(struct apply *a);
void route_doubts_cancel(struct apply *a);

#endif
