/* dsr_report.h: what direct return says about itself. */
#ifndef PEN_CONTROL_DSR_REPORT_H
#define PEN_CONTROL_DSR_REPORT_H

#include "control/facts.h"
#include "dsr/director/director.h"

/* Its counters, those of its link, neighbours and tarpit, and flows by state,
 * each name with `prefix` in front. */
void dsr_report_counters(
    struct facts *f, const struct director *d, const char *prefix);

#endif
