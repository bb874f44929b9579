/* metrics.h: what the program counts, as Prometheus reads it: text format 0.0.4
 * or OpenMetrics 1.0. Names and units go by Prometheus' conventions. */
#ifndef PEN_CONTROL_METRICS_H
#define PEN_CONTROL_METRICS_H

#include <stdbool.h>

#include "base/buffer.h"

struct pen;

extern const char metrics_type_text[], metrics_type_open[];
/* The media type that a client of OpenMetrics requests. */
extern const char metrics_media_open[];

/* Where a scrape is. All zero but `pen` and `open` is its beginning. */
struct metrics_walk {
	const struct pen *pen;
	bool open; /* OpenMetrics */
	unsigned part;	  /* of the process, counters, of servers */
	unsigned number;  /* of the family in it */
	unsigned service; /* the number in the list of that whose lines come */
	unsigned slot;	  /* of families that have a line a server */
	bool begun;	  /* the family has its head */
};

/* Appends the next piece. Returns false when it was the last. Servers and
 * services that come or go meanwhile are in some families and not in others.
 * Where there are several services, lines of one have its label. */
bool metrics_more(struct metrics_walk *w, struct buffer *out);

#endif
