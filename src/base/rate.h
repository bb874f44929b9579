/* rate.h: how often something happens, lately, without a timer: counted in
 * periods of about four seconds; of the one before as much counts as the last
 * four seconds still cover. All zero is none. */
#ifndef PEN_BASE_RATE_H
#define PEN_BASE_RATE_H

#include <stdint.h>

/* A period is 1 << RATE_SHIFT ms. */
enum { RATE_SHIFT = 12 };

struct rate {
	uint32_t period; /* that is counted */
	uint32_t count;
	uint32_t before; /* in the period before */
};

/* Another period has begun. */
void rate_turn(struct rate *r, uint32_t period);

/* Counts one event; `now` in ms. */
static inline void
rate_count(struct rate *r, uint64_t now)
{
	if (r->period != (uint32_t)(now >> RATE_SHIFT))
		rate_turn(r, (uint32_t)(now >> RATE_SHIFT));
	r->count++;
}

/* Adds what another one counts, by the same clock. */
void rate_merge(struct rate *r, const struct rate *other);

/* Tenths a second. */
uint64_t rate_tenths(const struct rate *r, uint64_t now);

#endif
