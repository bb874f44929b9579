/* health.h: what the results of checks, one after the other, say of a server.
 *
 *        UP ---- `fall` bad ones in a row ----> DOWN
 *         ^----- `rise` good ones in a row -----'
 *
 * All zero is a server that was never checked, which is taken as up. Pure. */
#ifndef PEN_POOL_HEALTH_H
#define PEN_POOL_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

struct health_options {
	unsigned rise, fall; /* 1 or more */
};

struct health {
	bool down;
	unsigned against; /* results in a row that say the contrary */
	uint64_t since;	  /* ms: it is so since then, as far as checks know;
			   * 0: there was none */
};

/* A result; `now` in ms. Returns whether it has changed what the server is. */
bool health_take(
    struct health *h, const struct health_options *o, bool good, uint64_t now);

#endif
