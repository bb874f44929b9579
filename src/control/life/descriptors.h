/* descriptors.h: how many of the process's descriptors are for what. */
#ifndef PEN_CONTROL_DESCRIPTORS_H
#define PEN_CONTROL_DESCRIPTORS_H

#include <stddef.h>

#include "control/plan/plan.h"

struct descriptors {
	size_t control;	 /* most clients of the control sockets at a time */
	size_t idlers;	 /* pre-opened connections: as set, or fewer */
	size_t sessions; /* the largest number that may be set */
	size_t usual;	 /* the number if none is set, which leaves some for
			  * kernel pipes */
	/* beside as many sessions as are set, or usual */
	size_t kernel_pipes;
};

/* Divides `limit` descriptors. First come what the plan's listeners, control
 * sockets, pre-opened connections, DNS servers and health checks need; then
 * sessions, with two each, or flows of datagrams, with one; kernel pipes get
 * the rest. The sum exceeds the limit only if that is less than the process
 * needs for itself. `kept` is the number of sessions that the running plan has
 * a descriptor for, and that a new one must not reduce: pre-opened connections
 * get what they leave; 0 at the start. */
struct descriptors descriptors_share(size_t limit,
    const struct process_plan *process, const struct plan *plan, size_t kept);
/* How many descriptors the service needs besides those of sessions and of the
 * process. */
size_t descriptors_needed(const struct plan *plan);
/* Sets how many kernel pipes, sessions and pre-opened connections `o` has: as
 * many as the plan wants, or fewer if the limit does not permit that, which is
 * logged once. The limit is that of `sharing` services together: each may have
 * all sessions, which shared_limit.h limits, and its part of the pipes. */
void descriptors_settle(size_t limit, unsigned sharing,
    const struct process_plan *process, const struct plan *plan, size_t kept,
    struct frontend_options *o);

#endif
