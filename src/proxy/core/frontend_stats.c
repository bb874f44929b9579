/* frontend_stats.c: see frontend_stats.h. */
#include "config.h"

#include "base/number.h"
#include "proxy/core/frontend_stats.h"

static void
greatest(uint64_t *n, uint64_t other)
{
	if (*n < other)
		*n = other;
}

/* All members are such numbers. */
enum { NUMBERS = sizeof(struct frontend_stats) / sizeof(uint64_t) };

void
frontend_stats_add(
    struct frontend_stats *to, const struct frontend_stats *other)
{
	uint64_t ports = to->flows.ports_max;

	numbers_add(to, other, NUMBERS);
	to->flows.ports_max = ports;
	greatest(&to->flows.ports_max, other->flows.ports_max);
}

void
frontend_stats_subtract(
    struct frontend_stats *from, const struct frontend_stats *other)
{
	numbers_subtract(from, other, NUMBERS);
}

void
frontend_stats_raise_peaks(
    struct frontend_stats *st, const struct frontend_stats *before)
{
	greatest(&st->sessions_peak, before->sessions_peak);
	greatest(&st->sessions_peak, st->sessions);
	greatest(&st->flows.peak, before->flows.peak);
	greatest(&st->flows.peak, st->flows.now);
	greatest(&st->dns.peak, before->dns.peak);
	greatest(&st->dns.peak, st->dns.waiting);
}

void
frontend_stats_drop_peaks(struct frontend_stats *st)
{
	st->sessions_peak = st->flows.peak = st->dns.peak = 0;
}

void
frontend_stats_drop_gauges(struct frontend_stats *st)
{
	frontend_stats_drop_peaks(st);
	st->sessions = st->connecting = st->queued = st->preopened = 0;
	st->flows.now = st->flows.ports = st->flows.ports_max = 0;
	st->dns.waiting = st->limits.waiting = 0;
}
