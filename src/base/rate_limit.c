/* rate_limit.c: see rate_limit.h. */
#include "config.h"

#include "base/rate_limit.h"

enum { NS_PER_MS = 1000 * 1000 };

/* When the bucket is full, not in the past. It cannot take longer than a period
 * unless the limit was another one before: then it is full. All in ns. */
static uint64_t
full_at(const struct rate_bucket *b, uint64_t now, uint64_t period)
{
	return b->full >= now && b->full <= now + period ? b->full : now;
}

bool
rate_limit_take(const struct rate_limit *l, struct rate_bucket *b, uint64_t now)
{
	uint64_t period = l->period_ms * NS_PER_MS, full;

	if (l->count == 0)
		return true;
	now *= NS_PER_MS;
	full = full_at(b, now, period) + period / l->count;
	if (full > now + period)
		return false;
	b->full = full;
	return true;
}

uint64_t
rate_limit_wait(
    const struct rate_limit *l, const struct rate_bucket *b, uint64_t now)
{
	uint64_t period = l->period_ms * NS_PER_MS, ready;

	if (l->count == 0)
		return 0;
	now *= NS_PER_MS;
	ready = full_at(b, now, period) + period / l->count;
	return ready <= now + period
	    ? 0
	    : (ready - now - period + NS_PER_MS - 1) / NS_PER_MS;
}
