/* pending.h: the queue of frames whose server's MAC is being resolved.
 *
 * A reply takes a millisecond; a client whose SYN was dropped sends it again
 * after a second. So the queue keeps copies of a few frames: the first ones of
 * a flow are short, and a client sends no more without an answer. Pure: the
 * clock (ms) is passed in. */
#ifndef PEN_DSR_PENDING_H
#define PEN_DSR_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "dsr/frame/frame_count.h"
#include "dsr/link/link.h"

enum {
	PENDING_FRAMES = 64,   /* at a time */
	PENDING_EACH = 3,      /* of them for a server */
	PENDING_LENGTH = 2048, /* bytes */
	PENDING_MS = 1000
};

struct pending_frame {
	struct link_frame frame; /* bytes: owned */
	uint32_t server;
	uint64_t until; /* ms */
};

struct pending {
	struct pending_frame list[PENDING_FRAMES]; /* the oldest first */
	unsigned count;
};

/* Keeps a copy. False when there is no room for it. */
bool pending_add(struct pending *q, const struct link_frame *f, uint32_t server,
    uint64_t now);
/* Frees the frames that are too old, and adds them to *lost. */
void pending_expire(struct pending *q, uint64_t now, struct frame_count *lost);
/* Removes the entries whose bytes the caller has taken. */
void pending_compact(struct pending *q);
void pending_fini(struct pending *q);

#endif
