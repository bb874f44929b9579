/* health.h: whether a server is up, from the results of its health checks.
 *
 *        UP --- `fall` consecutive failures --> DOWN
 *         ^---- `rise` consecutive successes ---'
 *
 * A server that was never checked (all zero) counts as up. No side effects.
 * Successes while it is up are counted too: `rise` of them in a row end a
 * suspicion (pool.h). */
#ifndef PEN_POOL_HEALTH_H
#define PEN_POOL_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

struct health_options {
	unsigned rise, fall; /* 1 or more */
};

struct health {
	bool down;
	bool unproven;	  /* down until its first success, which is enough */
	bool assumed;	  /* down, though no check has failed yet */
	unsigned against; /* consecutive results that contradict `down` */
	unsigned good;	  /* consecutive successes, since it was last up or
			   * suspected */
	uint64_t since;	  /* ms: time of the last change, or else of the first
			   * check; 0: never checked */
};

/* Takes a check's result; `now` in ms. Returns whether the server went up or
 * down because of it. */
bool health_take(
    struct health *h, const struct health_options *o, bool good, uint64_t now);

#endif
