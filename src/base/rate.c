/* rate.c: see rate.h. */
#include "config.h"

#include "base/rate.h"

enum { PERIOD_MS = 1 << RATE_SHIFT };

void
rate_turn(struct rate *r, uint32_t period)
{
	r->before = period == r->period + 1 ? r->count : 0;
	r->count = 0;
	r->period = period;
}

uint64_t
rate_tenths(const struct rate *r, uint64_t now)
{
	struct rate at = *r;
	uint64_t gone = now & (PERIOD_MS - 1), n;

	if (at.period != (uint32_t)(now >> RATE_SHIFT))
		rate_turn(&at, (uint32_t)(now >> RATE_SHIFT));
	n = (uint64_t)at.count * PERIOD_MS + at.before * (PERIOD_MS - gone);
	/* n / PERIOD_MS happened in PERIOD_MS milliseconds */
	return (n * 10000 / PERIOD_MS + PERIOD_MS / 2) / PERIOD_MS;
}

void
rate_merge(struct rate *r, const struct rate *other)
{
	struct rate o = *other;

	if (r->period < o.period)
		rate_turn(r, o.period);
	else if (o.period < r->period)
		rate_turn(&o, r->period);
	r->count += o.count;
	r->before += o.before;
}
