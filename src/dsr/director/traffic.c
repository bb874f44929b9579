/* traffic.c: see traffic.h. */
#include "config.h"

#include "dsr/director/traffic.h"

void
traffic_start(struct traffic *t, uint64_t now)
{
	*t = (struct traffic){ .then.at = now, .last.at = now };
}

void
traffic_note(struct traffic *t, const struct frame_count *total, uint64_t now)
{
	t->then = t->last;
	t->last = (struct traffic_mark){ now, *total };
}

static uint64_t
since(uint64_t now, uint64_t then)
{
	return now >= then ? now - then : now;
}

struct traffic_rate
traffic_rate(
    const struct traffic *t, const struct frame_count *total, uint64_t now)
{
	const struct traffic_mark *then = &t->then;
	uint64_t ms = now - then->at;

	if (ms == 0)
		return (struct traffic_rate){ 0 };
	return (struct traffic_rate){
		.frame_tenths =
		    since(total->frames, then->total.frames) * 10000 / ms,
		.bytes = since(total->bytes, then->total.bytes) * 1000 / ms,
	};
}
