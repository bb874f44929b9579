/* panic.h: when so few servers pass their checks that these could not carry all
 * clients, or the checks are at fault, all are tried. No side effects. */
#ifndef PEN_POOL_PANIC_H
#define PEN_POOL_PANIC_H

#include "pool/pool.h"

/* Counts the server as it is now, instead of as it was counted last; `counts`:
 * it is one of those that panic counts. One that has not been checked yet is no
 * reason for panic, and is not tried because of one. */
void panic_count(struct pool_panic *x, struct server *s, bool counts);
/* Whether panic begins or ends with these counts: fewer than `percent` percent
 * of the servers are up. */
bool panic_review(struct pool_panic *x, unsigned percent);

#endif
