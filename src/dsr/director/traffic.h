/* traffic.h: how many frames and bytes a second were forwarded in the last five
 * to ten seconds, from the totals: nothing is counted for it. Pure. */
#ifndef PEN_DSR_TRAFFIC_H
#define PEN_DSR_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "dsr/frame/frame_count.h"

enum { TRAFFIC_PERIOD_MS = 5000 };

/* Zeroes, and traffic_start(). */
struct traffic {
	struct traffic_mark {
		uint64_t at; /* ms */
		struct frame_count total;
	} then, last; /* at least a period old; the newest */
};

/* A second. */
struct traffic_rate {
	uint64_t frame_tenths, bytes;
};

void traffic_start(struct traffic *t, uint64_t now);
/* Whether a period has passed since the last traffic_note(). */
static inline bool
traffic_is_due(const struct traffic *t, uint64_t now)
{
	return now - t->last.at >= TRAFFIC_PERIOD_MS;
}
void traffic_note(
    struct traffic *t, const struct frame_count *total, uint64_t now);
/* Totals that were cleared count from 0. */
struct traffic_rate traffic_rate(
    const struct traffic *t, const struct frame_count *total, uint64_t now);

#endif
