/* stopping.h: the graceful stop.
 *
 *     SERVING -> stopping_begin() -> DRAINING -> STOPPING
 *                                       |           ^
 *                                       '-----------' no session and no answer
 *                                                     left, time limit,
 *                                                     stopping_end()
 *
 * While the program is DRAINING it takes no new clients; sessions and flows go
 * on, and control answers. */
#ifndef PEN_CONTROL_STOPPING_H
#define PEN_CONTROL_STOPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "net/loop/loop.h"

struct pen;

struct stopping {
	struct timer tick;
	uint64_t since, until; /* ms; UINT64_MAX: until no session is left */
	uint64_t followed; /* ms: logs were, the last time */
	bool asked; /* it was requested: it is not only an upgrade's */
};

void stopping_init(struct stopping *s);
void stopping_fini(struct stopping *s);

/* Begins the stop, or gives the one that goes on another time: `ms` from now
 * on, 0: no limit. `who` is for the log. Has no effect before the program
 * serves. */
void stopping_begin(struct pen *p, uint64_t ms, const char *who);

/* Another time for the stop that goes on, if there is one. */
void stopping_limit(struct pen *p, uint64_t ms);

/* `ms`, or what the stop that goes on leaves if that is less; 0 is no limit in
 * both. */
uint64_t stopping_sooner(const struct pen *p, uint64_t ms);

/* Ends the loop, at once. Has no effect before the program serves. */
void stopping_end(struct pen *p);
/* The same, with a log line: requested by `who`. */
void stopping_end_by(struct pen *p, const char *who);

/* Sessions, flows and queries that the stop waits for. */
uint64_t stopping_left(const struct pen *p);
/* "stopping, 3 sessions left", as a line. */
void stopping_report(const struct pen *p, struct buffer *out);

#endif
