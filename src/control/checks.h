/* checks.h: checks of servers of the plan in force. */
#ifndef PEN_CONTROL_CHECKS_H
#define PEN_CONTROL_CHECKS_H

#include "control/apply.h"

/* Checks that the draft has what its health checks need. Returns 0, or -1 with
 * a sentence. */
int checks_check(struct apply *a, struct error *e);
/* Checks servers as the draft says from now on. Returns 0, or -1 with a
 * sentence and everything as it was. */
int checks_prepare(struct apply *a, struct error *e);
/* Checks them as before. */
void checks_cancel(struct apply *a);

#endif
