/* pool_change.h: the steps of which every change of a server is made, for the
 * files of pool: the members that change, pool_refresh(), pool_report(). They
 * are in pool_state.c. */
#ifndef PEN_POOL_POOL_CHANGE_H
#define PEN_POOL_POOL_CHANGE_H

#include "pool/pool.h"

/* Brings the pool's sets in step with the server: eligible or not, to be tried
 * as a last resort, full. */
void pool_refresh(struct server *s);
/* The last step of a change: if the server's state is another one than reported
 * before, reports it; a server that has come up begins its slow start, and one
 * that is no longer up ends it. */
void pool_report(struct server *s, const char *reason);
/* And of a server that is down, if its state hides that. */
void pool_report_down(struct server *s, const char *reason);
void pool_report_up(struct server *s);

/* A server with a state from another process continues its slow start. */
void pool_resume_slow_start(struct server *s, uint64_t now);

/* Blacklists `s` until then, for a failure or by the operator, and refreshes
 * it. */
void pool_set_blacklisted(struct server *s, uint64_t until, bool by_operator);
/* Ends the blacklisting of `s`; the caller refreshes it. */
void pool_end_blacklisting(struct server *s);

/* Frees the name and addresses of a removed server without connections; of one
 * that waits for an address those that it had. */
void pool_clear_server(struct server *s);

#endif
