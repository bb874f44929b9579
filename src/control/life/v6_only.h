/* v6_only.h: whether a listener on all IPv6 addresses takes IPv4 clients, too.
 * It does, unless its list has an IPv4 address with the same port, or the word
 * v6only (spec.h); or, which is found out here, another service has one, or
 * another program has the port for IPv4. That stays so as long as it
 * listens. */
#ifndef PEN_CONTROL_V6_ONLY_H
#define PEN_CONTROL_V6_ONLY_H

#include "control/life/context.h"

/* Sets it in all services of the draft. Binds sockets for a moment. Returns 0,
 * or -1 with errno ENOMEM. */
int v6_only_settle(const struct pen *p, struct plan *draft);

#endif
