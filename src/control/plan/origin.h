/* origin.h: where each setting of a plan was set last, for errors that are
 * found when the plan is whole: "option -R", "pen.conf:3: ssl_require". */
#ifndef PEN_CONTROL_ORIGIN_H
#define PEN_CONTROL_ORIGIN_H

#include "control/plan/plan.h"
#include "control/value/row.h"

enum { ORIGIN_TEXT_MAX = 480 };

/* Notes that c->row was carried out on c->plan, from c->option or c->origin;
 * one that came by the control socket has neither, and no origin. Returns 0, or
 * -1 with errno ENOMEM. */
int origin_note(const struct call *c);

/* Warns if a line of a file sets `what` again: `before` is its origin before,
 * or NULL. */
void origin_warn_twice(
    const struct call *c, const char *before, const char *what);

/* Whether the option or line that has set it is known. */
bool origin_is_there(const struct plan *p, const char *setting);
/* Whether both services have it from one line of a section "defaults". */
bool origin_is_shared(
    const struct plan *a, const struct plan *b, const char *setting);
/* What an error about the setting begins with: its origin, which is the plan's,
 * or its name alone. */
const char *origin_name(const struct plan *p, const char *setting);
/* Puts an origin (NULL: none) before a full message about the setting
 * `name`. */
void origin_put(const char *origin, const char *name, struct error *e);
/* Puts the setting's origin, if there is one, before a full message about
 * it. */
void origin_add(const struct plan *p, const char *setting, struct error *e);
/* Puts the origin of the setting whose value the message quotes before it, if
 * there is one. */
void origin_blame(const struct plan *p, struct error *e);

/* Where the pages of the plan are; len 0: nowhere. Returns 0, or -1 with a full
 * message, which begins with its origin. */
int origin_find_web(const struct plan *p, struct addr *at, struct error *e);

#endif
