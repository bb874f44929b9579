/* states.h: changes of servers' states, as the pool reports them: a log line
 * each, the program of on_state, and the end of blacklistings in time.
 *
 *     server down server=1 name=web1 reason="..." prev=up prev_s=312
 *
 * `prev_s` is how long the state before lasted. Nothing is logged before the
 * program serves. */
#ifndef PEN_CONTROL_STATES_H
#define PEN_CONTROL_STATES_H

struct pen;
struct service;

/* Watches the pool from here on. */
void states_watch(struct service *svc);
/* No more; before the loop is freed. */
void states_unwatch(struct service *svc);

/* The reason of what is applied now: its source. */
const char *states_who(const struct pen *p);

#endif
