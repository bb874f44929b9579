/* handover_state_private.h: what handover_state.c, which writes, and
 * handover_state_read.c have in common. */
#ifndef PEN_CONTROL_HANDOVER_STATE_PRIVATE_H
#define PEN_CONTROL_HANDOVER_STATE_PRIVATE_H

#include <stddef.h>

/* The counters that are handed over, by number: the name of one, by which the
 * reader finds it, and its offset in struct frontend_stats; NULL after the
 * last. */
const char *handover_state_counter(unsigned i, size_t *offset);

#endif
