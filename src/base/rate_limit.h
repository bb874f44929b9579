/* rate_limit.h: at most so many in a time: a token bucket in eight bytes.
 *
 * A bucket holds `count` tokens and gets as many in each period, evenly. An
 * idle source may take all of them at once. A bucket is kept as the moment at
 * which it will be full (as in GCRA, ITU-T I.371, A): there is nothing to
 * refill, all zero is a full one, and another limit applies to the buckets that
 * are there (to an empty one of a longer period as if it were full). Pure: the
 * clock is passed in. */
#ifndef PEN_BASE_RATE_LIMIT_H
#define PEN_BASE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* The most that a limit may name. */
#define RATE_LIMIT_COUNT  UINT64_C(1000000000)
#define RATE_LIMIT_PERIOD (UINT64_C(24) * 3600 * 1000)

struct rate_limit {
	uint64_t count;	    /* 0: no limit */
	uint64_t period_ms; /* 1 or more where there is one */
};

struct rate_bucket {
	uint64_t full; /* ns of the clock */
};

/* Takes a token at `now` (ms). False: there is none. */
bool rate_limit_take(
    const struct rate_limit *l, struct rate_bucket *b, uint64_t now);
/* How many ms it takes until a token is available; 0: one is. */
uint64_t rate_limit_wait(
    const struct rate_limit *l, const struct rate_bucket *b, uint64_t now);

#endif
