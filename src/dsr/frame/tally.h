/* tally.h: how many frames, and how many bytes they were. */
#ifndef PEN_DSR_TALLY_H
#define PEN_DSR_TALLY_H

#include <stdint.h>

struct tally {
	uint64_t frames, bytes;
};

static inline void
tally_add(struct tally *t, uint64_t frames, uint64_t bytes)
{
	t->frames += frames;
	t->bytes += bytes;
}

#endif
