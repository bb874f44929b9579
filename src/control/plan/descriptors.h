/* descriptors.h: how many of the process's descriptors are for what. */
#ifndef PEN_CONTROL_DESCRIPTORS_H
#define PEN_CONTROL_DESCRIPTORS_H

#include <stddef.h>

#include "control/plan/plan.h"

struct descriptors {
	size_t control;	 /* clients at a time */
	size_t idlers;	 /* as many as are wanted, or fewer */
	size_t sessions; /* that there may be at most */
	size_t usual;	 /* when the number is not set: room for pipes is
			  * left */
	size_t
	    kernel_pipes; /* with as many sessions as the plan has, or usual */
};

/* Shares `limit` descriptors out: two a session or one a flow of datagrams;
 * what the plan's listeners, control sockets, pre-opened connections, DNS
 * servers and health checks need besides is kept back first, the rest is for
 * kernel pipes. All together are never more than the limit unless that is below
 * what the process needs for itself. `kept`: so many sessions have been
 * promised, and pre-opened connections get what these leave; 0 at the start. */
struct descriptors descriptors_share(
    size_t limit, const struct plan *plan, size_t kept);
/* What the service of the plan needs besides sessions, without what the process
 * needs. */
size_t descriptors_needed(const struct plan *plan);
/* Settles how many kernel pipes, sessions and pre-opened connections the plan
 * has: what it wants, or less when that is beyond the limit, which is logged
 * once. `sharing` services have the limit together: each may have all sessions,
 * which are limited together (room.h), and its part of the pipes. */
void descriptors_settle(
    size_t limit, unsigned sharing, struct plan *plan, size_t kept);

#endif
