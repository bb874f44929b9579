/* director.h: direct server return: frames for a VIP go to a server's hardware
 * address, and the server answers the client itself.
 *
 *     link --batch--> frame_parse --> ARP, NDP: neighbours
 *                         |---------> a flow's server, or pool_choose
 *                         '--batch--> link: the same frames, with other MACs
 *
 * It owns the interface's frames, not its settings: the interface is up and has
 * no address, so that the host's own stack does not answer them. */
#ifndef PEN_DSR_DIRECTOR_H
#define PEN_DSR_DIRECTOR_H

#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"
#include "dsr/director/role.h"
#include "dsr/director/traffic.h"
#include "dsr/flows/dsr_flows.h"
#include "dsr/forward/forward_types.h"
#include "dsr/link/link.h"
#include "dsr/segment/neighbor.h"
#include "dsr/segment/probe.h"
#include "dsr/segment/tarpit.h"
#include "net/loop/loop.h"
#include "pool/acl/acl.h"
#include "pool/pool.h"

struct director_options {
	const char *interface;
	const char *link;  /* kind of it; NULL: the best there is */
	struct addr ip[2]; /* own addresses, IPv4 and IPv6; len 0: none */
	uint64_t flows; /* remembered; 0: the choice is a hash of the client */
	bool announce;	/* VIPs: new ones, and when another host claims them */
	bool udp_only;	/* else TCP and UDP */
	bool standby;	/* at first: see director_set_standby() */
	enum link_fast_mode fast;
	uid_t user;	/* of the process, later: see vip_lock.h */
	struct director_forward forward;
	/* What director_fds() has listed in the process that this one replaces;
	 * NULL: nothing. */
	struct link_past *past;
};

/* Whether servers are probed, and how; see probe.h. */
struct director_check {
	bool on;
	uint16_t port; /* of VIPs that have no port */
	uint64_t interval_ms, timeout_ms;
	/* Whether this server is probed; NULL: all are. */
	bool (*wants)(void *arg, const struct server *s);
	void *arg;
};

struct director;

enum { DIRECTOR_FDS_MAX = LINK_FDS_MAX + 80 }; /* with the locks of VIPs */

/* Opens the link for these VIPs (port 0: any) and requests the servers' MACs;
 * nothing is forwarded before director_start(). Needs CAP_NET_RAW, which is not
 * needed afterwards. loop and pool outlive it. NULL with a full message. */
struct director *director_new(struct loop *l, struct pool *p,
    const struct director_options *o, const struct peer *list, unsigned count,
    struct error *e);
void director_free(struct director *d); /* NULL is fine */
/* Begins, or goes on after director_pause(). Returns 0, or -1 with a full
 * message. */
int director_start(struct director *d, struct error *e);

/* Another process takes over; see link_fds():
 *
 *     director_fds()                director_new() with these
 *     director_pause()
 *     director_next_flow() ..       director_restore_flow() ..
 *                                   director_start()
 *     director_hand_over()
 *
 * Lists the descriptors that it needs, as link_fds(). */
unsigned director_fds(const struct director *d, int list[DIRECTOR_FDS_MAX]);
/* Frames wait in the kernel until that process starts, or director_start(). */
void director_pause(struct director *d);
/* Frees. The other process has the interface. NULL is fine. */
void director_hand_over(struct director *d);
/* Whether the interface was removed from the machine. The loop was stopped
 * then: no frame can reach this director any more. */
bool director_has_ended(const struct director *d);
/* Whether the cable is in. */
bool director_has_carrier(const struct director *d);

/* Forwards only established flows from now on, for good. */
void director_drain(struct director *d);
/* Flows that count, see dsr_flows.h; without a memory of flows 1, as there may
 * be any. A standby has none: they are another director's. */
uint64_t director_left(const struct director *d);

/* Serves these VIPs from now on; established connections go on while their
 * address is among them. Returns 0, or -1 with a full message and nothing
 * changed. */
int director_set_vips(struct director *d, const struct peer *list,
    unsigned count, struct error *e);

/* Stands by: answers no ARP or NDP for the VIPs and forwards nothing, but
 * resolves and checks the servers, and learns flows, in which other directors
 * are right. Or takes the VIPs, and announces them, also if it had them. */
void director_set_standby(struct director *d, bool standby);

/* Opens the sockets of tunnels, if any server has one; they stay open. Without
 * a gateway that is raw sockets, which need CAP_NET_RAW. Returns 0, or -1 with
 * a full message. */
int director_prepare_forward(
    struct director *d, const struct director_forward *f, struct error *e);
/* Forwards this way from now on, except for servers that have a way of their
 * own. director_prepare_forward() must have succeeded for it. */
void director_set_forward(struct director *d, const struct director_forward *f);

/* How long flows last without a frame, those that there are, too. */
void director_set_timeouts(struct director *d, const struct dsr_timeouts *t);

/* How often the VIPs are announced, if they are at all; 0: not again. */
void director_set_refresh(struct director *d, uint64_t every_ms);

/* Tarpits connections to unused addresses that this list permits; NULL or an
 * empty list: none. The list is copied. Returns 0, or -1 with a full message
 * and nothing changed. */
int director_set_tarpit(
    struct director *d, const struct acl *list, struct error *e);

/* Health-checks the servers this way from now on, from the own address of each
 * VIP's family, which must exist. The pool gets the results. Does nothing if
 * nothing changes. Returns 0, or -1 with a full message and nothing changed. */
int director_set_check(
    struct director *d, const struct director_check *c, struct error *e);
/* The last result for a server; NULL: it is not checked. */
const struct probe_report *director_probed(
    const struct director *d, const struct server *s);

/* Whether the table still has flows of this server, closing ones included. A
 * server that reuses its slot inherits them. */
bool director_has_flows(const struct director *d, const struct server *s);

/* Calls `fn` with the number of each flow that has become assured, to report it
 * to other directors; NULL: no longer. */
void director_on_flow(
    struct director *d, void (*fn)(void *arg, uint32_t number), void *arg);
/* The highest number that a flow may have. */
uint32_t director_flow_numbers(const struct director *d);
/* Returns whether an assured flow has that number. */
bool director_flow_at(
    struct director *d, uint32_t number, struct dsr_report *r);
/* A flow of another director; one whose frames came here is not touched.
 * Returns whether it was of use. */
bool director_learn_flow(struct director *d, const struct dsr_report *r);

/* The tag of another director's segment: it is tried when no server answers,
 * and no frame for a VIP has shown the tag. */
void director_suggest_vlan(struct director *d, uint16_t vlan);

/* For a process that takes over. A flow as it is; `server` is its number. */
struct director_flow {
	struct dsr_key key;
	uint32_t server;
	struct dsr_past past;
};
/* The flow after number *at, 0 at first, in the order in which they are to be
 * restored; false: there is none. While the director pauses. */
bool director_next_flow(
    const struct director *d, uint32_t *at, struct director_flow *f);
/* `s` NULL: its server is not here, and the kernel forgets the flow. Returns
 * whether there is such a flow now. */
bool director_restore_flow(
    struct director *d, const struct director_flow *f, const struct server *s);
/* The MAC of a server that has no other one yet; it is used, and requested. */
void director_restore_mac(
    struct director *d, const struct server *s, const struct mac *mac);
/* What else it has found out, and what it was set to. */
struct director_export {
	bool standby;
	bool vlan_known;
	uint16_t vlan; /* the tag of its segment */
};
struct director_export director_export(const struct director *d);
/* Sets what an older process has found out; before director_start(). */
void director_restore(struct director *d, const struct director_export *past);
/* The same of its role, with times of this clock. */
struct role director_role(const struct director *d);
void director_restore_role(struct director *d, const struct role *past);

/* Resets all counters, those of the tarpit, the link, the neighbours and the
 * flows too; the peak of flows becomes their current number. */
void director_clear_counters(struct director *d);
/* What goes by the link's fast path, and is not among the other frames. */
struct director_fast {
	bool on;	/* the link has one */
	bool fails;	/* it is not used now: frames would be lost there */
	uint32_t flows; /* of those that there are */
	struct frame_count passed;
};
/* What there is, and what was counted since the counters were cleared. Pointers
 * are valid as long as the director is. */
struct director_status {
	const char *interface;
	const char *link; /* its kind */
	const char *mode; /* how that kind does it; NULL: there is one way */
	struct mac mac;
	uint32_t standby; /* 0, or 1 */
	const struct role *role;
	uint64_t role_s;    /* seconds since it is active, or a standby */
	uint64_t claimed_s; /* and since another host claimed a VIP, if any */
	const struct director_stats *frames;
	struct link_counters counters;
	struct director_fast fast;
	const struct tarpit_stats *tarpit;
	const struct neighbors *neighbors; /* servers' and gateways' */
	const struct dsr_flows *flows;
};
void director_status(const struct director *d, struct director_status *s);
/* Frames that went to servers, those of the fast path, too; and how many in the
 * last seconds. */
struct frame_count director_forwarded(const struct director *d);
struct traffic_rate director_rate(const struct director *d);

/* The next hop of a server. */
void director_path(
    const struct director *d, const struct server *s, struct director_path *w);

#endif
