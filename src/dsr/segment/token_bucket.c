/* token_bucket.c: see token_bucket.h. */
#include "config.h"

#include "dsr/segment/token_bucket.h"

void
token_bucket_init(
    struct token_bucket *b, unsigned per_second, unsigned burst, uint64_t now)
{
	b->cost = 1000000 / per_second;
	b->most = b->cost * burst;
	b->credit = b->most;
	b->credit_at = now;
}

bool
token_bucket_take(struct token_bucket *b, uint64_t now)
{
	uint64_t passed = now - b->credit_at;

	b->credit_at = now;
	/* A longer rest adds no more, and would overflow the product. */
	b->credit += (passed < b->most ? passed : b->most) * 1000;
	if (b->credit > b->most)
		b->credit = b->most;
	if (b->credit < b->cost)
		return false;
	b->credit -= b->cost;
	return true;
}
