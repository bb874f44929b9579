/* held.h: frames for servers whose hardware address is being asked for.
 *
 * The answer takes a millisecond; a client whose SYN was dropped comes again
 * after a second. So a few are kept, as copies: what begins a flow is short, and
 * a client sends no more of it without an answer. Pure: the clock (ms) is passed
 * in. */
#ifndef PEN_DSR_HELD_H
#define PEN_DSR_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "dsr/frame/tally.h"
#include "dsr/link/link.h"

enum {
	HELD_FRAMES = 64,   /* at a time */
	HELD_EACH = 3,	    /* of them for a server */
	HELD_LENGTH = 2048, /* bytes */
	HELD_MS = 1000
};

struct held_frame {
	struct link_frame frame; /* bytes: owned */
	uint32_t server;
	uint64_t until; /* ms */
};

struct held {
	struct held_frame list[HELD_FRAMES]; /* the oldest first */
	unsigned count;
};

/* Keeps a copy. False when there is no room for it. */
bool held_add(
    struct held *h, const struct link_frame *f, uint32_t server, uint64_t now);
/* Frees those whose time is over, and adds them to *lost. */
void held_expire(struct held *h, uint64_t now, struct tally *lost);
/* Those without bytes are no more: somebody else has, or had, them. */
void held_close_up(struct held *h);
void held_fini(struct held *h);

#endif
