/* circles.h: services that are servers of each other: each client would come to
 * the first one again, for ever. A chain of services is none.
 *
 *     a: listen 80, server 0 is port 81  -->  b: listen 81, server 0 is port 80
 *     ^                                                                      |
 *     '----------------------------------------------------------------------'
 *
 * Routes from one service to another lead there, too; with direct server return
 * frames go elsewhere. */
#ifndef PEN_CONTROL_CIRCLES_H
#define PEN_CONTROL_CIRCLES_H

#include "base/addr.h"
#include "base/error.h"

struct apply;
struct apply_all;

/* The participant's part: whether the draft has a circle, with the addresses
 * that its names were found to have. Once for all services, after the servers
 * of all. Returns 0, or -1 with a full message. */
int apply_circles_check(struct apply_all *a, struct error *e);

/* Whether the service would be part of a circle with a server at `at`, while
 * the others have the servers that they have now. False without memory. */
bool circles_by(const struct apply *a, const struct addr *at);

#endif
