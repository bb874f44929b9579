/* token_bucket.h: limits how often something is done per second, with a burst
 * after a rest. Pure: the clock (ms) is passed in. */
#ifndef PEN_DSR_TOKEN_BUCKET_H
#define PEN_DSR_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct token_bucket {
	uint64_t cost, most;	    /* microseconds: of one, of a burst */
	uint64_t credit, credit_at; /* microseconds; ms */
};

/* per_second: 1 to 1,000,000. */
void token_bucket_init(
    struct token_bucket *b, unsigned per_second, unsigned burst, uint64_t now);
/* Takes a token. False: there is none. */
bool token_bucket_take(struct token_bucket *b, uint64_t now);

#endif
