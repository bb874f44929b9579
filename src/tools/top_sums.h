/* top_sums.h: what services report of DNS and direct server return, in a few
 * words behind the sums of their servers. */
#ifndef PEN_TOOLS_TOP_SUMS_H
#define PEN_TOOLS_TOP_SUMS_H

#include <stdint.h>

#include "tools/top_table.h"

/* All zero at first. */
struct top_sums {
	unsigned directors, active; /* services with direct return; of these */
	double frames, bytes;	    /* a second */
	unsigned resolvers;	    /* services with DNS */
	double queries, servfail;   /* since the start */
	double p99_us;		    /* of answers; of the slowest service */
};

/* Adds a line of "services"; of others nothing. */
void top_sums_add(struct top_sums *s, const char *line);
/* ", standby", ", active, 12k frames/s, 9.1MB/s", ", SERVFAIL 0.2%, p99 3ms"
 * (of the queries since `before`), or "". Returns `text`. */
const char *top_sums_text(char text[TOP_LINE], const struct top_sums *s,
    const struct top_sums *before);

#endif
