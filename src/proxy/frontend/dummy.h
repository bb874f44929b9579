/* dummy.h: a minimal web server inside the balancer: answers every request
 * itself, for trying a set-up out without any backend.
 *
 * HTTP/1.0 and 1.1 with kept connections (RFC 9112); any method and path get
 * 200 and a small page whose text is "pen dummy server ADDRESS". Request
 * bodies with a Content-Length are read and dropped; others end the
 * connection. So does idle_timeout (a minute if that is 0) without a complete
 * request, a byte of a body, or the answer being taken. */
#ifndef PEN_PROXY_DUMMY_H
#define PEN_PROXY_DUMMY_H

#include "base/list.h"
#include "net/loop/timeouts.h"

struct frontend_core;

/* All of a frontend. */
struct dummies {
	struct list list;
	struct timeouts *silent;
};

/* Returns 0, or -1 with errno ENOMEM and what dummies_fini() takes. */
int dummies_init(struct dummies *all, struct frontend_core *f);
/* Closes all. */
void dummies_fini(struct dummies *all);

/* No new clients will come: answers from now on are the last of their
 * connections, and silent ones end soon. */
void dummies_hurry(struct dummies *all);

/* Serves the client on `fd`, which it takes over. */
void dummy_start(struct frontend_core *f, int fd);

#endif
