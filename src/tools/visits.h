/* visits.h: requests by client and server, from the balancer's log; for putting
 * clients in place of the balancer in the logs of web servers.
 *
 * A web server's log has the balancer's address, the time and the request; the
 * balancer's log has the client's address, its own time and the same request.
 * Of the visits with the same server and request, the one nearest in time is
 * it. Clocks differ by a few seconds at most, so that of older visits only the
 * newest can be nearest; those are forgotten. Finding and adding are O(1). */
#ifndef PEN_TOOLS_VISITS_H
#define PEN_TOOLS_VISITS_H

#include <stddef.h>
#include <stdint.h>

struct visits;

/* At most so many visits; then the oldest one is forgotten. NULL with errno
 * ENOMEM. */
struct visits *visits_new(size_t most);
/* NULL is fine. */
void visits_free(struct visits *v);
/* Adds a visit; they come in the order of their times, in seconds, or nearly
 * so. Of those in the same second the first counts. Returns 0, or -1 with errno
 * ENOMEM. */
int visits_add(struct visits *v, int64_t time, const char *client,
    const char *server, const char *request);
/* The client of the nearest visit, the earlier of two; NULL: none. What can
 * only be nearest before `time` - `slack` is forgotten. */
const char *visits_find(struct visits *v, int64_t time, int64_t slack,
    const char *server, const char *request);

#endif
