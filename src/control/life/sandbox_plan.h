/* sandbox_plan.h: the files and programs that the plan in force names. */
#ifndef PEN_CONTROL_SANDBOX_PLAN_H
#define PEN_CONTROL_SANDBOX_PLAN_H

#include <stdbool.h>

#include "control/life/context.h"

struct starter;

/* Permits in the kernel's rules, the descriptor `rules`, to read the
 * directories of these files, and to write in those of files that are written.
 * Without rules (-1) it only logs. `frames`: all of /sys and /proc can be
 * read; `in_root`: the process is in its own root directory, which may be one
 * of them; `logged`: each directory is logged. */
void sandbox_plan_files(const struct pen *p, int rules, bool frames,
    bool in_root, bool logged);
/* Whether it needs Unix sockets, besides those of control. */
bool sandbox_plan_has_unix(const struct plan *p);
/* Appends the rules and programs as lines; see sandbox_bounds.c. Returns 0, or
 * -1 with errno ENOMEM. */
int sandbox_plan_list(const struct pen *p, struct buffer *list);
/* Permits its programs. Returns 0, or -1 with errno ENOMEM. */
int sandbox_plan_programs(const struct pen *p, struct starter *s);

#endif
