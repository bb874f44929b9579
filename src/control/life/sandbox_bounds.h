/* sandbox_bounds.h: what the process that takes over may have, where the one in
 * the sandbox could have written the configuration that it reads: else code in
 * it could have a program of its own started, or any file opened.
 *
 *     old process --> starter --PEN_BOUNDS--> new process
 *
 * It has the sandbox, too, and no programs or directories but those of the old
 * one; and until that is certain it prints nothing, as an error has text of
 * files. */
#ifndef PEN_CONTROL_SANDBOX_BOUNDS_H
#define PEN_CONTROL_SANDBOX_BOUNDS_H

#include "base/error.h"
#include "control/life/context.h"

/* The bounds of the running plan, as a word for the environment, to be freed.
 * NULL without bounds, or with *failed set without memory. */
char *sandbox_bounds_new(const struct pen *p, bool *failed);
/* At the start: takes them from the environment into p->bounds, which stays
 * NULL if there are none. */
void sandbox_bounds_take(struct pen *p);
/* Checks whether the plan is within the bounds, before anything is opened.
 * Returns 0, or -1 with a full message. */
int sandbox_bounds_check(struct pen *p, struct error *e);

#endif
