/* routes.h: the routes of a plan as numbers: which servers their words mean. */
#ifndef PEN_CONTROL_ROUTES_H
#define PEN_CONTROL_ROUTES_H

#include "control/life/context.h"
#include "proxy/wire/route.h"

/* Routes themselves, and the servers that their words mean: an address may be
 * one of a name. */
#define ROUTES_ON                                                        \
	(CHANGED_ROUTES | CHANGED_HOSTS | CHANGED_NAMES | CHANGED_DNS | \
	    CHANGED_CHECKS | CHANGED_LISTEN)

/* The routes of a draft, whose servers are those of the draft; *made is NULL
 * when there are none. Returns 0, or -1 with errno ENOMEM. */
int routes_make(
    struct service *svc, const struct plan *draft, struct routes **made);

/* Whether the clients of the service have sessions, which routes are for: not
 * with udp, dsr_if or dummy. */
bool routes_are_for(const struct plan *service);

/* Calls `fn` with each word of "A,B", which is valid as long as the call. */
void routes_each_word(
    const char *list, void (*fn)(void *arg, const char *word), void *arg);

#endif
