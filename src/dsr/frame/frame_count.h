/* frame_count.h: a counter of frames and their bytes. */
#ifndef PEN_DSR_FRAME_COUNT_H
#define PEN_DSR_FRAME_COUNT_H

#include <stdint.h>

struct frame_count {
	uint64_t frames, bytes;
};

static inline void
frame_count_add(struct frame_count *c, uint64_t frames, uint64_t bytes)
{
	c->frames += frames;
	c->bytes += bytes;
}

#endif
