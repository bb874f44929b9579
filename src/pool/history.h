/* history.h: since when and why a server is in its state; a change of it is
 * noted, and reported to the pool's watcher, once. */
#ifndef PEN_POOL_HISTORY_H
#define PEN_POOL_HISTORY_H

#include "pool/pool.h"

/* Begins anew: another server is in the slot, or none. Not reported. */
void history_begin(
    struct server *s, const struct pool_watcher *w, const char *reason);
/* Notes why the server is down, suspect or blacklisted, whatever its state is.
 * `reason` is copied; "" changes nothing. */
void history_blame(struct server *s, const char *reason);
/* Compares the server's state with the one reported last. If it is another,
 * notes when and why, and calls the watcher. `reason` is copied. Where the end
 * of drain or maint uncovers a fault, the reason is that of the fault. */
void history_report(
    struct server *s, const struct pool_watcher *w, const char *reason);

#endif
