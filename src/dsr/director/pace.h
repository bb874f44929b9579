/* pace.h: how often one looks for frames before others get their turn. Pure. */
#ifndef PEN_DSR_PACE_H
#define PEN_DSR_PACE_H

#include <stdbool.h>

enum {
	PACE_ROUNDS = 16, /* looks in one turn */
	PACE_PAUSES =
	    4, /* and pauses, so that the rest of the program waits for
			   * 0.2 ms of them at most */
	PACE_PAUSE_NS = 50000,
	/* Frames at a look: more than this in a pause are 300,000 a second. */
	PACE_MANY = 16
};

enum pace_step {
	PACE_ENOUGH, /* others now */
	PACE_AGAIN,  /* there are more */
	PACE_IF_ANY, /* again if there are more by now */
	PACE_PAUSE   /* the same after a pause */
};

/* A turn; all zero at its start. */
struct pace {
	unsigned looks, pauses;
};

/* What to do after a look that found n of `most` frames, or an error (-1). */
enum pace_step pace_after(struct pace *p, int n, int most, bool can_pause);

#endif
