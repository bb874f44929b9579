/* histogram.h: how long something took lately, in buckets that grow with the
 * time: four to each doubling, so that what is read back is within an eighth
 * of the truth, from 16 us to 8 s; what is outside counts at the ends.
 *
 *     bucket  0         1..4        5..8        ..   73..76
 *     us      0 to 15   16 to 31    32 to 63    ..   4.2 s to 8.4 s
 *
 * It forgets: when HISTOGRAM_FULL values are there all buckets are halved. One
 * whose total is zero is empty. */
#ifndef PEN_BASE_HISTOGRAM_H
#define PEN_BASE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 77, HISTOGRAM_FULL = 8192 };

struct histogram {
	uint16_t total;
	uint16_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint32_t us);
/* Empties it: one store, which another process may make. */
void histogram_clear(struct histogram *h);
/* Adds what another one has. */
void histogram_merge(struct histogram *h, const struct histogram *other);
/* The value that `percent` (1..100) of all are not above, in us; 0 if there are
 * none. */
uint32_t histogram_percentile(const struct histogram *h, unsigned percent);

#endif
