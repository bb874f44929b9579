/* wire.h: the link of a director, the frames that leave by it next, and the
 * counters of all frames. */
#ifndef PEN_DSR_WIRE_H
#define PEN_DSR_WIRE_H

#include "dsr/forward/forward_types.h"
#include "dsr/link/link.h"

enum { WIRE_BATCH = 64 };

struct wire {
	struct link link;
	uint16_t vlan; /* tag of the segment's frames; 0: none */
	struct director_stats stats;
	/* Tunnels flush when a batch is full, so that all frames of a received
	 * batch have room after it. */
	struct link_frame out[2 * WIRE_BATCH];
	unsigned out_n;
};

/* Queues a frame for wire_flush(). Its bytes stay as they are until then. */
static inline void
wire_put(struct wire *w, const struct link_frame *l, unsigned char *bytes)
{
	w->out[w->out_n] = *l;
	w->out[w->out_n++].bytes = bytes;
}

/* Sends all queued frames; those the link refuses are counted as dropped. */
void wire_flush(struct wire *w);
/* Sends one frame that was made here, at once. The caller keeps the bytes. */
void wire_send_own(struct wire *w, const unsigned char *bytes, size_t length);
/* Counts a dropped frame of so many bytes. */
void wire_drop(struct wire *w, enum director_drop why, size_t bytes);

#endif
