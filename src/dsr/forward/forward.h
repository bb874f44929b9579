/* forward.h: sends a frame to its server: with other MACs, in a tunnel, or
 * later, when the MAC of the next hop is known. */
#ifndef PEN_DSR_FORWARD_H
#define PEN_DSR_FORWARD_H

#include "dsr/forward/nexthop.h"
#include "dsr/forward/tunnels.h"
#include "dsr/segment/pending.h"

struct forward {
	struct loop *loop;
	struct pool *pool;
	struct wire wire;
	struct nexthops hops;
	struct tunnels *tunnels; /* NULL: no server is reached by a tunnel */
	struct pending pending;
};

/* Queues the frame for the server, NULL: none, keeps it until the MAC of the
 * next hop is known, or counts it as dropped. Its bytes stay as they are until
 * forward_flush(). */
void forward_frame(struct forward *fw, struct frame *f,
    const struct link_frame *l, const struct server *s);
/* Sends all that is queued. */
void forward_flush(struct forward *fw);
/* Sends a frame made here, `bytes` without MACs, to the server as clients'
 * frames get there. False if the MAC of the next hop is unknown; a frame
 * that the link refuses is lost, as on any wire. */
bool forward_send(struct forward *fw, const struct server *s,
    unsigned char *bytes, size_t length);

/* Sends the pending frames whose next hop is known by now. */
void forward_release(struct forward *fw);
/* The same, and drops those that have waited too long. */
void forward_tick(struct forward *fw, uint64_t now);
void forward_fini(struct forward *fw);

#endif
