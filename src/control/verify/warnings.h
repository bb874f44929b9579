/* warnings.h: warnings about settings that are valid but have no effect, or not
 * the effect they seem to have. */
#ifndef PEN_CONTROL_WARNINGS_H
#define PEN_CONTROL_WARNINGS_H

#include "control/apply/apply.h"

/* Appends a line for each, with the option or FILE:LINE where it was set. The
 * plan is one in force, and `all` that of the process and the first service:
 * those of the process come with the latter. */
void warnings_print(
    const struct plan *all, const struct plan *p, struct buffer *text);
/* Prints, of these warnings, the settings that have no effect without another
 * one. */
void warnings_print_needs(
    const struct plan *all, const struct plan *p, struct buffer *text);
/* Prints the warnings about addresses that another program has, and about what
 * descriptors and limits leave for each service. */
void warnings_print_shares(const struct plan *p, struct buffer *text);
/* Whether slow_start has an effect: the algorithm has shares. */
bool warnings_has_shares(const struct plan *p);
/* Takes out of `now` the lines that `old` has, too. */
void warnings_drop_known(struct buffer *now, const struct buffer *old);
/* Logs the lines, `most` of them and how many more there are, about a service,
 * with its name unless it is the first; they are consumed. */
void warnings_log_lines(
    const struct plan *service, struct buffer *lines, unsigned most);
/* Logs those that the plan before (NULL: none), with that of the first service
 * then, did not have. `first` is that of the first service, perhaps `p`: lines
 * of others have the name of theirs, and what the first one has, too, is left
 * out. Those that depend on nothing in `changed`, CHANGED_*, are left out. */
void warnings_log(const struct plan *all_before, const struct plan *before,
    const struct plan *p, const struct plan *first, uint64_t changed);

/* All but what nothing except its server depends on. */
#define WARNINGS_ON (CHANGED_ALL & ~(CHANGED_SERVER | CHANGED_DRAFT))

/* The same as a participant; see apply.h. */
void warnings_commit(struct apply *a);

#endif
