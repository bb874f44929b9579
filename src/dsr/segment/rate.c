/* rate.c: credit that grows with time. */
#include "config.h"

#include "dsr/segment/rate.h"

void
rate_init(struct rate *r, unsigned per_second, unsigned burst, uint64_t now)
{
	r->cost = 1000000 / per_second;
	r->most = r->cost * burst;
	r->credit = r->most;
	r->credit_at = now;
}

bool
rate_pay(struct rate *r, uint64_t now)
{
	uint64_t passed = now - r->credit_at;

	r->credit_at = now;
	/* so that nothing overflows */
	r->credit += (passed < r->most ? passed : r->most) * 1000;
	if (r->credit > r->most)
		r->credit = r->most;
	if (r->credit < r->cost)
		return false;
	r->credit -= r->cost;
	return true;
}
