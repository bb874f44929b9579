/* trend.h: how totals and servers did in the last ten minutes: a sample every
 * five seconds, kept while somebody may ask. */
#ifndef PEN_CONTROL_TREND_H
#define PEN_CONTROL_TREND_H

#include "base/buffer.h"
#include "net/loop.h"

struct pen;

enum { TREND_SAMPLES = 120, TREND_STEP_MS = 5000 };
enum trend_total {
	TREND_SESSIONS,
	TREND_ACCEPTED, /* a second, as the next two */
	TREND_UP,
	TREND_DOWN,
	TREND_TOTALS
};

/* Connects of a server in each step. */
struct trend_server {
	uint16_t connects[TREND_SAMPLES];
	uint64_t before;     /* its counter at the last sample */
	unsigned generation; /* whose these are */
};

struct trend {
	struct pen *pen;
	struct timer timer;
	unsigned count, next; /* samples that are there; where the next goes */
	uint64_t totals[TREND_TOTALS][TREND_SAMPLES];
	uint64_t before[TREND_TOTALS];
	struct trend_server *servers; /* by slot */
	uint32_t room;
};

/* Takes samples from now on. NULL with errno. */
struct trend *trend_new(struct pen *p);
void trend_free(struct trend *t);

/* Appends it as an object of JSON, in pieces: `*at` is 0 at first. The oldest
 * sample comes first. Returns false when that was the last. */
bool trend_more(const struct trend *t, unsigned *at, struct buffer *out);

#endif
