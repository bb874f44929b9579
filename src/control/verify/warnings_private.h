/* warnings_private.h: what the warnings share. */
#ifndef PEN_CONTROL_WARNINGS_PRIVATE_H
#define PEN_CONTROL_WARNINGS_PRIVATE_H

#include "control/verify/warnings.h"

/* What is compared: a plan alone, or two of them, of which only the servers
 * that they do not share are of interest. */
struct warnings_scope {
	const struct plan *before, *now; /* before: NULL: alone */
	const struct plan *all;		 /* the first service of the one that is
				 * printed, with the process */
	uint64_t changed; /* warnings of anything else are left out */
};

/* Settings of single servers that have no effect. */
void warnings_print_servers(
    const struct warnings_scope *w, const struct plan *p, struct buffer *text);
/* Servers of w->now that are the same as others, of a change only those that
 * are so since then; of the plan before, none. */
void warnings_print_twins(
    const struct warnings_scope *w, const struct plan *p, struct buffer *text);

#endif
