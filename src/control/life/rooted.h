/* rooted.h: files that are used later, in the root directory to be. */
#ifndef PEN_CONTROL_ROOTED_H
#define PEN_CONTROL_ROOTED_H

#include "control/life/context.h"

/* Where a path will lead: before the start, below the root to be. Returns
 * `path` or `text`. */
const char *rooted_path(
    const struct pen *p, const char *path, char *text, size_t size);
/* Whether the program can be executed in the root to be. Returns 0, or -1 with
 * a full message. */
int rooted_program(
    const struct pen *p, const char *program, struct error *e);

#endif
