/* limits.h: the limits of a frontend on each source of clients: which are
 * exempt, what is counted and logged. Sessions, flows and DNS check here;
 * session_admit.c has the actions for a connection over a limit. Datagrams
 * beyond one are dropped without an answer. */
#ifndef PEN_PROXY_LIMITS_H
#define PEN_PROXY_LIMITS_H

#include "proxy/core/frontend_core.h"

/* Whether the settings limit any source. */
bool limits_are_set(const struct limit_options *o);

/* Returns the client's source, or NULL: it has none so far, or is not
 * limited. */
struct source *limits_find_source(
    const struct frontend_core *f, const struct peer *who);
/* The same; a source that is not there is made. NULL: it is not limited. */
struct source *limits_source(struct frontend_core *f, const struct peer *who);
/* Counts and logs that a client of the source is beyond a limit: a line a
 * minute at most for each source. */
void limits_note(
    struct frontend_core *f, struct source *s, enum limit_verdict which);
/* Which limit a client that comes now would be beyond. */
enum limit_verdict limits_check(
    const struct frontend_core *f, const struct peer *who);

/* Whether a datagram of the client may pass, as client_rate has it; counts
 * it. */
bool limits_pass_datagram(struct frontend_core *f, const struct peer *who);
/* Whether the client may have one more flow, as client_conns has it. */
bool limits_pass_flow(struct frontend_core *f, const struct peer *who);

#endif
