/* director_private.h: the inside of a director, for director.c (frames),
 * director_flows.c (servers of flows), director_places.c (addresses of clients'),
 * director_tarpit.c (addresses of nobody), director_neighbors.c (hardware
 * addresses), director_held.c (frames that wait for one), director_drop.c (those
 * that are lost), director_probes.c (checks) and director_pace.c (pauses). */
#ifndef PEN_DSR_DIRECTOR_PRIVATE_H
#define PEN_DSR_DIRECTOR_PRIVATE_H

#include "dsr/director/director.h"
#include "dsr/director/pace.h"
#include "dsr/frame/frame.h"
#include "dsr/link/link.h"
#include "dsr/segment/held.h"
#include "dsr/segment/neighbor.h"
#include "dsr/segment/place_lock.h"
#include "dsr/tunnel/path_mtu.h"

enum { DIRECTOR_BATCH = 64 };

/* Who gets the frames for a server. */
enum hop {
	HOP_SERVER,  /* the server, with packets as they came */
	HOP_GATEWAY, /* all others: packets in tunnels */
	HOP_GIVEN,   /* the gateway, whose hardware address is given */
	HOP_ROUTE,   /* whom the kernel chooses */
	HOP_SEGMENT, /* the server: the kernel has no route */
	HOP_NONE     /* and there is no address to send from */
};

/* Where a server is. */
struct target {
	struct neighbor *neighbor; /* of the hop; NULL: none yet */
	uint32_t generation;	   /* of the server's addresses */
	struct peer ip;		   /* the server's, port 0 */
	enum hop hop;
	struct path_mtu path; /* HOP_ROUTE: the kernel's */
	uint32_t ask_s;	      /* when to ask for the route; of the clock */
};

struct tunnels; /* what is needed for tunnels alone: director_tunnel.c */

struct director {
	struct loop *loop;
	struct pool *pool;
	struct director_options options; /* strings: while it is opened only */
	struct peer own[2];		 /* IPv4, IPv6; family 0: none */
	struct peer *places;		 /* addresses and ports of clients',
					  * and room for two more */
	unsigned count;
	struct place_locks locks;
	struct link link;
	bool open;
	bool ended; /* the interface is gone */
	struct watch watch;
	struct timer tick;
	struct neighbors neighbors;
	struct target *targets; /* by number of server */
	uint32_t targets_n;
	uint16_t vlan;	     /* of the segment; 0: none */
	bool vlan_heard;     /* clients have used it */
	uint16_t other_tag;  /* of the last frames that had another one, */
	unsigned others;     /* so many in a row */
	bool no_carrier;     /* neighbours are not asked */
	uint64_t carrier_ms; /* since when there is one again; 0: always */
	struct dsr_flows flows;
	struct director_forward forward;
	struct tunnels *tunnels; /* NULL: no server is reached by a tunnel */
	struct tarpit tarpit;
	struct acl tarpit_list;	      /* empty: no tarpit */
	struct link_net *tarpit_nets; /* all it permits is in them */
	unsigned tarpit_nets_n;
	struct held held;
	bool news; /* of a server's hardware address: some of them can go */
	struct director_check check;
	struct probes probes;
	struct timer probing;
	struct link_gate *gates; /* of the fast path: as they were set last */
	uint32_t gates_n;
	uint32_t ticket; /* of all gates, now */
	uint32_t fast_flows;
	bool fast_refused; /* the kernel cannot be told of flows: it has none */
	struct director_stats stats;
	/* The link's own at the time when counters were cleared. */
	struct link_counters link_cleared;
	struct tally fast_cleared;
	/* Tunnels send when there is a batch, so that all frames of a batch that
	 * are passed on have room behind it. */
	struct link_frame out[2 * DIRECTOR_BATCH];
	unsigned out_n;
	bool pauses; /* this system can, for a short time */
	bool soon;   /* the next tick comes in a moment */
};

/* A frame of a batch, and what is looked up for it. */
struct arrival {
	struct frame frame;
	struct dsr_key key;
	uint64_t hash;
};

/* ---- director.c ---- */

/* Sends the frame to the server, the same but for its MACs, or its packet in a
 * tunnel, with the next director_flush(). Returns false when it is not known to
 * whom. */
bool director_pass(struct director *d, struct frame *f,
    const struct link_frame *l, const struct server *s);
void director_flush(struct director *d);
/* Sends a frame that was made here; `arg` is the director. The bytes remain the
 * caller's. */
void director_send_own(void *arg, const unsigned char *bytes, size_t length);
/* Sends a frame of our own, `bytes` without MACs, to the server as clients' frames get
 * there. False when it is not known where that is; what the link does not take is
 * lost, as on any wire. */
bool director_send(struct director *d, const struct server *s,
    unsigned char *bytes, size_t length);

/* ---- director_drop.c ---- */

/* Counts a frame of so many bytes that is dropped. */
void director_lose(struct director *d, enum director_drop why, size_t bytes);

/* ---- director_pace.c ---- */

void director_open_pace(struct director *d);
/* Whether to look for frames once more before anything else, when there were n
 * at the last look of this turn; may sleep for 50 us. */
bool director_goes_on(const struct director *d, struct pace *p, int n);

/* ---- director_places.c ---- */

/* Whether clients come to this address, to this port of it. */
bool director_has_address(const struct director *d, const struct peer *at);
bool director_serves(const struct director *d, const struct frame *f);

/* The filter for these, which it is made of, for own addresses, for which there is
 * room behind them, and for the tarpit. */
struct link_filter director_filter(
    const struct director *d, struct peer *places, unsigned count);
/* From the options. */
void director_set_own(struct director *d);
/* Whether it is an own address on the segment. */
bool director_is_own(const struct director *d, const struct peer *at);

/* ---- director_held.c ---- */

/* Keeps a frame until its server's hardware address is known, or drops it. */
void director_hold(struct director *d, const struct frame *f,
    const struct link_frame *l, const struct server *s);
/* Sends those that can go now. */
void director_release(struct director *d);
void director_tick_held(struct director *d, uint64_t now);

/* ---- director_tarpit.c ---- */

void director_tarpit_on_neighbor(struct director *d, const struct frame *f);
/* A frame that is for no place: whether it was the tarpit's. `unsummed`: its
 * checksum was left to a network card. */
bool director_tarpit_on_flow(
    struct director *d, const struct frame *f, bool unsummed);
void director_tarpit_close(struct director *d);

/* ---- director_flows.c ---- */

/* Whether a flow that has begun may stay: its server is reachable, be it
 * blacklisted, and is up, drains, or was removed, which lets what it has go on. */
bool director_may_go_on(const struct director *d, const struct server *s);
/* The server that the flow of a frame has, or gets; NULL: none. A flow whose server
 * is not reachable keeps it until there is another one to be chosen. */
struct server *director_server_for(
    struct director *d, struct arrival *a, const struct link_frame *l);
/* Whether it is of a connection that began while its port was served. */
bool director_keeps(struct director *d, const struct arrival *a);
/* The server of what has no flow, or none that is remembered; or NULL. */
struct server *director_choose(struct director *d, const struct peer *who);
void director_open_flows(struct director *d);

/* ---- director_fast.c ---- */

/* Gates are as servers are now: to be called when any of that has changed, and with
 * every tick, as what other rooms find out about servers is not told. */
void director_set_gates(struct director *d);
/* Flows must be looked at again before the kernel passes them on: what is served has
 * changed. */
void director_renew_gates(struct director *d);
/* A frame of that flow came up and is passed on: the next ones of it may be the
 * kernel's. */
void director_on_fast(struct director *d, struct dsr_flow *w,
    const struct frame *f, const struct link_frame *l);
/* A flow ends, or its next frames must be seen here: takes over what the kernel
 * has counted. */
void director_leave_fast(struct director *d, struct dsr_flow *w);
/* For dsr_flows.last_frame; `arg` is the director. */
uint32_t director_last_frame(void *arg, const struct dsr_flow *w);
/* How many flows the kernel may have. */
uint32_t director_fast_most(const struct director_options *o);
void director_open_fast(struct director *d);
void director_close_fast(struct director *d);

/* ---- director_neighbors.c ---- */

int director_open_neighbors(struct director *d, struct error *e);
void director_close_neighbors(struct director *d);
/* The places are others now: these were the old ones. */
void director_set_vips(
    struct director *d, const struct peer *old, unsigned olds);
void director_on_neighbor(struct director *d, const struct frame *f);
/* A frame for a VIP came. Its tag is the segment's if no server answers with the one
 * that we know, and it is the first frame or one of several in a row. */
void director_note_vlan(struct director *d, const struct frame *f);
/* The link may have lost its carrier, or have one again: what servers did not answer
 * without one is no silence of theirs. `why`: for the log. */
void director_note_link(struct director *d, const char *why);
void director_tick_neighbors(struct director *d, uint64_t now);
/* Asks early whether the server is still there. */
void director_doubt_server(struct director *d, const struct server *s);
/* Whether nobody has answered for the server's address, or its next hop's. */
bool director_server_is_gone(struct director *d, const struct server *s);
/* Whether that was so when it was looked at last, and whoever it is has had the time
 * to come back with the rest of the segment. */
bool director_server_stays_gone(
    const struct director *d, const struct server *s);
/* Where a server is, as of now; NULL: without memory. */
struct target *director_target(struct director *d, const struct server *s);
/* What is known of that, which may be of an address it had before; or NULL. */
struct target *director_known_target(
    const struct director *d, const struct server *s);
void director_each_server(struct director *d,
    void (*visit)(struct director *d, struct server *s, void *arg), void *arg);
/* All servers' next hops are as they should be now. */
void director_ask_all(struct director *d);

/* ---- director_tunnel.c ---- */

bool director_is_tunnelled(const struct director *d, const struct server *s);
/* Passes a frame's packet on in a tunnel; false: where to is not known yet. */
bool director_tunnel(struct director *d, const struct frame *f,
    const struct link_frame *l, const struct server *s);
/* Sends what waits for the kernel's route. */
void director_flush_tunnels(struct director *d);
/* ICMP for an own address. Returns whether it was about a tunnel; too many in a
 * second are not looked at. */
bool director_on_tunnel_error(struct director *d, const struct frame *f);
void director_tick_tunnels(struct director *d, uint64_t now);
void director_close_tunnels(struct director *d);

/* ---- director_hop.c ---- */

/* Which hop the server should have; may ask the kernel for its route, and notes what
 * it says. */
enum hop director_choose_hop(
    const struct director *d, struct target *t, const struct server *s);
/* Whom the neighbour of that hop must be; false: it has none. */
bool director_hop_ip(const struct director *d, enum hop hop,
    const struct server *s, struct peer *ip);
struct peer director_server_ip(const struct server *s);
/* The own address that a server of this family gets tunnels from. */
bool director_own_ip(
    const struct director *d, unsigned family, struct peer *ip);

/* Whether its address was asked for, and it is too early to expect an answer. */
bool director_server_is_new(const struct director *d, const struct server *s);

/* ---- director_probes.c ---- */

int director_open_probes(struct director *d);
void director_close_probes(struct director *d);
/* Follows the list of servers. */
void director_tick_probes(struct director *d);
/* The places are others now. Returns 0, or -1 with errno ENOMEM. */
int director_change_probes(struct director *d);
/* Servers are as if they had never been checked. */
void director_forget_checks(struct director *d);
/* A frame came that is for no place. Returns whether it is something between
 * probes and servers. */
bool director_on_probe(
    struct director *d, const struct frame *f, const struct link_frame *l);

#endif
