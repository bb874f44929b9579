/* spare.h: spare connections, kept open to the servers for the next clients.
 *
 *     connecting -> idle -> taken by a session, which asks for another
 *         |          '----> closed by the server: replaced
 *         '-> failed: its server is blacklisted, as by a client's connect
 *
 * They are spread evenly over the servers that may be chosen, in list order; a
 * server that is not healthy any more loses its own at once. They count neither
 * as sessions nor as connections of their servers. One whose server closes it
 * within a second, or that could not be opened, is not replaced before the next
 * second. */
#ifndef PEN_PROXY_SPARE_H
#define PEN_PROXY_SPARE_H

#include "base/addr.h"
#include "base/list.h"
#include "net/sock.h"
#include "net/sources.h"
#include "net/timeouts.h"

struct frontend;
struct server;
struct spare_server;

struct spares {
	struct frontend *frontend;
	struct spare_server *servers; /* by slot */
	unsigned room;
	uint64_t count; /* connecting and idle */
	uint64_t idle;	/* connected */
	struct timeouts connecting;
	uint64_t connect_timeout_ms; /* how long, at most */
	struct timer tick;  /* looks after them every second */
	struct sources source; /* what they were opened with */
	struct sock_keepalive keepalive;
	struct sock_tuning tuning;
};

void spares_init(struct spares *p, struct frontend *f);
/* Closes all. */
void spares_fini(struct spares *p);
/* Opens and closes what the settings and the servers' state ask for: after a
 * change of either. */
void spares_adjust(struct spares *p);
/* The server failed: closes its own. */
void spares_drop(struct spares *p, const struct server *s);
/* A connected descriptor to the server, now the caller's, or -1. Bytes that the
 * server has sent already are still in it. */
int spares_take(struct spares *p, struct server *s);
/* Opens others for those taken: to be called when the pool knows what became of
 * the client, because it may blacklist the server. */
void spares_refill(struct spares *p, struct server *s);

#endif
