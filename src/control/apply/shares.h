/* shares.h: what services have together: descriptors, and with them sessions.
 * Services that take connections have all together (shared_limit.h): half is
 * kept for them in equal parts, the rest is for those that need more, and
 * conn_max_all may make it smaller. Those of datagrams have a fixed part of the
 * descriptors. */
#ifndef PEN_CONTROL_SHARES_H
#define PEN_CONTROL_SHARES_H

#include "control/life/context.h"

/* How the descriptors are divided. */
struct shares {
	unsigned count;	 /* services with a share of that limit */
	size_t together; /* descriptors that they have */
	size_t each;	 /* that every other service has */
	size_t needed;	 /* by those that share, for other things than
			  * sessions */
};

/* Finds the shares, of the descriptors that all workers have together. */
void shares_find(
    struct shares *s, const struct plan *first, size_t descriptors);
/* The descriptors that a service may use if the others that share them have no
 * session. */
size_t shares_limit(const struct shares *s, const struct plan *service);
/* How many sessions all may have together by conn_max_all and the descriptors;
 * 0: no limit, as there is one service. */
uint64_t shares_room(const struct shares *s, const struct plan *first);

/* How many services of a plan, the first one of the process, have a share: all
 * that take connections, the first one if it listens or is led to. */
unsigned shares_count(const struct plan *first);
/* The services that are there now, with the plan in force, are those whose
 * connections are limited together. A worker has its part of the limit. */
void shares_settle(struct pen *p);

#endif
