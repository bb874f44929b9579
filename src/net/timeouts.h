/* timeouts.h: many things that expire, each kind after its own fixed time.
 *
 * A queue in order of expiry with one timer for its head: adding, removing and
 * expiring are O(1) however many wait, because things of one kind wait equally
 * long and so nearly always go to the end. */
#ifndef PEN_NET_TIMEOUTS_H
#define PEN_NET_TIMEOUTS_H

#include "base/list.h"
#include "net/loop.h"

/* Embedded in what expires. */
struct expiry {
	struct list link;
	uint64_t due; /* ms */
};

struct timeouts {
	struct loop *loop;
	struct list queue;
	struct timer timer;
	bool running;
	void (*on_expired)(struct timeouts *t, struct expiry *x);
};

void timeouts_init(struct timeouts *t, struct loop *l,
    void (*on_expired)(struct timeouts *t, struct expiry *x));
/* Forgets what waits and frees the timer. */
void timeouts_fini(struct timeouts *t);

void expiry_init(struct expiry *x);
/* Lets `x` expire at `due`; it must not be waiting. Once expired it has left
 * the queue. */
void timeouts_add(struct timeouts *t, struct expiry *x, uint64_t due);
/* Harmless when it is not waiting. */
void expiry_cancel(struct expiry *x);
bool expiry_is_waiting(const struct expiry *x);

#endif
