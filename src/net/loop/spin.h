/* spin.h: whether the loop polls for a moment before it sleeps.
 *
 * Going to sleep and waking up takes longer than a near server takes to answer.
 * A loop that polls meanwhile delivers the answer earlier; but it takes a
 * processor from others, and if nothing comes in time, for nothing. So each
 * spin is judged: it pays if it finds something and no other process needed its
 * processor. If too few do, there is none for a while, and for twice as long
 * each time that the next ones do not pay either:
 *
 *     SPIN_TRIAL spins .--> half or more pay: goes on
 *         ^             '-> fewer: rest, SPIN_REST_MIN_US to SPIN_REST_MAX_US
 *         '------------------'
 *
 * A spin follows a turn of the loop, so that an idle process sleeps. Times are
 * of one clock, microseconds. (HAProxy: busy-polling, which never rests.) */
#ifndef PEN_NET_LOOP_SPIN_H
#define PEN_NET_LOOP_SPIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SPIN_US = 60,
	/* Longer between two polls, and the processor served others: another
	 * process, or another virtual machine. */
	SPIN_GAP_US = 20,
	SPIN_TRIAL = 4, /* so many in vain end a trial */
	SPIN_FULL = 16, /* and so many, in a row, a time when all paid */
	SPIN_REST_MIN_US = 10000,
	SPIN_REST_MAX_US = 64 * SPIN_REST_MIN_US
};

struct spin {
	bool on;
	uint8_t credit;	  /* how many may be in vain before it rests */
	uint32_t rest_us; /* how long the next rest is */
	uint64_t resumes; /* when the last one is over */
	uint64_t began;	  /* this spin: its first poll; 0: not yet */
	uint64_t polled;  /* and its last one */
};

/* Forgets what was learned; with `on` false the loop never spins. */
void spin_init(struct spin *s, bool on);
/* Begins a spin; false: it may not. */
bool spin_begin(struct spin *s, uint64_t now);
/* After each poll, which found something or not: whether to poll again. What
 * the first one finds counts neither for nor against spinning. */
bool spin_again(struct spin *s, bool found, uint64_t now);

#endif
