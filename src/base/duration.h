/* duration.h: how long something took, since startup, for programs that compute
 * from sums: counts below bounds that grow fourfold, as Prometheus' histograms
 * have them. */
#ifndef PEN_BASE_DURATION_H
#define PEN_BASE_DURATION_H

#include <stdint.h>

/* The first bound is 128 us, the last but one 537 s; the last has no bound. */
enum { DURATION_BUCKETS = 13, DURATION_FIRST_SHIFT = 7 };

/* All zero is empty. They are added up by numbers_add(). */
struct duration {
	uint64_t bucket[DURATION_BUCKETS]; /* not cumulative */
	uint64_t sum_us;
};

/* The bound of a bucket but the last, in us: values up to it are in this one
 * or those before. */
static inline uint64_t
duration_bound_us(unsigned bucket)
{
	return UINT64_C(1) << (DURATION_FIRST_SHIFT + 2 * bucket);
}

static inline void
duration_add(struct duration *d, uint64_t us)
{
	unsigned i = 0;

	d->sum_us += us;
	while (i < DURATION_BUCKETS - 1 && us > duration_bound_us(i))
		i++;
	d->bucket[i]++;
}

#endif
