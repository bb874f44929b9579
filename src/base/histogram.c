/* histogram.c: see histogram.h. */
#include "config.h"

#include "base/histogram.h"

/* Values below 1 << FIRST_BITS share a bucket; a doubling has 1 << SUB_BITS. */
enum { FIRST_BITS = 4, SUB_BITS = 2, SUBS = 1 << SUB_BITS };

static unsigned
bucket_of(uint32_t us)
{
	unsigned top, i;

	if (us < 1u << FIRST_BITS)
		return 0;
	top = 31 - (unsigned)__builtin_clz(us);
	i = 1 + (top - FIRST_BITS) * SUBS +
	    (us >> (top - SUB_BITS) & (SUBS - 1));
	return i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1;
}

/* Halves all counts, or clears them after histogram_clear(), so that recent
 * durations weigh most and no count overflows. */
static void
scale_down(struct histogram *h)
{
	unsigned shift = h->total == 0 ? 16 : 1, i;

	h->total = 0;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		h->bucket[i] = (uint16_t)(h->bucket[i] >> shift);
		h->total = (uint16_t)(h->total + h->bucket[i]);
	}
}

void
histogram_clear(struct histogram *h)
{
	h->total = 0;
}

void
histogram_add(struct histogram *h, uint32_t us)
{
	if (h->total == 0 || h->total == HISTOGRAM_FULL)
		scale_down(h);
	h->bucket[bucket_of(us)]++;
	h->total++;
}

uint32_t
histogram_percentile(const struct histogram *h, unsigned percent)
{
	unsigned wanted = (h->total * percent + 99) / 100, seen = 0, i, shift;

	if (h->total == 0)
		return 0;
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen >= wanted)
			break;
	}
	/* the middle of the bucket */
	if (i == 0)
		return (1u << FIRST_BITS) / 2;
	shift = (i - 1) / SUBS + FIRST_BITS - SUB_BITS;
	return ((SUBS + (i - 1) % SUBS) << shift) + (1u << shift) / 2;
}

/* Each may be full: together they are halved until they fit. */
void
histogram_merge(struct histogram *h, const struct histogram *other)
{
	unsigned total = (unsigned)h->total + other->total, shift = 0, i, n;

	if (other->total == 0)
		return;
	if (h->total == 0)
		scale_down(h);
	while (total >> shift > HISTOGRAM_FULL)
		shift++;
	h->total = 0;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		n = ((unsigned)h->bucket[i] + other->bucket[i]) >> shift;
		h->bucket[i] = (uint16_t)n;
		h->total = (uint16_t)(h->total + n);
	}
}
