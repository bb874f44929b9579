/* direct.h: direct server return of the plan in force. */
#ifndef PEN_CONTROL_DIRECT_H
#define PEN_CONTROL_DIRECT_H

#include "control/pen.h"

/* Checks what a plan wants of it, without opening anything: port 0 is for direct
 * return alone, which wants addresses and no Unix socket. Returns 0, or -1 with a
 * sentence. */
int direct_check(const struct plan *draft, struct error *e);
bool direct_is_wanted(const struct plan *p);
/* Opens the interface. Returns 0, or -1 with a sentence. */
int direct_open(struct pen *p, struct error *e);
/* Serves these addresses from now on. Returns 0, or -1 with a sentence and all as it
 * was. */
int direct_listen(struct pen *p, const struct listen_list *at, struct error *e);

#endif
