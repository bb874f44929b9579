/* early.h: fragments that came before the first one of their packet, which
 * alone has the ports: by another path, or from a host that sends the last one
 * first. Copies wait for it, not for long, and not many.
 *
 * Pure: the clock (ms) is passed in. */
#ifndef PEN_DSR_EARLY_H
#define PEN_DSR_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dsr/flows/dsr_fragments.h"
#include "dsr/frame/frame_count.h"
#include "dsr/link/link.h"

enum {
	EARLY_MS = 100,
	EARLY_FRAMES = 256, /* at a time */
	EARLY_BYTES = 1 << 19
};

struct early_fragment {
	struct dsr_fragment_key key;
	struct link_frame frame; /* bytes: owned */
	uint64_t until;
};

struct early {
	struct early_fragment *list; /* the oldest first; NULL: none so far */
	unsigned count;
	size_t bytes;
};

/* Keeps a copy; those that are too old go first, and are added to *lost. False:
 * there is no room for it. */
bool early_add(struct early *e, const struct dsr_fragment_key *key,
    const struct link_frame *f, uint64_t now, struct frame_count *lost);
/* Takes the oldest one of that packet. False: there is none. Its bytes are the
 * caller's to free. */
bool early_take(struct early *e, const struct dsr_fragment_key *key,
    uint64_t now, struct link_frame *f);
/* Frees those that are too old, and adds them to *lost. */
void early_expire(struct early *e, uint64_t now, struct frame_count *lost);
void early_fini(struct early *e);

#endif
