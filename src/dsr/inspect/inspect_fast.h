/* inspect_fast.h: what keeps a fast path that is wanted from working. */
#ifndef PEN_DSR_INSPECT_FAST_H
#define PEN_DSR_INSPECT_FAST_H

#include "dsr/inspect/inspect_finding.h"

/* What keeps a fast path that is wanted from working: on the machine; and on
 * the link that opened, where that is not clear from the machine. */
void inspect_judge_fast(const struct inspect_machine *m,
    const struct inspect_request *w, const struct inspect_sink *sink);
void inspect_judge_fast_link(const struct inspect_segment *s,
    const struct inspect_request *w, const struct inspect_sink *sink);

#endif
