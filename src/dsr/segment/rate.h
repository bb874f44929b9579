/* rate.h: how often something may be done: so many times a second, and some at
 * once after a rest (a token bucket). Pure: the clock is passed in, in ms. */
#ifndef PEN_DSR_RATE_H
#define PEN_DSR_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
	uint64_t cost, most;	    /* microseconds: of one, of a burst */
	uint64_t credit, credit_at; /* microseconds; ms */
};

/* per_second: 1 to 1,000,000. */
void rate_init(
    struct rate *r, unsigned per_second, unsigned burst, uint64_t now);
/* Takes what one costs, if there is as much. */
bool rate_pay(struct rate *r, uint64_t now);

#endif
