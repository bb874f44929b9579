/* director.h: direct server return: frames for a VIP go to a server's hardware
 * address, and the server answers the client itself.
 *
 *     link --batch--> frame_parse --> ARP, NDP: neighbours
 *                         |---------> a flow's server, or pool_choose
 *                         '--batch--> link: the same frames, with other MACs
 *
 * It owns the interface's frames, not its settings: the interface is up and has
 * no address, so that the host's own stack has nothing to say to them. */
#ifndef PEN_DSR_DIRECTOR_H
#define PEN_DSR_DIRECTOR_H

#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"
#include "dsr/flows/dsr_flows.h"
#include "dsr/forward/forward_types.h"
#include "dsr/link/link.h"
#include "dsr/segment/neighbor.h"
#include "dsr/segment/probe.h"
#include "dsr/segment/tarpit.h"
#include "net/loop.h"
#include "pool/acl.h"
#include "pool/pool.h"

struct director_options {
	const char *interface;
	const char *link;  /* kind of it; NULL: the best there is */
	struct addr ip[2]; /* own addresses, IPv4 and IPv6; len 0: none */
	uint64_t flows; /* remembered; 0: the choice is a hash of the client */
	bool announce;	/* VIPs: new ones, and against others who claim them */
	bool udp_only;	/* else TCP and UDP */
	bool fast;	/* flows go by the link's fast path, if it has one */
	uid_t user;	/* whom the process will be: see place_lock.h */
	struct director_forward forward;
};

/* Whether servers are asked, and how; see probe.h. */
struct director_check {
	bool on;
	uint16_t port; /* of places that clients come to at any port */
	uint64_t interval_ms, timeout_ms;
};

struct director;

/* Opens the link for the places that clients come to (port 0: any) and asks for
 * the servers' addresses; nothing is forwarded before director_start(). Needs
 * the right to raw sockets (CAP_NET_RAW), which is needed no more afterwards.
 * loop and pool outlive it. NULL with a sentence. */
struct director *director_new(struct loop *l, struct pool *p,
    const struct director_options *o, const struct peer *list, unsigned count,
    struct error *e);
void director_free(struct director *d); /* NULL is fine */
/* Returns 0, or -1 with errno. */
int director_start(struct director *d);
/* Whether the interface was removed from the machine: the loop is stopped then,
 * as nobody comes to this director any more. */
bool director_has_ended(const struct director *d);

/* Serves these places from now on; connections that have begun go on while
 * their address is among them. Returns 0, or -1 with a sentence and all as it
 * was. */
int director_set_vips(struct director *d, const struct peer *list,
    unsigned count, struct error *e);

/* Opens what tunnels need, if there will be any; what is opened once stays.
 * Without a gateway that is raw sockets, which need the right to them. Returns
 * 0, or -1 with a sentence. */
int director_prepare_forward(
    struct director *d, const struct director_forward *f, struct error *e);
/* From now on packets get to servers this way, for which all is prepared, and
 * as the servers themselves say. */
void director_set_forward(struct director *d, const struct director_forward *f);

/* Holds up who connects to addresses that this list permits and nobody has;
 * NULL or an empty list: none. The list is copied. Returns 0, or -1 with a
 * sentence and all as it was. */
int director_set_tarpit(
    struct director *d, const struct acl *list, struct error *e);

const struct tarpit_stats *director_tarpit_stats(const struct director *d);
/* Checks servers so from now on: from the own address of each place's family,
 * which there must be. Servers that are well enough, and those that are not,
 * are told to the pool. Nothing happens when nothing changes. Returns 0, or -1
 * with a sentence and all as it was. */
int director_set_check(
    struct director *d, const struct director_check *c, struct error *e);
/* What was found out last of a server; NULL: it is not checked. */
const struct probe_report *director_probed(
    const struct director *d, const struct server *s);

/* Whether flows go to the server, be it that they have said goodbye: what has
 * its number gets them. */
bool director_has_flows(const struct director *d, const struct server *s);

/* All that counts since the start counts from now on, the tarpit's, the link's,
 * the neighbours' and the flows' too; the peak of flows is those that there
 * are. */
void director_clear_counters(struct director *d);
const struct director_stats *director_stats(const struct director *d);
const struct dsr_flows *director_flows(const struct director *d);
const char *director_link(const struct director *d); /* its kind */
void director_link_counters(const struct director *d, struct link_counters *c);
/* What goes by the link's fast path, and is not among the frames above. */
struct director_fast {
	bool on;	/* the link has one */
	bool fails;	/* it is not used now: frames would be lost there */
	uint32_t flows; /* of those that there are */
	struct tally passed;
};
void director_fast(const struct director *d, struct director_fast *f);
/* Servers' and gateways', with neighbors_each(). */
const struct neighbors *director_neighbors(const struct director *d);
/* How that kind does it; NULL: there is one way only. */
const char *director_link_mode(const struct director *d);
struct mac director_mac(const struct director *d);

/* The hardware address of the server, or of its tunnel's next hop; false while
 * it is not known. */
bool director_server_mac(
    const struct director *d, const struct server *s, struct mac *mac);

void director_way(
    const struct director *d, const struct server *s, struct director_way *w);

#endif
