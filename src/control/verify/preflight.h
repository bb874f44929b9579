/* preflight.h: what a start or a change would fail at, found out beforehand. */
#ifndef PEN_CONTROL_PREFLIGHT_H
#define PEN_CONTROL_PREFLIGHT_H

#include "control/apply/apply.h"

/* Tries what is only used later, and would fail then: the file of the status
 * page, the program of on_state, and the addresses that connections to servers
 * come from. While the program serves, what stays as it is is not tried again.
 * Returns 0, or -1 with a full message. */
int preflight_prepare(struct apply_all *a, struct error *e);
int preflight_prepare_service(struct apply *a, struct error *e);

/* Tries all that a start with the plan in force would open, for --check: makes,
 * locks and takes nothing, also beside a pen that runs with that plan. All that
 * is wrong is kept in p->errors. */
void preflight(const struct pen *p);

/* Whether a control socket may listen there. Returns 0, or -1 with a full
 * message. */
int preflight_control(
    const struct process_plan *p, const struct addr *at, struct error *e);

#endif
