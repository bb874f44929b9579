/* checks.h: checks of servers of the plan in force. */
#ifndef PEN_CONTROL_CHECKS_H
#define PEN_CONTROL_CHECKS_H

#include "control/pen.h"

/* Whether a plan has what its check needs. Returns 0, or -1 with a sentence. */
int checks_allow(const struct plan *draft, struct error *e);
/* At the start, once the director is there. Returns 0, or -1 with a sentence. */
int checks_begin(struct pen *p, struct error *e);
/* Checks servers as the draft says from now on. */
void checks_commit(struct pen *p, const struct plan *draft);

#endif
