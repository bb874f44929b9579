/* drain.h: waits until a server has no connections left: what "server N drain
 * wait" answers. Polled by a timer of its own. */
#ifndef PEN_CONTROL_DRAIN_H
#define PEN_CONTROL_DRAIN_H

#include <stdint.h>

#include "control/answer/wait.h"

enum { DRAIN_ALL = 0x7fffffff }; /* in place of a slot */

/* Waits for the server in the slot, or for all of the service, at most `ms`, 0
 * being for ever. NULL with errno ENOMEM. */
struct wait *drain_new(unsigned slot, uint64_t ms);

#endif
