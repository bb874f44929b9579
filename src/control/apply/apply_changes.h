/* apply_changes.h: what a draft changes: which services, and in what. */
#ifndef PEN_CONTROL_APPLY_CHANGES_H
#define PEN_CONTROL_APPLY_CHANGES_H

#include <stdbool.h>

struct apply;
struct apply_all;
struct error;

/* Sets `one`, `count`, `changed` and `leaves` of *all, and in the draft what
 * follows from other settings. Returns 0, or -1 with a full message; all->one
 * is the caller's in both cases. */
int apply_changes_find(struct apply_all *all, struct error *e);
/* The settings of a service are those of one of the last before it from now on,
 * if they are the same. After what changes them, and before any of them is
 * referred to. */
void apply_changes_share(struct apply *a);
/* Whether nothing would be another one than now: after the check. */
bool apply_changes_none(const struct apply_all *all);

#endif
