/* tunnels.h: packets in tunnels (IPIP and its kin) to servers that are
 * elsewhere: segmentation, fragmentation, path MTU, errors. */
#ifndef PEN_DSR_TUNNELS_H
#define PEN_DSR_TUNNELS_H

#include "dsr/forward/nexthop.h"

struct tunnels;

/* Opens what forwarding needs, if there will be tunnels at all; what is opened
 * once stays. Without a gateway that is raw sockets, which need CAP_NET_RAW. *t
 * is NULL at first. Frames leave by the wire of `hops`, which outlives it.
 * Returns 0, or -1 with a full message. */
int tunnels_prepare(struct tunnels **t, struct nexthops *hops,
    const struct director_forward *f, struct error *e);
void tunnels_free(struct tunnels *t); /* NULL is fine */

/* Queues the packet of a frame, encapsulated, for a server that has tunnels.
 * Returns false if the next hop is unknown. What does not fit and must not be
 * fragmented is answered with ICMP. */
bool tunnels_pass(struct tunnels *t, const struct frame *f,
    const struct link_frame *l, const struct server *s);
/* Sends all that is queued, here and on the wire. */
void tunnels_flush(struct tunnels *t);
/* An ICMP error came to an own address. Returns whether it was about a tunnel.
 * Above a rate they are ignored. */
bool tunnels_on_error(struct tunnels *t, const struct frame *f);
/* Reads the kernel's reports about packets that left by its route. */
void tunnels_tick(struct tunnels *t);

#endif
