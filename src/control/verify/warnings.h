/* warnings.h: warnings about settings that are valid but have no effect, or not
 * the effect they seem to have. */
#ifndef PEN_CONTROL_WARNINGS_H
#define PEN_CONTROL_WARNINGS_H

#include "control/apply/apply.h"

struct server_index;

/* Appends a line for each, with the option or FILE:LINE where it was set. The
 * plan is one in force. */
void warnings_print(const struct plan *p, struct buffer *text);
/* Of these, the settings that have no effect without another one. */
void warnings_print_needs(const struct plan *p, struct buffer *text);
/* Whether slow_start has an effect: the algorithm has shares. */
bool warnings_has_shares(const struct plan *p);
/* Logs a line of `n` bytes about a service, with its name unless it is the
 * first. There is no limit to how many. */
void warnings_log_line(const struct plan *service, const char *line, size_t n);
/* Logs those that the plan before (NULL: none) did not have. `first` is that of
 * the first service, perhaps `p`: lines of others have the name of theirs, and
 * what the first one has, too, is left out. `index` is of the servers of `p`;
 * NULL if there was no plan before. */
void warnings_log(const struct plan *before, const struct plan *p,
    const struct plan *first, const struct server_index *index);

/* The same as a participant; see apply.h. */
void warnings_commit(struct apply *a);

#endif
