/* timeouts.h: many things that expire, each at its own time.
 *
 * A hierarchical timing wheel with one timer: adding, removing and expiring are
 * O(1) however many wait and in whatever order they were added. A thing sits in
 * the slot of the highest digit, to base SLOTS, in which its time differs from
 * the wheel's:
 *
 *     level 0    1 ms a slot     things expire from here
 *     level 1    64 ms           when the wheel comes to a slot of these, its
 *     level 2    4 s             things are spread over the levels below
 *     ...
 *
 * The things of a slot are linked in several chains, which are followed by
 * turns: while one thing is handled the next ones come from memory. In a single
 * chain each of a million would wait for that. A wake-up handles a portion, so
 * that a crowd does not hold up the loop. */
#ifndef PEN_NET_TIMEOUTS_H
#define PEN_NET_TIMEOUTS_H

#include "net/loop/loop.h"

enum {
	TIMEOUTS_BITS = 6, /* a digit */
	TIMEOUTS_SLOTS = 1 << TIMEOUTS_BITS,
	TIMEOUTS_LEVELS = 7, /* 2^42 ms are 139 years */
	TIMEOUTS_CHAINS = 8,
	TIMEOUTS_PORTION = 256,
};

/* Embedded in what expires. */
struct expiry {
	struct expiry *next;
	struct expiry **from; /* what points to it; NULL: not waiting */
	uint64_t due;	      /* ms */
};

/* A cache line. */
struct timeouts_slot {
	struct expiry *chain[TIMEOUTS_CHAINS];
};

struct timeouts {
	struct loop *loop;
	struct timeouts *next; /* of those of the loop */
	struct timer timer;
	bool running;	  /* `timer` fires at `wake` */
	unsigned in, out; /* which chain is next */
	unsigned levels;  /* a bit for each with bits in used[] */
	uint64_t wake;
	uint64_t at; /* ms: the wheel's time; no slot in use is before it */
	uint64_t used[TIMEOUTS_LEVELS]; /* a bit for each slot in use; the
					   memory of others is not touched */
	void (*on_expired)(struct timeouts *t, struct expiry *x);
	uint64_t (*true_due)(struct expiry *x);
	struct timeouts_slot open; /* the slot that the wheel has come to */
	struct timeouts_slot slot[TIMEOUTS_LEVELS][TIMEOUTS_SLOTS];
};

/* Calls `on_expired` for each thing that is due, after removing it, in order of
 * time; things of equal time come in any order. When things are put off often,
 * as by each byte that is moved, `true_due` gives the present time of one: the
 * wheel calls it when it comes to the thing and waits on if that is later, so
 * putting off costs nothing. NULL: the time of timeouts_add() stands. */
void timeouts_init(struct timeouts *t, struct loop *l,
    void (*on_expired)(struct timeouts *t, struct expiry *x),
    uint64_t (*true_due)(struct expiry *x));
/* Forgets what waits and frees the timer. */
void timeouts_fini(struct timeouts *t);
/* The wheel of the loop with these functions: all callers that pass the same
 * ones share it, and the loop frees it. NULL with errno ENOMEM. */
struct timeouts *timeouts_of_loop(struct loop *l,
    void (*on_expired)(struct timeouts *t, struct expiry *x),
    uint64_t (*true_due)(struct expiry *x));

void expiry_init(struct expiry *x);
/* Lets `x` expire at `due`; it must not be waiting. */
void timeouts_add(struct timeouts *t, struct expiry *x, uint64_t due);
static inline bool
expiry_is_waiting(const struct expiry *x)
{
	return x->from != NULL;
}

/* Removes an expiry that is waiting. */
void expiry_unlink(struct expiry *x);
/* Harmless when it is not waiting. */
static inline void
expiry_cancel(struct expiry *x)
{
	if (expiry_is_waiting(x))
		expiry_unlink(x);
}

#endif
