/* shares.h: conn_max_all: which services have a share of it. */
#ifndef PEN_CONTROL_SHARES_H
#define PEN_CONTROL_SHARES_H

#include "control/life/context.h"

/* How many services of a plan, the first one of the process, have a share: all
 * that take connections, the first one if it listens or is led to. */
unsigned shares_count(const struct plan *first);
/* The services that are there now, with the plan in force, are those whose
 * connections are limited together. A worker has its part of the limit. */
void shares_settle(struct pen *p);

#endif
