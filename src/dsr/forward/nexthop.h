/* nexthop.h: where each server is: the next hop of its frames, by ARP or NDP,
 * by a gateway, or by the kernel's route.
 *
 * A server's entry is made when its next hop is first needed, and follows its
 * addresses and the settings of forwarding. */
#ifndef PEN_DSR_NEXTHOP_H
#define PEN_DSR_NEXTHOP_H

#include "dsr/flows/dsr_flows.h"
#include "dsr/forward/path_mtu.h"
#include "dsr/forward/vips.h"
#include "dsr/forward/wire.h"
#include "dsr/segment/groups.h"
#include "dsr/segment/neighbor.h"
#include "net/loop/loop.h"
#include "pool/pool.h"

/* The receiver of the frames for a server. */
enum hop {
	HOP_SERVER,  /* the server, with packets as they came */
	HOP_GATEWAY, /* all others: packets in tunnels */
	HOP_GIVEN,   /* the gateway, whose hardware address is given */
	HOP_ROUTE,   /* the kernel's choice */
	HOP_SEGMENT, /* the server: the kernel has no route */
	HOP_NONE     /* and there is no address to send from */
};

struct nexthop {
	struct neighbor *neighbor; /* the hop that is resolved; NULL: none
				    * yet */
	uint32_t generation;	   /* of the server's addresses */
	struct peer ip;		   /* the server's, port 0 */
	enum hop hop;
	struct path_mtu path; /* HOP_ROUTE: the kernel's */
	uint32_t ask_s;	      /* when to refresh the route; of the clock */
	uint32_t loop_s;      /* when it was logged that it sends frames back */
};

struct nexthops {
	/* Set once; they outlive this. */
	struct loop *loop;
	struct pool *pool;
	struct wire *wire;
	const struct vips *vips;
	const struct dsr_flows *flows;

	struct neighbors neighbors;
	struct groups groups; /* of the addresses for which we answer */
	struct nexthop *list; /* by the server's slot */
	uint32_t count;
	struct director_forward forward;
	bool announce;	 /* VIPs are announced and defended */
	bool reports;	 /* flows are reported to other directors */
	bool warned;	 /* that another one knows none of the flows */
	bool resolved;	 /* a server's MAC came to be known: see forward.h */
	bool no_carrier; /* neighbours are not probed */
	uint64_t carrier_ms; /* since when there is one again; 0: always */
};

/* Starts to resolve all servers. Returns 0, or -1 with a full message. */
int nexthops_open(struct nexthops *n, struct error *e);
void nexthops_close(struct nexthops *n);
/* Follows the pool; lets neighbors_tick() run. */
void nexthops_tick(struct nexthops *n, uint64_t now);
/* Requests go elsewhere from now on, or again: see neighbors_resume(). */
void nexthops_resume(struct nexthops *n);
/* The segment learns again where our addresses are: by announcements, unless
 * they are off, and by reports of groups. */
void nexthops_announce(struct nexthops *n);
/* Requests each server's next hop as it should be now. */
void nexthops_refresh(struct nexthops *n);
/* Follows the carrier of the link: what servers did not reply without one does
 * not count against them. `why`: for the log. */
void nexthops_note_link(struct nexthops *n, const char *why);
/* Answers for the VIPs, unless it stands by, and no longer for those of `old`
 * that are none now. */
void nexthops_set_vips(
    struct nexthops *n, const struct peer *old, unsigned olds);

/* ---- a server ---- */

/* The server's next hop, refreshed if the server has another address now; NULL:
 * no memory. */
struct nexthop *nexthops_get(struct nexthops *n, const struct server *s);
/* The server's next hop without a refresh, perhaps that of an address that it
 * had before; NULL: none so far. */
struct nexthop *nexthops_known(
    const struct nexthops *n, const struct server *s);
/* Sets the MAC of its next hop. False while that is unknown. */
bool nexthops_mac(
    const struct nexthops *n, const struct server *s, struct mac *mac);
/* Whether no host replies for it, or its next hop. */
bool nexthops_is_gone(struct nexthops *n, const struct server *s);
/* Whether that was so at the last request, and the server has had the time to
 * come back with the rest of the segment. */
bool nexthops_stays_gone(const struct nexthops *n, const struct server *s);
/* Whether it is too early to expect a reply. */
bool nexthops_is_new(const struct nexthops *n, const struct server *s);
/* Gives the server's next hop a MAC, if it has none: see
 * neighbors_restore(). */
void nexthops_restore(
    struct nexthops *n, const struct server *s, const struct mac *mac);
/* The server has sent a client's frame back, which it should serve: logs that,
 * at most once a minute. */
void nexthops_note_loop(struct nexthops *n, const struct server *s);
/* Probes it now: clients seem to get no answers from it. */
void nexthops_probe(struct nexthops *n, const struct server *s);
/* Whether an established flow may stay: its server is reachable, even if
 * blacklisted, and is up, drains, or was removed, which lets its flows go
 * on. */
static inline bool
nexthops_may_go_on(const struct nexthops *n, const struct server *s)
{
	return s != NULL && s->admin != SERVER_DISABLED &&
	    (pool_may_stay(n->pool, s, loop_now(n->loop)) ||
		!nexthops_stays_gone(n, s));
}
/* The next server of the pool from slot *slot on; NULL: no more. */
struct server *nexthops_next_server(const struct nexthops *n, unsigned *slot);

/* The address in use of the server, port 0. */
struct peer nexthop_server_ip(const struct server *s);
bool nexthop_is_tunnelled(const struct nexthops *n, const struct server *s);
/* See director_path(). */
void nexthops_path(
    const struct nexthops *n, const struct server *s, struct director_path *w);

#endif
