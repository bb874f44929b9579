/* top_sums.h: what services report of direct server return, in a few words
 * behind the sums of their servers. */
#ifndef PEN_TOOLS_TOP_SUMS_H
#define PEN_TOOLS_TOP_SUMS_H

#include <stdint.h>

#include "tools/top_table.h"

/* All zero at first. */
struct top_sums {
	unsigned directors, active; /* services with direct return; of these */
	double frames, bytes;	    /* a second */
};

/* Adds a line of "services"; of a service without direct return nothing. */
void top_sums_add(struct top_sums *s, const char *line);
/* ", standby", ", active, 12k frames/s, 9.1MB/s", or "". Returns `text`. */
const char *top_sums_text(char text[TOP_LINE], const struct top_sums *s);

#endif
