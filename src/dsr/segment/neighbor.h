/* neighbor.h: the Ethernet addresses of servers, which are requested, and of
 * VIPs, for which we answer. ARP for IPv4 (RFC 826, 5227), NDP for IPv6 (RFC
 * 4861).
 *
 *                  no reply                     a reply
 *     INCOMPLETE ------------> FAILED ------------------------.
 *         |                      ^                            |
 *         | a reply              | no reply                   v
 *         '----> REACHABLE ---> PROBE ------ a reply ---> REACHABLE
 *                         5 s, or another claims it
 *
 * The states are those of RFC 4861, 7.3.2, with FAILED for what is deleted
 * there; log and control name them new, fresh, doubted, failed.
 *
 * The MAC of a server in PROBE is still used. A request waits a second for its
 * reply. After three without one the server is FAILED, and is probed every five
 * seconds. The first request of a PROBE goes only to the known MAC, the others
 * to all. A caller with a reason may probe a REACHABLE server early. The rate
 * of all requests is limited, and servers that have failed come last. All is
 * O(1) for any number of servers, except after all of them were silent.
 *
 * When the whole segment was out of reach, silence is no failure of servers.
 * While there is no carrier (neighbors_pause()) no server is probed and none
 * fails. When the carrier is back, or the first server answers after all had
 * failed, the failed ones are probed at once, three times, like new ones: they
 * are `returning` until they answer or fail again.
 *
 * Neither protocol proves anything: a host of the segment can answer for a
 * server that is down, or before one that is up. So:
 *   - Only addresses that a caller added are remembered: strangers fill no
 *     memory.
 *   - A server that replies keeps its MAC, whatever others claim. A message
 *     with another MAC makes us probe the server at the known one, at most once
 *     a second. Only if that stays silent the probe goes to all; the first
 *     reply is used.
 *   - In INCOMPLETE and FAILED a message to us alone is believed; one to all
 *     makes us send a request.
 *   - Only a reply to our request, sent to us alone, keeps a server REACHABLE.
 *   - Group addresses and our own MAC are never believed; frames with
 *     another VLAN tag are ignored.
 *   - frame_parse() drops NDP from beyond the segment (hop limit 255).
 * Where that is not enough the switch must watch (DHCP snooping, ARP
 * inspection).
 *
 * Without an own IPv4 address requests are ARP probes, from 0.0.0.0: servers
 * with arp_ignore 0 or 1 answer them. Without an own IPv6 address they come
 * from the link-local address that is made of our MAC (RFC 4291, appendix A),
 * for which we answer.
 *
 * Pure: the clock (ms) is passed in, frames leave through a callback. */
#ifndef PEN_DSR_NEIGHBOR_H
#define PEN_DSR_NEIGHBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rate_limit.h"
#include "dsr/segment/who_has.h"

enum {
	NEIGHBOR_REFRESH_MS = 5000,
	NEIGHBOR_REPLY_MS = 1000, /* for each request */
	NEIGHBOR_TRIES = 3,
	NEIGHBOR_FAILED_MS = 5000, /* between requests then */
	NEIGHBOR_RATE = 500,	   /* requests a second, over all */
	NEIGHBOR_BURST = 200,	   /* of them at once */
	NEIGHBOR_ANNOUNCE = 3,	   /* times */
	NEIGHBOR_ANNOUNCE_MS = 1000,
	NEIGHBOR_CONFLICT_MS = 10000, /* between reports (RFC 5227, 2.4) */
	/* After the last claim a VIP is announced after NEIGHBOR_CONFLICT_MS,
	 * and twice more, each time after twice as long, up to this. */
	NEIGHBOR_DEFEND_MAX_MS = 600000
};

enum neighbor_state {
	NEIGHBOR_INCOMPLETE,
	NEIGHBOR_REACHABLE,
	NEIGHBOR_PROBE,
	NEIGHBOR_FAILED
};

/* Each in the order of `due`, but for one. */
enum neighbor_queue {
	NEIGHBOR_READY, /* servers to probe as soon as the rate allows */
	NEIGHBOR_ASKED,
	NEIGHBOR_CONFIRMED,
	NEIGHBOR_GONE, /* FAILED */
	NEIGHBOR_SERVER_QUEUES,
	NEIGHBOR_ANNOUNCING = NEIGHBOR_SERVER_QUEUES, /* VIPs */
	NEIGHBOR_DEFENDED, /* in no order */
	NEIGHBOR_SILENT,
	NEIGHBOR_QUEUES
};

/* A server, or a gateway. Readable. */
struct neighbor {
	struct who_has_entry entry; /* ip */
	struct mac mac;		    /* the last one: see neighbor_mac() */
	enum neighbor_state state;
	uint64_t answered; /* ms; 0: never */
	/* It failed together with all others, and has not had the time to
	 * answer again. */
	bool returning;

	/* Private. */
	uint64_t due, asked; /* ms: the next step; the last request */
	unsigned tries, uses;
	bool all_asked; /* the last request went to all */
};

struct neighbors_stats {
	uint64_t requests, answers; /* sent */
	uint64_t failures;	    /* servers that stopped answering */
	uint64_t moves;		    /* other Ethernet addresses believed */
	uint64_t claims;	    /* and those not believed at once */
	uint64_t conflicts;	    /* frames of other hosts that claim a VIP */
	uint64_t bad;		    /* frames from no possible address */
};

struct neighbors_options {
	struct mac mac;	      /* ours */
	uint16_t vlan;	      /* tag of all frames; 0: none */
	struct peer ip4, ip6; /* own addresses on the segment; family 0: none */

	/* The bytes are the caller's until it returns. Must not call back. */
	void (*send)(void *arg, const unsigned char *bytes, size_t length);
	/* A server replies for the first time or again, or from another MAC; or
	 * it has failed. May drop it. */
	void (*on_change)(void *arg, struct neighbor *w, bool reachable);
	/* Another host claims a VIP, or an own address: another balancer, or a
	 * server that sends requests with the VIP (arp_announce). Every 10 s at
	 * most for each. True: ours is announced at once, and again when the
	 * claims may be over. Must not call back. */
	bool (*on_conflict)(
	    void *arg, const struct peer *vip, const struct mac *who);
	void *arg;
};

struct neighbors {
	/* Readable. */
	struct neighbors_stats stats;
	struct peer own6;   /* IPv6 addresses are requested from this one */
	unsigned reachable; /* servers that are REACHABLE or PROBE */

	struct neighbors_options options; /* vlan: may be changed */

	/* Private. */
	bool paused;
	uint64_t refresh_ms, refreshed; /* of the announcements */
	struct hash_table servers, vips;
	struct list queue[NEIGHBOR_QUEUES];
	struct rate_limit limit; /* of requests */
	struct rate_bucket rate;
};

/* Answers for own addresses, and announces them, from now on. Returns 0, or -1
 * with errno ENOMEM. */
int neighbors_init(
    struct neighbors *n, const struct neighbors_options *options, uint64_t now);
/* Drops all neighbours. */
void neighbors_fini(struct neighbors *n);

/* Whether an address is ours, or is requested. */
bool neighbors_have(struct neighbors *n, const struct peer *ip);

/* ---- servers ---- */

/* Adds an address (its port is ignored) to resolve, or uses the neighbour that
 * has it. NULL with errno ENOMEM. Each is undone by neighbors_drop(). */
struct neighbor *neighbors_add(
    struct neighbors *n, const struct peer *ip, uint64_t now);
void neighbors_drop(struct neighbors *n, struct neighbor *w);
/* The neighbour with that address, or NULL. */
struct neighbor *neighbors_find(struct neighbors *n, const struct peer *ip);
/* Clients seem to get no answers from it: probes it now, at most once a
 * second. */
void neighbors_probe(struct neighbors *n, struct neighbor *w, uint64_t now);
/* Gives a neighbour that is INCOMPLETE the MAC that it had in the process
 * before this one: it is used at once, and probed. */
void neighbors_restore(struct neighbors *n, struct neighbor *w,
    const struct mac *mac, uint64_t now);
/* Where to send frames for it, or NULL: not known yet, or failed. */
const struct mac *neighbor_mac(const struct neighbor *w);
/* There is no carrier: until neighbors_resume() neighbors_tick() does
 * nothing. */
void neighbors_pause(struct neighbors *n);
/* There is one again, or requests go elsewhere now: no silence before now
 * counts, and all that have failed are probed. */
void neighbors_resume(struct neighbors *n, uint64_t now);
/* Whether all have, and none of them has the time to return; there is a
 * carrier. */
bool neighbors_have_failed(const struct neighbors *n);
/* Each of them; `visit` must not add or drop any. */
void neighbors_each(const struct neighbors *n,
    void (*visit)(void *arg, const struct neighbor *w), void *arg);
const char *neighbor_state_name(enum neighbor_state state);

/* ---- VIPs ---- */

/* Answers for an address. Returns 0 (also when it did already), or -1 with
 * errno ENOMEM. */
int neighbors_take_vip(struct neighbors *n, const struct peer *vip);
/* The same, and announces it if it did not. */
int neighbors_add_vip(
    struct neighbors *n, const struct peer *vip, uint64_t now);
void neighbors_remove_vip(struct neighbors *n, const struct peer *vip);
/* Announces all VIPs three times: after others may have had them. */
void neighbors_announce(struct neighbors *n, uint64_t now);
/* From now on announces all VIPs again at this interval; 0: never. */
void neighbors_refresh_vips(
    struct neighbors *n, uint64_t every_ms, uint64_t now);

/* ---- messages and time ---- */

/* A message was received, with any tag, from and to any host. */
void neighbors_on_message(
    struct neighbors *n, const struct who_has *m, uint64_t now);
/* Sends the requests and announcements that are due, and lets servers fail: to
 * be called several times a second. */
void neighbors_tick(struct neighbors *n, uint64_t now);

#endif
