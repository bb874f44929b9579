/* derive.h: what settings mean together. */
#ifndef PEN_CONTROL_DERIVE_H
#define PEN_CONTROL_DERIVE_H

#include "control/plan/plan.h"

/* Fills the settings of a plan that follow from others: the algorithm from the
 * modes, and the like. `descriptors` is how many the service may have, as one
 * of `sharing` that have them together; 0: not known yet. `kept`: how many
 * sessions there may be already, which is not lowered; 0 at the start.
 * Returns 0, or -1 with errno ENOMEM. */
int derive_settings(const struct process_plan *process, struct plan *p,
    size_t descriptors, unsigned sharing, size_t kept);
/* Which derived settings differ though no setting of the plan does, as
 * CHANGED_*: the share of descriptors, which follows from other services,
 * too. */
uint64_t derived_changed(const struct plan *now, const struct plan *wanted);

#endif
