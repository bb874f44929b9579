/* busy_poll.h: how often pen polls for frames before other events get a turn.
 *
 * Frames that come one by one are handled one by one, at once. When they come
 * so fast that many wait each time, polling again at once would find few:
 * waking up, sending, and the caches that two cores fetch from each other would
 * cost more than the frames. So it pauses for as long as network cards do
 * between interrupts, some times in a turn: clients of other services wait,
 * too. */
#ifndef PEN_DSR_BUSY_POLL_H
#define PEN_DSR_BUSY_POLL_H

#include <stdbool.h>

enum {
	BUSY_POLL_ROUNDS = 16, /* polls in one turn */
	/* And pauses: the rest of the program waits for 0.2 ms of them at
	 * most. */
	BUSY_POLL_PAUSES = 4,
	BUSY_POLL_PAUSE_NS = 50000,
	/* Frames in a poll: more than this in a pause are 300,000 a second. */
	BUSY_POLL_MANY = 16
};

enum busy_poll_step {
	BUSY_POLL_ENOUGH, /* others now */
	BUSY_POLL_AGAIN,  /* there are more */
	BUSY_POLL_IF_ANY, /* again if there are more by now */
	BUSY_POLL_PAUSE	  /* the same after a pause */
};

/* A turn; all zero at its start. */
struct busy_poll {
	unsigned polls, pauses;
};

/* What to do after a poll that found n of `most` frames, or an error (-1). */
enum busy_poll_step busy_poll_after(
    struct busy_poll *p, int n, int most, bool can_pause);

/* Whether this system can pause for so short a time; sets the process's timer
 * slack for it. */
bool busy_poll_can_pause(void);
/* Pauses. */
void busy_poll_pause(void);

#endif
